"""``goldlabel report``: one page from results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.output import JsonOption, folder_option, note, parse_map, print_json, progress


def report_command(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR…",
            help="Folders that bench, audit, verify, train or round report wrote; two of one kind: what changed.",
        ),
    ],
    output: Annotated[Path, folder_option("The report's folder; an earlier report there is replaced.")],
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME=PATH", help="Where a set lies that is not in the library, for its texts."),
    ] = None,
    language: Annotated[str, typer.Option("--language", help="Language of the page and its tables: en or zh.")] = "en",
    as_json: JsonOption = False,
) -> None:
    """Write one HTML page of results, with their tables (CSV, Markdown, LaTeX), plots (SVG, PNG) and cards."""
    from goldlabel.report.report import report

    with progress("drawing", None, in_bytes=False) as bar:
        made = report(folders, output, data=parse_map("--data", data), language=language, on_file=bar)
    if as_json:
        print_json(made.to_dict())
        return
    for line in made.missing:
        note(f"missing: {line}")
    typer.echo(made.headline)
    typer.echo(f"page: {made.output / 'index.html'} ({len(made.files)} files)")
