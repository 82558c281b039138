"""``goldlabel models``: what can be trained, and what can be loaded."""

from __future__ import annotations

import typer

from goldlabel.cli.output import JsonOption, print_refused, print_table, show


def models_command(as_json: JsonOption = False) -> None:
    """List the models that can be trained, with recipe and paper, and the forms of name that can be loaded."""
    from goldlabel.models.catalogue import list_models
    from goldlabel.models.model import MODELS

    catalogue = list_models()
    show(catalogue, as_json)
    if not as_json:
        print_refused(MODELS)
        typer.echo("\nwherever a command takes a MODEL, give")
        print_table(["form", "what is loaded"], catalogue.forms.items())
