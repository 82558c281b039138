"""Figures in words, the same on every page and in every command.

Shares are in per cent with one decimal and the sign; differences of shares are in points; a p-value has three decimals,
and ``< 0.001`` where these would all be nought. What is undefined is a dash.
"""

from __future__ import annotations

from goldlabel.metrics.estimate import Estimate

UNDEFINED = "–"
LEAST_P = 0.001


def percent(share: float | None) -> str:
    """Return a share: ``81.2 %``."""
    return UNDEFINED if share is None else f"{100 * share:.1f} %"


def in_percent(share: Estimate) -> str:
    """Return a share with its interval: ``81.2 % (79.0 to 83.1)``."""
    return percentage(share.percent())


def percentage(figure: Estimate) -> str:
    """Return a figure that is in per cent already, with its interval: ``81.2 % (79.0 to 83.1)``."""
    return UNDEFINED if figure.value is None else f"{figure.value:.1f} %{_between(figure)}"


def in_points(difference: Estimate) -> str:
    """Return a difference of two shares with its interval, in points: ``-1.2 (-3.0 to 0.6)``."""
    return difference.percent().text()


def p_value(chance: float | None) -> str:
    """Return a p-value as a table has it: ``0.012``, or ``< 0.001``."""
    if chance is None:
        return UNDEFINED
    return f"< {LEAST_P}" if chance < LEAST_P else f"{chance:.3f}"


def p_in_words(chance: float) -> str:
    """Return a p-value as a sentence has it: ``p = 0.012``, or ``p < 0.001``."""
    return f"p < {LEAST_P}" if chance < LEAST_P else f"p = {chance:.3f}"


def _between(figure: Estimate) -> str:
    return "" if figure.low is None or figure.high is None else f" ({figure.low:.1f} to {figure.high:.1f})"
