"""What came of a bench: every system's answers to every set, and the figures that tables are made of.

Over several seeds, a pair counts by the share of seeds that got it right; the interval of an accuracy is about which
pairs were drawn (by unit), the standard deviation about which seed was.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.calibration import BINS, Calibration, Reliability, measure_calibration, measure_reliability
from goldlabel.evaluate.contamination import Contamination
from goldlabel.evaluate.ranking import Ranking, rank
from goldlabel.evaluate.soft_labels import FEWEST_VOTES, SoftLabels, count_votes, score_soft_labels
from goldlabel.messages import many
from goldlabel.metrics import (
    Estimate,
    PairedTest,
    difference,
    in_percent,
    mean_over_sets,
    paired_bootstrap_over_sets,
    percent,
    share,
)
from goldlabel.pairs import Result, score_mapping
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NO_GOLD

if TYPE_CHECKING:
    from goldlabel.evaluate.answer_store import StoredAnswers
    from goldlabel.evaluate.suite import SuitePlan


VOTED_SHARE = 0.5
"""Of the pairs of a set must have enough votes, or nothing is said of how close a model is to them."""
MARK = "†"
"""Stands behind an accuracy on pairs that the model has learnt from."""


@dataclass(frozen=True)
class Answers:
    """One model's answers to one set, in the set's labels."""

    gold: GoldPairs
    probabilities: NDArray[np.float64]
    """Mapped to the set's labels; a row of NaN where there is no answer."""
    labels: NDArray[np.str_]
    """The most probable label after mapping, ``-`` where there is no answer."""
    labels_first: NDArray[np.str_]
    """The other convention: the model's most probable label, mapped; ``-`` where the set has no word for it."""
    convention: str

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """Which pairs it got right."""
        return np.asarray(self.labels == self.gold.frame["label"].to_numpy())

    @property
    def unanswered(self) -> int:
        """The pairs to which it has no answer."""
        return int((self.labels == NO_GOLD).sum())

    @cached_property
    def hits_first(self) -> NDArray[np.bool_]:
        """Which pairs it got right by the other convention."""
        return np.asarray(self.labels_first == self.gold.frame["label"].to_numpy())


def answers_to(gold: GoldPairs, stored: StoredAnswers) -> Answers:
    """Bring a model's probabilities into the labels of the pairs that it answered."""
    mapping = score_mapping(stored.space, gold.space)
    words = {label: mapping.label(label) or NO_GOLD for label in stored.space.labels}
    answered = ~np.isnan(stored.probabilities).any(axis=1)
    chosen = np.array([words[label] for label in stored.space.labels])[np.nan_to_num(stored.probabilities).argmax(1)]
    return Answers(
        gold,
        mapping.apply(stored.probabilities),
        gold.answers(stored.probabilities, stored.space),
        np.where(answered, chosen, NO_GOLD),
        mapping.convention,
    )


@dataclass(frozen=True, repr=False, kw_only=True)
class BenchResults(Result):
    """One suite, the systems that it judged, and the sets that it judged them by."""

    suite: str
    plan: SuitePlan
    seeds: tuple[int, ...]
    answers: Mapping[tuple[str, str], tuple[Answers, ...]]
    """By system and set, one for each seed; a system that is not trained has one."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Runs that have no answers, and why."""
    seen: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)
    """Systems that have learnt from a set that they are judged by, and from which share of it."""
    contamination: Mapping[str, Contamination] = field(default_factory=dict)
    """What of each set the training data holds, where that was asked for; the sets of the plan may be without it."""
    level: float = 0.95

    def contamination_notes(self) -> list[str]:
        """Return what of each set the training data holds, and whether that was left out."""
        return [
            contamination.title + ("; left out" if len(self.plan.find_set(name).gold) < len(contamination.test) else "")
            for name, contamination in self.contamination.items()
        ]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that have answers, in the plan's order; those of one row of the tables are one."""
        answered = {system for system, _ in self.answers}
        return tuple(dict.fromkeys(system.row for system in self.plan.systems if system.row in answered))

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets, in the plan's order."""
        return tuple(part.name for part in self.plan.sets)

    def has(self, system: str, name: str) -> bool:
        """Say whether a system was judged on a set."""
        return (system, name) in self.answers

    def hits(self, system: str, name: str) -> NDArray[np.float64]:
        """Return for each pair the share of seeds that got it right."""
        seeds = np.stack([answers.hits for answers in self.answers[system, name]])
        return np.asarray(seeds.mean(axis=0), dtype=np.float64)

    def accuracy(self, system: str, name: str, rows: NDArray[np.bool_] | None = None) -> Estimate:
        """Return the accuracy on a set, or on some of its pairs, the mean over seeds, with its interval by unit."""
        chosen = slice(None) if rows is None else rows
        units = self.plan.find_set(name).gold.units
        return share(self.hits(system, name)[chosen], units=units[chosen], level=self.level)

    def deviation(self, system: str, name: str) -> float | None:
        """Return the standard deviation of the accuracy over seeds."""
        accuracies = [float(answers.hits.mean()) for answers in self.answers[system, name]]
        return statistics.stdev(accuracies) if len(accuracies) > 1 else None

    def counted_sets(self, system: str) -> tuple[str, ...]:
        """Return the sets that a system's mean is over."""
        return tuple(name for name in self.plan.counted if self.has(system, name))

    def common_sets(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Return the sets over which the means of several systems can be held against each other."""
        return tuple(name for name in self.plan.counted if all(self.has(system, name) for system in systems))

    def mean(self, system: str, sets: Sequence[str] | None = None) -> Estimate:
        """Return the mean accuracy over sets, each of which weighs the same."""
        names = self.counted_sets(system) if sets is None else sets
        if not names:
            return Estimate.without_interval(None, level=self.level, n=0, units=0, method="mean over 0 datasets")
        hits = [self.hits(system, name) for name in names]
        return mean_over_sets(hits, [self.plan.find_set(name).gold.units for name in names], level=self.level)

    def delta(self, system: str) -> Estimate | None:
        """Return the mean over the other sets less the accuracy at home, where the system was judged on both."""
        home, away = self.plan.in_domain, self.mean(system)
        if home is None or not self.has(system, home) or away.value is None:
            return None
        return difference(away, self.accuracy(system, home))

    def compare_means(self, first: str, second: str) -> tuple[PairedTest, tuple[str, ...]]:
        """Test whether two systems' means differ, over the sets that both were judged on; return these too."""
        names = self.common_sets([first, second])
        for row in self.ranking.standings if names == self.plan.counted else ():
            if row.dataset is None and {row.first, row.second} == {first, second}:
                return PairedTest(row.difference if row.first == first else -row.difference, row.p_value), names
        units = [self.plan.find_set(name).gold.units for name in names]
        own, other = ([self.hits(system, name) for name in names] for system in (first, second))
        return paired_bootstrap_over_sets(own, other, units, level=self.level), names

    def mean_deviation(self, system: str, sets: Sequence[str] | None = None) -> float | None:
        """Return the standard deviation over seeds of the mean over sets."""
        names = self.counted_sets(system) if sets is None else sets
        seeds = min((len(self.answers[system, name]) for name in names), default=0)
        means = [
            statistics.fmean(float(self.answers[system, name][seed].hits.mean()) for name in names)
            for seed in range(seeds)
        ]
        return statistics.stdev(means) if len(means) > 1 else None

    @cached_property
    def ranking(self) -> Ranking:
        """Every two systems against each other, on each set and on the mean, corrected for many comparisons."""
        hits = {
            system: {name: self.hits(system, name) for name in self.sets if self.has(system, name)}
            for system in self.systems
        }
        units = {part.name: part.gold.units for part in self.plan.sets}
        return rank(hits, units, over=self.plan.counted, level=self.level)

    def calibration(self, system: str, name: str) -> Calibration | None:
        """Return how far the model of the first seed can be taken at its word; None where it never answers."""
        answers = self.answers[system, name][0]
        if np.isnan(answers.probabilities).any(axis=1).all():
            return None
        return measure_calibration(answers.gold, answers.probabilities, level=self.level)

    def reliability(self, system: str) -> Reliability:
        """Return how often the model of the first seed is right, by how sure it is, on all sets together."""
        confidence, hits, units = [], [], []
        count = 0
        for name in (name for name in self.sets if self.has(system, name)):
            answers = self.answers[system, name][0]
            answered = answers.labels != NO_GOLD
            confidence.append(answers.probabilities[answered].max(axis=1))
            hits.append(answers.hits[answered].astype(np.float64))
            units.append(answers.gold.units[answered] + count)
            count += len(answers.gold)
        edges = np.linspace(0, 1, BINS + 1)
        joined = np.concatenate(confidence), np.concatenate(hits)
        return measure_reliability(*joined, edges, units=np.concatenate(units), level=self.level)

    @cached_property
    def reliabilities(self) -> dict[str, Reliability]:
        """How sure and how right each system is, on all sets together."""
        return {system: self.reliability(system) for system in self.systems}

    @property
    def labels(self) -> pl.DataFrame:
        """What each system says of each pair, in the set's labels: set, id, label, unit, model, answer and right.

        ``answer`` is the first seed's, ``right`` the share of seeds that are. From it one sees where systems disagree,
        and whether another bench of the same sets differs by more than chance, without the texts.
        """
        frames = [
            self.plan.find_set(name).gold.frame.select(
                pl.lit(name).alias("set"),
                "id",
                "label",
                unit=pl.Series(self.plan.find_set(name).gold.units),
                model=pl.lit(system),
                answer=pl.Series(several[0].labels),
                right=pl.Series(self.hits(system, name)),
            )
            for (system, name), several in self.answers.items()
        ]
        return pl.concat(frames)

    def soft_labels(self, system: str, name: str) -> SoftLabels | None:
        """Return how close the first seed's probabilities are to the votes; None where too few pairs have enough."""
        answers = self.answers[system, name][0]
        voted = count_votes(answers.gold).sum(axis=1) >= FEWEST_VOTES
        answered = ~np.isnan(answers.probabilities).any(axis=1)
        if (voted & answered).mean() < VOTED_SHARE:
            return None
        return score_soft_labels(answers.gold, answers.probabilities, level=self.level)

    @property
    def title(self) -> str:
        """What was judged, and on how much."""
        pairs = sum(len(part.gold) for part in self.plan.sets)
        missing = f"; missing: {', '.join(self.plan.missing)}" if self.plan.missing else ""
        models = f"{len(self.systems)} model{'s' * (len(self.systems) != 1)}"
        return f"{self.suite}: {models} on {many(pairs, 'pair')} of {len(self.sets)} sets{missing}"

    @property
    def table(self) -> pl.DataFrame:
        """Accuracies in per cent: a row for each system, a column for each set, and the mean.

        All means are over the sets that every system was judged on, as others could not be compared.
        """
        rows = []
        common = self.common_sets(self.systems)
        for system in self.systems:
            row = {"model": system}
            row |= {name: self._shown(system, name) for name in self.sets}
            if len(common) > 1:
                row[f"mean of {len(common)}"] = in_percent(self.mean(system, common))
            rows.append(row)
        return pl.DataFrame(rows)

    @property
    def accuracies(self) -> pl.DataFrame:
        """Every system on every set that it was judged on, in per cent, with interval and deviation over seeds."""
        rows = []
        for system, name in ((system, name) for system in self.systems for name in self.sets if self.has(system, name)):
            accuracy, deviation = self.accuracy(system, name).percent(), self.deviation(system, name)
            rows.append(
                {
                    "model": system,
                    "set": name,
                    "accuracy": accuracy.value,
                    "accuracy_low": accuracy.low,
                    "accuracy_high": accuracy.high,
                    "sd": None if deviation is None else 100 * deviation,
                    "pairs": accuracy.n,
                    "units": accuracy.units,
                }
            )
        return pl.DataFrame(rows, schema_overrides={"sd": pl.Float64})

    def _shown(self, system: str, name: str) -> str:
        if not self.has(system, name):
            return ""
        deviation = self.deviation(system, name)
        text = f"{percent(self.accuracy(system, name).defined)}{MARK * ((system, name) in self.seen)}"
        return text if deviation is None else f"{text} ± {100 * deviation:.1f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of every model on every set, and its mean."""
        return {
            "suite": self.suite,
            "models": {system: self._figures(system) for system in self.systems},
            "missing": list(self.plan.missing),
            "seeds": len(self.seeds),
            "why_missing": dict(self.plan.missing),
            "failed": dict(self.failed),
            "contamination": {name: found.to_dict() for name, found in self.contamination.items()},
            "contamination_notes": self.contamination_notes(),
            "ranking": self.ranking.to_dict(),
            "reliability": {system: own.to_dict() for system, own in self.reliabilities.items()},
            "level": self.level,
            "notes": list(self.plan.notes),
        }

    def _figures(self, system: str) -> dict[str, Any]:
        figures: dict[str, Any] = {name: self._cell(system, name) for name in self.sets if self.has(system, name)}
        mean = self.mean(system)
        figures |= {
            "mean": mean.value,
            "mean_interval": mean.interval,
            "mean_sd": self.mean_deviation(system),
            "over": list(self.counted_sets(system)),
        }
        in_domain = self.plan.in_domain
        delta = self.delta(system)
        if in_domain is not None and delta is not None:
            accuracy = self.accuracy(system, in_domain).defined
            figures["in_domain"] = {"set": in_domain, **figures.pop(in_domain)}
            figures |= {"snli": accuracy, "delta": delta.value, "delta_interval": delta.interval}
            figures["delta_relative"] = delta.defined / accuracy if accuracy else None
        return figures

    def _cell(self, system: str, name: str) -> dict[str, Any]:
        accuracy = self.accuracy(system, name)
        several = self.answers[system, name]
        calibration, soft_labels = self.calibration(system, name), self.soft_labels(system, name)
        return {
            "accuracy": accuracy.value,
            "interval": accuracy.interval,
            "n": accuracy.n,
            "units": accuracy.units,
            "sd": self.deviation(system, name),
            "trained_on": self.seen[system, name].value if (system, name) in self.seen else 0.0,
            "seeds": len(several),
            "answered": accuracy.n - max(answers.unanswered for answers in several),
            "convention": several[0].convention,
            "accuracy_label_first": float(np.mean([answers.hits_first.mean() for answers in several])),
            "calibration": calibration and calibration.to_dict(),
            "soft_labels": soft_labels and soft_labels.to_dict(),
        }
