"""Tables: the rows of CSV, TSV, JSON lines and JSON lists with their places, read as they come.

Files are bounded, and what cannot be read is refused by its line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import orjson

from goldlabel.collect.messages import message
from goldlabel.collect.refusals import Invalid
from goldlabel.files import data_suffix, one_input_file
from goldlabel.messages import Message

T = TypeVar("T")

MOST_BYTES = 64 << 20
"""What is read of one upload, unpacked; a larger one is imported in parts."""
LONGEST_WORD = 200
"""Characters of a genre, a level, a source or an id."""
LONGEST_META = 20_000
"""Characters of what else a row holds, as JSON."""


def blocks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut what comes into lists of a size, the last one shorter."""
    coming = iter(items)
    while block := list(islice(coming, size)):
        yield block


def refuse_large(size: int, name: str) -> None:
    """Refuse a file of more bytes than are read at once."""
    if size > MOST_BYTES:
        raise Invalid("file_size", file=name, n=MOST_BYTES >> 20)


@contextmanager
def opened(data: bytes | Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked, or what was sent."""
    if isinstance(data, bytes):
        yield io.BytesIO(data)
        return
    with one_input_file(data).open() as stream:
        yield stream


def table_rows(stream: BinaryIO, name: str) -> Iterator[tuple[Message, Any]]:
    """Yield the rows of CSV, TSV, JSON lines or a JSON list with their places, as they come."""
    suffix = data_suffix(name)
    if suffix in (".jsonl", ".json"):
        return _json_rows(stream, name)
    return _cell_rows(lines_of(stream, name, keep_ends=True), suffix, name)


def lines_of(stream: BinaryIO, name: str, *, keep_ends: bool = False) -> Iterator[str]:
    """Yield the lines of a file as they are read, cut at the ends of lines of all systems, and at nothing else."""
    buffered = io.BufferedReader(_Bounded(stream, name), 1 << 18)
    text = io.TextIOWrapper(buffered, encoding="utf-8-sig", errors="surrogateescape", newline="")
    for number, line in enumerate(text, 1):
        if not line.isascii():
            _refuse_bytes(line, name, number)
        yield line if keep_ends else line.rstrip("\r\n")


class _Bounded(io.RawIOBase):
    """A stream that refuses to go on where it is larger than what is read at once."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._stream.read(len(buffer))
        self._size += len(block)
        refuse_large(self._size, self._name)
        buffer[: len(block)] = block
        return len(block)


def _refuse_bytes(line: str, name: str, number: int) -> None:
    """Refuse a line with a byte that is not UTF-8, which stands in it as half a surrogate."""
    try:
        line.encode()
    except UnicodeEncodeError as error:
        byte = f"{ord(line[error.start]) & 0xFF:02x}"
        raise Invalid("not_utf8", file=name, line=number, byte=byte) from None


def _cell_rows(lines: Iterator[str], suffix: str, name: str) -> Iterator[tuple[Message, Any]]:
    bare = suffix == ".tsv"
    reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if bare else csv.reader(lines, strict=True)
    csv.field_size_limit(MOST_BYTES)
    header: list[str] | None = None
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if not cells:
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                twice = next((one for one in header if header.count(one) > 1), None)
                if twice is not None:
                    raise Invalid("column_twice", file=name, line=line, column=twice)
                continue
            if len(cells) != len(header):
                raise Invalid("cells", file=name, line=line, n=len(cells), wanted=len(header))
            yield message("line", n=line), dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise Invalid("not_csv", file=name, line=start, error=error) from error


def _json_rows(stream: BinaryIO, name: str) -> Iterator[tuple[Message, Any]]:
    lines = enumerate(lines_of(stream, name, keep_ends=True), 1)
    first = True
    for number, line in lines:
        if first and line.lstrip().startswith("["):
            text = "".join((line, *(rest for _, rest in lines)))
            for place, item in enumerate(_parsed(text, name, number), 1):
                yield message("item", n=place), item
        elif line.strip():
            first = False
            yield message("line", n=number), _parsed(line.strip(), name, number)


def _parsed(text: str, name: str, line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Invalid("not_json", file=name, line=line + error.lineno - 1, error=error.msg) from error


def refuse_long(row: Any, where: Message) -> None:
    """Refuse a premise or a pair whose genre, source, id or other columns are longer than is kept."""
    for column in ("genre", "source", "level", "original_id", "suggested_by"):
        text = getattr(row, column, None)
        if text is not None and len(text) > LONGEST_WORD:
            raise Invalid("row_long", where=where, column=column, n=len(text), most=LONGEST_WORD)
    size = len(json.dumps(dict(row.meta or {}), ensure_ascii=False, default=str))
    if size > LONGEST_META:
        raise Invalid("row_long", where=where, column="meta", n=size, most=LONGEST_META)
