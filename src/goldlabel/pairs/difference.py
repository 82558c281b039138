"""Two versions of a dataset: what was added, what was dropped, what has another label or another text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.result import Result

KINDS = ("added", "dropped", "relabelled", "reworded")
_SHOWN = ("id", "premise", "hypothesis", "label")


@dataclass(frozen=True, repr=False)
class Difference(Result):
    """What became of the pairs of one dataset in another; ``by`` says what makes two pairs the same one."""

    old: str
    new: str
    by: str
    same: int
    pairs: pl.DataFrame
    """A row per pair that differs: ``kind``, ``id``, ``old_label``, ``label``, ``premise``, ``hypothesis``."""

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs differ, by how."""
        return {kind: int((self.pairs["kind"] == kind).sum()) for kind in KINDS}

    @property
    def title(self) -> str:
        """How many pairs differ."""
        counted = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items())
        return f"{self.old} to {self.new}, by {self.by}: {counted}; {self.same:,} the same"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by what became of them, and by label before and after."""
        return self.pairs.group_by("kind", "old_label", "label").len("pairs").sort("kind", "old_label", "label")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the pairs that differ."""
        counts = self.counts
        return {
            "old": self.old,
            "new": self.new,
            "by": self.by,
            **counts,
            "same": self.same,
            "pairs": self.pairs.to_dicts(),
        }


def compare_versions(old: Pairs, new: Pairs) -> Difference:
    """Hold two versions of a dataset against each other by their ids, or by their texts if they share no id."""
    before, after = (pairs.frame.select(_SHOWN).collect(engine="streaming") for pairs in (old, new))
    by_id = before["id"].is_in(after["id"].implode()).any()
    keys = ["id"] if by_id else ["premise", "hypothesis"]
    if not by_id:  # texts may stand several times
        before, after = (frame.unique(keys, keep="first", maintain_order=True) for frame in (before, after))
    joined = before.join(after, on=keys, how="full", suffix="_new", coalesce=True, maintain_order="left_right")
    added, dropped = pl.col("label").is_null(), pl.col("label_new").is_null()
    reworded = (pl.col("premise") != pl.col("premise_new")) | (pl.col("hypothesis") != pl.col("hypothesis_new"))
    kind = (
        pl.when(added)
        .then(pl.lit("added"))
        .when(dropped)
        .then(pl.lit("dropped"))
        .when(reworded if by_id else pl.lit(False))
        .then(pl.lit("reworded"))
        .when(pl.col("label") != pl.col("label_new"))
        .then(pl.lit("relabelled"))
    )
    texts = ("premise", "hypothesis") if by_id else ("id",)
    told = joined.with_columns(
        kind.alias("kind"), *(pl.coalesce(f"{name}_new", name).alias(name) for name in texts)
    ).select("kind", "id", "premise", "hypothesis", old_label="label", label="label_new")
    differing = told.filter(pl.col("kind").is_not_null())
    return Difference(old.card.name, new.card.name, "id" if by_id else "text", len(told) - len(differing), differing)
