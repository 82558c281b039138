"""Splits: plans that say which pair goes where.

Every plan that draws keeps units together unless told otherwise (``by``): a group or a premise that is in two splits
lets a model be tested on what it was trained on. Where a plan wants no more of a unit than a part, the rest of it is
in ``none``, which is never trained or judged on beside other splits. ``drawing`` says how, and why it is the same on
any machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.drawing import (
    UNIT,
    cells,
    columns_for,
    cut_shares,
    draw,
    moved_together,
    nested_order,
    quotas,
    refuse_lists,
    shared_out,
    shuffled,
    strata,
)
from goldlabel.pairs.groups import column_values, group_columns, refuse_missing
from goldlabel.pairs.record import COLUMNS, SPLITS
from goldlabel.pairs.result import Result
from goldlabel.pairs.units import normalised, units_of

DROPPED = "dropped"
"""The mark of a pair that a plan leaves out."""


class Plan(Protocol):
    """Assigns a split, or ``DROPPED``, to each row of a frame without its texts changed."""

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at; ``unit`` is the number of each pair's unit."""

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""

    def describe(self) -> str:
        """Say in a few words what was done."""


@runtime_checkable
class Promising(Protocol):
    """A plan after which splits ought to have a certain size at least; where they have not, the result says so."""

    def least_sizes(self) -> Mapping[str, int]:
        """Return the fewest pairs that each split ought to have."""


@dataclass(frozen=True, repr=False)
class Split(Result):
    """Pairs with their new splits, what was left out, and what did not come as the plan wanted."""

    pairs: Pairs
    splits: Mapping[str, int]
    dropped: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was split and what was dropped."""
        return f"{self.pairs.card.name}: {many(sum(self.splits.values()), 'pair')}, {self.dropped:,} dropped"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split and label."""
        return self.pairs.table

    def to_dict(self) -> dict[str, Any]:
        """Return the size of each split."""
        return {"splits": dict(self.splits), "dropped": self.dropped, "seed": self.seed, "notes": list(self.notes)}


def apply_plan(pairs: Pairs, plan: Plan, *, seed: int = 0) -> Split:
    """Apply a plan to pairs."""
    names = list(dict.fromkeys(["id", "split", *plan.columns()]))
    stored = [name for name in names if name != UNIT]
    for name in stored:
        if name not in COLUMNS:
            group_columns((name,))
    # Of votes, plans look at how many there are.
    counted = pl.col("votes").list.eval(pl.element().is_null())
    columns = (counted if name == "votes" else column_values(name) for name in stored)
    frame = pairs.frame.select(*columns).collect(engine="streaming")
    refuse_missing(frame, stored)
    if UNIT in names:
        frame = frame.with_columns(pl.Series(UNIT, units_of(pairs.frame)))
    assigned = plan.assign(frame, seed)
    kept = assigned != DROPPED
    counts = dict(assigned.filter(kept).value_counts().iter_rows())
    lazy = pairs.frame.drop("split").with_columns(assigned.alias("split")).select(COLUMNS)
    if not kept.all():
        lazy = lazy.filter(pl.col("split") != DROPPED)
    step = f"split with seed {seed}: {plan.describe()}"
    return Split(
        Pairs(lazy, pairs.card.with_step(step)),
        {name: counts[name] for name in SPLITS if name in counts},
        int((~kept).sum()),
        seed,
        _shortfalls(plan.least_sizes(), counts) if isinstance(plan, Promising) and len(frame) else (),
    )


def _shortfalls(least: Mapping[str, int], counts: Mapping[str, int]) -> tuple[str, ...]:
    why = "there are too few units, or too large ones"
    return tuple(
        f"{name} has {many(counts[name], 'pair')} where {size:,} were wanted: {why}"
        if name in counts
        else f"{name} stays empty: {why}"
        for name, size in least.items()
        if counts.get(name, 0) < size
    )


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Shares of all pairs, whole units of them, and alike in the ``stratify`` columns.

    ``by`` says what stays together: ``"unit"``, ``"pair"`` (each pair for itself), or a column, of which whatever
    shares a value does. A unit counts for the stratum that most of its pairs are in.
    """

    ratios: str = "80:10:10"
    by: str = UNIT
    stratify: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return [*columns_for(self.by), *self.stratify]

    def describe(self) -> str:
        """Say in a few words what was done."""
        alike = f", stratified by {' and '.join(self.stratify)}" if self.stratify else ""
        return f"{self.ratios}, by {self.by}{alike}"

    def least_sizes(self) -> Mapping[str, int]:
        """Return that no split with a share ought to be empty."""
        shares, names = self._shares()
        return {name: 1 for name, share in zip(names, shares, strict=True) if share > 0}

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        shares, names = self._shares()
        unit = moved_together(frame, self.by)
        part = cut_shares(unit, strata(frame, unit, self.stratify), shares, seed)
        return pl.Series("split", names)[part]

    def _shares(self) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        try:
            parts = [float(part) for part in self.ratios.split(":")]
        except ValueError:
            parts = []
        defaults = {2: ("train", "test"), 3: ("train", "dev", "test")}
        names = self.names or defaults.get(len(parts), ())
        if len(parts) != len(names) or min(parts, default=0) < 0 or not 0 < sum(parts) < float("inf"):
            raise InputError(
                f"ratios {self.ratios!r} are not understood; give two (train:test) or three (train:dev:test) "
                "numbers such as 80:10:10"
            )
        return np.array(parts) / sum(parts), names


@dataclass(frozen=True, kw_only=True)
class Halves:
    """Everything in two equal halves, dev and test; what cannot be halved goes to test.

    With ``dev_at_most``, dev stops growing there and test takes the rest (10,000 in Zhang et al. 2020, Table 4).
    """

    by: str = UNIT
    stratify: tuple[str, ...] = ()
    dev_at_most: int | None = None

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return [*columns_for(self.by), *self.stratify]

    def describe(self) -> str:
        """Say in a few words what was done."""
        most = f", dev of {self.dev_at_most:,} at most" if self.dev_at_most is not None else ""
        return f"halved into dev and test by {self.by}{most}"

    def least_sizes(self) -> Mapping[str, int]:
        """Return that neither half ought to be empty."""
        return {"dev": 0 if self.dev_at_most == 0 else 1, "test": 1}

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        dev = len(frame) / 2 if self.dev_at_most is None else min(len(frame) // 2, self.dev_at_most)
        shares = np.array([dev, len(frame) - dev]) / max(1, len(frame))
        unit = moved_together(frame, self.by)
        part = cut_shares(unit, strata(frame, unit, self.stratify), shares, seed, rest_to_last=True)
        return pl.Series("split", ["dev", "test"])[part]


@dataclass(frozen=True, kw_only=True)
class DevAsTest:
    """The released dev becomes test, and as many pairs drawn from train become dev.

    For corpora whose test labels are not public (MultiNLI in Zhang et al. 2020, section 2.2): the released test plays
    no part there and is dropped. Training pairs that share a unit with the new dev or test are in ``none``.
    """

    by: str = UNIT

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return columns_for(self.by)

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"dev used as test, a new dev of its size drawn from train by {self.by}, the old test dropped"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        split = frame["split"].to_numpy()
        released, train, unit = split == "dev", split == "train", moved_together(frame, self.by)
        pool = train & ~_touched(unit, released)
        size = int(released.sum())
        if size == 0 or pool.sum() < size:
            raise InputError(
                f"a dev split and a larger train split are needed; there are {size} pairs in dev, and {pool.sum()} in "
                "train share nothing with them"
            )
        drawn = draw(unit, np.zeros(len(frame), dtype=np.int64), pool, np.array([size]), frame["id"], seed)
        assigned = split.astype(object)
        assigned[split == "test"] = DROPPED
        assigned[released] = "test"
        assigned[drawn] = "dev"
        return _closed(assigned, unit)


@dataclass(frozen=True, kw_only=True)
class ExcludeOverlap:
    """Drop training pairs that share a value of ``column`` with dev or test (OCNLI's 50k becomes 30k).

    Premises and hypotheses are compared as everywhere, after normalisation.
    """

    column: str = "premise"

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return [self.column]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"training pairs dropped whose {self.column} is in dev or test"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the old split of each row, or that it is dropped."""
        refuse_lists([self.column])
        held_out = pl.col("split").is_in(["dev", "test"])
        if not frame.select(held_out.any()).item():
            raise InputError("there is no dev or test split to overlap with; split first, for example by ratios")
        compared = normalised(self.column) if self.column in ("premise", "hypothesis") else pl.col(self.column)
        frame = frame.select("split", compared.alias("value"))
        taken = frame.filter(held_out)["value"].drop_nulls().unique()
        overlapping = (pl.col("split") == "train") & pl.col("value").is_in(taken.implode())
        return frame.select(
            pl.when(overlapping.fill_null(False)).then(pl.lit(DROPPED)).otherwise("split").alias("split")
        )["split"]


@dataclass(frozen=True, kw_only=True)
class Subset:
    """Keep ``size`` training pairs, unit after unit; with one seed, a smaller subset lies inside every larger one.

    Where there is no training split, all pairs are drawn from and become one. Any beginning of the order is
    alike in the ``stratify`` columns. Of the last unit, what goes beyond ``size`` is dropped.
    """

    size: int
    by: str = UNIT
    stratify: tuple[str, ...] = ()

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return [*columns_for(self.by), *self.stratify]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"{self.size} training pairs kept by {self.by}, nested"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return train for the pairs kept; dev and test stay."""
        split = frame["split"].to_numpy()
        candidates = np.flatnonzero(split == "train") if (split == "train").any() else np.arange(len(frame))
        if not 0 < self.size <= len(candidates):
            raise InputError(f"a subset of {self.size} cannot be drawn from {len(candidates)} pairs")
        chosen_from = frame[candidates]
        unit = moved_together(chosen_from, self.by)
        order = nested_order(unit, strata(chosen_from, unit, self.stratify), chosen_from["id"], seed)
        assigned = split.astype(object)
        assigned[candidates] = DROPPED
        assigned[candidates[order[: self.size]]] = "train"
        return pl.Series("split", assigned, dtype=pl.String)


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Dev and test from verified pairs only, balanced; all others go to train.

    A pair is verified when it has ``min_votes`` votes or more. ``balance`` columns get equal shares as far
    as the pairs reach. Pairs that share a unit with dev or test and are in neither are in ``none``.
    """

    dev: int
    test: int
    by: str = UNIT
    balance: tuple[str, ...] = ("level",)
    min_votes: int = 5

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["votes", *columns_for(self.by), *self.balance]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return (
            f"{self.dev} dev and {self.test} test pairs from verified ones by {self.by}, "
            f"balanced by {' and '.join(self.balance)}"
        )

    def least_sizes(self) -> Mapping[str, int]:
        """Return the sizes asked for."""
        return {"dev": self.dev, "test": self.test}

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        verified = frame["votes"].list.len().to_numpy() >= self.min_votes
        if verified.sum() < self.dev + self.test:
            raise InputError(
                f"{self.dev} + {self.test} verified pairs are wanted and {verified.sum()} have "
                f"{self.min_votes} votes or more; ask for fewer"
            )
        cell = cells(frame, self.balance)
        dev, test = shared_out(quotas(cell[verified], self.dev + self.test, seed), self.dev)
        return _held_out(frame, self.by, cell, {"test": (verified, test), "dev": (verified, dev)}, seed)


@dataclass(frozen=True, kw_only=True)
class ExclusiveWriters:
    """Test from writers of whom nothing reaches train or dev, balanced by label and genre.

    Without ``writers``, writers are drawn until their pairs suffice. Dev is drawn from the other writers, balanced
    alike. The exclusive writers' pairs beyond ``test`` are in ``none``, and so are others' pairs that share a unit
    with dev or test.
    """

    test: int
    dev: int = 0
    by: str = UNIT
    writers: tuple[str, ...] = ()
    balance: tuple[str, ...] = ("label", "genre")

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["writer", *columns_for(self.by), *self.balance]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"{self.test} test pairs from exclusive writers, {self.dev} dev pairs from the others, by {self.by}"

    def least_sizes(self) -> Mapping[str, int]:
        """Return the sizes asked for."""
        return {"dev": self.dev, "test": self.test}

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        writers = self.writers or self._draw(frame, seed)
        unknown = sorted(set(writers) - set(frame["writer"].unique()))
        if unknown:
            raise InputError(f"writer {unknown[0]!r} wrote none of these pairs")
        theirs = frame["writer"].is_in(list(writers)).fill_null(False).to_numpy()
        if theirs.sum() < self.test or (~theirs).sum() < self.dev:
            raise InputError(
                f"{self.test} test and {self.dev} dev pairs are wanted; the exclusive writers have {theirs.sum()} "
                f"pairs, the others {(~theirs).sum()}"
            )
        cell = cells(frame, self.balance)
        pools = {
            "test": (theirs, quotas(cell[theirs], self.test, seed)),
            "dev": (~theirs, quotas(cell[~theirs], self.dev, seed)),
        }
        assigned = _held_out(frame, self.by, cell, pools, seed)
        return assigned.set(pl.Series(theirs) & (assigned == "train"), "none")

    def _draw(self, frame: pl.DataFrame, seed: int) -> list[str]:
        sizes = frame.drop_nulls("writer").group_by("writer").len().sort("writer")
        drawn = sizes[shuffled(len(sizes), seed)]
        enough = drawn["len"].cum_sum().shift(1, fill_value=0) < self.test
        return drawn["writer"].filter(enough).to_list()


def _held_out(
    frame: pl.DataFrame,
    by: str,
    cell: NDArray[np.int64],
    pools: Mapping[str, tuple[NDArray[np.bool_], NDArray[np.int64]]],
    seed: int,
) -> pl.Series:
    """Draw each split from its pool by its quotas, one after the other; all others are train."""
    unit = moved_together(frame, by)
    assigned = np.full(len(frame), "train", dtype=object)
    for name, (pool, quota) in pools.items():
        free = pool & ~_touched(unit, assigned != "train")
        assigned[draw(unit, cell, free, quota, frame["id"], seed)] = name
    return _closed(assigned, unit)


def _touched(unit: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say of each row whether its unit has any of these rows."""
    return np.bincount(unit, weights=rows)[unit] > 0


def _closed(assigned: NDArray[np.object_], unit: NDArray[np.int64]) -> pl.Series:
    """Put into ``none`` what is left in train of units that dev or test has."""
    leaking = (assigned == "train") & _touched(unit, (assigned == "dev") | (assigned == "test"))
    return pl.Series("split", np.where(leaking, "none", assigned), dtype=pl.String)
