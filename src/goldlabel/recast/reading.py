"""Reading annotated files: which are meant, and their lines and tables, every row with the line it starts on."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import BinaryIO

from goldlabel.errors import InputError
from goldlabel.files import InputFile

FIELD_LIMIT = 1 << 24
"""Characters that one cell may hold; beyond that a quote was left open."""

_SPLITS = {"train": "train", "valid": "dev", "testa": "dev", "dev": "dev", "testb": "test", "test": "test"}
_SPLIT = re.compile(rf"(?:^|[^a-z])({'|'.join(_SPLITS)})(?:[^a-z]|$)")


def folder_of(file: InputFile) -> PurePosixPath:
    """Return the folder that a file lies in, on disk or in its archive."""
    return PurePosixPath(file.path.as_posix(), file.member or "").parent


def names_of(files: Sequence[InputFile]) -> str:
    """Return the files' names, to say what was given."""
    return ", ".join(file.name for file in files[:12]) + (", …" if len(files) > 12 else "") or "nothing"


def choose(files: Sequence[InputFile], suffixes: str | tuple[str, ...], wanted: str) -> list[InputFile]:
    """Return the files whose names end so; ``wanted`` says what is missing where there is none."""
    chosen = [file for file in files if file.name.lower().endswith(suffixes)]
    if not chosen:
        raise InputError(f"{wanted}; given: {names_of(files)}")
    return chosen


def distinct_names(files: Sequence[InputFile]) -> dict[InputFile, str]:
    """Return each file's name, with as many of its folders as tell it from the others of that name."""
    named: dict[str, list[InputFile]] = {}
    for file in files:
        named.setdefault(file.name, []).append(file)
    names = {}
    for name, sharing in named.items():
        paths = {file: (*folder_of(file).parts, name) for file in sharing}
        for file, path in paths.items():
            depth = 1
            while depth < len(path) and [other[-depth:] for other in paths.values()].count(path[-depth:]) > 1:
                depth += 1
            names[file] = "/".join(path[-depth:])
    return {file: names[file] for file in files}


def split_of(file: InputFile) -> str | None:
    """Return the split that a file's name tells; CoNLL's ``testa`` is for development."""
    match = _SPLIT.search(file.name.lower())
    return _SPLITS[match[1]] if match else None


@contextmanager
def open_text(file: InputFile) -> Iterator[BinaryIO]:
    """Open a file for reading lines; UTF-16 that lacks its mark is told by its NUL bytes."""
    with file.open() as stream:
        if b"\0" in stream.peek(1 << 10)[: 1 << 10]:  # type: ignore[attr-defined]
            raise InputError(f"{file}: holds NUL bytes, as UTF-16 does and text in UTF-8 does not; convert the file")
        yield stream


def text_rows(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield a file's lines as they are, only without the line end."""
    with open_text(file) as stream:
        for line, raw in enumerate(stream, 1):
            try:
                text = raw.decode("utf-8-sig" if line == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(f"{file} line {line}: is not UTF-8; convert the file to UTF-8") from error
            yield line, text.removesuffix("\n").removesuffix("\r")


def header_of(file: InputFile, delimiter: str = ",") -> list[str]:
    """Return the names of a table's columns; a space around a name is no part of it."""
    first = next(text_rows(file), (1, ""))[1]
    try:
        return [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    except csv.Error as error:
        raise InputError(f"{file} line 1: cannot be read as a table ({error})") from error


def table_rows(
    file: InputFile, needed: Sequence[str], *, delimiter: str = ",", quoted: bool = True, filled: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with a header.

    ``needed`` columns must be there, ``filled`` in every row, and every row must be as long as the header. A space
    around a column's name is no part of it: Yang et al.'s own csv begins ``label, text``.
    """
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
                header = [name.strip() for name in row]
                require_columns(file, header, needed)
            elif row:
                if len(row) != len(header):
                    raise InputError(f"{file} line {start}: has {len(row)} columns where the header has {len(header)}")
                cells = dict(zip(header, row, strict=True))
                empty = [name for name in needed if filled and not cells[name].strip()]
                if empty:
                    raise InputError(f"{file} line {start}: has no {empty[0]}")
                yield start, cells
            start = position() + 1
    except csv.Error as error:
        raise InputError(f"{file} line {start}: cannot be read as a table ({error})") from error
    if header is None:
        raise InputError(f"{file} line 1: is empty; a header was expected{': ' if needed else ''}{', '.join(needed)}")


def require_columns(file: InputFile, header: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a table that lacks a column, or names one twice."""
    missing = [name for name in needed if name not in header]
    if missing:
        names = " ".join(", ".join(header[:12]).split())
        raise InputError(f"{file} line 1: column {missing[0]!r} is missing; it has {names}; is it another file?")
    if len({*header}) < len(header):
        raise InputError(f"{file} line 1: a column is named twice; give each its own name")


def _counted(file: InputFile) -> tuple[Iterator[str], Callable[[], int]]:
    """Return the lines with their ends, and what tells how many were read."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for read, text in text_rows(file):  # noqa: B007
            yield f"{text}\n"

    return lines(), lambda: read
