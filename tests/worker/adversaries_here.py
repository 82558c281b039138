"""Models that people write against in tests: quick, slow, wrong and dead ones."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LABELS = ("contradiction", "entailment", "neutral")
asked: list[int] = []
"""How many pairs came with each call of ``sure``."""


def sure(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    asked.append(len(premises))
    return ["entailment" for _ in hypotheses]


def nonsense(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    return np.full((len(premises), 3), np.nan)


def dead(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    raise ConnectionError("the endpoint is gone")


def slow(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    time.sleep(0.5)
    return ["neutral" for _ in hypotheses]


def of_others(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    return ["not_entailment" for _ in hypotheses]


def short(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    return np.full((len(premises), 2), 0.5)


short.label_space = LABELS  # type: ignore[attr-defined]
nonsense.label_space = LABELS  # type: ignore[attr-defined]
of_others.label_space = ("entailment", "not_entailment")  # type: ignore[attr-defined]
