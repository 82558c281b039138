"""Seeds of everything random."""

from __future__ import annotations

import numpy as np

from goldlabel.errors import InputError

LARGEST = 2**32 - 1
"""The largest seed: what NumPy's legacy generator takes, whose streams never change between versions."""


def check_seed(seed: int) -> int:
    """Return the seed, or say that it is none."""
    if not 0 <= seed <= LARGEST:
        raise InputError(f"seed {seed} is not a whole number from 0 to {LARGEST}")
    return seed


def random_state(seed: int) -> np.random.RandomState:
    """Return the generator that a seed starts."""
    return np.random.RandomState(check_seed(seed))
