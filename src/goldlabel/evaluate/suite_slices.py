"""Every system on the slices of every set, and where it is weaker than elsewhere.

Whether a pair is easy or hard, right or wrong without its premise, is told by a system of the suite that reads the
hypothesis alone, where there is one; that it is weak on what it gets wrong is not searched for. Weak slices are
corrected for the searches on all sets and for all systems, by Bonferroni: of many, some would find what is not there.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.slices import WITHOUT_PREMISE, Slice, make_slices, score_slices
from goldlabel.evaluate.suite import System
from goldlabel.evaluate.weak_slices import find_weak_slices
from goldlabel.metrics import Estimate

HYPOTHESIS_ONLY = "hom"
"""The model that never reads a premise."""

_FIGURES = {
    "accuracy": pl.Float64,
    "accuracy_low": pl.Float64,
    "accuracy_high": pl.Float64,
    "pairs": pl.Int64,
    "units": pl.Int64,
}
_SLICES = {"model": pl.String, "set": pl.String, "kind": pl.String, "slice": pl.String, **_FIGURES}
_WEAK = {
    "model": pl.String,
    "set": pl.String,
    "slice": pl.String,
    **_FIGURES,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "p (Holm)": pl.Float64,
    "tried": pl.Int64,
}


def slice_tables(results: BenchResults) -> dict[str, pl.DataFrame]:
    """Return the accuracies on all slices, and the slices that are weak, corrected for the searches, in per cent."""
    searches = len(results.answers)
    level = 1 - (1 - results.level) / max(searches, 1)
    rows: list[dict[str, Any]] = []
    weak: list[dict[str, Any]] = []
    for name in results.sets:
        gold, slices, blind = results.plan.find_set(name).gold, slices_of(results, name), _blind(results, name)
        for system in (system for system in results.systems if results.has(system, name)):
            hits, place = results.hits(system, name), {"model": system, "set": name}
            scored = score_slices(gold, hits, slices, level=results.level)
            rows += [
                {**place, "kind": own.kind, "slice": own.name, **_figures(accuracy)} for own, accuracy in scored.slices
            ]
            searched = [own for own in slices if own.kind != WITHOUT_PREMISE or system != blind]
            search = find_weak_slices(gold, hits, searched, level=level)
            for own in search.found:
                gap = own.difference.percent()
                contrast = {"difference": gap.value, "difference_low": gap.low, "difference_high": gap.high}
                contrast |= {"p (Holm)": min(1.0, searches * own.adjusted), "tried": search.tried}
                weak.append({**place, "slice": own.name, **_figures(own.accuracy), **contrast})
    return {"slices": pl.DataFrame(rows, schema=_SLICES), "weak-slices": pl.DataFrame(weak, schema=_WEAK)}


def slices_of(results: BenchResults, name: str) -> list[Slice]:
    """Return the slices of a set."""
    blind = _blind(results, name)
    labels = None if blind is None else results.answers[blind, name][0].labels
    return make_slices(results.plan.find_set(name).gold, without_premise=labels)


def _blind(results: BenchResults, name: str) -> str | None:
    """Return the system that tells easy from hard on a set."""
    rows = (system.row for system in results.plan.systems if _reads_hypothesis(system))
    return next((row for row in rows if results.has(row, name)), None)


def _reads_hypothesis(system: System) -> bool:
    training = system.training
    return training is not None and (
        training.options.get("reads") == "hypothesis"
        or (training.model == HYPOTHESIS_ONLY and "reads" not in training.options)
    )


def _figures(accuracy: Estimate) -> dict[str, Any]:
    accuracy = accuracy.percent()
    return {
        "accuracy": accuracy.value,
        "accuracy_low": accuracy.low,
        "accuracy_high": accuracy.high,
        "pairs": accuracy.n,
        "units": accuracy.units,
    }
