"""Calibration of what ``verify`` gives: every figure about votes has an interval that covers as it says.

The people are fixed, and pairs are drawn: how easy a pair is depends on its unit, and so does its label. What the
figures should be is what they are on very many pairs.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from goldlabel.metrics import Estimate
from goldlabel.pairs.labels import ABSTENTIONS, NLI3
from goldlabel.verify import Votes, annotators, gold_labels, human_baseline
from goldlabel.verify.agreement import COEFFICIENTS, agreement
from goldlabel.verify.cohen_kappa import joint_votes, mean_cohen
from goldlabel.verify.mixture import compare_votes
from goldlabel.verify.votes import TIME
from tests.calibration import DESIGNS, Design, Rate, coverage, faults

SKILLS = np.array([1.0, 0.95, 0.9, 0.8, 0.7])
"""What part of a pair's ease each person makes of it."""

ANSWERS = np.array([0, 1, 2, 5])
"""What is voted: the labels and ``unrelated``, as places among labels and abstentions."""

UNRELATED = 3


def simulate(design: Design, random: np.random.RandomState, *, ease: float = 0.8) -> Votes:
    """Draw the votes of five people on every pair; the author's is the first."""
    pairs, unit = design.units * design.size, design.unit
    own, of_unit = random.randint(0, 3, pairs), random.randint(0, 3, design.units)[unit]
    truth = np.where(random.rand(pairs) < design.common, of_unit, own)
    released = np.where(random.rand(pairs) < 0.9, truth, own)
    truth = np.where(random.rand(pairs) < 0.1, UNRELATED, truth)
    right = random.rand(pairs, 5) < design.chances(ease, random)[unit][:, None] * SKILLS
    other = np.where(random.rand(pairs, 5) < 0.1, UNRELATED, (truth[:, None] + random.randint(1, 3, (pairs, 5))) % 3)
    votes = np.where(right, truth[:, None], other)
    # Put together as Votes.from_frame would, which takes longer than all that is measured here.
    table = {"id": np.arange(pairs).astype(str), "unit": unit, "label": _words(released), "author": _words(votes[:, 0])}
    columns = {
        "row": np.repeat(np.arange(pairs, dtype=np.uint32), 5),
        "annotator": pl.Series(np.tile(np.arange(5, dtype=np.uint8), pairs)).cat.to(pl.Enum("abcde")),
        "label": _words(votes.reshape(-1)),
        "seconds": pl.Series([None], dtype=pl.Float64).new_from_index(0, 5 * pairs),
        "time": pl.Series(np.repeat(random.permutation(pairs), 5)).cast(TIME),
        "by_author": np.tile(np.arange(5) == 0, pairs),
    }
    return Votes(NLI3, pl.DataFrame(table), pl.DataFrame(columns))


def _words(places: NDArray[np.int64]) -> pl.Series:
    return pl.Series(ANSWERS[places].astype(np.uint8)).cat.to(pl.Enum([*NLI3.labels, *ABSTENTIONS]))


def figures(votes: Votes, foreign: Votes, *, resamples: int, seed: int = 0) -> dict[str, Estimate]:
    """Return every figure of ``verify`` that has an interval."""
    options = {"resamples": resamples, "seed": seed}
    person = annotators(votes, least=10**6).people[3]
    baseline = human_baseline(votes)
    mixed = compare_votes(votes, foreign, ("own", "foreign"), **options)
    return {
        **agreement(votes, gold_labels(votes), **options).figures,
        "cohen_kappa": mean_cohen(joint_votes(votes), 5, **options),
        **{f"baseline {name}": value for name, value in baseline.figures.items()},
        "baseline person": baseline.people["d"],
        **{f"mixture {name}": value for name, value in mixed.difference.items()},
        "annotator's agreement": person.agreement,
        "annotator's drift": person.drift,
    }


@cache
def truths(size: int, common: float) -> dict[str, float]:
    """Return what the figures are on very many pairs."""
    design, random = Design(200_000 // size, size, common), np.random.RandomState(20)
    measured = figures(simulate(design, random), simulate(design, random, ease=0.7), resamples=0)
    return {name: value.defined for name, value in measured.items() if value.value is not None}


def measure(runs: int = 1, designs: tuple[Design, ...] = DESIGNS) -> list[Rate]:
    """Return the rates of everything here; ``runs`` is how many times as long as the tests."""
    rates = []
    for design in designs:
        truth, random = truths(design.size, design.common), np.random.RandomState(21)
        by_name = {name: coverage(name, design) for name in truth}
        for run in range(150 * runs):
            measured = figures(simulate(design, random), simulate(design, random, ease=0.7), resamples=99, seed=run)
            for name, rate in by_name.items():
                rate.cover(measured[name], truth[name])
        rates += by_name.values()
    return rates


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_cover_as_they_say(design: Design) -> None:
    rates = measure(designs=(design,))
    assert faults(rates, chance=0.01) == []
    assert 0.93 <= np.mean([rate.share for rate in rates]) <= 0.97


def test_pairs_taken_as_independent_would_be_caught() -> None:
    """The check itself: without units, the same votes fail it."""
    design, random = DESIGNS[2], np.random.RandomState(22)
    truth, rates = truths(design.size, design.common), [coverage(name, design) for name in COEFFICIENTS]
    for run in range(60):
        votes = simulate(design, random)
        apart = Votes(votes.space, votes.pairs.with_columns(unit=pl.int_range(pl.len())), votes.cast)
        measured = agreement(apart, gold_labels(apart), resamples=99, seed=run).figures
        measured = {**measured, "cohen_kappa": mean_cohen(joint_votes(apart), 5, resamples=99, seed=run)}
        for rate in rates:
            rate.cover(measured[rate.figure], truth[rate.figure])
    assert len(faults(rates)) == 3
    assert all(rate.share < 0.8 for rate in rates)
