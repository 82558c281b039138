"""``goldlabel models``: what can be trained, and what can be loaded."""

from __future__ import annotations

import typer

from goldlabel.cli.output import AllOption, JsonOption, print_json, print_refused, print_table


def models_command(print_all: AllOption = False, as_json: JsonOption = False) -> None:
    """List the models that can be trained, with recipe and paper, and the forms of name that can be loaded.

    With --all also what each of them is.
    """
    from goldlabel.models.catalogue import list_models
    from goldlabel.models.model import MODELS

    catalogue = list_models()
    if as_json:
        print_json(catalogue.to_dict())
    else:
        typer.echo(catalogue.title)
        table = catalogue.table.select(
            name
            for name in catalogue.table.columns
            if (name != "what" or print_all) and (name != "from" or any(entry.origin for entry in catalogue.models))
        )
        print_table(table.columns, table.iter_rows())
        print_refused(MODELS)
        typer.echo("\nwherever a command takes a MODEL, give")
        print_table(["form", "what is loaded"], catalogue.forms.items())
