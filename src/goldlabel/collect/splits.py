"""The splits of elicited pairs: dev and test from verified pairs only, balanced by level; all others are train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from goldlabel.pairs.splits import Verified

LEAST_VOTES = 2
"""A verified pair has the author's vote and one more at least."""


@dataclass(frozen=True, kw_only=True)
class ElicitationSplits:
    """At most ``dev`` and ``test`` verified pairs; where there are fewer, both shrink alike.

    Verified pairs of ``exclusive`` writers go to test before those of others; nothing else of theirs is in a split.
    """

    dev: int
    test: int
    exclusive: tuple[str, ...] = ()

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["votes", "level", "writer"]

    def describe(self) -> str:
        """Say in a few words what was done."""
        held = f"; pairs of {len(self.exclusive)} exclusive writers in test only" if self.exclusive else ""
        return f"at most {self.dev} dev and {self.test} test pairs from verified ones, balanced by level{held}"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the new split of each row."""
        theirs = frame["writer"].is_in(list(self.exclusive)).fill_null(False)
        sizes = [
            int((part["votes"].list.len() >= LEAST_VOTES).sum())
            for part in (frame.filter(theirs), frame.filter(~theirs))
        ]
        exclusive, others = sizes
        shrink = min(1.0, sum(sizes) / max(1, self.dev + self.test))
        dev = min(others, round(self.dev * shrink))
        test = min(self.test, sum(sizes) - dev)
        held = min(exclusive, test)
        rows = frame.with_row_index("place")
        parts = [
            _drawn(rows.filter(theirs), 0, held, seed).with_columns(pl.col("split").replace("train", "none")),
            _drawn(rows.filter(~theirs), dev, min(test - held, others - dev), seed),
        ]
        return pl.concat(parts).sort("place")["split"]


def _drawn(rows: pl.DataFrame, dev: int, test: int, seed: int) -> pl.DataFrame:
    """Return the rows with their split."""
    if not dev + test:
        return rows.select("place", pl.lit("train").alias("split"))
    plan = Verified(dev=dev, test=test, by="pair", balance=("level",), min_votes=LEAST_VOTES)
    return rows.select("place", plan.assign(rows, seed).alias("split"))
