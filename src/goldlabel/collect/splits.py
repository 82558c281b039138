"""The splits of written pairs: dev and test from verified pairs only, balanced, whole units apart from train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from goldlabel.pairs.splits import Verified

LEAST_VOTES = 2
"""A verified pair has the author's vote and one more at least."""


@dataclass(frozen=True, kw_only=True)
class VerifiedSplits:
    """At most ``dev`` and ``test`` verified pairs, no unit in two splits; where there are fewer, both shrink alike.

    Verified pairs of ``exclusive`` writers go to test before those of others. What else they wrote, and what shares a
    unit with dev or test, is in ``none``; all other pairs are in train.
    """

    dev: int
    test: int
    exclusive: tuple[str, ...] = ()
    balance: tuple[str, ...] = ("level",)

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["writer", *self._plan(0, 0).columns()]

    def describe(self) -> str:
        """Say in a few words what was done."""
        held = f"; pairs of {len(self.exclusive)} exclusive writers in test only" if self.exclusive else ""
        balanced = " and ".join(self.balance)
        return (
            f"at most {self.dev} dev and {self.test} test pairs from verified ones, by unit, balanced by {balanced}"
            f"{held}"
        )

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        theirs = _written_by(frame, self.exclusive)
        verified = frame["votes"].list.len() >= LEAST_VOTES
        dev, test = _shrunk(self.dev, self.test, int(verified.sum()))
        dev = min(dev, int((verified & ~theirs).sum()))
        test = min(self.test, int(verified.sum()) - dev)
        held = min(int((verified & theirs).sum()), test)
        first = self._drawn(frame, theirs, 0, held, seed)
        free = first == "train"
        dev, test = _shrunk(dev, test - held, int((verified & ~theirs & free).sum()))
        rest = frame.filter(free)
        second = self._drawn(rest, ~theirs.filter(free), dev, test, seed)
        assigned = first.scatter(free.arg_true(), second)
        return assigned.set(theirs & (assigned == "train"), "none")

    def _drawn(self, rows: pl.DataFrame, chosen: pl.Series, dev: int, test: int, seed: int) -> pl.Series:
        """Draw from the chosen rows, and put what shares a unit with those drawn into none."""
        if not dev + test:
            return pl.Series("split", ["train"] * len(rows), dtype=pl.String)
        nobody = pl.lit([], dtype=pl.List(pl.String))
        return self._plan(dev, test).assign(
            rows.with_columns(pl.when(chosen).then(pl.col("votes")).otherwise(nobody).alias("votes")), seed
        )

    def _plan(self, dev: int, test: int) -> Verified:
        return Verified(dev=dev, test=test, balance=self.balance, min_votes=LEAST_VOTES)


@dataclass(frozen=True, kw_only=True)
class WithOverlap:
    """What shares a unit with dev or test is in train, as in OCNLI's training set of 50,000 (section 3.4)."""

    exclusive: tuple[str, ...] = ()

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["writer"]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return "pairs that share a unit with dev or test are in train, too"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        return frame["split"].set((frame["split"] == "none") & ~_written_by(frame, self.exclusive), "train")


def _written_by(frame: pl.DataFrame, writers: Sequence[str]) -> pl.Series:
    return frame["writer"].is_in(list(writers)).fill_null(False)


def _shrunk(dev: int, test: int, there: int) -> tuple[int, int]:
    """Return the sizes of dev and test where no more than so many pairs are there for both."""
    if dev + test <= there:
        return dev, test
    dev = round(dev * there / (dev + test))
    return dev, there - dev
