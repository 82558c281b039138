"""Label-error candidates by confident learning (Northcutt, Jiang and Chuang 2021).

Given out-of-sample probabilities, a pair counts as confidently of label ``j`` if its probability reaches the mean
probability of ``j`` among the pairs that carry ``j`` (their equation 2). Pairs that are confidently of another
label than their own, the off-diagonal of the confident joint (equation 1), are the candidates, least probable
label first. As in the authors' cleanlab, a pair above several thresholds goes to its most probable label.

Where model and label disagree, one of them is wrong, and a weak model is wrong more often than annotators are. So the
model's own accuracy is part of the result. A model that may be wrong on every second pair (the lower end of its
interval), or that is not surely better than always saying the most frequent label, is too weak to accuse anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.metrics import Estimate, in_percent, mean, share
from goldlabel.pairs import Result

LEAST_ACCURACY = 0.5
_TOLERANCE = 1e-6


@dataclass(frozen=True, repr=False)
class LabelErrors(Result):
    """Candidates and the confident joint: given labels as rows, confident ones as columns."""

    candidates: pl.DataFrame
    """One row per candidate: ``row`` or ``id``, ``label``, ``suggested``, the ``probability`` of the given label, and
    the ``probabilities`` by label."""
    joint: NDArray[np.int64]
    accuracy: Estimate
    """How often the most probable label is the given one."""
    gain: Estimate
    """The accuracy less the share of the most frequent label."""
    model: str | None = None

    @property
    def pairs(self) -> int:
        """How many pairs were judged."""
        return self.accuracy.n

    @property
    def too_weak(self) -> bool:
        """Whether the model behind the candidates is too weak to accuse anybody."""
        sure = self.accuracy.interval is not None and self.accuracy.interval[0] > LEAST_ACCURACY
        return not (sure and self.gain.interval is not None and self.gain.interval[0] > 0)

    @property
    def title(self) -> str:
        """How many candidates there are, and how good the model behind them is."""
        counted = f"{many(len(self.candidates), 'label-error candidate')} among {many(self.pairs, 'pair')}"
        behind = f"by {self.model or 'a model'} of the accuracy {in_percent(self.accuracy)}"
        return f"{counted}, {behind}" + (", which is too weak to accuse anybody" if self.too_weak else "")

    @property
    def table(self) -> pl.DataFrame:
        """One row per candidate: row or id, label, suggested, probability of the given label."""
        return self.candidates.drop("probabilities")

    def to_dict(self) -> dict[str, Any]:
        """Return the candidates, the joint, and what the model behind them is worth."""
        return {
            "pairs": self.pairs,
            "model": self.model,
            "accuracy": self.accuracy.value,
            "interval": list(self.accuracy.interval) if self.accuracy.interval else None,
            "gain": self.gain.value,
            "too_weak": self.too_weak,
            "joint": self.joint.tolist(),
            "candidates": self.candidates.to_dicts(),
        }


def find_label_errors(
    labels: NDArray[np.integer],
    probabilities: NDArray[np.floating],
    names: tuple[str, ...],
    *,
    units: ArrayLike | None = None,
    level: float = 0.95,
    model: str | None = None,
) -> LabelErrors:
    """Rank the pairs whose label is probably wrong; ``labels`` are places in ``names``.

    ``units`` and ``level`` are for the interval of the model's accuracy, ``model`` is its name.
    """
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
            "probabilities": pl.DataFrame(probabilities[ranked].astype(np.float64), schema=list(names)).to_struct(),
        },
        schema_overrides={"row": pl.Int64, "label": pl.String, "suggested": pl.String},
    )
    right = probabilities.argmax(axis=1) == labels
    majority = labels == np.bincount(labels, minlength=1).argmax()
    return LabelErrors(
        table,
        joint,
        accuracy=share(right, units=units, level=level),
        gain=mean(right.astype(np.int8) - majority, units=units, level=level),
        model=model,
    )


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
