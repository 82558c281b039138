"""Tails and bounds of the distributions that tests and intervals go by.

They are those of ``scipy.special``, by which ``scipy.stats`` computes them, too: to import the latter takes longer
than most commands take as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DIRECT = 1_000_000
"""Up to so many products, two sequences are convolved term by term."""


def normal_tail(value: Any) -> Any:
    """Return the chance that a normal variable is above a value."""
    from scipy.special import ndtr

    return ndtr(-np.asarray(value, dtype=np.float64))


def normal_bound(tail: float) -> float:
    """Return the value that a normal variable is above with a chance."""
    from scipy.special import ndtri

    return -float(ndtri(tail))


def student_tail(value: float, freedom: float) -> float:
    """Return the chance that a variable of Student's distribution is above a value."""
    from scipy.special import stdtr

    return float(stdtr(freedom, -value))


def student_bound(tail: float, freedom: float) -> float:
    """Return the value that a variable of Student's distribution is above with a chance."""
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, tail))


def binomial_tail(successes: int, trials: int, chance: float) -> float:
    """Return the chance of so many successes or more."""
    from scipy.special import bdtrc

    return float(bdtrc(successes - 1, trials, chance))


def binomial(trials: int, chance: float) -> Floats:
    """Return the chances of 0, 1, 2, … successes."""
    from scipy.special import gammaln, xlog1py, xlogy

    successes = np.arange(trials + 1)
    ways = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    return np.asarray(np.exp(ways + xlogy(successes, chance) + xlog1py(trials - successes, -chance)))


def convolve(first: Floats, second: Floats) -> Floats:
    """Return the chances of the sum of two variables; long ones are multiplied by Fourier transform."""
    if len(first) * len(second) <= _DIRECT:
        return np.convolve(first, second)
    length = len(first) + len(second) - 1
    size = 1 << (length - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)[:length]
    return np.maximum(product, 0.0)  # it may be rounded to less than nothing
