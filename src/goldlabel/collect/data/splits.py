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
    unit with dev or test, is in ``none``; all other pairs are in train. Where ``dev_share`` and ``test_share`` are
    given, they are the most that is taken of the verified pairs.

    Pairs that have a split already keep it, and count towards its size: into dev and test go the verified ones, and
    what else shares their premise is in ``none``.
    """

    dev: int
    test: int
    dev_share: float | None = None
    test_share: float | None = None
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
        verified = frame["votes"].list.len() >= LEAST_VOTES
        fixed = frame["split"].set(frame["split"].is_in(["dev", "test"]) & ~verified, "none")
        fixed = fixed.set(_written_by(frame, self.exclusive) & (fixed != "test"), "none")
        free = frame["split"] == "none"
        there = int(verified.sum())
        dev, test = (max(0, self._size(name, there) - int((fixed == name).sum())) for name in ("dev", "test"))
        return fixed.scatter(free.arg_true(), self._draw(frame.filter(free), dev, test, seed))

    def _size(self, name: str, there: int) -> int:
        """Return how many of the verified pairs a split has at most."""
        size, part = (self.dev, self.dev_share) if name == "dev" else (self.test, self.test_share)
        return size if part is None else min(size, int(part * there + 1e-9))

    def _draw(self, frame: pl.DataFrame, dev: int, test: int, seed: int) -> pl.Series:
        """Return the split of each row, none of which is fixed."""
        theirs = _written_by(frame, self.exclusive)
        verified = frame["votes"].list.len() >= LEAST_VOTES
        wanted = test
        dev, test = _shrunk(dev, wanted, int(verified.sum()))
        dev = min(dev, int((verified & ~theirs).sum()))
        test = min(wanted, int(verified.sum()) - dev)
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
        votes = pl.col("votes")
        return self._plan(dev, test).assign(
            rows.with_columns(pl.when(chosen).then(votes).otherwise(votes.list.head(0)).alias("votes")), seed
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
