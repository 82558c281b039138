"""The options that say how to read a file that carries no card, the same for every command that takes PATH."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.output import parse_map

if TYPE_CHECKING:
    from goldlabel.pairs.reading import ReadingOptions as ReadingOptions
else:  # only a type checker asks what is in them, and help need not wait for the readers
    ReadingOptions = dict

PARAMETER = "reading"
"""The parameter of a command in whose place the options stand."""


def reading_options(
    labels: Annotated[
        str,
        typer.Option(
            "--labels", help="What the labels of a file without a card are: nli3, nli2, scitail, ordinal5, or a,b,c."
        ),
    ] = "nli3",
    spellings: Annotated[
        list[str] | None,
        typer.Option("--map", help="Spell a label of a file without a card: FOUND=LABEL, such as 0=entailment."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", help="Name a column of a file without a card: COLUMN=NAME, such as premise=text_a."),
    ] = None,
    votes_from: Annotated[
        str | None,
        typer.Option("--votes-from", help="Columns that each hold one rater's votes, joined by commas: rater1,rater2."),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Format of a file whose name does not tell it: jsonl, ndjson, json, csv, tsv, txt, xlsx, xls, ods, "
            "parquet, arrow, feather.",
        ),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Separator of a table, if not the one told from the file.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", help="Encoding of a file, if not the one told from it: latin-1, gb18030."),
    ] = None,
) -> ReadingOptions:
    """Return what ``gl.read`` takes."""
    return {
        "labels": labels,
        "label_map": parse_map("--map", spellings),
        "columns": parse_map("--columns", columns),
        "votes_from": [name.strip() for name in votes_from.split(",")] if votes_from else (),
        "format": file_format,
        "delimiter": delimiter,
        "encoding": encoding,
    }


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of ``reading_options``, in the place of its parameter ``reading``."""
    return with_options(reading_options, PARAMETER)(command)


def with_options(options: Callable[..., Any], name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what puts a function's parameters in the place of a command's parameter, and its value there on a call."""
    own = inspect.signature(options, eval_str=True).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)

        @wraps(command)
        def run(**arguments: Any) -> None:
            command(**{name: options(**{key: arguments.pop(key) for key in own})}, **arguments)

        parameters: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            parameters += own.values() if parameter.name == name else [parameter]
        as_keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        run.__signature__ = signature.replace(parameters=as_keywords)  # type: ignore[attr-defined]
        return run

    return decorate
