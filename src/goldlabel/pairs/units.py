"""Units: what must stay together and is not independent.

A pair's unit is its group, else its premise, compared after the normalisation that finds exact duplicates. Where a
premise occurs in several groups, or with and without one, these are one unit, directly or by steps: no premise is
ever in two units. Splits, folds, intervals, tests and leakage all take their units from here.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def normalised(column: str) -> pl.Expr:
    """Return a text as it is compared: NFKC, lower case, letters and digits only."""
    words = pl.col(column).str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ")
    stripped = words.str.strip_chars()
    # Text of nothing but signs is compared as it stands.
    return pl.when(stripped == "").then(pl.col(column)).otherwise(stripped).alias(column)


def units_of(frame: pl.DataFrame) -> NDArray[np.int64]:
    """Number the unit of each row from its ``group`` and ``premise``."""
    return number_units(frame["group"], frame.select(normalised("premise")).to_series())


def number_units(groups: pl.Series, premises: pl.Series) -> NDArray[np.int64]:
    """Number the unit of each row from its group, null where it has none, and its normalised premise, or their hashes.

    Units are numbered in the order of their least group or premise, so the order of rows plays no part.
    """
    premise = _ranked(premises)
    grouped = groups.is_not_null().to_numpy()
    if not grouped.any():
        return premise
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    group = _ranked(groups.filter(groups.is_not_null()))
    first_premise = int(group.max()) + 1
    nodes = first_premise + int(premise.max()) + 1
    edges = (np.ones(len(group), dtype=bool), (group, premise[grouped] + first_premise))
    component = connected_components(coo_array(edges, shape=(nodes, nodes)), directed=False)[1]
    unit = component[premise + first_premise]
    least = np.full(int(component.max()) + 1, nodes)
    np.minimum.at(least, component, np.arange(nodes))
    return np.unique(least[unit], return_inverse=True)[1].astype(np.int64)


def _ranked(keys: pl.Series) -> NDArray[np.int64]:
    return keys.rank("dense").to_numpy().astype(np.int64) - 1
