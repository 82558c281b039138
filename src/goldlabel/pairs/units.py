"""Units: what must stay together and is not independent.

A pair's unit is its group, else its premise, compared after the normalisation that finds exact duplicates. Where a
premise occurs in several groups, or with and without one, these are one unit, directly or by steps: no premise is
ever in two units. Splits, folds, intervals, tests and leakage all take their units from here.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

BLOCK = 5_000
"""Pairs whose premises are normalised at a time."""


def normalised(column: str) -> pl.Expr:
    """Return a text as it is compared: NFKC, lower case, letters and digits only."""
    composed = pl.col(column).map_batches(_nfkc, return_dtype=pl.String, is_elementwise=True)
    words = composed.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    # Text of nothing but signs is compared as it stands.
    return pl.coalesce(words.replace("", None), column).alias(column)


def _nfkc(texts: pl.Series) -> pl.Series:
    """Normalise to NFKC; ASCII is in that form already and is spared the work."""
    rows = (texts.str.len_bytes() != texts.str.len_chars()).arg_true()
    return texts.clone().scatter(rows, texts.gather(rows).str.normalize("NFKC")) if len(rows) else texts


def units_of(frame: pl.DataFrame | pl.LazyFrame) -> NDArray[np.int64]:
    """Number the unit of each row from its ``group`` and ``premise``.

    Where all have a group, no more than hashes of the premises are held: groups alone give units their order.
    """
    lazy, premise = frame.lazy().select("group", "premise"), normalised("premise")
    grouped = lazy.select(pl.col("group").is_not_null().all()).collect(engine="streaming").item()
    blocks = lazy.collect_batches(chunk_size=BLOCK, maintain_order=True)
    parts = [block.select("group", premise.hash(seed=0) if grouped else premise) for block in blocks]
    columns = pl.concat(parts) if parts else lazy.collect()
    return number_units(columns["group"], columns["premise"])


def number_units(groups: pl.Series, premises: pl.Series) -> NDArray[np.int64]:
    """Number the unit of each row from its group, null where it has none, and its normalised premise, or their hashes.

    Units are numbered in the order of their least group or premise, so the order of rows plays no part.
    """
    grouped = groups.is_not_null().to_numpy()
    if not grouped.any():
        return _ranked(premises)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Where all have a group, groups alone give units their order, and premises may be numbered in any.
    premise = _numbered(premises) if grouped.all() else _ranked(premises)
    group = _ranked(groups.filter(groups.is_not_null()))
    first_premise = int(group.max()) + 1
    nodes = first_premise + int(premise.max()) + 1
    edges = (np.ones(len(group), dtype=bool), (group, premise[grouped] + first_premise))
    component = connected_components(coo_array(edges, shape=(nodes, nodes)), directed=False)[1]
    unit = component[premise + first_premise]
    least = np.full(int(component.max()) + 1, nodes)
    np.minimum.at(least, component, np.arange(nodes))
    return np.unique(least[unit], return_inverse=True)[1].astype(np.int64)


def _numbered(keys: pl.Series) -> NDArray[np.int64]:
    """Number equal keys alike, by their hashes: quicker than to rank texts."""
    return np.unique(keys.hash().to_numpy(), return_inverse=True)[1].astype(np.int64)


def _ranked(keys: pl.Series) -> NDArray[np.int64]:
    return keys.rank("dense").to_numpy().astype(np.int64) - 1
