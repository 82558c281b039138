"""Calibration of what ``metrics`` gives: shares, means, differences, the bootstrap, paired tests."""

from __future__ import annotations

import numpy as np
import pytest

from goldlabel import metrics
from tests.calibration import DESIGNS, Design, Rate, coverage, faults, rejection

TRUE, OTHER = 0.6, 0.9


def quick_accuracy(gold: np.ndarray, predicted: np.ndarray) -> float:
    """Accuracy without the checks, which would take most of the time here."""
    return np.count_nonzero(gold == predicted) / len(gold)


def closed_forms(design: Design, runs: int) -> list[Rate]:
    """Shares, shares near the edge, means, differences of independent sets."""
    random = np.random.RandomState(11)
    rates = [coverage(name, design) for name in ("share", "share near the edge", "mean", "difference")]
    tested = rejection("mean", design)
    for _ in range(runs):
        middle, edge = design.hits(TRUE, random), design.hits(OTHER, random)
        share, near = metrics.share(middle, units=design.unit), metrics.share(edge, units=design.unit)
        rates[0].cover(share, TRUE)
        rates[1].cover(near, OTHER)
        rates[2].cover(metrics.mean(middle, units=design.unit), TRUE)
        rates[3].cover(metrics.difference(near, share), OTHER - TRUE)
        p_value = metrics.mean_test(middle - TRUE, units=design.unit)
        tested.reject(1.0 if p_value is None else p_value)
    return [*rates, tested]


def two_systems(design: Design, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gold labels and the answers of two equally good systems, each with strong and weak units of its own."""
    first, second = (np.where(design.hits(TRUE, random), "a", "b") for _ in range(2))
    return np.full(len(design.unit), "a"), first, second


def paired_tests(design: Design, runs: int) -> list[Rate]:
    """McNemar's test and its interval, on systems that are equally good."""
    random = np.random.RandomState(12)
    tested, covered = rejection("McNemar", design), coverage("paired difference", design)
    for _ in range(runs):
        test = metrics.mcnemar(*two_systems(design, random), units=design.unit)
        tested.reject(test.p_value)
        covered.cover(test.difference, 0.0)
    return [tested, covered]


def resampling(design: Design, runs: int) -> list[Rate]:
    """The bootstrap of one system and of two, and randomisation."""
    random = np.random.RandomState(13)
    rates = [coverage("bootstrap", design), coverage("paired bootstrap", design)]
    tests = [rejection("paired bootstrap", design), rejection("randomisation", design)]
    for run in range(runs):
        gold, first, second = two_systems(design, random)
        options = {"units": design.unit, "resamples": 99, "seed": run}
        rates[0].cover(metrics.bootstrap(quick_accuracy, gold, first, **options), TRUE)
        both = metrics.paired_bootstrap(quick_accuracy, gold, first, second, **options)
        rates[1].cover(both.difference, 0.0)
        tests[0].reject(both.p_value)
        tests[1].reject(metrics.permutation_test(quick_accuracy, gold, first, second, **options).p_value)
    return [*rates, *tests]


def sums(design: Design, runs: int) -> list[Rate]:
    """The bootstrap of figures made of sums: a ratio whose denominator varies, too."""
    random = np.random.RandomState(14)
    rate = coverage("bootstrap of sums", design)
    for run in range(runs):
        hits, asked = design.hits(TRUE, random), design.hits(OTHER, random)
        terms = np.column_stack([hits & asked, asked]).astype(float)
        statistic = metrics.Statistic(terms, lambda sums: sums[:, 0] / sums[:, 1])
        estimate = metrics.bootstrap_sums({"ratio": statistic}, units=design.unit, resamples=99, seed=run)["ratio"]
        rate.cover(estimate, TRUE)
    return [rate]


def gaps(design: Design, runs: int) -> list[Rate]:
    """Gaps between parts that share units, one of them small, and gaps of gaps, where there is none."""
    random = np.random.RandomState(21)
    covered = [coverage(name, design) for name in ("gap", "gap of gaps")]
    tested = rejection("gap", design)
    for _ in range(runs):
        hits, place = design.hits(TRUE, random), random.rand(len(design.unit))
        parts = [(low <= place) & (place < high) for low, high in ((0, 0.1), (0.1, 0.4), (0.4, 0.7), (0.7, 1))]
        one, two = (
            metrics.gap(hits, parts[:2], units=design.unit),
            metrics.gap(hits, parts, [1, -1, -1, 1], units=design.unit),
        )
        covered[0].cover(one.value, 0.0)
        covered[1].cover(two.value, 0.0)
        tested.reject(one.p_value)
    return [*covered, tested]


def seeded(design: Design, share: float, random: np.random.RandomState) -> np.ndarray:
    """The share of three runs of a system that are right on each pair; units and pairs are harder or easier for all."""
    chances = design.chances(share, random)[design.unit]
    pair = random.beta(2 * chances + 1e-9, 2 * (1 - chances) + 1e-9)
    return (random.rand(3, len(pair)) < pair).mean(axis=0)


def several_runs(design: Design, runs: int) -> list[Rate]:
    """Hits that are shares of three runs: their share, and two systems that are equally good."""
    random = np.random.RandomState(19)
    covered = [coverage(name, design) for name in ("share of runs", "paired difference of runs")]
    tested = rejection("swapped units of runs", design)
    for _ in range(runs):
        first, second = (seeded(design, TRUE, random) for _ in range(2))
        test = metrics.swap_test(first, second, units=design.unit)
        covered[0].cover(metrics.share(first, units=design.unit), TRUE)
        covered[1].cover(test.difference, 0.0)
        tested.reject(test.p_value)
    return [*covered, tested]


def over_sets(design: Design, runs: int) -> list[Rate]:
    """The mean over three datasets, two of them small, and two systems that are as good on average."""
    random = np.random.RandomState(20)
    sets = (design, Design(40, 2, 0.5), Design(80, 1, 0.0))
    units = [own.unit for own in sets]
    shares, others = (0.6, 0.9, 0.4), (0.5, 0.9, 0.5)
    rates = [coverage("mean over datasets", design), coverage("difference of means over datasets", design)]
    tested = rejection("bootstrap over datasets", design)
    for run in range(runs):
        first = [seeded(own, share, random) for own, share in zip(sets, shares, strict=True)]
        second = [own.hits(share, random) for own, share in zip(sets, others, strict=True)]
        rates[0].cover(metrics.mean_over_sets(first, units), float(np.mean(shares)))
        test = metrics.paired_bootstrap_over_sets(first, second, units, resamples=99, seed=run)
        rates[1].cover(test.difference, 0.0)
        tested.reject(test.p_value)
    return [*rates, tested]


def measure(runs: int = 1, designs: tuple[Design, ...] = DESIGNS) -> list[Rate]:
    """Return the rates of everything here; ``runs`` is how many times as long as the tests."""
    parts = (
        (closed_forms, 1000),
        (paired_tests, 1000),
        (resampling, 400),
        (sums, 500),
        (gaps, 1000),
        (several_runs, 500),
        (over_sets, 500),
    )
    return [rate for design in designs for part, length in parts for rate in part(design, runs * length)]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_cover_and_tests_reject_as_they_say(design: Design) -> None:
    assert faults(measure(designs=(design,))) == []


def test_pairs_taken_as_independent_would_be_caught() -> None:
    """The check itself: without units, the same data fail it."""
    design, random = DESIGNS[2], np.random.RandomState(15)
    covered, tested = coverage("share", design), rejection("McNemar", design)
    for _ in range(200):
        covered.cover(metrics.share(design.hits(TRUE, random)), TRUE)
        tested.reject(metrics.mcnemar(*two_systems(design, random)).p_value)
    assert len(faults([covered, tested])) == 2
    assert covered.share < 0.6
