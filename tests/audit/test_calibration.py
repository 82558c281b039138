"""Calibration of what an audit prints: on data without an artifact its intervals hold the truth and it finds nothing.

Labels are drawn per premise, wholly (``common`` near 1) or in part, as are the topics of the hypotheses, so that pairs
of one premise are alike in both; but no word tells the label.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from goldlabel.audit.association import add_carriers, association, make_clusters, moments_of, no_moments, p_values
from goldlabel.audit.bags import Bags
from goldlabel.audit.competency import competency
from goldlabel.audit.corpus import Corpus, read_corpus
from goldlabel.audit.features import KINDS, count_features, take_sample
from goldlabel.audit.findings import LEAST_CARRIERS, rank_artifacts
from goldlabel.audit.hypothesis_only import FOLDS, cross_validate, judge
from goldlabel.audit.pmi import rank_words
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NLI3
from goldlabel.pairs.record import DTYPES
from tests.calibration import DESIGNS, Design, Rate, coverage, faults, rejection

WORDS, TOPICS, LENGTH = 40, 20, 5
EVEN, UNEVEN = (1 / 3, 1 / 3, 1 / 3), (0.6, 0.25, 0.15)
MOST_DISCOVERIES = 0.07


def draw_labels(design: Design, random: np.random.RandomState, shares: Any = EVEN) -> NDArray[np.int8]:
    """Draw labels of which those of one unit are alike: ``common`` is their correlation."""
    own = random.choice(3, len(design.unit), p=shares)
    units = random.choice(3, design.units, p=shares)[design.unit]
    return np.where(random.rand(len(own)) < np.sqrt(design.common), units, own).astype(np.int8)


def draw_words(design: Design, random: np.random.RandomState) -> NDArray[np.uint32]:
    """Draw hypotheses of words, the first of which is the topic of their unit."""
    words = random.randint(0, WORDS, (len(design.unit), LENGTH))
    words[:, 0] = WORDS + random.randint(0, TOPICS, design.units)[design.unit]
    return words.astype(np.uint32)


def bags_of(words: NDArray[np.uint32]) -> Bags:
    ordered = np.sort(words, axis=1)
    first = np.ones(words.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    offsets = np.arange(0, words.size + 1, words.shape[1])
    return Bags(ordered.ravel(), offsets, first.ravel(), [f"w{code}" for code in range(WORDS + TOPICS)])


def feature_tests(design: Design, runs: int) -> list[Rate]:
    """Tests of features that single pairs carry, and of ones that all pairs of a unit carry."""
    random = np.random.RandomState(21)
    rates = [rejection(name, design) for name in ("word of a pair", "word of a premise", "word, uneven labels")]
    features = 40
    for _ in range(runs):
        by_pair = random.rand(features, len(design.unit)) < 0.2
        by_unit = (random.rand(features, design.units) < 0.5)[:, design.unit]
        for rate, carried, shares in (
            (rates[0], by_pair, EVEN),
            (rates[1], by_unit, EVEN),
            (rates[2], by_pair, UNEVEN),
        ):
            clusters = make_clusters(draw_labels(design, random, shares), design.unit, 3)
            labelled = carried[:, :, None] & (clusters.labels[:, None] == np.arange(3))
            moments = no_moments(labelled.sum(axis=1), (carried & clusters.alone).sum(axis=1).astype(float))
            larger = np.nonzero(carried & ~clusters.alone)
            if len(larger[0]):
                add_carriers(moments, clusters, *larger)
            for p_value in p_values(association(moments, clusters), clusters):
                rate.reject(p_value)
    return rates


def word_shares(design: Design, runs: int) -> list[Rate]:
    """PMI of a word that half of the pairs have: its interval holds the PMI at the label's true share."""
    random = np.random.RandomState(22)
    rate = coverage("PMI", design)
    for _ in range(runs):
        words = (random.rand(len(design.unit), 1) < 0.5).astype(np.uint32)
        bags = Bags(words.ravel(), np.arange(len(words) + 1), np.ones(len(words), dtype=bool), ["a", "b"])
        labels = draw_labels(design, random)
        drawn = SimpleNamespace(words=bags, labels=labels, gold=labels >= 0, units=design.unit, space=NLI3)
        for word in rank_words(cast(Corpus, drawn), smoothing=0, label="entailment"):
            prior = (labels == NLI3.index("entailment")).mean()
            rate.cover(word.pmi, float(np.log(1 / 3 / prior)))
    return [rate]


def judgements(design: Design, runs: int, shares: tuple[float, ...] = EVEN) -> list[Rate]:
    """Cross-validation on labels that no word tells: the true accuracy is the mean share of what is said."""
    random = np.random.RandomState(24)
    uneven = ", uneven labels" if shares == UNEVEN else ""
    accuracy, gain = (coverage(f"hypothesis-only {name}{uneven}", design) for name in ("accuracy", "gain"))
    tested = rejection("hypothesis-only gain", design)
    for run in range(runs):
        labels, bags = draw_labels(design, random, shares), bags_of(draw_words(design, random))
        out_of_fold = cross_validate(bags, labels, design.unit, 3, seed=run)
        judgement = judge(out_of_fold, NLI3.labels)
        assert judgement is not None
        truth = np.array(shares)[out_of_fold.predicted].mean()
        majority = [np.bincount(labels[out_of_fold.folds != fold], minlength=3).argmax() for fold in range(FOLDS)]
        accuracy.cover(judgement.accuracy, float(truth))
        gain.cover(judgement.gain, float(truth - np.array(shares)[majority][out_of_fold.folds].mean()))
        tested.reject(1.0 if judgement.p_value is None else judgement.p_value)
    # With uneven labels a model that learns chance is truly worse than the most frequent label.
    return [accuracy, gain] if uneven else [accuracy, gain, tested]


def draw_pairs(design: Design, random: np.random.RandomState) -> Pairs:
    words = draw_words(design, random)
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(len(words))],
            "premise": [f"premise number {unit}" for unit in design.unit],
            "hypothesis": [" ".join(f"w{code}" for code in row) for row in words],
            "label": np.array(NLI3.labels)[draw_labels(design, random)],
            "split": "none",
            "language": "en",
        }
    )
    missing = {name: pl.lit(None, dtype) for name, dtype in DTYPES.items() if name not in frame.columns}
    return Pairs(frame.with_columns(**missing).select(list(DTYPES)).lazy(), Card(name="null"))


def discoveries(design: Design, runs: int) -> list[Rate]:
    """Audits that find an artifact, or a competent feature, where there is none."""
    random = np.random.RandomState(25)
    artifact, feature = rejection("any artifact", design), rejection("any competency statistic", design)
    for _ in range(runs):
        corpus = read_corpus(draw_pairs(design, random))
        sample = take_sample(corpus.words, corpus.labels, corpus.units, 3)
        features = [count_features(sample, kind, least=LEAST_CARRIERS) for kind in KINDS]
        artifact.reject(0.0 if rank_artifacts(corpus, sample, features) else 1.0)
        feature.reject(0.0 if len(competency(features, sample.clusters.totals, NLI3.labels)) else 1.0)
    return [artifact, feature]


PARTS = ((feature_tests, 50), (word_shares, 500), (judgements, 150), (discoveries, 60))


def measure(runs: int = 1, designs: tuple[Design, ...] = DESIGNS) -> list[Rate]:
    """Return the rates of everything here; ``runs`` is how many times as long as the tests."""
    rates = [rate for design in designs for part, length in PARTS for rate in part(design, runs * length)]
    return [*rates, *(rate for design in designs for rate in judgements(design, runs * 150, UNEVEN))]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize(("part", "runs"), PARTS[:2], ids=lambda part: getattr(part, "__name__", ""))
def test_intervals_hold_the_truth_and_tests_reject_it_as_they_say(
    part: Callable[[Design, int], list[Rate]], runs: int, design: Design
) -> None:
    assert faults(part(design, runs)) == []


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_cross_validated_figures_hold_the_truth(design: Design) -> None:
    """Each run fits five models, so there are few: what the allowed rates give once in twenty times is let pass.

    Over 800 runs the gain's interval covered 0.969, 0.962 and 0.939, and its test rejected 0.042, 0.036 and 0.050.
    """
    assert faults(judgements(design, 150), chance=0.05) == []


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_data_without_an_artifact_shows_none(design: Design) -> None:
    assert [rate for rate in discoveries(design, 60) if rate.share > MOST_DISCOVERIES] == []


def test_a_word_of_three_premises_proves_nothing() -> None:
    labels = np.repeat([0, 1, 2], 200).astype(np.int8)
    units = np.arange(600) // 10
    clusters = make_clusters(labels, units, 3)
    assert p_values(association(moments_of(np.arange(600) < 30, clusters), clusters), clusters)[0] > 0.1
    scattered = make_clusters(labels, np.arange(600), 3)
    assert p_values(association(moments_of(np.arange(600) < 30, scattered), scattered), scattered)[0] < 1e-6


def test_without_units_the_test_is_the_plain_one() -> None:
    random = np.random.RandomState(3)
    labels, carried = (random.rand(800) < 0.4).astype(np.int8), random.rand(800) < 0.3
    clusters = make_clusters(labels, np.arange(800), 2)
    z = association(moments_of(carried, clusters), clusters)[0, 0]
    table = [[(carried & (labels == code)).sum(), (~carried & (labels == code)).sum()] for code in range(2)]
    expected = [chi2_contingency(table, correction=False, lambda_=name)[0] for name in ("pearson", "log-likelihood")]
    assert z**2 == pytest.approx(min(expected))
