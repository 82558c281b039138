"""Drawing at random: what is moved together, in which order, and how many of it.

Everything is deterministic on any machine. Units are numbered in the order of their keys, then shuffled by NumPy's
``RandomState``, whose stream is frozen for good (NEP 19); the order of rows in the input plays no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.record import LISTS
from goldlabel.pairs.units import normalised
from goldlabel.seeds import random_state

UNIT = "unit"
"""Draw whole units: pairs of one group or one premise stay together."""
PAIR = "pair"
"""Draw each pair for itself, whatever it shares with others."""


def columns_for(by: str) -> list[str]:
    """Name the columns that tell what is moved together; ``unit`` is the number of the unit."""
    if by == PAIR:
        return []
    if by in (UNIT, "group"):
        return [UNIT]
    return [by] if by in ("premise", "hypothesis") else [UNIT, by]


def moved_together(frame: pl.DataFrame, by: str) -> NDArray[np.int64]:
    """Number for each row what it is moved with: its unit, itself, or the pairs that share a value of a column.

    Texts are compared as everywhere, after normalisation. A pair without a value goes with the first value that its
    unit has elsewhere, else with its unit, so that an empty column takes no unit apart.
    """
    if by in (UNIT, "group"):
        # Of rows that were chosen among others, units are numbered anew, from 0 on.
        return np.unique(frame[UNIT].to_numpy(), return_inverse=True)[1].astype(np.int64)
    if by == PAIR:
        key = pl.col("id")
    elif by in ("premise", "hypothesis"):
        key = normalised(by)
    else:
        refuse_lists([by])
        value = pl.coalesce(pl.col(by), pl.col(by).min().over(UNIT))
        key = pl.struct(value, pl.when(value.is_null()).then(UNIT))
    return frame.select(key.rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def refuse_lists(columns: Sequence[str]) -> None:
    """Refuse columns whose values are lists."""
    for name in columns:
        if name in LISTS:
            raise InputError(f"column {name!r} holds lists, and pairs cannot be told apart by lists; choose another")


def shuffled(count: int, seed: int) -> NDArray[np.int64]:
    """Return the numbers from 0 on in random order."""
    return random_state(seed).permutation(count).astype(np.int64)


def cells(frame: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """Number for each row its combination of values of these columns."""
    refuse_lists(columns)
    if not columns:
        return np.zeros(len(frame), dtype=np.int64)
    return frame.select(pl.struct(columns).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def strata(frame: pl.DataFrame, unit: NDArray[np.int64], columns: Sequence[str]) -> NDArray[np.int64]:
    """Return for each unit the number of the stratum that most of its rows are in; of equals, the first."""
    rows = pl.DataFrame({"stratum": cells(frame, columns), "unit": unit})
    counted = rows.group_by("unit", "stratum").len().sort("len", "stratum", descending=[True, False])
    return counted.group_by("unit", maintain_order=True).first().sort("unit")["stratum"].to_numpy()


def cut_shares(
    unit: NDArray[np.int64],
    stratum: NDArray[np.int64],
    shares: NDArray[np.float64],
    seed: int,
    *,
    rest_to_last: bool = False,
) -> NDArray[np.int64]:
    """Return for each row the number of its part; parts have these shares in all strata alike.

    A unit on a border belongs to the part in which its middle lies or, with ``rest_to_last``, to the last that it
    reaches into, so that no part but the last is ever too large.
    """
    sizes = np.bincount(unit)
    order = shuffled(len(sizes), seed)
    part = np.empty(len(sizes), dtype=np.int64)
    carry = np.zeros(len(shares))
    for value in range(stratum.max(initial=-1) + 1):
        members = order[stratum[order] == value]
        part[members], carry = _cut(sizes[members], shares, carry, rest_to_last)
    return part[unit]


def _cut(
    sizes: NDArray[np.int64], shares: NDArray[np.float64], carry: NDArray[np.float64], rest_to_last: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Cut shuffled units into parts; what rounding took from a part is carried to the next stratum."""
    total = sizes.sum()
    wanted = shares * total + carry
    counts = np.floor(np.clip(wanted, 0, None) + 1e-9)
    for _ in range(round(float(total - counts.sum()))):
        counts[len(shares) - 1 - np.argmax((wanted - counts)[::-1].round(9))] += 1
    # A unit of one pair has its end half a pair after its middle, on the same side of every border.
    place = np.cumsum(sizes) - (0.5 if rest_to_last else sizes / 2)
    parts = np.minimum(np.searchsorted(np.cumsum(counts), place, side="right"), len(shares) - 1)
    got = np.bincount(parts, weights=sizes, minlength=len(shares))
    return parts, wanted - got


def nested_order(unit: NDArray[np.int64], stratum: NDArray[np.int64], ids: pl.Series, seed: int) -> NDArray[np.int64]:
    """Return the rows in an order of which every beginning is alike in the strata, unit after unit."""
    sizes = np.bincount(unit)
    order = shuffled(len(sizes), seed)
    rank = np.empty(len(sizes))
    for value in range(stratum.max(initial=-1) + 1):
        members = order[stratum[order] == value]
        rank[members] = (np.cumsum(sizes[members]) - sizes[members] / 2) / sizes[members].sum()
    place = np.empty(len(sizes), dtype=np.int64)
    place[order[np.argsort(rank[order], kind="stable")]] = np.arange(len(sizes))
    return np.lexsort((ids.rank("ordinal").to_numpy(), place[unit]))


def quotas(cell: NDArray[np.int64], size: int, seed: int) -> NDArray[np.int64]:
    """Share ``size`` out over the cells of these rows in equal numbers; small cells give all they have."""
    present = np.bincount(cell)
    turn = np.concatenate([np.arange(count) for count in present]) if len(present) else np.empty(0, dtype=np.int64)
    owner = np.repeat(np.arange(len(present)), present)
    # The k-th row of every cell comes before the (k+1)-th of any; the last odd ones fall to cells at random.
    favour = shuffled(len(present), seed)
    return np.bincount(owner[np.lexsort((favour[owner], turn))][:size], minlength=len(present))


def shared_out(quota: NDArray[np.int64], first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Part quotas in two, ``first`` in all for the first, in each cell in proportion."""
    upto = np.concatenate([[0], np.cumsum(quota)])
    part = np.diff(np.floor(upto * (first / max(1, upto[-1])) + 0.5).astype(np.int64))
    return part, quota - part


def draw(
    unit: NDArray[np.int64],
    cell: NDArray[np.int64],
    pool: NDArray[np.bool_],
    quota: NDArray[np.int64],
    ids: pl.Series,
    seed: int,
) -> NDArray[np.int64]:
    """Draw rows of the pool until the quotas of their cells are full: whole units first, then parts of units."""
    order = shuffled(int(unit.max(initial=-1)) + 1, seed)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    by_id = ids.rank("ordinal").to_numpy().astype(np.int64) - 1
    rows = np.flatnonzero(pool)
    rows = rows[np.lexsort((shuffled(len(ids), seed)[by_id[rows]], place[unit[rows]]))]
    members = np.split(rows, np.flatnonzero(np.diff(unit[rows])) + 1) if len(rows) else []
    left = +Counter(dict(enumerate(quota.tolist())))
    chosen: list[int] = []
    for whole in (True, False):
        passed_over = []
        for rows in members if left else ():
            fitting = _fitting(rows, cell, left)
            if fitting and (len(fitting) == len(rows) or not whole):
                chosen += fitting
                left -= Counter(cell[fitting].tolist())
            else:
                passed_over.append(rows)
            if not left:
                break
        members = passed_over
    return np.array(chosen, dtype=np.int64)


def _fitting(rows: NDArray[np.int64], cell: NDArray[np.int64], left: Counter[int]) -> list[int]:
    """Return the rows for which the quotas of their cells have room."""
    seen: Counter[int] = Counter()
    fitting = []
    for row, value in zip(rows.tolist(), cell[rows].tolist(), strict=True):
        if seen[value] < left[value]:
            seen[value] += 1
            fitting.append(row)
    return fitting
