"""Duplicates and near-duplicates, within a dataset and across datasets.

Texts equal after normalisation (NFKC, lower case, letters and digits only) are exact duplicates. Among the
rest, MinHash with banded LSH proposes candidates (Broder 1997; Leskovec et al., *Mining of Massive Datasets*,
ch. 3), and each is kept only if the true Jaccard similarity of the sets of character trigrams reaches the
threshold. Two pairs are as alike as the less alike of their premises and their hypotheses, so that three
hypotheses for one long premise are no duplicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.mixing import mix
from goldlabel.pairs.result import Result
from goldlabel.pairs.units import normalised

FIELDS = {"pair": ("premise", "hypothesis"), "premise": ("premise",), "hypothesis": ("hypothesis",)}
SHINGLE = 3
PERMUTATIONS = 96
SEED = 1
ROWS_PER_BLOCK = 20_000
FULL_BUCKET = 32
NOTHING = {"dataset": None, "label": NO_GOLD, "split": "none"}
"""What a cluster can reach across, and the value that counts for nothing there."""
KEPT_FIRST = ("test", "dev", "train", "none")
"""The splits in the order in which a duplicate is kept in them."""

Shingled = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""The trigrams of every text of a column as keys in one array, and where each text starts in it."""


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
        return f"clusters of duplicates among {self.pairs:,} pairs, by {self.on}: {_count(self.clusters):,}"

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
    fields = FIELDS[on]
    frame = pl.concat(
        pairs.frame.select(
            pl.lit(number, pl.Int64).alias("input"),
            pl.coalesce(pl.col("dataset"), pl.lit(pairs.card.name)).alias("dataset"),
            "split",
            "id",
            "label",
            *(normalised(field).alias(f"text {field}") for field in fields),
        ).collect(engine="streaming")
        for number, pairs in enumerate([*datasets, *against])
    )
    texts = [f"text {field}" for field in fields]
    unique = frame.select(texts).unique(maintain_order=True).with_row_index("unique")
    row_of = frame.select(texts).join(unique, on=texts, how="left", maintain_order="left")["unique"]
    near = np.arange(len(unique)) if threshold == 1 else _near_clusters(unique.select(texts), threshold)
    members = frame.drop(texts).with_columns(row_of.alias("unique"), pl.Series("cluster", near[row_of.to_numpy()]))
    clusters = (
        members.filter((pl.len().over("cluster") > 1) & (pl.col("input").min().over("cluster") < len(datasets)))
        .with_columns(
            pl.when(pl.col("unique").n_unique().over("cluster") > 1)
            .then(pl.lit("near"))
            .otherwise(pl.lit("exact"))
            .alias("kind"),
            pl.col("cluster").rank("dense").cast(pl.Int64) - 1,
        )
        .sort("cluster", maintain_order=True)
        .select("cluster", "kind", "input", "dataset", "split", "id", "label")
    )
    return Duplicates(clusters, len(frame), on, threshold, len(datasets))


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
    for buckets in _buckets(both, threshold):
        band = pl.DataFrame({"row": np.arange(len(both)), "bucket": buckets})
        asking = band[: len(texts)].filter(~pl.Series(found)).rename({"row": "left"})
        # Of a crowded bucket some are enough: what falls into it is mostly alike.
        asked = band[len(texts) :].filter(pl.int_range(pl.len()).over("bucket") < FULL_BUCKET).rename({"row": "right"})
        met = asking.join(asked, on="bucket").select("left", "right").join(tried, on=["left", "right"], how="anti")
        left, right = met["left"].to_numpy(), met["right"].to_numpy()
        found[left[_all_alike(both, left, right, threshold)]] = True
        tried = pl.concat([tried, met])
    return found


def check_threshold(threshold: float) -> None:
    """Refuse what is no likeness that near-duplicates can be found by."""
    if not 0.5 <= threshold <= 1:
        raise InputError(f"threshold {threshold} is not between 0.5 and 1")


def _count(clusters: pl.DataFrame) -> int:
    return clusters["cluster"].n_unique()


def _near_clusters(texts: pl.DataFrame, threshold: float) -> NDArray[np.int64]:
    """Return a cluster number for each row of unique texts."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = _candidates(_buckets(texts, threshold))
    like = _all_alike(texts, left, right, threshold)
    size = len(texts)
    graph = coo_array((np.ones(int(like.sum())), (left[like], right[like])), shape=(size, size))
    labels: NDArray[np.int64] = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _shingles(texts: pl.Series, salt: int) -> Shingled:
    """Return the trigrams of every text of a column."""
    lengths = np.maximum(texts.str.len_chars().to_numpy().astype(np.int64), SHINGLE)
    joined = texts.str.pad_end(SHINGLE).str.join("").item()
    points = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    # Three code points of 21 bits fill 63 bits: the key is the trigram itself.
    keys = points[:-2] | points[1:-1] << np.uint64(21) | points[2:] << np.uint64(42)
    inside = np.ones(len(keys), dtype=bool)
    ends = np.cumsum(lengths)[:-1]
    inside[ends - 1] = inside[ends - 2] = False  # trigrams that reach over the end of a text
    offsets = np.concatenate([[0], np.cumsum(lengths - SHINGLE + 1)])
    return _mixed(keys[inside], salt), offsets


def _mixed(keys: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Spread keys over 64 bits, apart for each field."""
    return mix(keys + np.uint64((0x9E3779B97F4A7C15 * (salt + 1)) & 0xFFFFFFFFFFFFFFFF))


def _buckets(texts: pl.DataFrame, threshold: float) -> NDArray[np.uint64]:
    """Return the bucket of each row in each band of its MinHash signature, by bands.

    Trigrams and signatures, the bulk of it all, are held for a block of rows at a time.
    """
    width = _rows_per_band(threshold)
    starts = range(0, PERMUTATIONS - width + 1, width)
    buckets = np.empty((len(starts), len(texts)), dtype=np.uint64)
    for start in range(0, len(texts), ROWS_PER_BLOCK):
        block = texts[start : start + ROWS_PER_BLOCK]
        signatures = _joint_signatures([_shingles(block[name], salt) for salt, name in enumerate(block.columns)])
        for band, first in enumerate(starts):
            buckets[band, start : start + len(block)] = _bucket(signatures[:, first : first + width])
    return buckets


def _candidates(buckets: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row pairs that share a bucket of some band."""
    parts = []
    for row in buckets:
        band = pl.DataFrame({"row": np.arange(len(row)), "bucket": row})
        shared = band.filter(pl.len().over("bucket") > 1).with_columns(
            pl.int_range(pl.len()).over("bucket").alias("place"), pl.len().over("bucket").alias("size")
        )
        small = shared.filter(pl.col("size") <= FULL_BUCKET)
        parts.append(
            small.join(small, on="bucket").filter(pl.col("row") < pl.col("row_right")).select("row", "row_right")
        )
        # A crowded bucket is linked as a chain and to its first row, not all with all.
        crowded = shared.filter(pl.col("size") > FULL_BUCKET)
        for other in (pl.col("row").shift(1), pl.col("row").first()):
            linked = crowded.with_columns(other.over("bucket").alias("other")).filter(pl.col("other") < pl.col("row"))
            parts.append(linked.select(pl.col("other").alias("row"), pl.col("row").alias("row_right")))
    pairs = pl.concat(parts).unique().sort("row", "row_right")
    return pairs["row"].to_numpy(), pairs["row_right"].to_numpy()


def _rows_per_band(threshold: float) -> int:
    """Choose the widest band that still finds a pair at the threshold with probability 0.99."""
    widths = (12, 8, 6, 4, 3, 2)
    return next((w for w in widths if (1 - threshold**w) ** (PERMUTATIONS // w) <= 0.01), 1)


def _joint_signatures(shingled: Sequence[Shingled]) -> NDArray[np.uint32]:
    """Return the signatures of rows: the MinHash of a union of sets is the least of their MinHashes."""
    signatures: NDArray[np.uint32] = np.minimum.reduce([_signatures(keys, offsets) for keys, offsets in shingled])
    return signatures


def _signatures(keys: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    from rensa import RMinHash

    matrix = RMinHash.digest_matrix_from_flat_token_hashes(keys, offsets.astype(np.uint64), PERMUTATIONS, SEED)
    return np.asarray(matrix.to_rows(), dtype=np.uint32)


def _bucket(band: NDArray[np.uint32]) -> NDArray[np.uint64]:
    bucket = np.zeros(len(band), dtype=np.uint64)
    for column in band.T:
        bucket = _mixed(bucket ^ column.astype(np.uint64), 0)
    return bucket


def _all_alike(
    texts: pl.DataFrame, left: NDArray[np.int64], right: NDArray[np.int64], threshold: float
) -> NDArray[np.bool_]:
    """Return which row pairs reach the threshold in every column."""
    like = np.ones(len(left), dtype=bool)
    for start in range(0, len(left), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        rows, places = np.unique([left[block], right[block]], return_inverse=True)
        a, b = places.reshape(2, -1)
        for salt, name in enumerate(texts.columns):
            like[block] &= _jaccard(*_shingles(texts[name][rows], salt), a, b) >= threshold
    return like


def _jaccard(
    keys: NDArray[np.uint64], offsets: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of the trigram sets of each candidate."""
    similarity = np.empty(len(left))
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        in_left = set(keys[offsets[a] : offsets[a + 1]].tolist())
        in_right = set(keys[offsets[b] : offsets[b + 1]].tolist())
        similarity[number] = len(in_left & in_right) / len(in_left | in_right)
    return similarity
