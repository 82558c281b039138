"""p-values of many tests, and how one is printed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the family-wise error rate (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    ranked = np.asarray(p_values, dtype=float)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(ranked), 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the false-discovery rate (Benjamini and Hochberg 1995)."""
    from scipy.stats import false_discovery_control

    return [float(value) for value in false_discovery_control(p_values)] if len(p_values) else []


def p_in_words(p_value: float) -> str:
    """Return a p-value as it is printed: ``p = 0.012``, or ``p < 0.001``."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
