"""p-values of many tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the family-wise error rate (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    ranked = np.asarray(p_values, dtype=float)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(ranked), 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: ArrayLike) -> list[float]:
    """Adjust p-values for the false-discovery rate (Benjamini and Hochberg 1995)."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    ranked = values[order] * len(values) / np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.minimum.accumulate(ranked), 1.0)
    return adjusted.tolist()
