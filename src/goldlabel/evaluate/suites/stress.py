"""``stress``: probing sets that simple tricks fail on, and stress tests made of any NLI set.

The sets of a language are taken from the library as they are; the six tests of ``goldlabel.evaluate.stress`` are made
of a base set (``base``, by default the one of the papers), which is judged on too, undisturbed. With ``tune``, whatever
can be trained further is, on one half of each stress test, and judged on the other, as Nie et al. (2020) do: the base
is halved by unit before anything is made of it, so that no pair of the one half is a changed pair of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.stress import Antonym, Recipe, make_stress, read_antonyms
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan, System, Training
from goldlabel.evaluate.suites.stress_tables import (
    MADE_OF,
    TESTS,
    TUNED,
    category_table,
    drop_table,
    hans_table,
    summary_table,
)
from goldlabel.models.loading import HF
from goldlabel.models.model import CONFIG, find_member, read_config
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import splits_of
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.splits import Halves, apply_plan
from goldlabel.registry import one_of

_NOT_WHEN_TUNING = ("debias", "bias", "size", "vectors", "train_vectors", "start", "epochs")


@dataclass(frozen=True)
class Probing:
    """The sets of a language: those judged whole, those of several tests in one, and what tests are made of."""

    whole: tuple[str, ...]
    tests: str
    base: str


PROBING = {
    "en": Probing(("hans", "snli-hard", "breaking-nli"), "nli-stress", "multinli"),
    "zh": Probing(("hans-zh", "clue-diagnostics", "semantic-fragments-zh"), "nli-stress-zh", "ocnli"),
}


class Stress:
    """HANS, SNLI-hard, Breaking NLI and their Chinese counterparts, and the stress tests of a base set."""

    title: ClassVar[str] = "Does a model know the answer when tricks fail, or when a pair is slightly changed?"
    paper: ClassVar[str] = (
        "Naik et al. 2018; McCoy et al. 2019; Gururangan et al. 2018; Glockner et al. 2018; Hu et al. 2021"
    )
    options: ClassVar[Mapping[str, Any]] = {
        "language": "en",
        "base": "",
        "tune": False,
        "tune_epochs": 3,
        "antonyms": "",
    }

    def plan(self, request: Request) -> SuitePlan:
        """Take the language's sets, make the tests of the base, and train further what shall be."""
        options = request.options
        probing = PROBING[one_of("language", options["language"], list(PROBING))]
        sets: list[EvaluationSet] = []
        missing: dict[str, str] = {}
        notes: list[str] = []
        for name in (*probing.whole, probing.tests):
            pairs = request.find(name)
            if pairs is None:
                missing[name] = f"add it with 'goldlabel data add {name} PATH'"
            elif name == probing.tests:
                sets += _published_tests(name, pairs, request)
            else:
                sets.append(evaluation_set(_in_turn(pairs), name, limit=request.limit))
        base = options["base"] or probing.base
        pairs = request.find(base)
        if pairs is None:
            missing[base] = f"no stress test is made of it; add it with 'goldlabel data add {base} PATH'"
        else:
            sets += _made_tests(base, pairs, request, missing, notes)
        systems = request.systems()
        if options["tune"]:
            systems += tuple(_tuned_systems(systems, sets, options["tune_epochs"], notes))
        return SuitePlan(sets=tuple(sets), systems=systems, missing=missing, notes=tuple(notes))

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the papers' tables: stress tests side by side, what they cost, HANS by heuristic, categories."""
        return {
            "table-4": summary_table(results, reference=reference),
            "stress": drop_table(results),
            "hans": hans_table(results),
            "categories": category_table(results),
        }


def _published_tests(name: str, pairs: Pairs, request: Request) -> Iterator[EvaluationSet]:
    """Yield the tests of a published collection, each a set; their first tag says which test a pair belongs to."""
    test = pl.col("tags").list.first()
    parts = _halved(pairs, request)
    for kind in parts.frame.select(test.unique().sort()).collect().to_series():
        yield _test_set(f"{name}{MADE_OF}{kind}", Pairs(parts.frame.filter(test == kind), parts.card), request)


def _made_tests(
    base: str, pairs: Pairs, request: Request, missing: dict[str, str], notes: list[str]
) -> Iterator[EvaluationSet]:
    """Yield the base set and the stress tests made of it; tell what could not be made."""
    language, antonyms = request.options["language"], request.options["antonyms"]
    parts = _halved(_judged_split(base, pairs), request)
    judged = parts.only(split="test") if request.options["tune"] else parts
    yield evaluation_set(judged, base, limit=request.limit, counts=False)
    for test in TESTS:
        recipe: str | Recipe = Antonym(read_antonyms(antonyms)) if antonyms and test == "antonym" else test
        made = make_stress(judged, recipe, seed=request.seed, language=language)
        name = f"{base}{MADE_OF}{test}"
        if not len(made.pairs):
            missing[name] = made.title
            continue
        notes.append(f"{base}: {made.title}")
        dev = None
        if request.options["tune"]:
            dev = make_stress(parts.only(split="dev"), recipe, seed=request.seed, language=language).pairs
        yield evaluation_set(made.pairs, name, limit=request.limit, dev=dev)


def _test_set(name: str, pairs: Pairs, request: Request) -> EvaluationSet:
    if not request.options["tune"]:
        return evaluation_set(_in_turn(pairs), name, limit=request.limit)
    dev = pairs.only(split="dev")
    return evaluation_set(_in_turn(pairs.only(split="test")), name, limit=request.limit, dev=dev)


def _halved(pairs: Pairs, request: Request) -> Pairs:
    """Return pairs in two halves by unit where there is something to tune, else as they are."""
    return apply_plan(pairs, Halves(), seed=request.seed).pairs if request.options["tune"] else pairs


def _judged_split(base: str, pairs: Pairs) -> Pairs:
    """Return what of a base models are judged on: its test split where that has labels, else dev, else all."""
    for split in ("test", "dev", "none"):
        if split in splits_of(pairs):
            part = pairs.only(split=split)
            gold = Pairs(part.frame.filter(pl.col("label") != NO_GOLD), part.card)
            if len(gold):
                return gold
    raise InputError(f"{base}: has no test or dev pair with a gold label to make stress tests of; choose another base")


def _in_turn(pairs: Pairs) -> Pairs:
    """Let categories and labels take turns, so that the first pairs of a set are of all of them."""
    turn = pl.int_range(pl.len()).over(pl.col("tags").list.join("/"), "label")
    return Pairs(pairs.frame.sort(turn, maintain_order=True), pairs.card)


def _tuned_systems(
    systems: tuple[System, ...], sets: list[EvaluationSet], epochs: int, notes: list[str]
) -> Iterator[System]:
    for system in systems:
        further = _further(system)
        if further is None:
            notes.append(f"{system.name} is not tuned: it is no network whose training goes on")
            continue
        for part in sets:
            if part.dev is None:
                continue
            options = {**further.options, "epochs": epochs}
            yield System(
                name=f"{system.name}{TUNED}{part.name}",
                training=Training(
                    model=further.model, on=(part.dev,), split="dev", start=further.start, options=options
                ),
                sets=(part.name,),
            )


def _further(system: System) -> Training | None:
    """Return how a system's training goes on: from its run, from a run folder, or from a checkpoint."""
    if system.training is not None:
        kept = {
            name: value
            for name, value in system.training.options.items()
            if name not in _NOT_WHEN_TUNING and not name.startswith("debias.")
        }
        model = system.training.model
        return Training(model=model, on=(), start=system.name, options=kept) if _goes_on(model) else None
    reference = system.reference
    device = {name: value for name, value in system.loading.items() if name == "device"}
    if isinstance(reference, str) and reference.startswith(HF):
        return Training(model=reference, on=(), options=device)
    if isinstance(reference, str) and (Path(reference) / CONFIG).exists():
        config = read_config(Path(reference))
        return (
            Training(model=config["model"], on=(), options={**device, "start": reference})
            if _goes_on(config["model"])
            else None
        )
    return None


def _goes_on(model: str) -> bool:
    return bool(find_member(model).fitted_by_trainer)


SUITES.add("stress", Stress())
