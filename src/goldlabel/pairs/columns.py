"""Tables taken column by column: where rows need nothing but other names, no row is looked at by itself.

What comes out is what the way over rows gives; a block that needs more than names (a cell that is no text, a number
where a text must stand, a list that is none) is left to it, since it can say where and what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from goldlabel.pairs.record import DTYPES, LINE, LISTS
from goldlabel.pairs.rows import Parsed

Renaming = Callable[[Sequence[str]], Mapping[str, str] | None]
"""Takes a table's names, returns those that the record has, with its own; none if rows need more than that."""

_TEXTS = ("premise", "hypothesis")


def rename_columns(frame: pl.DataFrame, renamed: Mapping[str, str], lines: pl.Series) -> Parsed | None:
    """Return the raw frame of a table under its own names, or none where the rows have to be looked at."""
    meta = [name for name, target in renamed.items() if target == "meta"]
    if not all(_is_blank(frame[name]) for name in meta):
        return None
    frame = frame.drop(meta)
    columns = [lines.alias(LINE)]
    for name, target in renamed.items():
        if target == "meta":
            continue
        dtype = frame.schema[name]
        if dtype != DTYPES[target] and not (dtype.is_integer() and target not in (*_TEXTS, *LISTS)):
            return None
        columns.append(frame[name].cast(DTYPES[target]).alias(target))
    rest = sorted(name for name in frame.columns if name not in renamed)
    if not all(dtype == pl.String or dtype.is_integer() for dtype in frame.select(rest).dtypes):
        return None
    if rest:  # the text that rows.to_json gives: compact, with sorted keys
        columns.append(frame.select(pl.struct(rest).struct.json_encode().alias("meta")).to_series())
    return Parsed(pl.DataFrame(columns))


def _is_blank(column: pl.Series) -> bool:
    return column.null_count() == len(column)
