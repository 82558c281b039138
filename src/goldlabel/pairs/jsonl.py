"""JSON lines, in SNLI's field names and ours.

A block that holds nothing but known fields of the right type is parsed by Arrow at full speed. Any other
block (extra fields, numbers as ids, a fault) is read line by line, which costs more and can say where and
what; both ways give the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

import orjson
import polars as pl

from goldlabel.errors import FileError
from goldlabel.pairs.dialects import heading
from goldlabel.pairs.record import COLUMNS, LINE, LISTS, Problem
from goldlabel.pairs.rows import KNOWN_NAMES, SNLI_NAMES, Parsed, Row, Transform, by_name, parse_rows

BLOCK = 4 << 20
SMALL = 1 << 18
"""Bytes of a block that are read line by line sooner than PyArrow is imported."""
LONGEST_LINE = 64 << 20
KNOWN_HEADINGS = set(map(heading, KNOWN_NAMES))
_BOM = b"\xef\xbb\xbf"


def read_jsonl(
    stream: BinaryIO,
    where: str,
    *,
    names: Mapping[str, str] = KNOWN_NAMES,
    transform: Transform | None = None,
    fast: bool | None = None,
) -> Iterator[Callable[[], Parsed]]:
    """Yield the parsing of each block as a function, so that blocks can be parsed side by side.

    ``fast`` says that a block in which nothing but ``names`` stands needs no transform; without one that is so.
    """
    fast = transform is None if fast is None else fast
    start = stream.read(BLOCK).removeprefix(_BOM)
    items = _items(start, stream, where)
    if items is not None:
        yield lambda: parse_rows(items, transform or by_name(names), where, "item")
        return
    for first_line, block in _blocks(start, stream, where):

        def parse(first_line: int = first_line, block: bytes = block) -> Parsed:
            quick = _parse_fast(block, first_line, names) if fast and len(block) > SMALL else None
            return quick or _parse_lines(block, first_line, where, transform or by_name(names))

        yield parse


def encode_jsonl(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one column of JSON lines, in SNLI's names where SNLI has one; empty columns are left out."""
    named = {record: snli for snli, record in SNLI_NAMES.items()}
    plain = [name for name in COLUMNS if name != "meta" and not _is_blank(frame[name])]
    line = pl.struct(pl.col(name).alias(named.get(name, name)) for name in plain).struct.json_encode()
    if not _is_blank(frame["meta"]):
        with_meta = pl.concat_str(line.str.strip_suffix("}"), pl.lit(',"meta":'), pl.col("meta"), pl.lit("}"))
        line = pl.when(pl.col("meta").is_null()).then(line).otherwise(with_meta)
    return frame.select(line.alias("line"))


def _is_blank(column: pl.Series) -> bool:
    return column.null_count() == len(column) or (column.name in LISTS and column.list.len().sum() == 0)


def _blocks(start: bytes, stream: BinaryIO, where: str) -> Iterator[tuple[int, bytes]]:
    """Cut the stream at line ends into blocks, with the number of each block's first line."""
    line, rest, chunk = 1, b"", start
    while chunk:
        head, newline, tail = chunk.rpartition(b"\n")
        if newline:
            block = rest + head + newline
            rest = tail
            yield line, block
            line += block.count(b"\n")
        else:
            rest += chunk
        if len(rest) > LONGEST_LINE:
            text = f"{where} line {line}: is longer than {LONGEST_LINE >> 20} MB; this is not JSON lines"
            raise FileError(text, "not_json", number=line)
        chunk = stream.read(BLOCK)
    if rest:
        yield line, rest


def _parse_fast(block: bytes, first_line: int, names: Mapping[str, str]) -> Parsed | None:
    import pyarrow as pa
    import pyarrow.json as pj

    text = pa.string()
    schema = pa.schema(
        [(key, pa.list_(text) if name in LISTS else text) for key, name in names.items() if name != "meta"]
    )
    try:
        block.decode()
        table = pj.read_json(
            pa.BufferReader(block),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(block)),
            parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    rows = block.count(b"\n") + (not block.endswith(b"\n"))
    present = [key for key in schema.names if table[key].null_count < len(table)]
    if len(table) != rows or len({names[key] for key in present}) < len(present):
        return None
    frame = pl.from_arrow(table.select(present))
    assert isinstance(frame, pl.DataFrame)
    lines = pl.int_range(first_line, first_line + rows, dtype=pl.Int64, eager=True).alias(LINE)
    return Parsed(frame.rename({key: names[key] for key in present}).with_columns(lines))


def _parse_lines(block: bytes, first_line: int, where: str, transform: Transform) -> Parsed:
    rows: list[tuple[int, Row]] = []
    problems: list[Problem] = []
    for line, data in enumerate(block.split(b"\n"), first_line):
        if not data.strip():
            continue
        try:
            row = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            problems.append(Problem(where, line, "", _fault(data, error)))
            continue
        if isinstance(row, dict):
            rows.append((line, row))
        else:
            problems.append(Problem(where, line, "", f"is not a JSON object but {type(row).__name__}"))
    parsed = parse_rows(rows, transform, where)
    return Parsed(parsed.frame, problems + parsed.problems)


def _fault(data: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as broken:
        return f"is not UTF-8 (byte 0x{data[broken.start]:02x} at {broken.start + 1}); convert the file to UTF-8"
    return f"is not valid JSON ({error.msg} at character {error.pos + 1})"


def _items(start: bytes, stream: BinaryIO, where: str) -> list[tuple[int, Row]] | None:
    """Return the rows of a file that is one JSON document; none if it is lines of JSON."""
    opening = start.lstrip()[:1]
    if opening == b"[":
        data = start + stream.read()
    elif opening == b"{" and len(start) < BLOCK:  # a table in one object is written in one line, or over many
        data = start
    else:
        return None
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if opening == b"{":
            return None
        text = f"{where} line {error.lineno}: {_fault(data, error)}"
        raise FileError(text, "not_json", number=error.lineno) from error
    items = document if isinstance(document, list) else _table(document)
    if items is None:
        return None
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            text = f"{where} item {number}: is not a JSON object but {type(item).__name__}"
            raise FileError(text, "not_object", unit="item", number=number)
    return list(enumerate(items, 1))


def _table(document: dict[str, Any]) -> list[Row] | None:
    """Return the rows of a frame in one object, in any of the forms of pandas' ``to_json``; none if it is a row."""
    match document:
        case {"columns": [*names], "data": [*rows]}:
            return [dict(zip(names, row, strict=True)) for row in rows]
        case {"data": [dict(), *_] as rows} if KNOWN_HEADINGS.isdisjoint(map(heading, document)):
            return [{name: value for name, value in row.items() if name != "index"} for row in rows]
    values = list(document.values())
    if values and all(isinstance(value, list) for value in values):
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    if not values or not all(isinstance(value, dict) for value in values):
        return None
    keys = list(values[0])
    if all(list(value) == keys for value in values) and any(key in KNOWN_HEADINGS for key in map(heading, keys)):
        return values
    return [{name: column.get(key) for name, column in document.items()} for key in keys]
