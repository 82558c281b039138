"""``score``: how well a model does on datasets, with intervals, per label and per group.

A pair without an answer counts as wrong: it lowers the accuracy and the recall of its label, and nobody's precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import OnPairs, answer_gold, judged_pairs, open_model, usage_of
from goldlabel.messages import many
from goldlabel.metrics import (
    Estimate,
    Statistic,
    Terms,
    accuracy_score,
    bootstrap_sums,
    confusion,
    divided,
    in_percent,
    share,
)
from goldlabel.models import Model
from goldlabel.pairs import Pairs, Result, score_mapping
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.groups import ALL, Key, group_columns, group_name, group_rows, group_title
from goldlabel.pairs.labels import NO_GOLD

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary


@dataclass(frozen=True)
class LabelScore:
    """How well one label is told."""

    gold: int
    """Pairs that have the label."""
    predicted: int
    """Pairs that got it."""
    precision: Estimate
    recall: Estimate
    f1: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, and their intervals beside them."""
        figures = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {
            "gold": self.gold,
            "predicted": self.predicted,
            **{name: figure.value for name, figure in figures.items()},
            "intervals": {name: figure.interval for name, figure in figures.items()},
        }


@dataclass(frozen=True)
class Score:
    """How well a model does on some pairs."""

    accuracy: Estimate
    macro_f1: Estimate
    """The mean F1 over the labels that occur."""
    per_label: Mapping[str, LabelScore]
    confusion: Mapping[str, Mapping[str, int]]
    """For each gold label how often each label was predicted, and ``-`` where some pair has no answer."""
    answered: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, and their intervals beside them."""
        return {
            "accuracy": self.accuracy.value,
            "interval": self.accuracy.interval,
            "n": self.accuracy.n,
            "units": self.accuracy.units,
            "answered": self.answered,
            "macro_f1": self.macro_f1.value,
            "macro_f1_interval": self.macro_f1.interval,
            "per_label": {label: score.to_dict() for label, score in self.per_label.items()},
            "confusion": {label: dict(counts) for label, counts in self.confusion.items()},
        }


@dataclass(frozen=True)
class DatasetScore:
    """How well a model does on a dataset."""

    whole: Score
    groups: Mapping[Key, Score]
    """By the values of the columns that were asked for."""
    split: str
    without_gold: int
    """Pairs of the split that could not be scored."""
    label_space: str
    convention: str
    """How the model's labels became those of the dataset."""
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of the whole, and under ``groups`` those of each group."""
        return {
            **self.whole.to_dict(),
            "split": self.split,
            "without_gold": self.without_gold,
            "label_space": self.label_space,
            "convention": self.convention,
            "level": self.level,
            "groups": {group_name(key): score.to_dict() for key, score in self.groups.items()},
        }


@dataclass(frozen=True, repr=False)
class Scores(Result):
    """A model's scores on one or several datasets."""

    model: str
    scores: Mapping[str, DatasetScore]
    usage: EndpointSummary | None = None
    """What an endpoint was asked, and what that cost."""

    @property
    def title(self) -> str:
        """What was scored, and on how much."""
        pairs = sum(score.whole.accuracy.n for score in self.scores.values())
        return f"{self.model} on {many(pairs, 'pair')} of {', '.join(self.scores)}"

    @property
    def table(self) -> pl.DataFrame:
        """Accuracy and macro-F1 in per cent with their intervals, one row per dataset and group."""
        rows = [
            {
                "dataset": name,
                "split": dataset.split,
                "group": group_title(key),
                "accuracy": in_percent(score.accuracy),
                "macro-F1": in_percent(score.macro_f1),
                "pairs": score.accuracy.n,
                "units": score.accuracy.units,
                "unanswered": score.accuracy.n - score.answered,
            }
            for name, dataset in self.scores.items()
            for key, score in ({ALL: dataset.whole} | dict(dataset.groups)).items()
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of each dataset."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        return {"model": self.model, "scores": scores, "usage": self.usage.to_dict() if self.usage else None}


def score(
    model: Model | str | Path,
    pairs: Pairs | Sequence[Pairs],
    *,
    split: str | None = None,
    limit: int | None = None,
    by: str | Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    on_pairs: OnPairs | None = None,
    **loading: Any,
) -> Scores:
    """Score a model, or what ``load_model`` loads by a name with ``loading``, on one or several datasets.

    It is judged by the gold pairs of ``split``; without one, of the test split where there is one, else of the only
    split that the data has; ``limit`` takes only the first of them. Scores over other labels are mapped to the data's.
    Pairs without an answer count as wrong.
    ``by`` names columns, for scores of each of their values; a pair with several tags counts for each of them.
    Intervals at ``level`` take pairs of one unit together; those of F1 come from ``resamples`` resamples.
    """
    datasets = [pairs] if isinstance(pairs, Pairs) else list(pairs)
    columns = group_columns(by)
    judged = _named([judged_pairs(dataset, split, limit=limit, also=columns) for dataset in datasets])
    drawn: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    with open_model(model, datasets, **loading) as (name, opened):
        conventions = {key: score_mapping(opened.label_space, gold.space).convention for key, gold in judged.items()}
        scores = {}
        for key, gold in judged.items():
            answers = answer_gold(name, opened, gold, on_pairs)[1]
            groups = group_rows(gold.frame, columns)
            measured = {group: score_answers(gold, answers, chosen, **drawn) for group, chosen in groups.items()}
            whole = measured.pop(ALL)
            scores[key] = DatasetScore(
                whole, measured, gold.split, gold.without_gold, gold.space.name, conventions[key], level
            )
        return Scores(name, scores, usage_of(opened))


def score_answers(
    gold: GoldPairs,
    answers: NDArray[np.str_],
    chosen: NDArray[np.bool_] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Score:
    """Score the labels that a model gives gold pairs, or some of them."""
    rows = slice(None) if chosen is None else chosen
    true, answers, units = gold.frame["label"].to_numpy()[rows], answers[rows], gold.units[rows]
    labels = gold.space.labels
    named = {label: (true == label, answers == label) for label in labels}
    f1 = {label: _f1_statistic(*sides) for label, sides in named.items()}
    macro = Statistic(np.concatenate([part.terms for part in f1.values()], axis=1), _macro_f1)
    resampled = bootstrap_sums({**f1, "": macro}, units=units, level=level, resamples=resamples, seed=seed)
    per_label = {
        label: LabelScore(
            int(is_gold.sum()),
            int(is_answer.sum()),
            share(is_gold & is_answer, is_answer, units=units, level=level),
            share(is_gold & is_answer, is_gold, units=units, level=level),
            resampled[label],
        )
        for label, (is_gold, is_answer) in named.items()
    }
    answered = int((answers != NO_GOLD).sum())
    columns = labels if answered == len(answers) else (*labels, NO_GOLD)
    counts = confusion(true, answers, columns)
    table = {label: dict(zip(columns, map(int, counts[row]), strict=True)) for row, label in enumerate(labels)}
    accuracy = accuracy_score(true, answers, units=units, level=level)
    return Score(accuracy, resampled[""], per_label, table, answered)


def _f1_statistic(is_gold: NDArray[np.bool_], is_answer: NDArray[np.bool_]) -> Statistic:
    """Return F1 as made of sums: hits, and how often the label stands on either side."""
    terms = np.column_stack([is_gold & is_answer, is_gold.astype(np.int64) + is_answer]).astype(np.float64)
    return Statistic(terms, lambda sums: divided(2 * sums[:, 0], sums[:, 1]))


def _macro_f1(sums: Terms) -> Terms:
    """Return the mean F1 over the labels that occur, from the terms of one label after the other."""
    f1 = np.stack([divided(2 * hits, both) for hits, both in zip(sums.T[::2], sums.T[1::2], strict=True)])
    occurs = ~np.isnan(f1)
    return np.asarray(divided(np.where(occurs, f1, 0.0).sum(axis=0), occurs.sum(axis=0).astype(np.float64)))


def _named(judged: Sequence[GoldPairs]) -> dict[str, GoldPairs]:
    """Return datasets by their names; the second of one name has a number."""
    named: dict[str, GoldPairs] = {}
    for gold in judged:
        names = (gold.name, *(f"{gold.name} ({number})" for number in range(2, len(judged) + 1)))
        named[next(name for name in names if name not in named)] = gold
    if not named:
        raise InputError("there are no pairs to score")
    return named
