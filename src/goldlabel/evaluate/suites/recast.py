"""``recast``: what a model can infer of one phenomenon, and how much of it the hypothesis alone gives away.

Poliak et al. (2018), Table 3. Every model is judged on each phenomenon in three scenarios: trained on a general set and
used as it is (*pre-train, fixed*), trained further on the phenomenon (*pre-train, update*), or trained on that alone.
The baseline is the better of the most frequent label and of models that read the hypothesis alone, which learn in the
same scenarios. A model that is loaded is judged as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.model_choice import ModelChoice
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan, System, Training
from goldlabel.evaluate.suites.off_paper import OFF_PAPER, off_paper_table
from goldlabel.evaluate.suites.phenomena import Phenomenon, find_phenomena
from goldlabel.evaluate.suites.recast_tables import (
    COLUMNS,
    FINE_TUNED,
    GENERAL,
    PAPER,
    RECAST,
    SCENARIOS,
    baseline_table,
    off_paper,
    parity_table,
    reads_hypothesis,
    table_3,
)
from goldlabel.models import Model
from goldlabel.models.model import find_member
from goldlabel.models.options import own_options
from goldlabel.pairs.labels import NLI2
from goldlabel.registry import one_of

ALL = "all"
HYPOTHESIS_ONLY = "linear"
"""What reads the hypothesis alone where no model that was asked for can."""


class Recast:
    """Phenomena recast as pairs, three scenarios, and what a model must beat."""

    title: ClassVar[str] = "Which phenomena does a model master, beyond what the hypothesis alone gives away?"
    paper: ClassVar[str] = "Poliak et al. 2018"
    options: ClassVar[Mapping[str, Any]] = {"scenarios": ",".join(SCENARIOS), "phenomena": ALL}

    def plan(self, request: Request) -> SuitePlan:
        """Judge by each phenomenon's test pairs; train a model for each of them, beside the general one."""
        scenarios = [one_of("scenarios", name, list(SCENARIOS)) for name in _names(request.options["scenarios"])]
        chosen = _names(request.options["phenomena"])
        phenomena, missing = find_phenomena(request, () if chosen == (ALL,) else chosen)
        notes = [note for phenomenon in phenomena for note in phenomenon.notes]
        untaught = ", ".join(phenomenon.name for phenomenon in phenomena if phenomenon.train is None)
        if untaught:
            notes.append(f"nothing can be learnt from {untaught}: majority is the label that most judged pairs have")
        systems = [System(name="majority", fit=_Majorities(phenomena))]
        for choice in (*request.models, *_hypothesis_only(request.models)):
            systems += _systems(choice, phenomena, scenarios, request, notes)
        return SuitePlan(
            sets=tuple(phenomenon.judged for phenomenon in phenomena),
            systems=tuple(systems),
            missing=missing,
            notes=tuple(notes),
        )

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return Table 3, every accuracy against its baseline, and gender parity."""
        tables = {
            "table-3": table_3(results, reference=reference),
            "baseline": baseline_table(results, reference=reference),
        }
        if reference and (cells := list(off_paper(results))):
            tables[OFF_PAPER] = off_paper_table(cells)
        parity = parity_table(results)
        return tables if parity is None else {**tables, "gender-parity": parity}

    def published(self) -> Mapping[str, Mapping[str, float]]:
        """Return the rows of Table 3."""
        return {
            f"{model}, {scenario}" if scenario else model: {
                name: figure / 100 for name, figure in zip(COLUMNS, figures, strict=True) if figure is not None
            }
            for (model, scenario), figures in PAPER.items()
        }


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


class _Majorities:
    """Gives each phenomenon's most frequent label among what is learnt from; where nothing is, among what is judged."""

    def __init__(self, phenomena: Sequence[Phenomenon]) -> None:
        self.phenomena = {phenomenon.name: phenomenon for phenomenon in phenomena}

    def __call__(self, judged: EvaluationSet) -> Model:
        train = self.phenomena[judged.name].train
        frame = judged.gold.frame if train is None else train.collect()
        texts = [frame[name].to_list() for name in ("premise", "hypothesis", "label")]
        model: Model = find_member("majority").fit(*texts, judged.gold.space)
        return model


def _hypothesis_only(choices: Sequence[ModelChoice]) -> Iterator[ModelChoice]:
    """Yield for each model that is trained the same that reads the hypothesis alone, without debiasing."""
    twins: list[ModelChoice] = []
    for choice in choices:
        if choice.model is None or choice.options.get("reads", "both") != "both" or not _can_read_less(choice.model):
            continue
        kept = {name: value for name, value in choice.options.items() if not name.startswith(("debias", "bias"))}
        twins.append(replace(choice, name=f"{choice.name}@hypothesis", options={**kept, "reads": "hypothesis"}))
    there = [
        choice for choice in choices if choice.model is not None and reads_hypothesis(choice.model, choice.options)
    ]
    if not twins and not there:
        linear = ModelChoice(name=f"{HYPOTHESIS_ONLY}@hypothesis", model=HYPOTHESIS_ONLY)
        twins.append(linear.with_options({"reads": "hypothesis"}))
    for number, twin in enumerate(twins):
        others = [*there, *twins[:number]]
        if not any((twin.model, twin.options) == (other.model, other.options) for other in others):
            yield twin


def _can_read_less(model: str) -> bool:
    member = find_member(model)
    return bool(member.fitted_by_trainer) or "hypothesis_only" in own_options(member.fit)


def _systems(
    choice: ModelChoice, phenomena: Sequence[Phenomenon], scenarios: Sequence[str], request: Request, notes: list[str]
) -> Iterator[System]:
    """Yield a model's systems, in the order of the paper's rows."""
    if choice.model is None:
        yield choice.system()
        return
    learnable = [phenomenon for phenomenon in phenomena if phenomenon.train is not None]
    if RECAST in scenarios:
        yield from _of_each(choice, learnable, RECAST, choice.options)
    if set(scenarios) == {RECAST}:
        return
    if not request.train:
        if choice not in request.models:
            return
        raise InputError(
            f"{choice.name} has to be trained first; say on what with --train PATH, or leave that out with "
            f"--suite-set scenarios={RECAST}"
        )
    general = choice.system(
        on=request.train,
        sizes=request.sizes,
        label_space=NLI2.name,
        vocabulary=tuple(part for phenomenon in learnable if (part := phenomenon.train) is not None),
    )
    general = replace(general, name=f"{choice.name}, {GENERAL}", sets=None if GENERAL in scenarios else ())
    if FINE_TUNED in scenarios:
        if find_member(choice.model).fitted_by_trainer:
            own = find_member(choice.model).own_options()
            kept = {name: value for name, value in choice.options.items() if name not in own}
            yield from _of_each(choice, learnable, FINE_TUNED, kept, start=general.name)
        else:
            notes.append(f"{choice.name} is not fine-tuned: it is no network whose training goes on")
    if GENERAL in scenarios or find_member(choice.model).fitted_by_trainer:
        yield general


def _of_each(
    choice: ModelChoice,
    phenomena: Sequence[Phenomenon],
    scenario: str,
    options: Mapping[str, Any],
    start: str | None = None,
) -> Iterator[System]:
    """Yield a system for each phenomenon, trained on it and judged on it; together they are one row."""
    assert choice.model is not None
    row = f"{choice.name}, {scenario}"
    for phenomenon in phenomena:
        assert phenomenon.train is not None
        training = Training(
            model=choice.model,
            on=(phenomenon.train,),
            dev=() if phenomenon.dev is None else (phenomenon.dev,),
            start=start,
            options=options,
        )
        name = f"{row}: {phenomenon.name}"
        yield System(name=name, training=training, sets=(phenomenon.name,), part_of=row)


SUITES.add("recast", Recast())
