"""What commands share: options, progress on stderr, results on stdout."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.seeds import check_seed

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs, Result
    from goldlabel.pairs.reading import ReadingOptions
    from goldlabel.registry import Registry

NO_GOLD = "-"
"""What files have for a label where a pair has none; people are told so."""
_FIGURE = re.compile(r"–|[-+<]? ?[\d.,]+( %)?( ?[±(].*)?")
_GAP = "  "
_P_COLUMN = re.compile(r"[pq]\b")
"""What columns of p-values are called."""
PathArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A file, a folder, an address such as s3://BUCKET/DATA, - for standard input, or an added source.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
SeedOption = Annotated[int, typer.Option("--seed", callback=check_seed, help="Seed of everything random.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N pairs.")]

ByOption = Annotated[
    str | None,
    typer.Option("--by", help="Also for each value of a column, such as genre, or of meta.FIELD; or of several: a,b."),
]
SCREENFUL = 20
"""Rows of a table that are printed unless all are asked for."""
AllOption = Annotated[bool, typer.Option("--all", help="Print all of it, not only a screenful.")]


def folder_option(text: str) -> Any:
    """Return ``-o`` of a command that writes a folder, with its help text; a folder cannot go to standard output."""
    return typer.Option("--output", "-o", callback=_refuse_stdout, help=text)


def _refuse_stdout(output: Path | None) -> Path | None:
    if output == Path("-"):
        raise InputError("-o -: this command writes a folder, and standard output takes one file; name a folder")
    return output


def open_pairs(path: str, reading: ReadingOptions, *, limit: int | None) -> Pairs:
    """Find pairs by path or name, with a progress bar while a file is read."""
    from goldlabel.sources import find

    with progress(f"reading {path}", _size(Path(path))) as advance:
        return find(path, limit=limit, on_bytes=advance, on_note=note, **reading)


def parse_map(option: str, entries: list[str] | None) -> dict[str, str]:
    """Read ``A=B`` entries, also several joined by commas; a comma that no other entry follows is part of B."""
    parsed = {}
    for entry in re.split(r",(?=[^,]*=)", ",".join(entries)) if entries else []:
        left, equals, right = entry.partition("=")
        if not (left and equals and right):
            raise InputError(f"{option} {entry!r} is not of the form A=B")
        parsed[left.strip()] = right.strip()
    return parsed


def refuse_own_input(target: Path, path: str) -> None:
    """Refuse to write where the input lies."""
    if target.resolve() == Path(path).resolve():
        raise InputError(f"{target}: is the input itself; choose another place for the output with -o")


class Bar:
    """A progress bar: called with each step's size; ``expect`` tells the total once it is known."""

    def __init__(
        self,
        update: Callable[..., None] | None = None,
        begin: Callable[[str, int | None], None] | None = None,
    ) -> None:
        self._update = update
        self._begin = begin

    def __call__(self, size: int) -> None:
        """Move on by ``size``."""
        if self._update:
            self._update(advance=size)

    def begin(self, what: str, total: int | None = None) -> None:
        """Begin anew with something else."""
        if self._begin:
            self._begin(what, total)

    def expect(self, total: int | None) -> None:
        """Set what the bar runs up to."""
        if self._update:
            self._update(total=total)


@contextmanager
def progress(what: str, total: int | None = None, *, in_bytes: bool = True) -> Iterator[Bar]:
    """Show a bar on stderr while the block runs, if stderr is a terminal; yield what moves it."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    count = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=total)

        def begin(what: str, total: int | None) -> None:
            nonlocal task
            bars.remove_task(task)  # one whose total was known cannot be told that the next is not
            task = bars.add_task(what, total=total)

        yield Bar(lambda **changes: bars.update(task, **changes), begin)


def show(result: Result, as_json: bool, **more: Any) -> None:
    """Print a result: one JSON document, or its title and table."""
    from goldlabel.files import as_url

    more = {name: (as_url(value) or value) if isinstance(value, str) else value for name, value in more.items()}
    if as_json:
        print_json(result.to_dict() | more)
        return
    typer.echo(result.title)
    table = result.table
    if len(table):
        print_table(table.columns, table.iter_rows())
    for name, value in more.items():
        typer.echo(f"{name}: {value}")


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))


def print_table(columns: list[str], rows: Any, *, most: int | None = None, of: int | None = None) -> None:
    """Print a table on stdout, numbers to the right: its first ``most`` rows, and how many more there are.

    ``of`` is how many there are in all, where not all are given.
    """
    body = [list(row) for row in rows]
    total = len(body) if of is None else of
    body = body[:most]
    numeric = [_are_figures(row[number] for row in body) for number in range(len(columns))]
    cells = [[_cell(value, name) for name, value in zip(columns, row, strict=True)] for row in body]
    _print_cells([_cell(name) for name in columns], cells, numeric)
    if left_out := total - len(body):
        note(f"{left_out:,} rows more; --all prints them, --json has all of them")


def _print_cells(heads: list[str], rows: list[list[str]], numeric: list[bool]) -> None:
    """Print cells beside each other; only where they must be folded, Rich does it, which takes long to import."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)]
    is_plain = all(text.isprintable() for row in (heads, *rows) for text in row)
    if is_plain and sum(widths) + len(_GAP) * (len(widths) - 1) <= output_width():
        for number, row in enumerate((heads, *rows)):
            padded = [
                " " * (width - cell_len(text)) + text if right else text + " " * (width - cell_len(text))
                for text, width, right in zip(row, widths, numeric, strict=True)
            ]
            line = _GAP.join(padded).rstrip()
            typer.echo(line if number else typer.style(line, bold=True))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for head, right in zip(heads, numeric, strict=True):
        table.add_column(head, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(width=output_width(), highlight=False, markup=False).print(table)


def most_rows(print_all: bool, most: int = SCREENFUL) -> int | None:
    """Return how many rows of a table are printed."""
    return None if print_all else most


def print_refused(registry: Registry[Any]) -> None:
    """Print a line for each plug-in that cannot be used."""
    for plugin in registry.refused:
        typer.echo(plugin.problem)


def output_width() -> int:
    """Return how many columns stdout has; what is no terminal has many."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 200


def note(message: str) -> None:
    """Tell the user something on stderr."""
    typer.echo(message, err=True)


def note_left_out(name: str, without_gold: int) -> None:
    """Tell the user how many pairs of a dataset have no gold label, if there are any."""
    if without_gold:
        verbs = ("pair has no gold label and is", "pairs have no gold label and are")
        note(f"{name}: {many(without_gold, *verbs)} left out")


def _are_figures(values: Iterable[object]) -> bool:
    """Say whether a column holds figures, as numbers or as texts with a sign or an interval; some may be empty."""
    cells = [value for value in values if value is not None and value != ""]
    return bool(cells) and all(
        _FIGURE.fullmatch(value) if isinstance(value, str) else not isinstance(value, bool) for value in cells
    )


def _cell(value: object, column: str = "") -> str:
    if isinstance(value, float) and _P_COLUMN.match(column):
        from goldlabel.metrics import p_value

        return p_value(value)
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    if value == NO_GOLD:
        return "no gold"
    return "" if value is None else str(value)


def _size(path: Path) -> int | None:
    from goldlabel.files import input_files
    from goldlabel.pairs.reading import data_files

    if path.is_dir():
        return sum(file.stat().st_size for file in data_files(path))
    return sum(file.size for file in input_files(path)) if path.exists() else None
