"""Models held against each other by a campaign's rounds: who learnt what from them, and what was forgotten.

Every model so far is judged on every round's test set, on the pairs of exclusive writers and on datasets beside (Nie et
al. 2020, Table 3), and by what experts tagged (Table 7). Where somebody asks for it, a model is trained anew: on
equally many pairs of the rounds and of plain data (Table 5), on equally many verified and unverified ones (Figure 3),
and on more and more pairs of the rounds and of plain data, which tells how many of each it takes. All of it is the
suite ``rounds``, which goes on where it was broken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from goldlabel.bench import BenchProgress, bench
from goldlabel.collect.rounds.round_splits import round_name
from goldlabel.collect.rounds.rounds import Round
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suites.paper_tables import cell
from goldlabel.evaluate.suites.rounds import ALL_ROUNDS, EFFICIENCY, EXCLUSIVE, by_size
from goldlabel.metrics import Estimate, swap_test
from goldlabel.pairs import Pairs
from goldlabel.sources import SOURCES


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What is trained to be compared: a model, on plain data beside the rounds, with several seeds."""

    model: str
    plain: Sequence[Pairs] = ()
    sizes: Sequence[int | None] | None = None
    seeds: int = 1


@dataclass(frozen=True)
class Forgotten:
    """How much better the models of a round are than those before on a set that both have learnt, or never saw."""

    before: str
    after: str
    on: str
    gain: Estimate
    p_value: float


@dataclass(frozen=True)
class CurvePoint:
    """How often a model is right on a set that has learnt from so many pairs of one kind."""

    data: str
    pairs: int
    on: str
    accuracy: Estimate


def judge_models(
    rounds: Sequence[Round],
    data: Mapping[str, str],
    output: Path,
    *,
    beside: Sequence[str] = (),
    progress: BenchProgress | None = None,
) -> BenchResults:
    """Judge every model so far; ``data`` is where the campaign lies by its name, ``beside`` names or paths."""
    (campaign,) = data
    others = {name: path for path in beside if (name := beside_name(path)) not in SOURCES}
    return bench(
        "rounds",
        models_of(rounds),
        output,
        data={**data, **others},
        options={"campaign": campaign, "parts": "table-3,table-7", "beside": _names(beside)},
        progress=progress,
    )


def train_and_judge(
    comparison: Comparison,
    data: Mapping[str, str],
    output: Path,
    *,
    beside: Sequence[str] = (),
    progress: BenchProgress | None = None,
) -> BenchResults:
    """Train a model on parts of the rounds and beside them, and judge it; asked again, it goes on."""
    (campaign,) = data
    others = {name: path for path in beside if (name := beside_name(path)) not in SOURCES}
    return bench(
        "rounds",
        [comparison.model],
        output,
        train=comparison.plain,
        sizes=comparison.sizes,
        seeds=comparison.seeds,
        data={**data, **others},
        options={"campaign": campaign, "parts": f"table-5,figure-3,{EFFICIENCY}", "beside": _names(beside)},
        progress=progress,
    )


def models_of(rounds: Sequence[Round]) -> Mapping[str, str]:
    """Return every model so far, by its name: those of the first round, and whatever was trained."""
    models = {one.name: one.reference for fought in rounds for one in fought.adversaries}
    for fought in rounds:
        models |= fought.trained["adversaries"] if fought.trained else {}
    return models


def find_forgotten(rounds: Sequence[Round], results: BenchResults) -> Iterator[Forgotten]:
    """Yield for each round's models how they do on earlier rounds and beside, against the models before them.

    A hit is the share of a round's seeds that are right on a pair; whole units are swapped.
    """
    generations = [("first", [one.name for one in rounds[0].adversaries])] if rounds else []
    generations += [(round_name(one.number), [*one.trained["adversaries"]]) for one in rounds if one.trained]
    numbers = [round_name(one.number) for one in rounds]
    for (before, old), (after, new) in pairwise(generations):
        later = numbers[numbers.index(after) :]
        for name in results.sets:
            names = [*old, *new]
            if name in later or name == EXCLUSIVE or not all(results.has(system, name) for system in names):
                continue
            hits = [np.mean([results.hits(system, name) for system in systems], axis=0) for systems in (new, old)]
            units = results.plan.find_set(name).gold.units
            test = swap_test(*hits, units=units, level=results.level)
            yield Forgotten(before, after, name, test.difference, test.p_value)


def curve_points(results: BenchResults, part: str) -> Iterator[CurvePoint]:
    """Yield what was measured at each size for a part of the suite that has several, on all rounds and beside."""
    rounds = results.plan.counted
    others = [name for name in results.sets if name not in (*rounds, EXCLUSIVE)]
    for on, sets in ((ALL_ROUNDS, rounds), *((name, (name,)) for name in others)):
        for system in by_size(results, part):
            measured = cell(results, system.name, *((name, None) for name in sets))
            if measured is not None and system.marks.pairs is not None:
                data = system.marks.data.partition(", ")[0]
                yield CurvePoint(data, system.marks.pairs, on, measured.estimate)


def beside_name(path: str) -> str:
    """Return what tables call a dataset beside the rounds: its own name, or that of its folder or file."""
    return path if path in SOURCES else Path(path).stem


def _names(beside: Sequence[str]) -> str:
    return ",".join(map(beside_name, beside)) or "none"
