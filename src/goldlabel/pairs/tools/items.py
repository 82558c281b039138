"""Items: what all tools have in common, and the rows of their files with the places where they stand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import orjson

from goldlabel.errors import InputError
from goldlabel.files import InputFile, data_suffix

Row = tuple[str, dict[str, Any]]
"""Where a row stands, and what it holds."""
FORMATS = (".json", ".jsonl", ".csv")
LARGEST_FIELD = 1 << 27


@dataclass(frozen=True, kw_only=True)
class Vote:
    """What one annotator answered."""

    annotator: str
    label: str
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something that was shown to annotators: its texts by name, their answers, and what models had suggested."""

    where: str
    id: str
    texts: Mapping[str, Any]
    votes: Sequence[Vote] = ()
    suggestions: Sequence[Mapping[str, Any]] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


Tool = Callable[[Sequence[InputFile], str | None], Iterator[Item]]
"""Reads the files of an export; the second argument names the question meant, where there are several."""


def rows_of(file: InputFile) -> Iterator[Row]:
    """Yield the objects of a JSON list, of JSON lines or of CSV."""
    suffix = data_suffix(file.name)
    if suffix not in FORMATS:
        raise InputError(f"{file}: exports of annotation tools end in {', '.join(FORMATS)}; choose one of these")
    with file.open() as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: is not UTF-8; export it again as UTF-8") from error
    for where, row in _cells(text, file) if suffix == ".csv" else _objects(text, file):
        if not isinstance(row, dict):
            raise InputError(f"{where}: is not an object but {type(row).__name__}")
        yield where, row


def one_question(names: Sequence[str], wanted: str | None, where: str) -> str | None:
    """Return the question to read: the one that is wanted, else the only one; none where nothing was answered."""
    if wanted is not None:
        return wanted if wanted in names else None
    if len(names) > 1:
        raise InputError(f"{where}: holds answers to {', '.join(sorted(names))}; name the one meant with --question")
    return names[0] if names else None


def one_label(labels: object, where: str) -> str | None:
    """Return a label that is given alone, also in a list; none where there is none."""
    if isinstance(labels, list):
        if len(labels) > 1:
            raise InputError(f"{where}: {len(labels)} labels were chosen at once; a pair has one label a person")
        labels = labels[0] if labels else None
    if labels is None or isinstance(labels, str):
        return labels or None
    if isinstance(labels, bool) or not isinstance(labels, int | float):
        raise InputError(f"{where}: a label is not text but {type(labels).__name__}")
    return str(labels)


def required(row: Mapping[str, Any], name: str, kind: type | tuple[type, ...], where: str, tool: str) -> Any:
    """Return a field that a tool's export has in every row, or say that this is none of its exports."""
    if not isinstance(row.get(name), kind):
        keys = ", ".join(map(str, row)) or "nothing"
        raise InputError(f"{where}: has no field '{name}' as {tool} writes it, but {keys}; check --from")
    return row[name]


def _objects(text: str, file: InputFile) -> Iterator[tuple[str, Any]]:
    try:
        if text.lstrip().startswith("["):
            for number, row in enumerate(orjson.loads(text), 1):
                yield f"{file} item {number}", row
            return
        if PurePosixPath(file.name).suffix == ".json" and text.strip():
            yield f"{file} item 1", orjson.loads(text)
            return
    except orjson.JSONDecodeError as error:
        raise InputError(f"{file} line {error.lineno}: is not valid JSON ({error.msg})") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"{file} line {number}", orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise InputError(f"{file} line {number}: is not valid JSON ({error.msg})") from error


def _cells(text: str, file: InputFile) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(LARGEST_FIELD)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            where = f"{file} line {reader.line_num}"
            if None in row or None in row.values():
                raise InputError(f"{where}: has another number of columns than the header")
            yield where, {name: value for name, value in row.items() if value != ""}
    except csv.Error as error:
        raise InputError(f"{file} line {reader.line_num}: is not valid CSV ({error})") from error
