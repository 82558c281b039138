"""Leakage: what dev and test share with train, what a dataset shares with others, and texts labelled in two ways.

Identical texts are found by their hashes at any size. Near-duplicates (see ``goldlabel.pairs.duplicates``) take
more time and memory, and are looked for in datasets of up to 100,000 pairs unless asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.corpus import Corpus
from goldlabel.pairs import Pairs

MOST_NEAR = 100_000
EXAMPLES = 5


def count_leakage(corpus: Corpus, rows: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Count shared premises and identical pairs within a dataset, or within some of its rows."""
    codes, names = corpus.columns["split"]
    inside = np.ones(len(corpus), dtype=bool) if rows is None else rows
    premises = {
        name: np.unique(corpus.premise_keys[inside & (codes == code)])
        for code, name in enumerate(names)
        if name != "none" and (inside & (codes == code)).any()
    }
    several = len(premises) > 1
    shared = np.unique(np.concatenate(list(premises.values())), return_counts=True)[1] > 1 if several else ()
    held_out = _held_out(corpus, inside, premises.get("train"))
    twice = _repeated(corpus, inside)
    labelled = twice.filter(pl.col("label") >= 0)
    contradictory = _in_several(labelled, "pair", "label")
    across = _in_several(twice.filter(pl.col("split") != "none"), "pair", "split")
    return {
        "splits": len(premises),
        "shared_premises": int(np.sum(shared)) if several else None,
        "held_out_pairs_with_premise_in_train": len(held_out) if several else None,
        "duplicates": len(twice) - twice["pair"].n_unique(),
        "duplicates_across_splits": len(across) if several else None,
        "contradictory_duplicates": len(contradictory),
        "near": None,
        "against": {},
        "examples": {
            "held_out": held_out[:EXAMPLES].tolist(),
            "across": _rows_of(twice, across),
            "contradictory": _rows_of(labelled, contradictory),
        },
    }


def _held_out(corpus: Corpus, inside: NDArray[np.bool_], trained: NDArray[np.uint64] | None) -> NDArray[np.int64]:
    """Return the rows of dev and test whose premise train has too."""
    codes, names = corpus.columns["split"]
    wanted = [code for code, name in enumerate(names) if name in ("dev", "test")]
    rows = np.flatnonzero(inside & np.isin(codes, wanted))
    return rows[np.isin(corpus.premise_keys[rows], trained)] if trained is not None else rows[:0]


def _repeated(corpus: Corpus, inside: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the rows whose texts occur more than once: row, pair, label, split."""
    keys = _pair_keys(corpus)
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(keys[rows], kind="stable")]
    like_next = keys[rows][1:] == keys[rows][:-1]
    kept = np.zeros(len(rows), dtype=bool)
    kept[1:] |= like_next
    kept[:-1] |= like_next
    rows = rows[kept]
    codes, names = corpus.columns["split"]
    splits = [names[code] for code in codes[rows]]
    columns = {
        "row": rows,
        "pair": keys[rows],
        "label": corpus.labels[rows],
        "split": pl.Series(splits, dtype=pl.String),
    }
    return pl.DataFrame(columns)


def find_near(pairs: Pairs, others: Sequence[Pairs] = ()) -> dict[str, Any]:
    """Count clusters of exact and near duplicates within pairs, and across ``others``."""
    found = pairs.duplicates(*others)
    return {
        "threshold": found.threshold,
        "clusters": int(found.clusters["cluster"].n_unique()),
        "across_splits": _clusters(found.across("split")),
        "across_datasets": _clusters(found.across("dataset")),
        "contradictory": _clusters(found.across("label").filter(pl.col("label") != "-")),
    }


def compare(corpus: Corpus, other: Corpus) -> dict[str, Any]:
    """Count what two datasets share: premises, whole pairs, and pairs labelled otherwise."""
    ours, theirs = _pair_keys(corpus), _pair_keys(other)
    rows = np.flatnonzero(np.isin(ours, theirs))
    known, first = np.unique(theirs, return_index=True)
    there = other.labels[first[np.searchsorted(known, ours[rows])]]
    here = corpus.labels[rows]
    differ = (here >= 0) & (there >= 0) & (here != there)
    same_labels = corpus.space.labels == other.space.labels
    return {
        "pairs": len(other),
        "shared_premises": len(np.intersect1d(corpus.premise_keys, other.premise_keys)),
        "shared_pairs": len(rows),
        "labelled_otherwise": int(differ.sum()) if same_labels else None,
        "near": None,
        "examples": rows[:EXAMPLES].tolist(),
    }


def _pair_keys(corpus: Corpus) -> NDArray[np.uint64]:
    keys: NDArray[np.uint64] = corpus.premise_keys * np.uint64(0x9E3779B97F4A7C15) ^ corpus.hypothesis_keys
    return keys


def _in_several(frame: pl.DataFrame, key: str, column: str) -> pl.Series:
    """Return the keys that occur with more than one value of a column."""
    return frame.select(key, column).unique().filter(pl.col(key).is_duplicated())[key].unique()


def _rows_of(frame: pl.DataFrame, keys: pl.Series) -> list[int]:
    return frame.filter(pl.col("pair").is_in(keys.implode())).sort("pair", "row")["row"].head(EXAMPLES).to_list()


def _clusters(frame: pl.DataFrame) -> int:
    return int(frame["cluster"].n_unique())
