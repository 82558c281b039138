"""CSV and TSV with a header, and a map from the record's names to the file's columns.

CSV is quoted as RFC 4180 says; TSV is not quoted at all, as NLI corpora write it. Lists (votes, tags) stand
in one cell, as a JSON list or as words joined by ``|``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import BinaryIO

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.record import COLUMNS, LISTS, Problem
from goldlabel.pairs.rows import KNOWN_NAMES, Parsed, Row, Transform, by_name, parse_rows

ROWS_PER_BLOCK = 50_000
LONGEST_CELL = 64 << 20


def read_delimited(
    stream: BinaryIO,
    where: str,
    delimiter: str,
    *,
    names: Mapping[str, str] = KNOWN_NAMES,
    transform: Transform | None = None,
    encoding: str = "utf-8-sig",
    header: list[str] | None = None,
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each run of rows as a function; ``header`` names the columns of a bare file."""
    csv.field_size_limit(LONGEST_CELL)
    text = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
    reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL)
    lines = _numbered(reader, where)
    if header is None:
        _, header = next(lines, (1, []))
        if transform is None:
            _require_header(header, names, where)
    while rows := list(islice(lines, ROWS_PER_BLOCK)):
        yield lambda rows=rows: _parse(rows, header, transform or by_name(names), where)  # type: ignore[misc]


def encode_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the record with its lists written as JSON, ready for ``write_csv``."""
    as_json = [
        pl.when(pl.col(name).list.len() > 0)
        .then(pl.struct(name).struct.json_encode().str.strip_prefix(f'{{"{name}":').str.strip_suffix("}"))
        .alias(name)
        for name in LISTS
    ]
    return frame.with_columns(as_json).select(COLUMNS)


def _numbered(reader: object, where: str) -> Iterator[tuple[int, list[str]]]:
    """Pair each row with the line on which it starts."""
    start = 1
    try:
        for cells in reader:  # type: ignore[attr-defined]
            if cells:
                yield start, cells
            start = reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error as error:
        raise InputError(f"{where} line {start}: is not valid CSV ({error})") from error


def _require_header(header: list[str], names: Mapping[str, str], where: str) -> None:
    present = {names.get(name) for name in header}
    for name in ("premise", "hypothesis", "label"):
        if name not in present:
            raise InputError(
                f"{where} line 1: no column for {name!r} among {', '.join(header) or 'nothing'}; "
                f"pass --columns {name}=NAME"
            )


def _parse(rows: list[tuple[int, list[str]]], header: list[str], transform: Transform, where: str) -> Parsed:
    good: list[tuple[int, Row]] = []
    problems: list[Problem] = []
    for line, cells in rows:
        fault = _fault(cells, header)
        if fault:
            problems.append(Problem(where, line, "", fault))
        else:
            good.append((line, {name: cell or None for name, cell in zip(header, cells, strict=True)}))
    parsed = parse_rows(good, lambda row: _split_lists(transform(row)), where)
    return Parsed(parsed.frame, problems + parsed.problems)


def _fault(cells: list[str], header: list[str]) -> str | None:
    if len(cells) != len(header):
        return f"has {len(cells)} columns where the header has {len(header)}"
    for name, cell in zip(header, cells, strict=True):
        if not cell.isascii() and any("\udc80" <= character <= "\udcff" for character in cell):
            return f"column {name!r} is not UTF-8; convert the file to UTF-8"
    return None


def _split_lists(row: Row) -> Row:
    for name in LISTS:
        value = row.get(name)
        if isinstance(value, str):
            try:
                row[name] = orjson.loads(value) if value.startswith("[") else value.split("|")
            except orjson.JSONDecodeError as error:
                raise InputError(f"{name} is not a JSON list ({error.msg})") from error
    return row
