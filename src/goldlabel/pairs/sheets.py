"""Spreadsheets of Excel and LibreOffice: the first sheet in which anything stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from goldlabel.errors import InputError
from goldlabel.pairs.dialects import heading
from goldlabel.pairs.rows import Parsed, Transform
from goldlabel.pairs.tables import Columns, Line, parse_table

ROWS_ABOVE = 10
"""The rows among which a sheet's header is looked for."""


def read_sheet(
    data: bytes, where: str, columns: Columns, transform: Transform, on_note: Callable[[str], None]
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each run of a sheet's rows as a function."""
    import fastexcel

    try:
        book = fastexcel.read_excel(data)
        sheets = [(name, _rows(book, name)) for name in book.sheet_names]
    except fastexcel.FastExcelError as error:
        raise InputError(
            f"{where}: is not a complete spreadsheet ({str(error).splitlines()[0]}); save it again"
        ) from error
    filled = [(name, rows) for name, rows in sheets if rows] or [("", [(1, [])])]
    name, rows = filled[0]
    if len(filled) > 1:
        others = ", ".join(repr(other) for other, _ in filled[1:])
        on_note(f"{where}: sheet {name!r} is read; {others} is not")
    header = _header(rows, columns)
    if header:
        on_note(
            f"{where}: row {rows[header][0]} of sheet {name!r} has the names of columns; what stands above is left out"
        )
    yield from parse_table(
        iter(rows[header + 1 :]), rows[header], columns, transform, where, unit="row", form=f" (sheet {name!r})"
    )


def _header(rows: list[Line], columns: Columns) -> int:
    """Return the place of the header: a title, or names for several columns at once, may stand above it."""
    for place, (_, cells) in enumerate(rows[:ROWS_ABOVE]):
        if len(columns.headings.intersection(map(heading, cells))) > 1:
            return place
    return 0


def _rows(book: Any, name: str) -> list[Line]:
    """Return the rows of a sheet in which anything stands, by their numbers."""
    frame = book.load_sheet(name, header_row=None, dtypes="string").to_polars()
    cells = (["" if cell is None else cell for cell in row] for row in frame.iter_rows())
    return [(number, row) for number, row in enumerate(cells, 1) if any(cell.strip() for cell in row)]
