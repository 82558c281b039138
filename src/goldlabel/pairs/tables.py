"""Tables with a header, from text or from a spreadsheet: cells become rows under the header's names.

A first column without a name holds the numbers of rows, as pandas and R write them, and is left out. Any other column
without a name is kept in ``meta`` under its number, if anything stands in it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import orjson
import polars as pl

from goldlabel.errors import FileError, InputError
from goldlabel.messages import option
from goldlabel.pairs.columns import Renaming, rename_columns
from goldlabel.pairs.dialects import heading
from goldlabel.pairs.record import LISTS, ColumnError, Problem
from goldlabel.pairs.rows import Parsed, Row, Transform, parse_rows, typed

ROWS_PER_BLOCK = 50_000
INDEX_NAMES = ("", "unnamed: 0")
"""What the column of row numbers is called in the files of R and pandas."""

Line = tuple[int, list[str]]
"""The cells of a row, and where it stands."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What is looked for in a header: the file's names with the record's, and those that must be there."""

    names: Mapping[str, str]
    required: Sequence[str]
    insisted: Sequence[str] = ()
    """The file's names that the user gave."""
    instead_of_label: Sequence[str] = ()
    """The file's names that make a label unnecessary: what decides stands there."""
    has_label_columns: Callable[[Sequence[str]], bool] = lambda header: False
    """Whether a header has a column of numbers for each label, which make a label unnecessary, too."""
    renaming: Renaming | None = None
    """How the table is taken column by column, if that can be."""

    @property
    def headings(self) -> set[str]:
        """All names looked for, as they are compared."""
        return {heading(name) for name in (*self.names, *self.insisted, *self.instead_of_label)}

    def check(self, header: Sequence[str], where: str, form: str) -> None:
        """Refuse a header that lacks a column."""
        if not header:
            raise FileError(f"{where}: nothing stands there; a table begins with the names of its columns", "no_header")
        present = set(map(heading, header))
        among = f"among {', '.join(header)}{form}"
        for name in self.insisted:
            if heading(name) not in present:
                raise InputError(f"{where}: there is no column {name!r} {among}; name one of these")
        if present & set(map(heading, self.instead_of_label)) or self.has_label_columns(header):
            present |= {heading(name) for name, column in self.names.items() if column == "label"}
        for required in self.required:
            if not present & {heading(name) for name, column in self.names.items() if column == required}:
                if sum(len(name.split()) > 2 for name in header) > 1:
                    raise FileError(
                        f"{where}: looks like a pair, and not like names of columns{form}; put a line such as "
                        "premise,hypothesis,label above it, or names of your own and "
                        f"{option('columns', {'premise': 'NAME'})}",
                        "no_header",
                    )
                raters = f", or {option('votes_from', ['A', 'B'])} if each rater has a column"
                hint = f"{option('columns', {required: 'NAME'})}{raters if required == 'label' else ''}"
                text = f"{where}: no column for {required!r} {among}; pass {hint}"
                raise ColumnError(text, required)


def parse_table(
    lines: Iterator[Line],
    first: Line,
    columns: Columns,
    transform: Transform,
    where: str,
    *,
    unit: str = "line",
    form: str = "",
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each run of rows; ``first`` is the header, ``form`` says how the table is written."""
    number, header = first
    while header and not header[-1].strip():
        header = header[:-1]
    header_at = f"{where} {unit} {number}"
    columns.check([name for name in map(str.strip, header) if name], header_at, form)
    names = _names(header, columns, header_at)
    width, renamed = len(names), _renamed(names, columns.renaming)
    while block := list(islice(lines, ROWS_PER_BLOCK)):

        def parse(block: list[Line] = block) -> Parsed:
            fitted = [(line, cells if len(cells) == width else _fit(cells, width, unit)) for line, cells in block]
            quick = None if renamed is None else _parse_columns(fitted, names, renamed)
            return quick or parse_cells(fitted, names, transform, where, unit, form)

        yield parse


def _renamed(names: Sequence[str | None], renaming: Renaming | None) -> Mapping[str, str] | None:
    """Return the names of columns that are to be taken whole; a column without a name is there in some rows only."""
    named = [name for name in names if name]
    unnamed = {_numbered_name(place) for place in range(len(names))}
    if renaming is None or len(set(named)) < len(named) or unnamed.intersection(named):
        return None
    return renaming(named)


def _parse_columns(block: list[Line], names: Sequence[str | None], renamed: Mapping[str, str]) -> Parsed | None:
    """Take cells column by column; none where a row has another length, or a cell is no text or no list."""
    lines, rows = zip(*block, strict=True)
    if set(map(len, rows)) != {len(names)}:
        return None
    try:
        named = zip(names, zip(*rows, strict=True), strict=True)
        columns = [_column(name, cells, renamed.get(name)) for name, cells in named if name]
    except (UnicodeEncodeError, InputError):
        return None
    return rename_columns(pl.DataFrame(columns), renamed, pl.Series(lines, dtype=pl.Int64))


def _column(name: str, cells: Sequence[str], target: str | None) -> pl.Series:
    if target and target in LISTS:
        lists = {text: typed(target, _list(target, text.strip()) if text else None) for text in set(cells)}
        return pl.Series(name, [lists[text] for text in cells], dtype=pl.List(pl.String))
    column = pl.Series(name, cells, dtype=pl.String)
    return column.set(column == "", None)


def parse_cells(
    lines: Iterable[Line],
    names: Sequence[str | None],
    transform: Transform,
    where: str,
    unit: str = "line",
    form: str = "",
) -> Parsed:
    """Name the cells of each row and transform it; a cell whose name is ``None`` is left out."""
    unnamed = {_numbered_name(place) for place in range(len(names))}
    rows: list[tuple[int, Row]] = []
    problems: list[Problem] = []
    for line, cells in lines:
        fault = _fault(cells, names, form)
        if fault:
            problems.append(Problem(where, line, "", fault, unit))
        else:
            named = zip(names, cells, strict=True)
            rows.append((line, {name: cell or None for name, cell in named if name and (cell or name not in unnamed)}))
    parsed = parse_rows(rows, lambda row: split_lists(transform(row)), where, unit)
    return Parsed(parsed.frame, problems + parsed.problems)


def split_lists(row: Row) -> Row:
    """Turn lists that stand in one cell into lists: JSON, Python's or numpy's spelling, or joined words."""
    for name in LISTS:
        value = row.get(name)
        if isinstance(value, str):
            row[name] = _list(name, value.strip())
    return row


def _list(name: str, text: str) -> object:
    if not text.startswith(("[", "(")):
        # No label holds one of these, and people use them all; a tag may be a phrase with commas.
        return re.split(r"\s*[|;,]\s*" if name == "votes" else r"\|", text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "," not in text:
            text = re.sub(r"""(?<=['"])\s+(?=['"])""", ", ", text)  # numpy parts by spaces, which Python would join
        try:
            values = ast.literal_eval(re.sub(r"\bnan\b", "None", text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise InputError(f"{name} is not a JSON list ({error.msg})") from error
        return list(values) if isinstance(values, tuple) else values


def _names(header: Sequence[str], columns: Columns, where: str) -> list[str | None]:
    """Return the name of each column, none for the numbers of rows; of two that are looked for, none is chosen."""
    names: list[str | None] = []
    seen: Counter[str] = Counter()
    for place, name in enumerate(map(str.strip, header)):
        if heading(name) in INDEX_NAMES:
            names.append(_numbered_name(place) if place else None)
            continue
        seen[heading(name)] += 1
        if seen[heading(name)] > 1 and heading(name) in columns.headings:
            text = f"{where}: column {name!r} is there twice; rename or leave out one of them"
            raise FileError(text, "column_twice", column=name)
        names.append(name if seen[heading(name)] == 1 else f"{name} ({seen[heading(name)]})")
    return names


def _numbered_name(place: int) -> str:
    return f"column {place + 1}"


def _fit(cells: list[str], width: int, unit: str) -> list[str]:
    """Leave out empty cells past the header; a spreadsheet's row may also be shorter than it."""
    if len(cells) > width and not any(cell.strip() for cell in cells[width:]):
        return cells[:width]
    return cells + [""] * (width - len(cells)) if unit == "row" else cells


def _fault(cells: Sequence[str], names: Sequence[str | None], form: str) -> str | None:
    if len(cells) != len(names):
        columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
        lines = max((len(cell.splitlines()) for cell in cells), default=0)
        quoted = f"; a quotation mark opens a cell of {lines} lines: is its end missing?" if lines > 1 else ""
        return f"has {columns} where the header has {len(names)}{form}{quoted}"
    for name, cell in zip(names, cells, strict=True):
        if not cell.isascii() and any("\udc80" <= character <= "\udcff" for character in cell):
            return f"column {name!r} is not UTF-8; convert the file to UTF-8"
    return None
