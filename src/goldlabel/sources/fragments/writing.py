"""Writing generated pairs into a dataset folder, and counting what was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.messages import many
from goldlabel.pairs.labels import NLI3
from goldlabel.pairs.result import Result
from goldlabel.pairs.writing import DatasetWriter
from goldlabel.sources.fragments.artifact import Artifact, parse_artifact
from goldlabel.sources.fragments.making import fragments_card, make_fragments


@dataclass(frozen=True, repr=False)
class Made(Result):
    """What was made: pairs by phenomenon and label, and how strong a planted artifact came out."""

    name: str
    counts: pl.DataFrame
    seed: int
    output: str
    artifact: Artifact | None
    carrying: int
    carrying_label: int

    @property
    def title(self) -> str:
        """The dataset's name and size."""
        return f"{self.name}: {many(int(self.counts['pairs'].sum()), 'pair')}"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by phenomenon (rows) and label (columns)."""
        return self.counts.select("phenomenon", "pairs", *NLI3.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and what it takes to make the pairs again."""
        pairs = int(self.counts["pairs"].sum())
        return {
            "name": self.name,
            "pairs": pairs,
            "labels": {label: int(self.counts[label].sum()) for label in NLI3.labels},
            "splits": {"none": pairs},
            "phenomena": dict(self.counts.select("phenomenon", "pairs").iter_rows()),
            "seed": self.seed,
            "output": self.output,
            "artifact": self._artifact(),
        }

    def _artifact(self) -> dict[str, Any] | None:
        if self.artifact is None:
            return None
        return {
            "feature": self.artifact.feature,
            "label": self.artifact.label,
            "strength": self.artifact.strength,
            "carrying": self.carrying,
            "measured": round(self.carrying_label / self.carrying, 4) if self.carrying else None,
        }


def write_fragments(
    folder: str | Path,
    language: str,
    pairs: int,
    *,
    seed: int = 0,
    phenomena: Sequence[str] | None = None,
    artifact: Artifact | str | None = None,
    on_pairs: Callable[[int], None] | None = None,
) -> Made:
    """Make pairs as ``make_fragments`` does, and write them into a dataset folder as they come."""
    planted = parse_artifact(artifact) if isinstance(artifact, str) else artifact
    blocks = make_fragments(language, pairs, seed=seed, phenomena=phenomena, artifact=planted)
    card = fragments_card(language, pairs, seed=seed, phenomena=phenomena, artifact=planted)
    counts: list[pl.DataFrame] = []
    carrying = carrying_label = 0
    with DatasetWriter(Path(folder), card) as writer:
        for block in blocks:
            writer.write(block)
            counts.append(block.group_by(pl.col("tags").list.first().alias("phenomenon"), "label").len())
            if planted is not None:
                labels = block.filter(planted.carried(language))["label"]
                carrying += len(labels)
                carrying_label += int((labels == planted.label).sum())
            if on_pairs:
                on_pairs(len(block))
    return Made(card.name, _table(pl.concat(counts)), seed, str(folder), planted, carrying, carrying_label)


def _table(counts: pl.DataFrame) -> pl.DataFrame:
    return (
        counts.group_by("phenomenon")
        .agg(
            pl.col("len").sum().alias("pairs"),
            *(pl.col("len").filter(pl.col("label") == label).sum().alias(label) for label in NLI3.labels),
        )
        .sort("phenomenon")
    )
