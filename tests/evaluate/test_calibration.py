"""Calibration of what ``evaluate`` gives: F1, two models and what they have in common, the audit of one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goldlabel.evaluate import compare
from goldlabel.evaluate.explanation import Cue, measure_kinship
from goldlabel.evaluate.explanation.sensitivity import measure_sensitivity
from goldlabel.evaluate.model_audit import judge_partial
from goldlabel.evaluate.scores import score_answers
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NLI3
from tests.calibration import DESIGNS, Design, Rate, coverage, faults, rejection
from tests.evaluate.samples import Told, make_pairs

LABELS = np.array(NLI3.labels)


def f1(design: Design, runs: int) -> list[Rate]:
    """Macro-F1 and the F1 of a rare label, where the members of a unit are told well or badly together."""
    random = np.random.RandomState(16)
    macro, rare = coverage("macro-F1", design), coverage("F1 of a rare label", design)
    shares, hit = np.array([0.5, 0.35, 0.15]), 0.6
    # A wrong answer is one of the other two, each as often: P(predicted = j) = Σ_i p_i (hit if i = j else (1 - hit)/2).
    predicted = shares * hit + (1 - shares) * (1 - hit) / 2
    truth = 2 * shares * hit / (shares + predicted)
    for run in range(runs):
        gold = random.choice(3, len(design.unit), p=shares)
        wrong = (gold + random.randint(1, 3, len(gold))) % 3
        answers = np.where(design.hits(hit, random), gold, wrong)
        score = score_answers(_gold(LABELS[gold], design), LABELS[answers], resamples=199, seed=run)
        macro.cover(score.macro_f1, float(truth.mean()))
        rare.cover(score.per_label[str(LABELS[2])].f1, float(truth[2]))
    return [macro, rare]


def comparison(design: Design, runs: int) -> list[Rate]:
    """Two models that are equally good."""
    random = np.random.RandomState(18)
    pairs = make_pairs(["entailment"] * len(design.unit), per_premise=design.size)
    tested, covered = rejection("comparison", design), coverage("difference of two models", design)
    for _ in range(runs):
        models = [Told(np.where(design.hits(0.6, random), "entailment", "neutral").tolist()) for _ in range(2)]
        result = compare(*models, pairs, examples=0)
        tested.reject(result.p_value)
        covered.cover(result.whole.difference, 0.0)
    return [tested, covered]


def kinship(design: Design, runs: int) -> list[Rate]:
    """Two models whose answers have nothing in common but the gold labels, on which they are good and bad."""
    random = np.random.RandomState(22)
    tested, covered = rejection("agreement beyond gold", design), coverage("agreement beyond gold", design)
    for _ in range(runs):
        gold = random.choice(3, len(design.unit))
        # Each prefers one label, so that given the gold label they agree more often on some than on others.
        first, second = (np.where(design.hits(share, random), gold, 0) for share in (0.8, 0.4))
        excess = measure_kinship(_gold(LABELS[gold], design), LABELS[first], LABELS[second]).excess
        tested.reject(excess.p_value)
        covered.cover(excess.value, 0.0)
    return [tested, covered]


def sensitivity(design: Design, runs: int) -> list[Rate]:
    """A model that says the first label of a fifth of an artifact's carriers, whatever else it would have said."""
    random = np.random.RandomState(24)
    shift, right = coverage("shift at the same gold label", design), coverage("accuracy at the same gold label", design)
    gain = coverage("gain of half the input", design)
    for _ in range(runs):
        gold = random.choice(3, len(design.unit), p=[0.5, 0.3, 0.2])
        carried = random.rand(len(gold)) < np.array([0.5, 0.2, 0.3])[gold]
        plain = np.where(design.hits(0.6, random), gold, (gold + random.randint(1, 3, len(gold))) % 3)
        answers = np.where(carried & (random.rand(len(gold)) < 0.2), 0, plain)
        pairs = _gold(LABELS[gold], design)
        [result] = measure_sensitivity(pairs, LABELS[answers], [Cue("word", "reed", str(LABELS[0]), 0.6, carried)])
        # Of pairs of the first label 0.6 become 0.6 + 0.4 / 5; of others, 0.2 become 0.2 + 0.8 / 5.
        own = (gold[carried] == 0).mean()
        shift.cover(result.shift.value, 0.08 * own + 0.16 * (1 - own))
        right.cover(result.accuracy.value, 0.08 * own - 0.12 * (1 - own))
        gain.cover(judge_partial(pairs, LABELS[gold], LABELS[plain]).gain, 0.6 - 0.5)
    return [shift, right, gain]


def _gold(labels: np.ndarray, design: Design) -> GoldPairs:
    frame = pl.DataFrame({"label": labels, "premise": [f"Heron {unit}" for unit in design.unit], "group": None})
    return GoldPairs("birds", NLI3, frame.with_columns(pl.col("group").cast(pl.String)))


def measure(runs: int = 1, designs: tuple[Design, ...] = DESIGNS) -> list[Rate]:
    """Return the rates of everything here; ``runs`` is how many times as long as the tests."""
    parts = ((f1, 150), (comparison, 150), (kinship, 150), (sensitivity, 120))
    return [rate for design in designs for part, length in parts for rate in part(design, runs * length)]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_cover_and_tests_reject_as_they_say(design: Design) -> None:
    assert faults(measure(designs=(design,)), chance=0.01) == []


def test_pairs_taken_as_independent_would_be_caught() -> None:
    """The check itself: where pairs of a unit are told together and taken apart, the interval is too narrow."""
    together = DESIGNS[2]
    rate = coverage("macro-F1", together)
    random = np.random.RandomState(17)
    for run in range(100):
        gold = random.choice(3, 600)
        answers = np.where(together.hits(0.6, random), gold, (gold + 1) % 3)
        apart = _gold(LABELS[gold], Design(600, 1, 0.0))
        rate.cover(score_answers(apart, LABELS[answers], resamples=99, seed=run).macro_f1, 0.6)
    assert faults([rate], chance=0.01)
    assert rate.share < 0.7
