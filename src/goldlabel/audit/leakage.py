"""Leakage: what dev and test share with train, what a dataset shares with others, and texts labelled in two ways.

Texts are the same where ``goldlabel.pairs.units`` says so: case, spacing and punctuation play no part, as in
``goldlabel.pairs.duplicates``. Identical ones are found by their hashes at any size. Near-duplicates take more time and
memory, and are looked for in datasets of up to 100,000 pairs unless asked for.

Counts say what is in this dataset and have no interval; the shares of pairs have one, as an estimate of what more data
of the same making would hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.corpus import ROWS_PER_BLOCK, Corpus, Rows, join_keys, text_keys
from goldlabel.audit.figures import ALL_ROWS, count_of, flatten
from goldlabel.metrics import Estimate, share
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NO_GOLD

MOST_NEAR = 100_000
EXAMPLES = 5
UNSPLIT = "none"


@dataclass(frozen=True)
class Near:
    """Clusters of exact and near duplicates."""

    threshold: float
    clusters: int
    across_splits: int | None
    """Clusters that reach into several splits, and how many pairs are in them; ``None`` if there is one split."""
    pairs_across_splits: int | None
    across_datasets: int
    contradictory: int
    """Clusters with more than one gold label."""
    examples: tuple[str, ...] = ()
    """Ids of pairs in clusters that reach into several splits or datasets."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "threshold": self.threshold,
            "clusters": self.clusters,
            "across_splits": self.across_splits,
            "pairs_across_splits": self.pairs_across_splits,
            "across_datasets": self.across_datasets,
            "contradictory": self.contradictory,
            "examples": list(self.examples),
        }


@dataclass(frozen=True)
class Shared:
    """What a dataset shares with another one."""

    pairs: int
    """Of the other dataset."""
    shared_premises: int
    shared_pairs: int
    share: Estimate
    """The share of our pairs that the other dataset has too."""
    labelled_otherwise: int | None
    """``None`` where the two have different labels."""
    rows: tuple[int, ...]
    near: Near | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "pairs": self.pairs,
            "shared_premises": self.shared_premises,
            "shared_pairs": self.shared_pairs,
            **flatten({"share": self.share}),
            "labelled_otherwise": self.labelled_otherwise,
            "near": self.near.to_dict() if self.near else None,
        }


@dataclass(frozen=True)
class Leakage:
    """What splits share, and what occurs twice; ``None`` is what cannot be told, as where there is one split."""

    splits: int
    shared_premises: int | None
    held_out: Estimate | None
    """The share of dev's and test's pairs whose premise train has too."""
    duplicated: Estimate
    """The share of pairs that repeat an earlier one."""
    duplicates_across_splits: int | None
    contradictory_duplicates: int
    examples: dict[str, tuple[int, ...]]
    """Rows to look at: ``held_out``, ``across``, ``contradictory``."""
    near: Near | None = None
    near_note: str | None = None
    """Why near-duplicates were not looked for, where they were not."""
    against: dict[str, Shared] = field(default_factory=dict)

    @property
    def duplicates(self) -> int:
        """How many pairs repeat an earlier one."""
        return count_of(self.duplicated)

    @property
    def held_out_pairs(self) -> int | None:
        """How many pairs of dev and test have a premise that train has too."""
        return None if self.held_out is None else count_of(self.held_out)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        shares = {"duplicates_share": self.duplicated}
        if self.held_out is not None:
            shares["held_out_share"] = self.held_out
        return {
            "splits": self.splits,
            "shared_premises": self.shared_premises,
            "held_out_pairs_with_premise_in_train": self.held_out_pairs,
            "duplicates": self.duplicates,
            "duplicates_across_splits": self.duplicates_across_splits,
            "contradictory_duplicates": self.contradictory_duplicates,
            **flatten(shares),
            "near": self.near.to_dict() if self.near else None,
            "near_note": self.near_note,
            "against": {name: shared.to_dict() for name, shared in self.against.items()},
        }


@dataclass(frozen=True)
class Keys:
    """Another dataset's texts as hashes."""

    premises: NDArray[np.uint64]
    pairs: NDArray[np.uint64]
    labels: pl.Series


def count_leakage(corpus: Corpus, rows: Rows = ALL_ROWS, *, level: float = 0.95) -> Leakage:
    """Count shared premises and identical pairs within a dataset, or within some of its rows."""
    places = np.arange(len(corpus))[rows]
    codes, names = corpus.columns["split"]
    splits = pl.Series([*names, UNSPLIT], dtype=pl.String).gather(codes[places])
    frame = pl.DataFrame(
        {
            "row": places,
            "premise": corpus.premise_keys[places],
            "pair": corpus.pair_keys[places],
            "label": corpus.labels[places],
            "split": splits,
        }
    )
    split = frame.filter(pl.col("split") != UNSPLIT)
    several = split["split"].n_unique() > 1
    repeated = frame.filter(pl.col("pair").is_duplicated())
    again = ~frame["pair"].is_first_distinct().to_numpy()
    labelled = repeated.filter(pl.col("label") >= 0)
    contradictory = _in_several(labelled, "pair", "label")
    across = _in_several(repeated.filter(pl.col("split") != UNSPLIT), "pair", "split")
    held_out, known = _held_out(split)
    return Leakage(
        splits=split["split"].n_unique(),
        shared_premises=len(_in_several(split, "premise", "split")) if several else None,
        held_out=share(known, units=corpus.units[held_out], level=level) if several else None,
        duplicated=share(again, units=corpus.units[places], level=level),
        duplicates_across_splits=len(across) if several else None,
        contradictory_duplicates=len(contradictory),
        examples={
            "held_out": _with_twins(split, held_out[known]),
            "across": _rows_of(repeated, across),
            "contradictory": _rows_of(labelled, contradictory),
        },
    )


def find_near(pairs: Pairs, other: Pairs | None = None) -> Near:
    """Count clusters of exact and near duplicates within pairs, or across them and another dataset."""
    # What a row says of its dataset may be the same on both sides, as where one is a part of the other.
    sides = [
        Pairs(side.frame.with_columns(pl.lit(name).alias("dataset")), side.card)
        for name, side in (("ours", pairs), ("theirs", other))
        if side is not None
    ]
    duplicates = sides[0].duplicates(*sides[1:])
    clusters = duplicates.clusters
    across_datasets = _in_several(clusters, "cluster", "dataset")
    split = clusters.filter((pl.col("split") != UNSPLIT) & (pl.col("dataset") == "ours"))
    across_splits = _in_several(split, "cluster", "split")
    splits = pairs.frame.filter(pl.col("split") != UNSPLIT).select(pl.col("split").n_unique())
    several = int(splits.collect(engine="streaming").item()) > 1
    shown = across_splits if other is None else across_datasets
    ours = clusters.filter(pl.col("dataset") == "ours")
    return Near(
        threshold=duplicates.threshold,
        clusters=clusters["cluster"].n_unique(),
        across_splits=len(across_splits) if several else None,
        pairs_across_splits=int(split["cluster"].is_in(across_splits.implode()).sum()) if several else None,
        across_datasets=len(across_datasets),
        contradictory=len(_in_several(clusters.filter(pl.col("label") != NO_GOLD), "cluster", "label")),
        examples=tuple(ours.filter(pl.col("cluster").is_in(shown.implode()))["id"].head(EXAMPLES)),
    )


def read_keys(pairs: Pairs) -> Keys:
    """Read what two datasets are compared by."""
    frame = pairs.frame.select("premise", "hypothesis", "label")
    premises, hypotheses = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    labels = [pl.Series("label", dtype=pl.String)]
    for block in frame.collect_batches(chunk_size=ROWS_PER_BLOCK, maintain_order=True):
        premises.append(text_keys(block["premise"]))
        hypotheses.append(text_keys(block["hypothesis"]))
        labels.append(block["label"])
    keys = np.concatenate(premises)
    return Keys(keys, join_keys(keys, np.concatenate(hypotheses)), pl.concat(labels))


def compare(corpus: Corpus, other: Pairs, *, level: float = 0.95) -> Shared:
    """Count what a dataset shares with another: premises, whole pairs, and pairs labelled otherwise."""
    keys = read_keys(other)
    ours = pl.DataFrame({"row": np.arange(len(corpus)), "pair": corpus.pair_keys})
    theirs = pl.DataFrame({"pair": keys.pairs, "there": keys.labels}).unique("pair", keep="first", maintain_order=True)
    both = ours.join(theirs, on="pair", how="inner", maintain_order="left")
    rows = both["row"].to_numpy()
    names = pl.Series([*corpus.space.labels, NO_GOLD], dtype=pl.String)
    here, there = names.gather(corpus.labels[rows]), both["there"]
    differ = (here != NO_GOLD) & (there != NO_GOLD) & (here != there)
    shared = np.zeros(len(corpus), dtype=bool)
    shared[rows] = True
    return Shared(
        pairs=len(keys.labels),
        shared_premises=len(np.intersect1d(corpus.premise_keys, keys.premises)),
        shared_pairs=len(rows),
        share=share(shared, units=corpus.units, level=level),
        labelled_otherwise=int(differ.sum()) if corpus.space.labels == other.card.label_space.labels else None,
        rows=tuple(rows[:EXAMPLES].tolist()),
    )


def _held_out(split: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows of dev and test, and which of them have a premise that train has too."""
    trained = split.filter(pl.col("split") == "train")["premise"].unique()
    held_out = split.filter(pl.col("split").is_in(["dev", "test"]))
    known = held_out["premise"].is_in(trained.implode())
    return held_out["row"].to_numpy(), known.to_numpy()


def _with_twins(split: pl.DataFrame, rows: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the first of some rows, each followed by the first of train that has its premise."""
    premises = split.filter(pl.col("row").is_in(rows[:EXAMPLES].tolist())).select("row", "premise")
    train = split.filter(pl.col("split") == "train").unique("premise", keep="first", maintain_order=True)
    twins = premises.join(train.select("premise", twin="row"), on="premise", how="left", maintain_order="left")
    shown = dict.fromkeys(place for row in twins.select("row", "twin").iter_rows() for place in row)
    return tuple(shown)[:EXAMPLES]


def _in_several(frame: pl.DataFrame, key: str, column: str) -> pl.Series:
    """Return the keys that occur with more than one value of a column."""
    return frame.select(key, column).unique().filter(pl.col(key).is_duplicated())[key].unique()


def _rows_of(frame: pl.DataFrame, keys: pl.Series) -> tuple[int, ...]:
    chosen = frame.filter(pl.col("pair").is_in(keys.implode()))
    return tuple(chosen.sort(pl.col("row").min().over("pair"), "row")["row"].head(EXAMPLES))
