"""Items: what all tools have in common, and the rows of their files with the places where they stand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import orjson

from goldlabel.errors import FileError
from goldlabel.files import InputFile, data_suffix


class Place(str):
    """Where in a file something stands, in words, as its number among lines or items."""

    unit: str
    number: int

    @classmethod
    def at(cls, file: InputFile, unit: str, number: int) -> Place:
        """Return the place of a line or an item."""
        place = cls(f"{file} {unit} {number}")
        place.unit, place.number = unit, number
        return place


Row = tuple[Place, dict[str, Any]]
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

    where: Place
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
        text = f"{file}: exports of annotation tools end in {', '.join(FORMATS)}; choose one of these"
        raise FileError(text, "tool_format", allowed=FORMATS)
    with file.open() as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(f"{file}: is not UTF-8; export it again as UTF-8", "not_utf8") from error
    for where, row in _cells(text, file) if suffix == ".csv" else _objects(text, file):
        if not isinstance(row, dict):
            raise at(where, f"is not an object but {type(row).__name__}", "not_object")
        yield where, row


def at(where: Place, problem: str, fault: str, **parameters: object) -> FileError:
    """Return the error for what is wrong at a place."""
    return FileError(f"{where}: {problem}", fault, unit=where.unit, number=where.number, **parameters)


def one_question(names: Sequence[str], wanted: str | None, where: Place) -> str | None:
    """Return the question to read: the one that is wanted, else the only one; none where nothing was answered."""
    if wanted is not None:
        return wanted if wanted in names else None
    if len(names) > 1:
        told = sorted(names)
        problem = f"holds answers to {', '.join(told)}; name the one meant with --question"
        raise at(where, problem, "several_questions", names=told)
    return names[0] if names else None


def one_label(labels: object, where: Place) -> str | None:
    """Return a label that is given alone, also in a list; none where there is none."""
    if isinstance(labels, list):
        if len(labels) > 1:
            raise several_labels(labels, where)
        labels = labels[0] if labels else None
    if labels is None or isinstance(labels, str):
        return labels or None
    if isinstance(labels, bool) or not isinstance(labels, int | float):
        raise at(where, f"a label is not text but {type(labels).__name__}", "label_not_text")
    return str(labels)


def several_labels(labels: Sequence[object], where: Place) -> FileError:
    """Return the error for a person who gave a pair several labels."""
    problem = f"{len(labels)} labels were chosen at once; a pair has one label a person"
    return at(where, problem, "several_labels", n=len(labels))


def required(row: Mapping[str, Any], name: str, kind: type | tuple[type, ...], where: Place, tool: str) -> Any:
    """Return a field that a tool's export has in every row, or say that this is none of its exports."""
    if name not in row or not isinstance(row[name], kind):
        keys = ", ".join(map(str, row)) or "nothing"
        problem = f"has no field '{name}' as {tool} writes it, but {keys}; check --from"
        raise at(where, problem, "no_field", name=name, tool=tool)
    return row[name]


def optional(row: Mapping[str, Any], name: str, kind: type | tuple[type, ...], where: Place, tool: str) -> Any:
    """Return a field that may be missing or empty."""
    return None if row.get(name) is None else required(row, name, kind, where, tool)


def objects(row: Mapping[str, Any], name: str, where: Place, tool: str) -> list[dict[str, Any]]:
    """Return a list of objects that may be missing or empty."""
    values: list[Any] = optional(row, name, list, where, tool) or []
    if not all(isinstance(value, dict) for value in values):
        problem = f"field '{name}' is no list of objects as {tool} writes it; check --from"
        raise at(where, problem, "no_field", name=name, tool=tool)
    return values


def _objects(text: str, file: InputFile) -> Iterator[tuple[Place, Any]]:
    try:
        if text.lstrip().startswith("["):
            for number, row in enumerate(orjson.loads(text), 1):
                yield Place.at(file, "item", number), row
            return
        if PurePosixPath(file.name).suffix == ".json" and text.strip():
            yield Place.at(file, "item", 1), orjson.loads(text)
            return
    except orjson.JSONDecodeError as error:
        raise at(Place.at(file, "line", error.lineno), f"is not valid JSON ({error.msg})", "not_json") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = Place.at(file, "line", number)
            try:
                yield where, orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise at(where, f"is not valid JSON ({error.msg})", "not_json") from error


def _cells(text: str, file: InputFile) -> Iterator[tuple[Place, Any]]:
    csv.field_size_limit(LARGEST_FIELD)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            where = Place.at(file, "line", reader.line_num)
            if None in row or None in row.values():
                raise at(where, "has another number of columns than the header", "not_csv")
            yield where, {name: value for name, value in row.items() if value != ""}
    except csv.Error as error:
        raise at(Place.at(file, "line", reader.line_num), f"is not valid CSV ({error})", "not_csv") from error
