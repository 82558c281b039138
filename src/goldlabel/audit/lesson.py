"""What a training set teaches about other pairs without their premises being read: artifacts, and blind answers.

Both sets are read as one corpus in which only the training pairs have labels. So what is found in those that have
labels is known for the others as well: which of them carry each artifact, and what a linear model on the words and
word pairs of hypotheses, fitted to the training pairs, says of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.corpus import Corpus, read_corpus
from goldlabel.audit.features import count_features, take_sample
from goldlabel.audit.findings import LEAST_CARRIERS, choose_artifacts
from goldlabel.audit.logistic import fit_models, hashed_ngrams
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NO_GOLD

MOST_WORDS, MOST_OTHERS = 20, 10
_COLUMNS = ("premise", "hypothesis", "label", "language", "group")


@dataclass(frozen=True)
class TaughtArtifact:
    """A feature that goes with a label among the training pairs, and the other pairs that carry it."""

    kind: str
    feature: str
    label: str
    share: float
    """Of its carriers among the training pairs, the share that have the label."""
    carried: NDArray[np.bool_]


@dataclass(frozen=True)
class Lesson:
    """What is known of the other pairs."""

    artifacts: list[TaughtArtifact]
    probabilities: NDArray[np.float32]
    """By the hypothesis-only model; the columns are the labels of the training pairs' space."""


def learn(training: GoldPairs, others: pl.DataFrame, *, seed: int = 0) -> Lesson:
    """Return what gold pairs teach about others, whose labels, if they have any, are not looked at."""
    unlabelled = others.select(_COLUMNS).with_columns(label=pl.lit(NO_GOLD))
    frame = pl.concat([training.frame.select(_COLUMNS), unlabelled]).with_columns(split=pl.lit("none"))
    corpus = read_corpus(Pairs(frame.lazy(), Card(name=training.name, label_space=training.space)))
    return Lesson(_find_artifacts(corpus, len(others)), _answer_blind(corpus, len(others), seed))


def _find_artifacts(corpus: Corpus, others: int) -> list[TaughtArtifact]:
    """Rank words apart from tags, lengths and overlaps: many telling words shall not hide that overlap tells, too."""
    sample = take_sample(corpus.words, corpus.labels, corpus.units, len(corpus.space))
    words = count_features(sample, "word", least=LEAST_CARRIERS)
    chosen = [
        *choose_artifacts(corpus, sample, [words], others=False, most=MOST_WORDS),
        *choose_artifacts(corpus, sample, [], most=MOST_OTHERS),
    ]
    return [
        TaughtArtifact(
            candidate.kind, artifact.feature, artifact.label, artifact.share.defined, carriers[len(carriers) - others :]
        )
        for candidate, artifact, carriers in chosen
    ]


def _answer_blind(corpus: Corpus, others: int, seed: int) -> NDArray[np.float32]:
    matrix, known = hashed_ngrams(corpus.words), corpus.gold
    models = fit_models(
        matrix[known], corpus.labels[known], len(corpus.space), np.ones((known.sum(), 1), bool), seed=seed
    )
    return models.predict(matrix[~known], np.zeros(others, dtype=np.int64))
