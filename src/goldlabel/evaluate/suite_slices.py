"""Every system on the slices of every set, and where it is weaker than elsewhere.

Whether a pair is easy or hard, right or wrong without its premise, is told by a system of the suite that reads the
hypothesis alone, where there is one.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.slices import Slice, make_slices, score_slices
from goldlabel.evaluate.suite import System
from goldlabel.evaluate.weak_slices import find_weak_slices
from goldlabel.metrics import Estimate

HYPOTHESIS_ONLY = "hom"
"""The model that never reads a premise."""

_FIGURES = {"accuracy": pl.Float64, "low": pl.Float64, "high": pl.Float64, "pairs": pl.Int64, "units": pl.Int64}
_SLICES = {"model": pl.String, "set": pl.String, "kind": pl.String, "slice": pl.String, **_FIGURES}
_WEAK = {
    "model": pl.String,
    "set": pl.String,
    "slice": pl.String,
    **_FIGURES,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "adjusted_p": pl.Float64,
    "tried": pl.Int64,
}


def slice_tables(results: BenchResults) -> dict[str, pl.DataFrame]:
    """Return the accuracies on all slices, and the slices that are weak, corrected for the search, from 0 to 1."""
    rows: list[dict[str, Any]] = []
    weak: list[dict[str, Any]] = []
    for name in results.sets:
        gold, slices = results.plan.find_set(name).gold, slices_of(results, name)
        for system in (system for system in results.systems if results.has(system, name)):
            hits, place = results.hits(system, name), {"model": system, "set": name}
            scored = score_slices(gold, hits, slices, level=results.level)
            rows += [
                {**place, "kind": own.kind, "slice": own.name, **_figures(accuracy)} for own, accuracy in scored.slices
            ]
            search = find_weak_slices(gold, hits, slices, level=results.level)
            for own in search.found:
                gap = own.difference
                found = {"difference": gap.value, "difference_low": gap.low, "difference_high": gap.high}
                found |= {"adjusted_p": own.adjusted, "tried": search.tried}
                weak.append({**place, "slice": own.name, **_figures(own.accuracy), **found})
    return {"slices": pl.DataFrame(rows, schema=_SLICES), "weak-slices": pl.DataFrame(weak, schema=_WEAK)}


def slices_of(results: BenchResults, name: str) -> list[Slice]:
    """Return the slices of a set."""
    blind = next(
        (system for system in results.plan.systems if _reads_hypothesis(system) and results.has(system.row, name)), None
    )
    labels = None if blind is None else results.answers[blind.row, name][0].labels
    return make_slices(results.plan.find_set(name).gold, without_premise=labels)


def _reads_hypothesis(system: System) -> bool:
    training = system.training
    return training is not None and (
        training.options.get("reads") == "hypothesis"
        or (training.model == HYPOTHESIS_ONLY and "reads" not in training.options)
    )


def _figures(accuracy: Estimate) -> dict[str, Any]:
    return {
        "accuracy": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "pairs": accuracy.n,
        "units": accuracy.units,
    }
