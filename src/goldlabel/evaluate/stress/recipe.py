"""What a recipe for a stress test is: one base pair in, changed pairs out, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from goldlabel.registry import Registry

Draw = Callable[[str], np.random.RandomState]
"""Gives the generator for what is done to a text, so that a text is changed alike wherever it stands."""


@dataclass(frozen=True)
class BasePair:
    """A pair before it is changed; ``language`` has no region."""

    premise: str
    hypothesis: str
    language: str


@dataclass(frozen=True)
class Variant:
    """A changed pair.

    ``label`` is a word of ``nli3`` that is true by construction; without one the base pair's label still holds.
    ``kind`` says which of a recipe's ways was taken.
    """

    premise: str
    hypothesis: str
    label: str | None = None
    kind: str | None = None


class UnsuitableError(Exception):
    """The recipe is not valid for a pair; the message says why, in few words that are counted."""


class Recipe(Protocol):
    """One stress test."""

    @property
    def name(self) -> str:
        """What the test is called, as the published sets are tagged."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it is made for."""

    def vary(self, pair: BasePair, draw: Draw) -> list[Variant]:
        """Return what becomes of a pair, or raise ``UnsuitableError``."""


STRESS_TESTS: Registry[Recipe] = Registry("stress test")
for _name, _place in {
    "antonym": "antonym:ANTONYM",
    "numerical_reasoning": "numerical_reasoning:NUMERICAL_REASONING",
    "word_overlap": "distraction:WORD_OVERLAP",
    "negation": "distraction:NEGATION",
    "length_mismatch": "distraction:LENGTH_MISMATCH",
    "spelling_error": "spelling_error:SPELLING_ERROR",
}.items():
    STRESS_TESTS.add(_name, f"goldlabel.evaluate.stress.{_place}")
