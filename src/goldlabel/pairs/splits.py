"""Splits: plans that say which pair goes where.

Every plan is deterministic on any machine. Units (pairs or groups) are sorted by their key, then shuffled by
NumPy's ``RandomState``, whose stream is frozen for good (NEP 19); the order of rows in the input plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.record import COLUMNS, LISTS, SPLITS
from goldlabel.pairs.result import Result
from goldlabel.registry import suggest
from goldlabel.seeds import random_state

DROPPED = "dropped"
"""The mark of a pair that a plan leaves out."""


class Plan(Protocol):
    """Assigns a split, or ``DROPPED``, to each row of a frame without its texts changed."""

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""

    def describe(self) -> str:
        """Say in a few words what was done."""


@dataclass(frozen=True, repr=False)
class Split(Result):
    """Pairs with their new splits, and what was left out."""

    pairs: Pairs
    splits: Mapping[str, int]
    dropped: int
    seed: int

    @property
    def title(self) -> str:
        """What was split and what was dropped."""
        return f"{self.pairs.card.name}: {sum(self.splits.values()):,} pairs, {self.dropped:,} dropped"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split and label."""
        return self.pairs.table

    def to_dict(self) -> dict[str, Any]:
        """Return the size of each split."""
        return {"splits": dict(self.splits), "dropped": self.dropped, "seed": self.seed}


def apply_plan(pairs: Pairs, plan: Plan, *, seed: int = 0) -> Split:
    """Apply a plan to pairs."""
    names = list(dict.fromkeys(["id", "split", *plan.columns()]))
    for name in names:
        if name not in COLUMNS:
            raise InputError(f"there is no column {name!r}; {suggest(name, list(COLUMNS))}")
    frame = pairs.frame.select(names).collect(engine="streaming")
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
    )


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Shares of all pairs, at random or by group, and alike in the ``stratify`` columns.

    With ``by``, whatever shares a value of that column stays together; where it is null, the pair stands for
    itself. A group counts for the stratum that most of its pairs are in.
    """

    ratios: str = "80:10:10"
    by: str | None = None
    stratify: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return [*([self.by] if self.by else []), *self.stratify]

    def describe(self) -> str:
        """Say in a few words what was done."""
        by = f", by {self.by}" if self.by else ""
        return f"{self.ratios}{by}{', stratified by ' + ' and '.join(self.stratify) if self.stratify else ''}"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        shares, names = self._shares()
        unit = _units(frame, self.by)
        size = np.bincount(unit)
        stratum = _strata(frame, unit, self.stratify)
        order = _shuffled(len(size), seed)
        part = np.empty(len(size), dtype=np.int64)
        carry = np.zeros(len(shares))
        for value in range(stratum.max(initial=-1) + 1):
            members = order[stratum[order] == value]
            part[members], carry = _cut(size[members], shares, carry)
        return pl.Series("split", names)[part[unit]]

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
    """Everything in two equal halves, dev and test; of an odd number, test takes the odd one.

    With ``dev_at_most``, dev stops growing there and test takes the rest (10,000 in Zhang et al. 2020, Table 4).
    """

    by: str | None = None
    stratify: tuple[str, ...] = ()
    dev_at_most: int | None = None

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return self._ratios(0).columns()

    def describe(self) -> str:
        """Say in a few words what was done."""
        most = f", dev of {self.dev_at_most:,} at most" if self.dev_at_most is not None else ""
        return f"halved into dev and test{most}"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        return self._ratios(len(frame)).assign(frame, seed)

    def _ratios(self, pairs: int) -> Ratios:
        capped = self.dev_at_most is not None and pairs // 2 > self.dev_at_most
        ratios = f"{self.dev_at_most}:{pairs - (self.dev_at_most or 0)}" if capped else "50:50"
        return Ratios(ratios=ratios, by=self.by, stratify=self.stratify, names=("dev", "test"))


@dataclass(frozen=True, kw_only=True)
class DevAsTest:
    """The released dev becomes test, and as many pairs drawn from train become dev.

    For corpora whose test labels are not public (MultiNLI in Zhang et al. 2020, section 2.2).
    """

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return []

    def describe(self) -> str:
        """Say in a few words what was done."""
        return "dev used as test, a new dev of its size drawn from train"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        split = frame["split"].to_numpy()
        released, train = split == "dev", np.flatnonzero(split == "train")
        size = int(released.sum())
        if size == 0 or len(train) < size:
            raise InputError(
                f"a dev split and a larger train split are needed; there are {size} and {len(train)} pairs"
            )
        assigned = split.astype(object)
        assigned[released] = "test"
        assigned[train[_balanced(frame[train], size, (), seed)]] = "dev"
        return pl.Series("split", assigned, dtype=pl.String)


@dataclass(frozen=True, kw_only=True)
class ExcludeOverlap:
    """Drop training pairs that share a value of ``column`` with dev or test (OCNLI's 50k becomes 30k)."""

    column: str = "premise"

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return [self.column]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"training pairs dropped whose {self.column} is in dev or test"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the old split of each row, or that it is dropped."""
        _refuse_lists([self.column])
        held_out = pl.col("split").is_in(["dev", "test"])
        if not frame.select(held_out.any()).item():
            raise InputError("there is no dev or test split to overlap with; split first, for example by ratios")
        taken = frame.filter(held_out)[self.column].drop_nulls().unique()
        overlapping = (pl.col("split") == "train") & pl.col(self.column).is_in(taken.implode())
        return frame.select(
            pl.when(overlapping.fill_null(False)).then(pl.lit(DROPPED)).otherwise("split").alias("split")
        )["split"]


@dataclass(frozen=True, kw_only=True)
class Subset:
    """Keep ``size`` training pairs; with one seed, a smaller subset lies inside every larger one.

    Where there is no training split, all pairs are drawn from and become one. Any prefix of the order is
    alike in the ``stratify`` columns.
    """

    size: int
    stratify: tuple[str, ...] = ()

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return self.stratify

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"{self.size} training pairs kept, nested"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return train for the pairs kept; dev and test stay."""
        split = frame["split"].to_numpy()
        candidates = np.flatnonzero(split == "train") if (split == "train").any() else np.arange(len(frame))
        if not 0 < self.size <= len(candidates):
            raise InputError(f"a subset of {self.size} cannot be drawn from {len(candidates)} pairs")
        chosen_from = frame[candidates]
        unit = _units(chosen_from, None)
        stratum = _strata(chosen_from, unit, self.stratify)
        order = _shuffled(len(unit), seed)
        rank = np.empty(len(unit))
        for value in range(stratum.max(initial=-1) + 1):
            members = order[stratum[order] == value]
            rank[members] = (np.arange(len(members)) + 0.5) / len(members)
        kept = np.zeros(len(unit), dtype=bool)
        kept[order[np.argsort(rank[order], kind="stable")][: self.size]] = True
        assigned = split.astype(object)
        assigned[candidates] = np.where(kept[unit], "train", DROPPED)
        return pl.Series("split", assigned, dtype=pl.String)


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Dev and test from verified pairs only, balanced; all others go to train.

    A pair is verified when it has ``min_votes`` votes or more. ``balance`` columns get equal shares as far
    as the pairs reach.
    """

    dev: int
    test: int
    balance: tuple[str, ...] = ("level",)
    min_votes: int = 5

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["votes", *self.balance]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"{self.dev} dev and {self.test} test pairs from verified ones, balanced by {' and '.join(self.balance)}"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        verified = np.flatnonzero(frame["votes"].list.len().to_numpy() >= self.min_votes)
        if len(verified) < self.dev + self.test:
            raise InputError(
                f"{self.dev} + {self.test} verified pairs are wanted and {len(verified)} have "
                f"{self.min_votes} votes or more; ask for fewer"
            )
        chosen = verified[_balanced(frame[verified], self.dev + self.test, self.balance, seed)]
        return _held_out(
            frame,
            chosen,
            Ratios(ratios=f"{self.dev}:{self.test}", names=("dev", "test"), stratify=self.balance),
            seed,
        )


@dataclass(frozen=True, kw_only=True)
class ExclusiveWriters:
    """Test from writers of whom nothing reaches train or dev, balanced by label and genre.

    Without ``writers``, writers are drawn until their pairs suffice. Their pairs beyond ``test`` are dropped.
    Dev is drawn from the other writers, balanced alike.
    """

    test: int
    dev: int = 0
    writers: tuple[str, ...] = ()
    balance: tuple[str, ...] = ("label", "genre")

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["writer", *self.balance]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"{self.test} test pairs from exclusive writers, {self.dev} dev pairs from the others"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        writers = self.writers or self._draw(frame, seed)
        unknown = sorted(set(writers) - set(frame["writer"].unique()))
        if unknown:
            raise InputError(f"writer {unknown[0]!r} wrote none of these pairs")
        exclusive = frame["writer"].is_in(list(writers)).fill_null(False).to_numpy()
        theirs, others = np.flatnonzero(exclusive), np.flatnonzero(~exclusive)
        if len(theirs) < self.test or len(others) < self.dev:
            raise InputError(
                f"{self.test} test and {self.dev} dev pairs are wanted; the exclusive writers have {len(theirs)} "
                f"pairs, the others {len(others)}"
            )
        assigned = np.full(len(frame), "train", dtype=object)
        assigned[theirs] = DROPPED
        assigned[theirs[_balanced(frame[theirs], self.test, self.balance, seed)]] = "test"
        assigned[others[_balanced(frame[others], self.dev, self.balance, seed)]] = "dev"
        return pl.Series("split", assigned, dtype=pl.String)

    def _draw(self, frame: pl.DataFrame, seed: int) -> list[str]:
        sizes = frame.drop_nulls("writer").group_by("writer").len().sort("writer")
        drawn = sizes[_shuffled(len(sizes), seed)]
        enough = drawn["len"].cum_sum().shift(1, fill_value=0) < self.test
        return drawn["writer"].filter(enough).to_list()


def _refuse_lists(columns: Sequence[str]) -> None:
    for name in columns:
        if name in LISTS:
            raise InputError(f"column {name!r} holds lists, and pairs cannot be told apart by lists; choose another")


def _shuffled(count: int, seed: int) -> NDArray[np.int64]:
    return random_state(seed).permutation(count).astype(np.int64)


def _units(frame: pl.DataFrame, by: str | None) -> NDArray[np.int64]:
    """Return for each row the number of what it is moved with, its group or itself, in the order of their keys."""
    _refuse_lists([by] if by else [])
    alone = pl.col("id") if by is None else pl.concat_str(pl.lit("\0"), pl.col("id"))
    key = alone if by is None else pl.coalesce(pl.col(by), alone)
    return frame.select(key.rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def _strata(frame: pl.DataFrame, unit: NDArray[np.int64], columns: Sequence[str]) -> NDArray[np.int64]:
    """Return for each unit the number of the stratum that most of its rows are in; of equals, the first."""
    _refuse_lists(columns)
    if not columns:
        return np.zeros(unit.max(initial=-1) + 1, dtype=np.int64)
    rows = frame.select(pl.struct(columns).rank("dense").cast(pl.Int64).alias("stratum") - 1, pl.Series("unit", unit))
    counted = rows.group_by("unit", "stratum").len().sort("len", "stratum", descending=[True, False])
    return counted.group_by("unit", maintain_order=True).first().sort("unit")["stratum"].to_numpy()


def _cut(
    sizes: NDArray[np.int64], shares: NDArray[np.float64], carry: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Cut shuffled units into parts; what rounding took from a part is carried to the next stratum."""
    total = sizes.sum()
    wanted = shares * total + carry
    counts = np.floor(np.clip(wanted, 0, None) + 1e-9)
    for _ in range(round(float(total - counts.sum()))):
        counts[len(shares) - 1 - np.argmax((wanted - counts)[::-1].round(9))] += 1
    bounds = np.cumsum(counts)
    middle = np.cumsum(sizes) - sizes / 2
    parts = np.minimum(np.searchsorted(bounds, middle, side="right"), len(shares) - 1)
    got = np.bincount(parts, weights=sizes, minlength=len(shares))
    return parts, wanted - got


def _balanced(frame: pl.DataFrame, size: int, by: Sequence[str], seed: int) -> NDArray[np.int64]:
    """Draw ``size`` rows with equal numbers from each cell of ``by``; small cells give all they have."""
    _refuse_lists(by)
    cell = pl.struct(by).rank("dense") if by else pl.lit(0)
    units = frame.with_row_index("row").select("row", "id", cell.alias("cell")).sort("id")
    shuffled = units[_shuffled(len(units), seed)]
    # The k-th row of every cell comes before the (k+1)-th of any.
    ranked = shuffled.with_columns(pl.int_range(pl.len()).over("cell").alias("turn"))
    return ranked.sort("turn", maintain_order=True)["row"].head(size).to_numpy().astype(np.int64)


def _held_out(frame: pl.DataFrame, chosen: NDArray[np.int64], plan: Ratios, seed: int) -> pl.Series:
    assigned = np.full(len(frame), "train", dtype=object)
    assigned[chosen] = plan.assign(frame[chosen], seed).to_numpy()
    return pl.Series("split", assigned, dtype=pl.String)
