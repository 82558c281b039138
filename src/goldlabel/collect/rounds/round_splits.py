"""The splits of rounds: each round has its own dev and test, fixed when it closes (Nie et al. 2020, section 2.1).

Dev and test hold verified pairs with a label. Test has equally many of each label, each of its genres as equal as the
pairs reach, and those of exclusive writers before others'. Half of what is verified, at least, is left to learn from.
No context is in two splits, in whatever rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.collect.data.splits import LEAST_VOTES
from goldlabel.pairs.drawing import UNIT, cells, columns_for, draw, moved_together, quotas
from goldlabel.pairs.labels import NO_GOLD

BALANCE = ("label", "genre")
LARGEST_SHARE = 4
"""Dev, and test but for what exclusive writers wrote, have at most a quarter of a round's verified pairs."""

Rows = NDArray[np.bool_]


def round_name(number: int) -> str:
    """Return what data call a round, as those of ANLI do."""
    return f"R{number}"


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """What a closed round holds out of train, by the ids of pairs, and who wrote for test alone when it closed."""

    dev: tuple[str, ...]
    test: tuple[str, ...]
    none: tuple[str, ...]
    exclusive: tuple[str, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame, exclusive: Sequence[str]) -> HeldOut:
        """Return what pairs of a round with their splits hold out."""
        dev, test, none = (tuple(frame.filter(pl.col("split") == part)["id"]) for part in ("dev", "test", "none"))
        return cls(dev=dev, test=test, none=none, exclusive=tuple(exclusive))


@dataclass(frozen=True, kw_only=True)
class RoundSplits:
    """At most ``dev`` and ``test`` verified pairs of each round; those of ``closed`` rounds stay as they are.

    What shares a context with dev or test, and what else exclusive writers wrote, is in ``none``, and so is a pair that
    was held out and is not verified any more. All other pairs are in train.
    """

    dev: int
    test: int
    exclusive: tuple[str, ...] = ()
    closed: Mapping[str, HeldOut] = field(default_factory=dict)

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["round", "votes", "writer", *columns_for(UNIT), *BALANCE]

    def describe(self) -> str:
        """Say in a few words what was done."""
        fixed = f"; fixed for {', '.join(self.closed)}" if self.closed else ""
        return (
            f"at most {self.dev} dev and {self.test} test pairs of each round from verified ones, by unit, test "
            f"balanced by label and genre, exclusive writers in test only{fixed}"
        )

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        rounds, unit = frame["round"].fill_null("").to_numpy(), moved_together(frame, UNIT)
        verified = ((frame["votes"].list.len() >= LEAST_VOTES) & (frame["label"] != NO_GOLD)).to_numpy()
        split = np.full(len(frame), "train", dtype=object)
        alone = np.zeros(len(frame), dtype=np.bool_)
        for name, kept in self.closed.items():
            alone |= (rounds == name) & _are(frame["writer"], kept.exclusive)
            for part, ids in (("dev", kept.dev), ("test", kept.test), ("none", kept.none)):
                chosen = _are(frame["id"], ids)
                split[chosen] = np.where(verified[chosen], part, "none")
        fixed = np.isin(rounds, [*self.closed])
        split[(split == "train") & (alone | _touched(unit, _held_out(split)))] = "none"
        # Whose pairs are learnt from already cannot be for test alone any more.
        learnt = set(frame["writer"].to_numpy()[fixed & np.isin(split, ("train", "dev"))])
        alone = ~fixed & _are(frame["writer"], set(self.exclusive) - learnt)
        for name in sorted(set(rounds[~fixed])):
            rows = ~fixed & (rounds == name)
            free = rows & verified & ~_touched(unit, ~rows)
            if free.any():
                self._hold_out(frame, split, unit, free, alone, seed)
        split[(split == "train") & (alone | _touched(unit, _held_out(split)))] = "none"
        return pl.Series("split", split, dtype=pl.String)

    def _hold_out(
        self,
        frame: pl.DataFrame,
        split: NDArray[np.object_],
        unit: NDArray[np.int64],
        free: Rows,
        alone: Rows,
        seed: int,
    ) -> None:
        """Draw test and dev of a round from its verified pairs."""
        cell, ids = cells(frame, BALANCE), frame["id"]
        labels = [
            (frame["label"] == label).to_numpy() for label in frame["label"].filter(pl.Series(free)).unique().sort()
        ]
        share = int(free.sum()) // LARGEST_SHARE
        most = min(self.test, max(share, int((free & alone).sum())))
        each = min(most // len(labels), *(int((free & rows).sum()) for rows in labels))
        for pool in (free & alone, free & ~alone):
            quota = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.int64)
            for rows in labels:
                part = quotas(cell[rows & pool], each - int((rows & free & (split == "test")).sum()), seed)
                quota[: len(part)] += part
            split[draw(unit, cell, pool, quota, ids, seed)] = "test"
        pool = free & ~alone & ~_touched(unit, split == "test")
        quota = quotas(cell[pool], min(self.dev, share), seed)
        split[draw(unit, cell, pool, quota, ids, seed)] = "dev"


def _are(column: pl.Series, values: Iterable[str]) -> Rows:
    return np.asarray(column.is_in(sorted(values)).fill_null(False), dtype=np.bool_)


def _held_out(split: NDArray[np.object_]) -> Rows:
    return np.isin(split, ("dev", "test"))


def _touched(unit: NDArray[np.int64], rows: Rows) -> Rows:
    """Say of each row whether its unit has any of these rows."""
    return np.isin(unit, unit[rows])
