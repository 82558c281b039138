"""``elicitation``: how a dataset was elicited, seen by models (Hu et al. 2020, Tables 5, 6, 7, 9, 14 and Figure 1).

The dataset has a ``condition`` for each pair, and perhaps a ``level``. Models learn from its own training pairs; what
``--train`` gives is a set that has nothing to do with it: models that learn from that one alone probe the conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan, System
from goldlabel.evaluate.suites.campaign import (
    Lesson,
    as_training,
    choose_parts,
    enrol,
    filtered,
    find_dataset,
    gold_count,
    gold_splits,
    is_verified,
    judging_split,
    learnable,
    names_in,
    systems_of,
)
from goldlabel.evaluate.suites.claims import Claims
from goldlabel.evaluate.suites.human_votes import score_votes
from goldlabel.evaluate.suites.off_paper import OFF_PAPER, off_paper_table
from goldlabel.evaluate.suites.paper_tables import Cell, Row, Slice, cell, paper_cells, paper_table, read_figures
from goldlabel.pairs import Pairs
from goldlabel.pairs.splits import ExcludeOverlap

OCNLI = "ocnli"
PARTS = ("table-5", "table-6", "table-7", "table-9", "table-14", "figure-1")
HELD_OUT = ("dev", "test")
LEVELS = ("easy", "medium", "hard")
HUMAN = "human, each vote against the others"
OWN, OTHER, COMBINED, ALONE = "own", "other", "combined", "hypothesis only"
WITHOUT_OVERLAP, AS_FEW = "without overlap", "as few"
DRAWN = ", "
PAPER_PAIRS = {"dev": 3000, "test": 3000}
"""How many pairs stand behind the paper's figures (Table 6)."""
CLAIMS = (
    ("the dataset teaches more than the other set", OWN, OTHER),
    ("alone it teaches more than together with the other", OWN, COMBINED),
    ("premises help", OWN, ALONE),
    ("training pairs that share premises with those judged by help", OWN, WITHOUT_OVERLAP),
    ("shared premises help beyond the number of pairs", AS_FEW, WITHOUT_OVERLAP),
)
"""What is claimed, and which of two models is better then."""


class Elicitation:
    """A dataset elicited in several conditions, and a set that has nothing to do with it."""

    title: ClassVar[str] = "What do ways of eliciting hypotheses do to a dataset?"
    paper: ClassVar[str] = "Hu et al. 2020"
    options: ClassVar[Mapping[str, Any]] = {
        "dataset": OCNLI,
        "parts": "",
        "diagnostics": "clue-diagnostics",
        "sizes": "3000,10000,30000",
    }

    def plan(self, request: Request) -> SuitePlan:
        """Judge by what is held out, by each condition and by the diagnostics."""
        options, missing = request.options, dict[str, str]()
        parts, name = choose_parts(options["parts"], PARTS), options["dataset"]
        pairs = find_dataset(request, name, missing)
        if pairs is None:
            return SuitePlan(sets=(), systems=(), missing=missing)
        judged = judging_split(pairs)
        held_out = [split for split in HELD_OUT if split in gold_splits(pairs)] or [judged]
        if "test" not in held_out:
            missing["test"] = f"{name} has no test labels here, so {judged} is judged by"
        sets = [
            evaluation_set(pairs, split, split=split, limit=request.limit, counts=split == judged) for split in held_out
        ]
        for diagnostics in names_in(options["diagnostics"]):
            if (beside := find_dataset(request, diagnostics, missing)) is not None:
                split = judging_split(beside)
                sets.append(evaluation_set(beside, diagnostics, split=split, limit=request.limit, counts=False))
        conditions = _conditions(pairs, request.limit, missing) if "table-9" in parts else []
        lessons = _Lessons.gather(pairs, judged, request, missing)
        own_sets = tuple(part.name for part in sets)
        trained = any(choice.is_trained for choice in request.models)
        # What has learnt from the dataset cannot probe its conditions.
        taught = [
            (part, lesson if lesson.mark == OTHER else replace(lesson, sets=own_sets))
            for part in parts
            if trained
            for lesson in lessons.of_part(part)
        ]
        return SuitePlan(
            sets=(*sets, *conditions),
            systems=enrol(request.models, taught, ("table-5", "table-6", "table-9")),
            missing=missing,
            notes=lessons.notes,
            options={**options, "parts": parts, "held_out": tuple(held_out), "judged": judged},
        )

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the paper's tables, and its claims with their tests."""
        options = results.plan.options
        figures = read_figures("elicitation") if reference and options["dataset"] == OCNLI else None
        makers = {
            "table-5": (_baselines, ("model",)),
            "table-6": (_by_data, ("model", "data")),
            "table-7": (_hypothesis_only, ("model",)),
            "table-9": (_by_condition, ("model", "data", "level")),
            "table-14": (_by_data, ("model", "data")),
            "figure-1": (_learning_curve, ("model", "data", "pairs")),
        }
        rows = {part: list(maker(results, part)) for part, (maker, _) in makers.items() if part in options["parts"]}
        tables = {part: paper_table(own, makers[part][1], figures, part) for part, own in rows.items() if own}
        if figures is not None:
            cells = [
                cell
                for part, own in rows.items()
                for cell in paper_cells(own, makers[part][1], figures, part, pairs=PAPER_PAIRS, level=results.level)
            ]
            tables |= {OFF_PAPER: off_paper_table(cells)} if cells else {}
        claims = _claims(results)
        return tables if claims.is_empty() else {**tables, "claims": claims}


def _conditions(pairs: Pairs, limit: int | None, missing: dict[str, str]) -> list[EvaluationSet]:
    """Return a set for each condition: its verified pairs, of whatever split, since no model learns from them.

    Conditions follow one another as in train, where they stand in the order in which they were tried.
    """
    frame = pairs.frame.select("condition", "split", is_verified(pairs) & (pl.col("label") != "-")).collect()
    frame = frame.filter(pl.col("condition").is_not_null())
    if frame.is_empty():
        raise InputError(f"{pairs.card.name}: no pair has a condition; leave table-9 out of parts, or give another")
    in_train = frame["split"] == "train"
    order = pl.concat([frame.filter(in_train), frame.filter(~in_train)])["condition"].unique(maintain_order=True)
    verified = set(frame.filter(pl.col("votes"))["condition"])
    sets = []
    for name in order:
        if name not in verified:
            missing[name] = f"no pair of the condition {name} of {pairs.card.name} was verified"
            continue
        chosen = filtered(pairs, (pl.col("condition") == name) & is_verified(pairs), name)
        whole = Pairs(chosen.frame.with_columns(pl.lit("test").alias("split")), chosen.card)
        sets.append(evaluation_set(whole, name, split="test", limit=limit, counts=False))
    return sets


@dataclass(frozen=True)
class _Lessons:
    """What there is to learn from."""

    name: str
    own: Pairs
    without_overlap: Pairs | None
    other: tuple[Pairs, ...]
    other_sizes: tuple[int | None, ...]
    sizes: tuple[int, ...]
    notes: tuple[str, ...]

    @classmethod
    def gather(cls, pairs: Pairs, judged: str, request: Request, missing: dict[str, str]) -> _Lessons:
        name, seed, notes = pairs.card.name, request.seed, []
        own = learnable(pairs, judged=judged, seed=seed)
        apart = None
        if judged in HELD_OUT:
            apart = learnable(pairs.split(ExcludeOverlap()).pairs, judged=judged, seed=seed)
        if judged == "dev":
            notes.append(f"dev judges, so a twentieth of {name}'s training pairs is kept back to stop on")
        if not gold_count(own):
            missing["training pairs"] = f"{name} has no train split, so no model learns from it"
        for part in request.train:
            if "train" not in gold_splits(part):
                notes.append(f"{part.card.name} has no train split: all its pairs with a gold label are trained on")
        if not request.train and any(choice.is_trained for choice in request.models):
            missing["an independent set"] = "Tables 6 and 9 need one; give it with --train"
        try:
            sizes = tuple(int(size) for size in names_in(request.options["sizes"]))
        except ValueError as error:
            raise InputError(f"sizes={request.options['sizes']}: give whole numbers such as 3000,10000") from error
        other = tuple(learnable(as_training(part), seed=seed) for part in request.train)
        return cls(name, own, apart, other, request.sizes or (None,) * len(other), sizes, tuple(notes))

    def of_part(self, part: str) -> list[Lesson]:
        """Return what a part has models learn, as far as there is anything of it."""
        return [lesson for lesson in self._lessons(part) if all(map(gold_count, lesson.on))]

    def _lessons(self, part: str) -> Iterator[Lesson]:
        own = Lesson(data=self.name, on=(self.own,), mark=OWN)
        other_name = "+".join(part.card.name for part in self.other)
        other = Lesson(data=other_name, on=self.other, sizes=self.other_sizes, mark=OTHER)
        if part == "table-5":
            yield own
        elif part == "table-6" and self.other:
            sets, sizes = (self.own, *self.other), (None, *self.other_sizes)
            yield from (own, other, Lesson(data=f"{self.name}+{other_name}", on=sets, sizes=sizes, mark=COMBINED))
        elif part == "table-7":
            yield replace(own, hypothesis_only=True, mark=ALONE)
        elif part == "table-9" and self.other:
            yield other
        elif part == "table-14" and self.without_overlap is not None:
            apart = Lesson(data=f"{self.name} without overlap", on=(self.without_overlap,), mark=WITHOUT_OVERLAP)
            yield from (own, apart, replace(self._sized(own, apart.pairs), mark=AS_FEW))
        elif part == "figure-1":
            for lesson in (own, other) if len(self.other) == 1 else (own,):
                yield from (self._sized(lesson, size) for size in self.sizes if size < lesson.pairs)
                yield lesson

    def _sized(self, lesson: Lesson, size: int) -> Lesson:
        return replace(lesson, data=f"{lesson.data}{DRAWN}{size} pairs", sizes=(size,), mark="")


def _level_rows(results: BenchResults, name: str, column: str, value: str) -> NDArray[np.bool_]:
    chosen = results.plan.find_set(name).gold.frame[column] == value
    return chosen.fill_null(False).to_numpy()


def _baselines(results: BenchResults, part: str) -> Iterator[Row]:
    """Yield each model's accuracy on what is held out, and people's beside it."""
    held_out = results.plan.options["held_out"]
    for system in systems_of(results, part):
        cells = {name: cell(results, system.name, (name, None)) for name in held_out}
        yield {"model": system.marks.model, "pairs": system.marks.size, **cells}
    people = {
        name: Cell(figure)
        for name in held_out
        if (figure := score_votes(results.plan.find_set(name).gold, level=results.level)) is not None
    }
    if people:
        yield {"model": HUMAN, **people}


def _by_data(results: BenchResults, part: str) -> Iterator[Row]:
    """Yield a row for each model and what it learnt from: what is held out, and the diagnostics."""
    for system in systems_of(results, part):
        yield _row(results, system, system.marks.data)


def _learning_curve(results: BenchResults, part: str) -> Iterator[Row]:
    """Yield the rows of models that learnt from more and more of the same."""
    systems = systems_of(results, part)
    models = list(dict.fromkeys(system.marks.model for system in systems))
    rows = [(models.index(system.marks.model), _drawn_from(system), system.marks.pairs, system) for system in systems]
    for _, data, _, system in sorted(rows, key=lambda row: row[:3]):
        yield _row(results, system, data)


def _drawn_from(system: System) -> str:
    return str(system.marks.data).partition(DRAWN)[0]


def _row(results: BenchResults, system: System, data: str) -> Row:
    names = [name for name in results.sets if name not in _condition_names(results)]
    cells = {name: cell(results, system.name, (name, None)) for name in names}
    return {"model": system.marks.model, "data": data, "pairs": system.marks.size, **cells}


def _hypothesis_only(results: BenchResults, part: str) -> Iterator[Row]:
    """Yield the accuracy of models that read no premise, by level and by condition."""
    for system in systems_of(results, part):
        row: dict[str, str | Cell | None] = {"model": system.marks.model}
        for name in results.plan.options["held_out"]:
            row[name] = cell(results, system.name, (name, None))
            for column in ("level", "condition"):
                values = results.plan.find_set(name).gold.frame[column].drop_nulls().unique().to_list()
                for value in sorted(values, key=_level_order):
                    rows = _level_rows(results, name, column, value)
                    row[f"{name} {value}"] = cell(results, system.name, (name, rows))
        yield row


def _by_condition(results: BenchResults, part: str) -> Iterator[Row]:
    """Yield how models that learnt from nothing of the dataset do on each condition, whole and by level."""
    names = _condition_names(results)
    for system in systems_of(results, part):
        if not all(results.has(system.name, name) for name in names):
            continue
        key = {"model": system.marks.model, "data": system.marks.data}
        yield {**key, "level": "all", **{name: cell(results, system.name, (name, None)) for name in names}}
        for level in _levels(results):
            cells = {
                name: cell(results, system.name, (name, _level_rows(results, name, "level", level))) for name in names
            }
            yield {**key, "level": level, **cells}


def _condition_names(results: BenchResults) -> list[str]:
    beside = (*results.plan.options["held_out"], *names_in(results.plan.options["diagnostics"]))
    return [name for name in results.sets if name not in beside]


def _levels(results: BenchResults) -> list[str]:
    frames = [results.plan.find_set(name).gold.frame["level"] for name in _condition_names(results)]
    return sorted({level for frame in frames for level in frame.drop_nulls()}, key=_level_order)


def _level_order(name: str) -> tuple[int, str]:
    return (LEVELS.index(name) if name in LEVELS else len(LEVELS), name)


def _claims(results: BenchResults) -> pl.DataFrame:
    """Test what the paper says of its tables, on the split that judges and on the diagnostics."""
    claims = Claims(results)
    judged: Slice = (results.plan.options["judged"], None)
    diagnostics = [name for name in names_in(results.plan.options["diagnostics"]) if name in results.sets]
    lessons = {
        (system.marks.model, system.marks.mark): system.name
        for system in results.plan.systems
        if system.name in results.systems
    }
    for model in dict.fromkeys(model for model, _ in lessons):
        for text, first, second in CLAIMS:
            if (model, first) in lessons and (model, second) in lessons:
                own, other = lessons[model, first], lessons[model, second]
                claims.better(text, own, other, judged)
                if second == OTHER:
                    for name in diagnostics:
                        claims.better(text, own, other, (name, None))
    names = _condition_names(results)
    for system in systems_of(results, "table-9"):
        for first, second in pairwise(names):
            claims.easier(
                "a condition is harder than the one before",
                system.name,
                (first, (first, None)),
                (second, (second, None)),
            )
        for name in names:
            for easy, hard in pairwise(_levels(results)):
                parts = [
                    (f"{name} {level}", (name, _level_rows(results, name, "level", level))) for level in (easy, hard)
                ]
                claims.easier("later hypotheses are harder", system.name, parts[0], parts[1])
    return claims.table


SUITES.add("elicitation", Elicitation())
