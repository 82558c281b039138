"""Label-error candidates by confident learning (Northcutt, Jiang and Chuang 2021).

Given out-of-sample probabilities, a pair counts as confidently of label ``j`` if its probability reaches the mean
probability of ``j`` among the pairs that carry ``j`` (their equation 2). Pairs that are confidently of another
label than their own, the off-diagonal of the confident joint (equation 1), are the candidates, least probable
label first. As in the authors' cleanlab, a pair above several thresholds goes to its most probable label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs import Result

_TOLERANCE = 1e-6


@dataclass(frozen=True, repr=False)
class LabelErrors(Result):
    """Candidates and the confident joint: given labels as rows, confident ones as columns."""

    candidates: pl.DataFrame
    joint: NDArray[np.int64]
    pairs: int

    @property
    def title(self) -> str:
        """How many candidates there are."""
        return f"{len(self.candidates):,} label-error candidates among {self.pairs:,} pairs"

    @property
    def table(self) -> pl.DataFrame:
        """One row per candidate: row or id, label, suggested, probability of the given label."""
        return self.candidates

    def to_dict(self) -> dict[str, Any]:
        """Return the candidates and the joint."""
        return {"pairs": self.pairs, "joint": self.joint.tolist(), "candidates": self.candidates.to_dicts()}


def find_label_errors(
    labels: NDArray[np.integer], probabilities: NDArray[np.floating], names: tuple[str, ...]
) -> LabelErrors:
    """Rank the pairs whose label is probably wrong; ``labels`` are places in ``names``."""
    if probabilities.shape != (len(labels), len(names)):
        raise InputError(
            f"probabilities of shape {probabilities.shape} do not fit {len(labels)} pairs and {len(names)} labels"
        )
    suggested, joint = confident_joint(labels, probabilities)
    rows = np.arange(len(labels))
    own = probabilities[rows, labels]
    # What the model itself would label as it is labelled is no error, whatever the thresholds say.
    wrong = (suggested >= 0) & (suggested != labels) & (probabilities.argmax(axis=1) != labels)
    ranked = rows[wrong][np.argsort(own[wrong], kind="stable")]
    table = pl.DataFrame(
        {
            "row": ranked,
            "label": [names[code] for code in labels[ranked]],
            "suggested": [names[code] for code in suggested[ranked]],
            "probability": own[ranked].astype(np.float64),
        },
        schema={"row": pl.Int64, "label": pl.String, "suggested": pl.String, "probability": pl.Float64},
    )
    return LabelErrors(table, joint, len(labels))


def confident_joint(
    labels: NDArray[np.integer], probabilities: NDArray[np.floating]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the confident label of each pair (-1 for none), and the counts by given and confident label."""
    classes = probabilities.shape[1]
    carried = np.bincount(labels, minlength=classes)
    sums = np.bincount(labels, weights=probabilities[np.arange(len(labels)), labels], minlength=classes)
    # No pair carries the label: nothing can be confidently of it.
    thresholds = np.divide(sums, carried, out=np.full(classes, np.inf), where=carried > 0)
    above = probabilities >= thresholds - _TOLERANCE
    several = above.sum(axis=1) > 1
    confident = np.where(several, probabilities.argmax(axis=1), above.argmax(axis=1))
    confident = np.where(above.any(axis=1), confident, -1)
    known = confident >= 0
    joint = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(joint, (labels[known], confident[known]), 1)
    return confident, joint
