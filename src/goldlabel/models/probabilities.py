"""What comes from outside as probabilities, checked: a user's function, a file of predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.labels import LabelSpace, label_space

TOLERANCE = 0.01
"""How far from one a row may sum: figures rounded to two or three places, or computed in half precision."""
_ROUNDING = 1e-9
"""0.33 + 0.33 + 0.33 is further from 1 than 0.01, by the last bit."""


def scaled(matrix: NDArray[np.float64], where: str) -> NDArray[np.float64]:
    """Return rows that sum to one, or refuse what are no probabilities; a row of NaN is a pair without an answer."""
    row = find_improbable(matrix)
    if row is not None:
        raise InputError(f"{where} row {row + 1}: {describe_improbable(matrix[row])}")
    total = matrix.sum(axis=1)
    # What sums to one but for the last bits stays as it was written.
    return np.where(np.abs(total - 1)[:, None] > _ROUNDING, matrix / total[:, None], matrix)


def find_improbable(matrix: NDArray[np.float64]) -> int | None:
    """Return the number of the first row that holds no probabilities; a row of NaN is a pair without an answer."""
    answered = ~np.isnan(matrix).all(axis=1)
    with np.errstate(invalid="ignore"):
        sums = np.abs(matrix.sum(axis=1) - 1) <= TOLERANCE + _ROUNDING
        wrong = answered & ~((matrix >= 0).all(axis=1) & sums)
    return int(wrong.argmax()) if wrong.any() else None


def describe_improbable(row: NDArray[np.float64]) -> str:
    """Say why a row holds no probabilities."""
    values = ", ".join(f"{value:.6g}" for value in row)
    return f"{values} are no probabilities, as they must be from 0 on and sum to 1 (here {row.sum():.6g})"


def named_space(labels: tuple[str, ...]) -> LabelSpace:
    """Return the registered space that has these labels, or one that is named by them."""
    from goldlabel.pairs.labels import LABEL_SPACES

    spaces = (LABEL_SPACES.get(name) for name in LABEL_SPACES)
    return next((space for space in spaces if set(space.labels) == set(labels)), label_space(",".join(labels)))


def one_hot(columns: NDArray[np.int64], space: LabelSpace) -> NDArray[np.float64]:
    """Return all probability on one column of each row; -1 is no answer, a row of NaN."""
    matrix = np.zeros((len(columns), len(space)))
    answered = columns >= 0
    matrix[answered, columns[answered]] = 1.0
    matrix[~answered] = np.nan
    return matrix
