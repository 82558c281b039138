"""Duplicates and near-duplicates, within a dataset and across datasets.

Texts equal after normalisation (NFKC, lower case, letters and digits only) are exact duplicates. Among the
rest, MinHash with banded LSH proposes candidates (see ``minhash``), and each is kept only if the true Jaccard
similarity of the sets of character trigrams reaches the threshold. Two pairs are as alike as the less alike of their
premises and their hypotheses, so that three hypotheses for one long premise are no duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.pairs.clusters import FULL_BUCKET, Clusters, cluster_rows
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.minhash import are_alike, buckets_of, shingle
from goldlabel.pairs.result import Result

FIELDS = {"pair": ("premise", "hypothesis"), "premise": ("premise",), "hypothesis": ("hypothesis",)}
ROWS_PER_BLOCK = 5_000
NOTHING = {"dataset": None, "label": NO_GOLD, "split": "none"}
"""What a cluster can reach across, and the value that counts for nothing there."""
KEPT_FIRST = ("test", "dev", "train", "none")
"""The splits in the order in which a duplicate is kept in them."""


@dataclass(frozen=True, repr=False)
class Duplicates(Result):
    """Clusters of duplicates: one row per pair that has at least one other like it.

    ``input`` numbers the dataset a pair is in, in the order in which they were handed over; those from ``inputs`` on
    were only compared with.
    """

    clusters: pl.DataFrame
    pairs: int
    on: str
    threshold: float
    inputs: int

    @property
    def title(self) -> str:
        """How many clusters there are."""
        return f"clusters of duplicates among {many(self.pairs, 'pair')}, by {self.on}: {_count(self.clusters):,}"

    @property
    def table(self) -> pl.DataFrame:
        """One row per duplicated pair: cluster, kind, input, dataset, split, id, label."""
        return self.clusters

    def across(self, column: str) -> pl.DataFrame:
        """Return the clusters that hold more than one ``split``, ``dataset`` or ``label``.

        A pair without a gold label contradicts none, and one in the split ``none`` leaks into none.
        """
        if column not in NOTHING:
            raise InputError(f"{column!r} cannot be leaked across; allowed: {', '.join(NOTHING)}")
        values = pl.col(column).filter(pl.col(column).ne_missing(pl.lit(NOTHING[column])))
        return self.clusters.filter(values.n_unique().over("cluster") > 1)

    @property
    def redundant(self) -> pl.DataFrame:
        """The rows of ``clusters`` that can go, all but one of each cluster.

        What was only compared with stays. Else the one that stays is of the split that is farthest from training, so
        that train gives way to dev and dev to test; among those, one with a gold label, and the first.
        """
        own = pl.col("input") < self.inputs
        ranked = self.clusters.sort(
            "cluster",
            own,
            pl.col("split").replace_strict({name: rank for rank, name in enumerate(KEPT_FIRST)}, return_dtype=pl.Int64),
            pl.col("label") == NO_GOLD,
            maintain_order=True,
        )
        return ranked.filter(own & (pl.int_range(pl.len()).over("cluster") > 0))

    def without(self, pairs: Pairs, number: int = 0) -> Pairs:
        """Return the pairs of input ``number`` without its redundant ones."""
        ids = self.redundant.filter(pl.col("input") == number)["id"]
        step = f"{len(ids):,} duplicates dropped, by {self.on} at {self.threshold}"
        return Pairs(pairs.frame.filter(~pl.col("id").is_in(ids.implode())), pairs.card.with_step(step))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and the duplicated pairs."""
        return {
            "on": self.on,
            "threshold": self.threshold,
            "pairs": self.pairs,
            "clusters": _count(self.clusters),
            "across_splits": _count(self.across("split")),
            "across_datasets": _count(self.across("dataset")),
            # One premise has hypotheses of every label; only equal pairs contradict each other.
            "contradictory": _count(self.across("label")) if self.on == "pair" else None,
            "members": self.clusters.to_dicts(),
        }


def find_duplicates(
    datasets: Sequence[Pairs], *, against: Sequence[Pairs] = (), on: str = "pair", threshold: float = 0.8
) -> Duplicates:
    """Find the clusters of like pairs within and across ``datasets``, and what these share with those ``against``.

    A cluster that lies in ``against`` alone is none of theirs and left out.
    """
    if on not in FIELDS:
        raise InputError(f"duplicates cannot be looked for on {on!r}; allowed: {', '.join(FIELDS)}")
    check_threshold(threshold)
    inputs = [*datasets, *against]
    rows = sum(map(len, inputs))
    blocks = (block for pairs in inputs for block in _blocks(pairs.frame.select(FIELDS[on])))
    like = cluster_rows(blocks, rows, len(FIELDS[on]), threshold)
    clusters = (
        _members(inputs, like, sum(map(len, datasets)))
        .with_columns(
            pl.when(pl.col("first").n_unique().over("cluster") > 1)
            .then(pl.lit("near"))
            .otherwise(pl.lit("exact"))
            .alias("kind"),
            pl.col("cluster").rank("dense").cast(pl.Int64) - 1,
        )
        .sort("cluster", maintain_order=True)
        .select("cluster", "kind", "input", "dataset", "split", "id", "label")
    )
    return Duplicates(clusters, rows, on, threshold, len(datasets))


def _members(inputs: Sequence[Pairs], like: Clusters, own: int) -> pl.DataFrame:
    """Return what is like another, in clusters that hold one of the first ``own`` rows."""
    # Clusters are numbered in the order of their first rows.
    told = np.bincount(like.number) > 1
    told[like.number[:own].max(initial=-1) + 1 :] = False
    strings = dict.fromkeys(("dataset", "split", "id", "label"), pl.String)
    members = [pl.DataFrame(schema=strings | {"input": pl.Int64, "cluster": pl.Int32, "first": pl.UInt32})]
    start = 0
    for number, pairs in enumerate(inputs):
        name = pl.coalesce(pl.col("dataset"), pl.lit(pairs.card.name)).alias("dataset")
        for block in _blocks(pairs.frame.select(name, "split", "id", "label")):
            here = slice(start, start + len(block))
            rows = np.flatnonzero(told[like.number[here]])
            members.append(
                block[rows].with_columns(
                    pl.lit(number, pl.Int64).alias("input"),
                    pl.Series("cluster", like.number[here][rows]),
                    pl.Series("first", like.first[here][rows]),
                )
            )
            start = here.stop
    return pl.concat(members)


def _blocks(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    for batch in frame.collect_batches(chunk_size=ROWS_PER_BLOCK, maintain_order=True):
        yield from batch.iter_slices(ROWS_PER_BLOCK)


def find_alike(texts: pl.DataFrame, others: pl.DataFrame, threshold: float) -> NDArray[np.bool_]:
    """Return which rows of texts have a row among the others that is like them in every column.

    Both have the same columns of texts as they are compared (``normalised``). Unlike in clusters, likeness is not
    passed on from row to row.
    """
    check_threshold(threshold)
    columns = texts.columns
    alike = texts.join(others.unique().with_columns(equal=True), on=columns, how="left", maintain_order="left")
    found = alike["equal"].fill_null(False).to_numpy().copy()
    if threshold == 1 or found.all() or not len(others):
        return found
    both = pl.concat([texts, others.unique(maintain_order=True)])
    tried = pl.DataFrame(schema={"left": pl.Int64, "right": pl.Int64})
    blocks = [buckets_of(shingle(block), threshold) for block in both.iter_slices(ROWS_PER_BLOCK)]
    for buckets in np.concatenate(blocks, axis=1):
        band = pl.DataFrame({"row": np.arange(len(both)), "bucket": buckets})
        asking = band[: len(texts)].filter(~pl.Series(found)).rename({"row": "left"})
        # Of a crowded bucket some are enough: what falls into it is mostly alike.
        asked = band[len(texts) :].filter(pl.int_range(pl.len()).over("bucket") < FULL_BUCKET).rename({"row": "right"})
        met = asking.join(asked, on="bucket").select("left", "right").join(tried, on=["left", "right"], how="anti")
        left, right = met["left"].to_numpy(), met["right"].to_numpy()
        found[left[are_alike(both.__getitem__, left, right, threshold)]] = True
        tried = pl.concat([tried, met])
    return found


def check_threshold(threshold: float) -> None:
    """Refuse what is no likeness that near-duplicates can be found by."""
    if not 0.5 <= threshold <= 1:
        raise InputError(f"threshold {threshold} is not between 0.5 and 1")


def _count(clusters: pl.DataFrame) -> int:
    return clusters["cluster"].n_unique()
