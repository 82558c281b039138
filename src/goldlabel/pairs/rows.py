"""From one source row, a dictionary under the source's names, to one under the record's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.messages import option
from goldlabel.pairs.dialects import heading
from goldlabel.pairs.record import COLUMNS, LINE, LISTS, Problem, raw_frame

Row = dict[str, object]
Transform = Callable[[Row], Row]
"""Takes a source's row, returns the record's fields; what it leaves under ``meta`` is kept."""

SNLI_NAMES = {
    "pairID": "id",
    "sentence1": "premise",
    "sentence2": "hypothesis",
    "gold_label": "label",
    "annotator_labels": "votes",
    "captionID": "group",
}
"""SNLI's field names, the common tongue of NLI files, and what they are called in the record."""

KNOWN_NAMES = SNLI_NAMES | {"promptID": "group"} | {name: name for name in COLUMNS}
"""What a reader knows: SNLI's names, MultiNLI's for what SNLI calls a caption, and the record's own."""


@dataclass(frozen=True)
class Parsed:
    """A raw frame, and the rows that could not even be parsed."""

    frame: pl.DataFrame
    problems: list[Problem] = field(default_factory=list)


def field_names(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return file name to record name; ``columns`` is the user's map from record names to file names."""
    names = dict(KNOWN_NAMES)
    for name, column in (columns or {}).items():
        if name not in COLUMNS:
            raise InputError(
                f"{option('columns', {name: column})}: {name!r} is not a column of the record; allowed: "
                f"{', '.join(COLUMNS)}"
            )
        names = {known: target for known, target in names.items() if target != name} | {column: name}
    return names


def by_name(names: Mapping[str, str]) -> Transform:
    """Return the transform that renames fields, whatever their case, and moves all others to ``meta``."""
    headings = {heading(key): name for key, name in names.items()}
    seen: dict[str, str | None] = {}

    def rename(source: Row) -> Row:
        row: Row = {}
        rest: Row = {}
        for key, value in source.items():
            if key not in seen:
                seen[key] = headings.get(heading(key))
            name = seen[key]
            if name is None or name in row:
                rest[key] = value
            elif name == "meta":
                rest |= _as_object(value)
            else:
                row[name] = value
        if rest:
            row["meta"] = rest
        return row

    return rename


def parse_rows(lines: Iterable[tuple[int, Row]], transform: Transform, where: str, unit: str = "line") -> Parsed:
    """Transform numbered rows and type them as the record."""
    rows: list[Row] = []
    problems: list[Problem] = []
    for line, source in lines:
        try:
            row = transform(source)
            rows.append({LINE: line, **{name: typed(name, value) for name, value in row.items()}})
        except InputError as error:
            problems.append(Problem(where, line, "", str(error), unit))
    return Parsed(raw_frame(rows), problems)


def typed(name: str, value: object) -> object:
    """Return a value as the record has it in this column, or refuse one that cannot be."""
    if value is None or name == "meta":
        return to_json(value) if value else None
    if name in LISTS:
        if not isinstance(value, list):
            raise InputError(f"{name} is not a list but {_shown(value)}")
        return [None if item is None else _scalar(name, item) for item in value]
    return _scalar(name, value)


def _scalar(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if name in ("premise", "hypothesis") or not isinstance(value, int | float):
        raise InputError(f"{name} is not text but {_shown(value)}")
    return str(value)


def check_meta(raw: pl.DataFrame, where: str) -> list[Problem]:
    """Return a problem for each row of a raw frame whose ``meta`` is no JSON object."""
    problems = []
    for line, text in raw.select(LINE, "meta").drop_nulls("meta").iter_rows():
        try:
            _as_object(text)
        except InputError as error:
            problems.append(Problem(where, line, "meta", str(error), "row"))
    return problems


def to_json(value: object) -> str:
    """Write a value as compact JSON with sorted keys, so that equal values give equal text."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _as_object(value: object) -> Row:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise InputError(f"meta is not valid JSON ({error.msg})") from error
    if value is not None and not isinstance(value, dict):
        raise InputError(f"meta is not a JSON object but {_shown(value)}")
    return value or {}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
