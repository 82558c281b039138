"""CSV, TSV and their like, with a header: how they are written is told from the file, or said by who knows it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO

import polars as pl

from goldlabel.errors import FileError
from goldlabel.pairs.dialects import Dialect, quoting, tell_dialect
from goldlabel.pairs.encodings import SAMPLE
from goldlabel.pairs.record import COLUMNS, LISTS
from goldlabel.pairs.rows import Parsed, Transform
from goldlabel.pairs.tables import ROWS_PER_BLOCK, Columns, Line, parse_cells, parse_table

LONGEST_CELL = 64 << 20


def read_delimited(
    stream: BinaryIO,
    where: str,
    delimiter: str,
    *,
    transform: Transform,
    encoding: str = "utf-8-sig",
    header: list[str] | None = None,
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each run of rows of a corpus whose form is known; ``header`` names a bare file's columns.

    CSV is quoted as RFC 4180 says; TSV is not quoted at all, as NLI corpora write it.
    """
    text = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
    lines = _numbered(text, Dialect(delimiter, quoted=delimiter != "\t"), where)
    names = header if header is not None else next(lines, (1, []))[1]
    while block := list(islice(lines, ROWS_PER_BLOCK)):
        yield lambda block=block: parse_cells(block, names, transform, where)  # type: ignore[misc]


def read_text_table(
    stream: io.BufferedReader,
    where: str,
    columns: Columns,
    transform: Transform,
    *,
    ending: str,
    delimiter: str | None = None,
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each run of rows of a user's table, in UTF-8, whose form is told from its beginning."""
    start = stream.peek(SAMPLE)[:SAMPLE]
    dialect = tell_dialect(
        start.decode("utf-8-sig", errors="replace"),
        ending=ending,
        known=columns.headings,
        delimiter=delimiter,
        complete=len(start) < SAMPLE // 4,  # what was four bytes a character is one now
    )
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    lines = _numbered(text, dialect, where)
    number, header = next(lines, (1, []))
    header = ["", *header] if dialect.row_names else header
    yield from parse_table(lines, (number, header), columns, transform, where, form=f" ({dialect})")


def encode_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the record with its lists written as JSON, ready for ``write_csv``."""
    as_json = [
        pl.when(pl.col(name).list.len() > 0)
        .then(pl.struct(name).struct.json_encode().str.strip_prefix(f'{{"{name}":').str.strip_suffix("}"))
        .alias(name)
        for name in LISTS
    ]
    return frame.with_columns(as_json).select(COLUMNS)


def _numbered(text: io.TextIOWrapper, dialect: Dialect, where: str) -> Iterator[Line]:
    """Pair each row with the line on which it starts."""
    csv.field_size_limit(LONGEST_CELL)
    for _ in range(dialect.skipped):
        text.readline()
    reader = csv.reader(text, delimiter=dialect.delimiter, quoting=quoting(dialect.quoted), escapechar=dialect.escape)
    start = dialect.skipped + 1
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = dialect.skipped + reader.line_num + 1
    except csv.Error as error:
        problem = f"{where} line {start}: is not valid CSV ({error}; {dialect})"
        raise FileError(problem, "not_csv", number=start) from error
