"""Weights under which a bias tells nothing of the label (Zhang et al. 2019); see ``weighting.py`` for the equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SMOOTH = 0.01
"""What is usually added to a bias model's probabilities."""


def neutral_weights(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64], smooth: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of each pair, and the prior of each label that occurs (0 for the others)."""
    classes = probabilities.shape[1]
    smoothed = (probabilities + smooth) / (1 + classes * smooth)
    seen, place = np.unique(labels, return_inverse=True)
    smoothed = smoothed[:, seen]
    ratios = smoothed / smoothed[np.arange(len(place)), place][:, None]
    means = np.stack([ratios[place == number].mean(axis=0) for number in range(len(seen))])
    values, vectors = np.linalg.eig(means)
    odds = np.abs(np.real(vectors[:, np.real(values).argmax()]))
    prior = np.zeros(classes)
    prior[seen] = (1 / odds) / (1 / odds).sum()
    return ratios @ odds / odds[place], prior
