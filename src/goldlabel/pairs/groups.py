"""Groups of pairs by the values of some columns, and how they are called."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.record import COLUMNS, LISTS
from goldlabel.registry import suggest

Key = tuple[str | None, ...]
"""The values of the columns that make a group, ``None`` where a pair has no value; the whole has none."""

ALL: Key = ()
GROUPABLE = tuple(name for name in COLUMNS if name not in ("id", "premise", "hypothesis", "votes", "meta"))
"""The columns that pairs can be grouped by, in every command; beside them, ``meta.FIELD``."""
META = "meta."
_WHOLE, _NO_VALUE = "all", "(none)"


def group_columns(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that pairs shall be grouped by: one, or several joined by commas or in a sequence."""
    names = tuple(by.split(",")) if isinstance(by, str) else tuple(by or ())
    for name in names:
        if name not in GROUPABLE and not re.fullmatch(r"meta\.\w+", name):
            raise InputError(f"there is no column {name!r} to group by; {suggest(name, list(GROUPABLE))}, meta.FIELD")
    return names


def column_values(name: str) -> pl.Expr:
    """Return the values of a column, or of a field of ``meta`` as text."""
    if not name.startswith(META):
        return pl.col(name)
    return pl.col("meta").str.json_path_match(f"$.{name.removeprefix(META)}").alias(name)


def refuse_missing(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse a field of ``meta`` that no pair has."""
    for name in columns:
        if name.startswith(META) and frame[name].null_count() == len(frame):
            raise InputError(f"no pair has {name} to group by; 'goldlabel data head --json' shows what meta holds")


def group_rows(frame: pl.DataFrame, columns: tuple[str, ...]) -> dict[Key, NDArray[np.bool_] | None]:
    """Return which rows each group has, the whole first, which has them all.

    A row is in one group for each value of a column of lists, and so in several.
    """
    groups: dict[Key, NDArray[np.bool_] | None] = {ALL: None}
    if not columns:
        return groups
    values = frame.select(columns).with_row_index("row")
    refuse_missing(values, columns)
    for name in LISTS:
        if name in columns:
            values = values.explode(name)
    for *key, rows in values.group_by(columns).agg("row").sort(columns).iter_rows():
        chosen = np.zeros(len(frame), dtype=np.bool_)
        chosen[rows] = True
        groups[tuple(key)] = chosen
    return groups


def group_name(key: Key) -> str:
    """Return the key that JSON has for a group: the value of one column, the list of the values of several.

    A value that could be taken for something else is a list too.
    """
    if key == ALL:
        return _WHOLE
    value = _NO_VALUE if key[0] is None else key[0]
    mistakable = key[0] in (_WHOLE, _NO_VALUE) or value.startswith("[")
    return json.dumps(key, ensure_ascii=False) if len(key) > 1 or mistakable else value


def group_title(key: Key) -> str:
    """Return what a table calls a group."""
    return ", ".join(_NO_VALUE if value is None else value for value in key) or _WHOLE
