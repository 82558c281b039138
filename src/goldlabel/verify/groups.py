"""Groups of pairs by the values of some columns, and how they are called."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from goldlabel.pairs import Pairs

Key = tuple[str | None, ...]
"""The values of the columns that make a group, ``None`` where a pair has no value; the whole has none."""

ALL: Key = ()
_WHOLE, _NO_VALUE = "all", "(none)"


def group_rows(pairs: Pairs, columns: tuple[str, ...]) -> dict[Key, NDArray[np.bool_] | None]:
    """Return which pairs each group has, the whole first, which has them all."""
    groups: dict[Key, NDArray[np.bool_] | None] = {ALL: None}
    if not columns:
        return groups
    frame = pairs.frame.select(columns).collect(engine="streaming")
    for *key, rows in frame.with_row_index("row").group_by(columns).agg("row").sort(columns).iter_rows():
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
