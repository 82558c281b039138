"""Seeds of everything random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldlabel.errors import InputError

if TYPE_CHECKING:
    import numpy as np

LARGEST = 2**32 - 1
"""The largest seed: what NumPy's legacy generator takes, whose streams never change between versions."""


def check_seed(seed: int) -> int:
    """Return the seed, or say that it is none."""
    if not 0 <= seed <= LARGEST:
        raise InputError(f"seed {seed} is not a whole number from 0 to {LARGEST}")
    return seed


def random_state(seed: int) -> np.random.RandomState:
    """Return the generator that a seed starts."""
    import numpy as np

    return np.random.RandomState(check_seed(seed))
