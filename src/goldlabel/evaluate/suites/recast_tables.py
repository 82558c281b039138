"""The tables of the recast suite: Table 3 of Poliak et al. (2018), what beats its baseline, and gender parity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from goldlabel.evaluate.gender_parity import GENDERS, NEUTRAL, find_sentences, parity, with_neutral
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import System
from goldlabel.evaluate.suites.off_paper import PaperCell, published_share
from goldlabel.evaluate.suites.phenomena import WINOGENDER
from goldlabel.metrics import Estimate, PairedTest, holm, swap_test
from goldlabel.models.model import find_member
from goldlabel.models.options import own_options

RECAST, FINE_TUNED, GENERAL = SCENARIOS = ("recast", "fine-tuned", "general")
"""Trained on the phenomenon alone; on a general set and then on the phenomenon; on a general set alone."""
COLUMNS = {
    "factuality": "Factuality",
    "named-entities": "NER",
    "puns": "Puns",
    "sentiment": "Sentiment",
    "megaveridicality": "Lex",
    WINOGENDER: "GAR",
}
"""The columns of Table 3."""
MAJORITY, INFERSENT, HYPOTHESIS_ONLY = "Majority baseline", "InferSent", "Hypothesis-only"
PAPER: Mapping[tuple[str, str | None], tuple[float | None, ...]] = {
    (MAJORITY, None): (50.00, 50.00, 50.00, 50.00, 66.67, 50.00),
    (INFERSENT, RECAST): (82.98, 92.65, 50.00, 50.00, 84.26, None),
    (INFERSENT, FINE_TUNED): (83.23, 92.55, 90.08, 84.67, 85.19, None),
    (INFERSENT, GENERAL): (16.74, 45.14, 24.26, 29.50, 34.60, 47.63),
    (HYPOTHESIS_ONLY, RECAST): (69.14, 91.40, 50.00, 50.00, 78.00, None),
    (HYPOTHESIS_ONLY, FINE_TUNED): (70.68, 91.25, 50.00, 48.17, 78.00, None),
    (HYPOTHESIS_ONLY, GENERAL): (31.23, 46.76, 29.54, 24.17, 33.25, 42.24),
}
"""Table 3: the model and its scenario, and the accuracies in per cent."""
NOT_ABOVE = "‡"
"""Marks an accuracy that is not above its baseline by more than chance."""


@dataclass(frozen=True)
class AgainstBaseline:
    """An accuracy held against the baseline of its set."""

    row: str
    set: str
    baseline: str
    test: PairedTest
    adjusted: float
    """The p-value, corrected for all that are held against a baseline (Holm 1979)."""
    level: float

    @property
    def beats(self) -> bool:
        """Whether it is above, and that is no chance."""
        return self.test.difference.defined > 0 and self.adjusted < 1 - self.level


def reads_hypothesis(model: str, options: Mapping[str, Any]) -> bool:
    """Say whether a model that is trained so sees the hypothesis alone."""
    if options.get("reads", "both") != "both":
        return bool(options["reads"] == "hypothesis")
    member = find_member(model)
    known = () if member.fitted_by_trainer else own_options(member.fit)
    # A baseline with a premise-only form and no other reads the hypothesis alone anyway.
    return "premise_only" in known and "hypothesis_only" not in known


def find_baselines(results: BenchResults) -> dict[str, str]:
    """Return the row that must be beaten on each set: the best of majority and of all that read hypotheses alone.

    That is the baseline of the paper's section 4.2.
    """
    rows = {system.row for system in results.plan.systems if _is_baseline(system)}
    baselines = {}
    for name in results.sets:
        judged = [row for row in results.systems if row in rows and results.has(row, name)]
        if judged:
            baselines[name] = max(judged, key=lambda row: results.accuracy(row, name).defined)
    return baselines


def hold_against_baselines(results: BenchResults) -> list[AgainstBaseline]:
    """Test every model on every set against the set's baseline, pair by pair, whole units swapped."""
    ours = {system.row for system in results.plan.systems if not _is_baseline(system)}
    held = [
        (row, name, baseline)
        for name, baseline in find_baselines(results).items()
        for row in results.systems
        if row in ours and results.has(row, name)
    ]
    tests = [
        swap_test(
            results.hits(row, name),
            results.hits(baseline, name),
            units=results.plan.find_set(name).gold.units,
            level=results.level,
        )
        for row, name, baseline in held
    ]
    adjusted = holm([test.p_value for test in tests])
    return [
        AgainstBaseline(*names, test, p_value, results.level)
        for names, test, p_value in zip(held, tests, adjusted, strict=True)
    ]


def table_3(results: BenchResults, *, reference: bool) -> pl.DataFrame:
    """Return accuracies in per cent as the paper has them, and a mark where one does not beat its baseline."""
    beaten = {(held.row, held.set): held.beats for held in hold_against_baselines(results)}
    rows = []
    for system, published in _rows(results):
        row: dict[str, str] = {"model": system}
        for name in results.sets:
            column, figure = COLUMNS.get(name, name), ""
            if results.has(system, name):
                mark = "" if beaten.get((system, name), True) else f" {NOT_ABOVE}"
                figure = f"{100 * results.accuracy(system, name).defined:.2f}{mark}"
            row[column] = figure
            if reference and name in COLUMNS:
                paper, off = _beside(results, system, name, published)
                row[f"{column} (paper)"] = "" if paper is None else f"{paper:.2f}"
                row[f"{column} (difference)"] = "" if off is None else f"{off:+.2f}"
        rows.append(row)
    return pl.DataFrame(rows)


def baseline_table(results: BenchResults, *, reference: bool) -> pl.DataFrame:
    """Return every accuracy with its interval and deviation over seeds, and how it stands against its baseline."""
    held = {(each.row, each.set): each for each in hold_against_baselines(results)}
    rows = []
    for system, published in _rows(results):
        for name in results.sets:
            if results.has(system, name):
                row = _figures(results, system, name, held.get((system, name)))
                if reference:
                    row["paper"], row["off_paper"] = _beside(results, system, name, published)
                rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def off_paper(results: BenchResults) -> Iterator[PaperCell]:
    """Yield the cells of Table 3 that both have; the paper does not give the number of its test pairs."""
    for system, published in _rows(results):
        for name, column in COLUMNS.items():
            paper, _ = _beside(results, system, name, published)
            if paper is not None and results.has(system, name):
                ours = results.accuracy(system, name)
                yield PaperCell("table-3", system, column, ours, published_share(paper, None, level=results.level))


def parity_table(results: BenchResults) -> pl.DataFrame | None:
    """Return for each model the share of Winogender's sentences to which it answers the same of both genders.

    A model that reads the hypothesis alone cannot but score 1: the pronoun stands in the premise.
    """
    if WINOGENDER not in results.sets:
        return None
    sentences = find_sentences(results.plan.find_set(WINOGENDER).gold.frame)
    if sentences is None or not len(sentences):
        return None
    rows = []
    for system in results.systems:
        if not results.has(system, WINOGENDER):
            continue
        runs = [answers.labels for answers in results.answers[system, WINOGENDER]]
        figure = parity(sentences, runs, level=results.level)
        row = {"model": system, "accuracy": results.accuracy(system, WINOGENDER).percent().value}
        row |= _estimate("parity", figure) | {"sentences": figure.n, "units": figure.units}
        if len(three := with_neutral(sentences)):
            row |= _estimate("with_neutral", parity(three, runs, (*GENDERS, NEUTRAL), level=results.level))
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _figures(results: BenchResults, system: str, name: str, held: AgainstBaseline | None) -> dict[str, Any]:
    accuracy, deviation = results.accuracy(system, name), results.deviation(system, name)
    row: dict[str, Any] = {"model": system, "set": name, "split": results.plan.find_set(name).gold.split}
    row |= {"pairs": accuracy.n, "units": accuracy.units} | _estimate("accuracy", accuracy)
    row["sd"] = None if deviation is None else 100 * deviation
    if held is None:
        difference = Estimate.without_interval(None, level=results.level, n=0, units=0, method="")
        return row | {"baseline": None} | _estimate("above", difference) | dict.fromkeys(("p", "p (Holm)", "beats"))
    row |= {"baseline": held.baseline} | _estimate("above", held.test.difference)
    return row | {"p": held.test.p_value, "p (Holm)": held.adjusted, "beats": held.beats}


def _estimate(name: str, figure: Estimate) -> dict[str, float | None]:
    per_cent = figure.percent()
    return {name: per_cent.value, f"{name}_low": per_cent.low, f"{name}_high": per_cent.high}


def _rows(results: BenchResults) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    """Yield each row and what the paper has in its place."""
    first = {system.row: system for system in reversed(results.plan.systems)}
    for row in results.systems:
        yield row, PAPER[_place(first[row])]


def _place(system: System) -> tuple[str, str | None]:
    """Return the row of Table 3 that a system answers to."""
    training = system.training
    if system.fit is not None:
        return MAJORITY, None
    if training is None:
        return INFERSENT, GENERAL
    scenario = FINE_TUNED if training.start is not None else RECAST if system.part_of is not None else GENERAL
    return HYPOTHESIS_ONLY if _is_baseline(system) else INFERSENT, scenario


def _is_baseline(system: System) -> bool:
    training = system.training
    return system.fit is not None or (training is not None and reads_hypothesis(training.model, training.options))


def _beside(
    results: BenchResults, system: str, name: str, published: tuple[float | None, ...]
) -> tuple[float | None, float | None]:
    """Return the paper's figure and ours less it."""
    if name not in COLUMNS:
        return None, None
    paper = published[[*COLUMNS].index(name)]
    if paper is None or not results.has(system, name):
        return paper, None
    return paper, 100 * results.accuracy(system, name).defined - paper
