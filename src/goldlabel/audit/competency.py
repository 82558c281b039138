"""Competency statistics: which features go with a label more often than a task without shortcuts allows.

Gardner et al. (2021), *Competency problems*, section 3: for a feature in ``n`` hypotheses, a share ``p`` of which
has the label, with ``k`` labels,

    z = (p - 1/k) / sqrt((1/k)(1 - 1/k) / n).

The paper takes hypotheses as independent. Here the variance of a unit of one pair is the paper's, and that of a larger
unit the square of its own sum (see ``association``), so that where every unit is one pair, z is the paper's. The test
is two-sided and one-feature-at-a-time as there; unlike there, the false-discovery rate over all features and labels is
controlled (Benjamini and Hochberg 1995). ``null="shares"`` takes the dataset's label shares for 1/k.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.association import Moments, concatenate
from goldlabel.audit.features import Features
from goldlabel.errors import InputError
from goldlabel.metrics import benjamini_hochberg
from goldlabel.metrics.distributions import normal_tail

NULLS = ("uniform", "shares")
_SCHEMA = {
    "feature": pl.String, "kind": pl.String, "label": pl.String, "z": pl.Float64, "q_value": pl.Float64,
    "count": pl.Int64, "total": pl.Int64,
}  # fmt: skip


def competency(
    features: list[Features],
    label_counts: NDArray[np.int64],
    label_names: tuple[str, ...],
    *,
    null: str = "uniform",
    fdr: float = 0.05,
    top: int = 50,
) -> pl.DataFrame:
    """Return the features of the greatest z, with q-values; only those significant at the rate ``fdr``."""
    if null not in NULLS:
        raise InputError(f"there is no null {null!r}; allowed: {', '.join(NULLS)}")
    classes = len(label_names)
    moments = concatenate([part.moments for part in features], classes)
    if not len(moments):
        return pl.DataFrame(schema=_SCHEMA)
    expected = np.full(classes, 1 / classes) if null == "uniform" else label_counts / label_counts.sum()
    z = z_scores(moments, expected)
    q = np.reshape(benjamini_hochberg(2 * normal_tail(np.abs(z)).ravel()), z.shape)
    owner = np.repeat(np.arange(len(features)), [len(part) for part in features])
    first = np.cumsum([0, *(len(part) for part in features)])
    row, column = np.nonzero((q <= fdr) & (z > 0))
    table = pl.DataFrame(
        {
            "feature": [features[owner[number]].name(number - first[owner[number]]) for number in row],
            "kind": [features[owner[number]].kind for number in row],
            "label": [label_names[number] for number in column],
            "z": z[row, column],
            "q_value": q[row, column],
            "count": moments.counts[row, column],
            "total": moments.counts.sum(axis=1)[row],
        },
        schema=_SCHEMA,
    )
    return table.sort("z", "count", "feature", "kind", "label", descending=[True, True, False, False, False]).head(top)


def z_scores(moments: Moments, expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return z for each feature (row) and label (column); 0 where the label cannot occur."""
    score = moments.counts - moments.counts.sum(axis=1, keepdims=True) * expected
    variance = expected * (1 - expected) * moments.alone[:, None] + moments.squared(expected)
    z: NDArray[np.float64] = np.divide(
        score, np.sqrt(np.maximum(variance, 0.0)), out=np.zeros(score.shape), where=variance > 1e-9
    )
    return z
