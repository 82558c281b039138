"""Calibration errors, Brier scores, reliability bins, and the drawing of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.calibration import Calibration, measure_calibration, measure_reliability
from goldlabel.metrics import share
from goldlabel.pairs.labels import NLI2
from goldlabel.report.plots import draw_reliability
from tests.calibration import DESIGNS, Design, Rate, coverage
from tests.evaluate.samples import make_pairs

EDGES = np.linspace(0, 1, 11)


def measured(confidence: np.ndarray, hits: np.ndarray, **options: int) -> Calibration:
    """The calibration of a model over two labels that is right where it hits."""
    gold = judged_pairs(make_pairs(np.where(hits, "entailment", "not_entailment").tolist(), space=NLI2))
    return measure_calibration(gold, np.column_stack([confidence, 1 - confidence]), **options)


def test_known_answer_by_hand() -> None:
    confidence = np.array([0.62, 0.68, 0.9, 0.95, 0.95])
    hits = np.array([1, 0, 1, 1, 0])
    result = measured(confidence, hits, bins=10)
    # (0.6, 0.7]: 0.5 right, 0.65 sure; (0.8, 0.9]: 1 and 0.9; (0.9, 1]: 0.5 and 0.95.
    assert result.equal_width.error.value == pytest.approx(2 / 5 * 0.15 + 1 / 5 * 0.1 + 2 / 5 * 0.45)
    assert [(own.low, own.high, own.accuracy.n) for own in result.equal_width.bins] == [
        (pytest.approx(0.6), pytest.approx(0.7), 2),
        (pytest.approx(0.8), pytest.approx(0.9), 1),
        (pytest.approx(0.9), pytest.approx(1.0), 2),
    ]
    assert result.brier.value == pytest.approx(np.mean(2 * (confidence - hits) ** 2))
    assert (result.confidence.value, result.accuracy.value) == (pytest.approx(confidence.mean()), 0.6)
    one = measured(confidence, hits, bins=1)
    assert one.equal_width.error.value == pytest.approx(abs(confidence.mean() - 0.6))
    assert one.equal_mass.error.value == pytest.approx(one.equal_width.error.value)


def test_bins_of_equal_mass_have_equally_many_pairs() -> None:
    random = np.random.RandomState(1)
    confidence = 0.5 + random.rand(600) / 2
    result = measured(confidence, random.rand(600) < confidence, bins=6)
    assert [own.accuracy.n for own in result.equal_mass.bins] == [100] * 6
    first = confidence <= np.quantile(confidence, 1 / 6)
    assert result.equal_mass.bins[0].confidence.value == pytest.approx(confidence[first].mean())


def test_a_model_that_is_always_as_sure_has_one_bin() -> None:
    result = measured(np.full(40, 0.75), np.arange(40) % 4 > 0)
    for reliability in (result.equal_width, result.equal_mass):
        assert [own.accuracy for own in reliability.bins] == [share(np.arange(40) % 4 > 0)]
        assert reliability.error.value == pytest.approx(0)
        assert reliability.debiased.low == 0


def test_pairs_without_an_answer_are_left_out_and_counted() -> None:
    gold = judged_pairs(make_pairs(["entailment", "neutral", "neutral"]))
    answers = np.array([[0.1, 0.8, 0.1], [np.nan] * 3, [0.2, 0.2, 0.6]])
    result = measure_calibration(gold, answers)
    assert (result.unanswered, result.accuracy.n, result.accuracy.value) == (1, 2, 1.0)
    assert result.brier.value == pytest.approx(np.mean([0.01 + 0.04 + 0.01, 0.04 + 0.04 + 0.16]))
    with pytest.raises(InputError, match="without any answer"):
        measure_calibration(gold, np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="0 bins cannot be made"):
        measure_calibration(gold, answers, bins=0)


def test_a_single_unit_tells_nothing_of_chance() -> None:
    confidence, hits = np.array([0.6, 0.9]), np.array([1.0, 0.0])
    result = measure_reliability(confidence, hits, EDGES, units=np.array([4, 4]))
    assert result.error.value == pytest.approx((0.4 + 0.9) / 2)
    assert (result.debiased.value, result.debiased.interval) == (None, None)


def test_figures_are_seeded_and_can_be_written() -> None:
    random = np.random.RandomState(2)
    confidence = 0.5 + random.rand(80) / 2
    hits = random.rand(80) < 0.7
    result = measured(confidence, hits)
    assert result == measured(confidence, hits)
    assert result.title.endswith("% right on 80 pairs")
    assert result.table["pairs"].sum() == 80
    document = json.loads(json.dumps(result.to_dict()))
    assert document["equal_width"]["debiased"]["interval"] == list(result.equal_width.debiased.interval)


def test_the_diagram_has_a_mark_for_each_bin() -> None:
    bins = [(0.4, 0.35, 0.3, 0.4, 20), (0.6, 0.5, 0.4, 0.6, 60), (0.9, 0.7, None, None, 120)]
    figure = draw_reliability("linear on herons", bins, shows="how sure and how right")
    assert figure.svg.startswith("<svg")
    assert "linear on herons" in figure.svg
    assert "var(--bar)" in figure.svg
    assert figure.svg == draw_reliability("linear on herons", bins, shows="how sure and how right").svg


def errors(design: Design, runs: int) -> list[Rate]:
    """The debiased error of a calibrated model, of one that is too sure everywhere, and of one in its last bin."""
    shapes = {
        "calibrated": lambda sure: sure,
        "too sure": lambda sure: sure - 0.1,
        "too sure at the end": lambda sure: np.where(sure > 0.9, sure - 0.2, sure),
    }
    random = np.random.RandomState(23)
    rates = []
    for name, right in shapes.items():
        many = 0.5 + np.random.RandomState(0).rand(400_000) / 2
        truth = np.abs(np.histogram(many, EDGES, weights=right(many) - many)[0]).sum() / len(many)
        rate = coverage(f"calibration error, {name}", design)
        for run in range(runs):
            confidence = 0.5 + random.rand(len(design.unit)) / 2
            # Members of a unit are right together, as far as their chances allow.
            luck = np.where(random.rand(design.units) < design.common, random.rand(design.units), np.nan)[design.unit]
            drawn = np.where(np.isnan(luck), random.rand(len(luck)), luck)
            hits = (drawn < right(confidence)).astype(float)
            result = measure_reliability(confidence, hits, EDGES, units=design.unit, resamples=199, seed=run)
            rate.cover(result.debiased, float(truth))
        rates.append(rate)
    return rates


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_of_the_error_hold_it_whatever_its_shape(design: Design) -> None:
    """They are wide on purpose, so only the lower bound is held."""
    for rate in errors(design, 60):
        assert rate.hits >= binom.ppf(0.005, rate.runs, 0.95), f"{rate.figure}: {rate.share}"


def test_the_plain_error_is_what_chance_makes_of_it() -> None:
    """The check itself: of a calibrated model, the plain figure is far from zero, and the other near it."""
    random = np.random.RandomState(24)
    plain, debiased = [], []
    for run in range(20):
        confidence = 0.5 + random.rand(300) / 2
        hits = (random.rand(300) < confidence).astype(float)
        result = measure_reliability(confidence, hits, EDGES, units=np.arange(300), resamples=99, seed=run)
        plain.append(result.error.value)
        debiased.append(result.debiased.value)
    assert np.mean(debiased) < 0.5 * np.mean(plain)
    assert min(plain) > 0.015
