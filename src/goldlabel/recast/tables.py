"""Reading tables and lines of annotations, every row with the line it starts on."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence

from goldlabel.errors import InputError
from goldlabel.files import InputFile

FIELD_LIMIT = 1 << 24
"""Characters that one cell may hold; beyond that a quote was left open."""


def text_rows(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield a file's lines as they are, only without the line end."""
    with file.open() as stream:
        for line, raw in enumerate(stream, 1):
            try:
                text = raw.decode("utf-8-sig" if line == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(f"{file} line {line}: is not UTF-8; convert the file to UTF-8") from error
            yield line, text.removesuffix("\n").removesuffix("\r")


def table_rows(
    file: InputFile, needed: Sequence[str], *, delimiter: str = ",", quoted: bool = True
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with a header; ``needed`` columns must be there, and every row must fill the header."""
    lines, position = _counted(file)
    csv.field_size_limit(FIELD_LIMIT)
    if quoted:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    header: list[str] | None = None
    start = 1
    try:
        for row in reader:
            if header is None:
                header = row
                _require(file, header, needed)
            elif row:
                if len(row) != len(header):
                    raise InputError(f"{file} line {start}: has {len(row)} columns where the header has {len(header)}")
                yield start, dict(zip(header, row, strict=True))
            start = position() + 1
    except csv.Error as error:
        raise InputError(f"{file} line {start}: cannot be read as a table ({error})") from error
    if header is None:
        raise InputError(f"{file} line 1: is empty; columns {', '.join(needed)} were expected")


def _counted(file: InputFile) -> tuple[Iterator[str], Callable[[], int]]:
    """Return the lines with their ends, and what tells how many were read."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for read, text in text_rows(file):  # noqa: B007
            yield f"{text}\n"

    return lines(), lambda: read


def _require(file: InputFile, header: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            f"{file} line 1: column {missing[0]!r} is missing; it has {', '.join(header[:12])}; is it another file?"
        )
    if len({*header}) < len(header):
        raise InputError(f"{file} line 1: a column is named twice; give each its own name")
