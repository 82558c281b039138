"""Several systems against each other: every two of them, on each dataset and on the mean over datasets.

On a dataset whole units are swapped (``metrics.swap_test``), on the mean units are drawn within each dataset
(``metrics.compare_over_sets``). Of many comparisons some would look surprising by chance, so p-values are corrected by
Holm (1979): those on the mean, which is the headline, among themselves, and those on all single datasets together.
Intervals are those of one comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import (
    Estimate,
    PairedTest,
    compare_over_sets,
    holm,
    in_percent,
    in_points,
    mean_over_sets,
    p_in_words,
    share,
    swap_test,
)
from goldlabel.metrics.over_sets import RESAMPLES
from goldlabel.pairs import Result
from goldlabel.registry import one_of

Hits = Mapping[str, Mapping[str, NDArray[np.floating | np.integer | np.bool_]]]
"""Of each system and dataset, whether it is right on each pair, or the share of its runs that are."""
Units = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Standing:
    """Two systems on one dataset, or on the mean over datasets."""

    dataset: str | None
    """``None``: the mean."""
    first: str
    second: str
    difference: Estimate
    """The first's accuracy less the second's."""
    p_value: float
    adjusted: float
    """The p-value, corrected for the comparisons of its family."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "dataset": self.dataset,
            "first": self.first,
            "second": self.second,
            "difference": self.difference.to_dict(),
            "p_value": self.p_value,
            "adjusted": self.adjusted,
        }


@dataclass(frozen=True, repr=False)
class Ranking(Result):
    """Systems, the best first, and whether the order could be chance."""

    means: Mapping[str, Estimate]
    """The mean accuracy of each system that answered all datasets of the mean, the best first."""
    over: tuple[str, ...]
    """The datasets of the mean."""
    accuracies: Mapping[str, Mapping[str, Estimate]]
    """Of each dataset, the accuracy of each system."""
    standings: Sequence[Standing]
    incomplete: Mapping[str, tuple[str, ...]]
    """Systems that have no mean, and the datasets that they lack."""

    @property
    def title(self) -> str:
        """Who comes first, and how surely."""
        if not self.means:
            return "no system answered all datasets"
        first, *others = self.means
        what = f"{first} comes first on the mean over {len(self.over)} datasets, {in_percent(self.means[first])}"
        if not others:
            return what
        ahead = next(row for row in self.standings if row.dataset is None)
        return f"{what}, {in_points(ahead.difference)} points ahead of {others[0]}, {p_in_words(ahead.adjusted)}"

    @property
    def table(self) -> pl.DataFrame:
        """Differences in per cent with their p-values, the mean first."""
        rows = [
            {
                "dataset": row.dataset or "mean",
                "first": row.first,
                "second": row.second,
                "difference": in_points(row.difference),
                "p": row.p_value,
                "p (Holm)": row.adjusted,
            }
            for row in self.standings
        ]
        schema = {name: pl.String() for name in ("dataset", "first", "second", "difference")}
        return pl.DataFrame(rows, schema={**schema, "p": pl.Float64(), "p (Holm)": pl.Float64()})

    def to_dict(self) -> dict[str, Any]:
        """Return the figures; accuracies are from 0 to 1."""
        return {
            "means": {name: figure.to_dict() for name, figure in self.means.items()},
            "over": list(self.over),
            "accuracies": {
                dataset: {name: figure.to_dict() for name, figure in figures.items()}
                for dataset, figures in self.accuracies.items()
            },
            "standings": [row.to_dict() for row in self.standings],
            "incomplete": {name: list(lacking) for name, lacking in self.incomplete.items()},
        }


def rank(
    hits: Hits,
    units: Units,
    *,
    over: Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ranking:
    """Compare every two systems by their hits.

    ``units`` are those of each dataset's pairs. ``over`` are the datasets of the mean, else all.
    A system that lacks one of them has no mean: means over different datasets are never held against each other.
    """
    for system, own in hits.items():
        for dataset, values in own.items():
            one_of("dataset", dataset, list(units))
            if len(units[dataset]) != len(values):
                raise InputError(f"{dataset}: {system} has {len(values):,} hits for {len(units[dataset]):,} pairs")
    chosen = tuple(one_of("dataset", name, list(units)) for name in (units if over is None else over))
    lacking = {system: tuple(name for name in chosen if name not in own) for system, own in hits.items()}
    complete = {system: own for system, own in hits.items() if chosen and not lacking[system]}
    ranked, on_mean = rank_means(complete, units, chosen, level=level, resamples=resamples, seed=seed)
    order = [*ranked, *(system for system in hits if system not in ranked)]
    return Ranking(
        means=ranked,
        over=chosen,
        accuracies={
            name: {
                system: share(hits[system][name], units=units[name], level=level)
                for system in order
                if name in hits[system]
            }
            for name in units
        },
        standings=[*on_mean, *_corrected(list(_on_datasets(hits, units, order, level)))],
        incomplete={system: names for system, names in lacking.items() if names},
    )


def rank_means(
    hits: Hits,
    units: Units,
    over: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[dict[str, Estimate], list[Standing]]:
    """Return the means of systems over datasets, the best first, and every two of them compared, corrected by Holm.

    All systems have hits on all of the datasets.
    """
    keys = [units[name] for name in over]
    means = {system: mean_over_sets([own[name] for name in over], keys, level=level) for system, own in hits.items()}
    ranked = dict(sorted(means.items(), key=lambda item: -item[1].defined))
    if not ranked:
        return {}, []
    stacked = [np.column_stack([hits[system][name] for system in ranked]) for name in over]
    tests = compare_over_sets(stacked, keys, level=level, resamples=resamples, seed=seed)
    names = list(ranked)
    return ranked, _corrected([_standing(None, names[a], names[b], test) for (a, b), test in tests.items()])


def _on_datasets(hits: Hits, units: Units, order: Sequence[str], level: float) -> Iterator[Standing]:
    for name, keys in units.items():
        for first, second in combinations([system for system in order if name in hits[system]], 2):
            test = swap_test(hits[first][name], hits[second][name], units=keys, level=level)
            yield _standing(name, first, second, test)


def _standing(dataset: str | None, first: str, second: str, test: PairedTest) -> Standing:
    return Standing(dataset, first, second, test.difference, test.p_value, test.p_value)


def _corrected(standings: Sequence[Standing]) -> list[Standing]:
    adjusted = holm([row.p_value for row in standings])
    return [replace(row, adjusted=value) for row, value in zip(standings, adjusted, strict=True)]
