"""Lexical overlap: the share of the hypothesis's different tokens that also occur in the premise."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def measure_overlap(premises: pl.Series, hypotheses: pl.Series) -> NDArray[np.float32]:
    """Return the overlap of tokenised or encoded texts; NaN where the hypothesis holds no token."""
    frame = pl.DataFrame({"premise": premises, "hypothesis": hypotheses})
    shared = pl.col("hypothesis").list.set_intersection(pl.col("premise")).list.len()
    share = frame.select(shared.cast(pl.Float32) / pl.col("hypothesis").list.n_unique()).to_series()
    return share.fill_null(float("nan")).to_numpy().astype(np.float32)
