"""Hashing of numbers, a column at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread keys evenly over 64 bits, one to one: the finaliser of SplitMix64."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
