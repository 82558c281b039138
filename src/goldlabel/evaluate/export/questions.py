"""The pairs of an evaluation set as questions to a language model, in the words of the shipped prompts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goldlabel.errors import InputError
from goldlabel.models.endpoint.prompt import Prompt, prompt_language, shipped_prompt
from goldlabel.pairs.labels import NO_GOLD

if TYPE_CHECKING:
    from goldlabel.evaluate.suite import EvaluationSet, SuitePlan

_COLUMNS = ("id", "premise", "hypothesis", "label")


@dataclass(frozen=True)
class Questions:
    """One evaluation set as other programs ask it."""

    task: str
    """What the task is called there: a name that Python takes, too."""
    set: str
    space: str
    counts: bool
    prompt: Prompt
    pairs: pl.DataFrame
    """``id, premise, hypothesis, label``, and ``answer``, the label's word in the prompt."""
    shots: pl.DataFrame | None
    """The validation half in the same columns: examples may be drawn from it, and from nowhere else."""


def questions_of(plan: SuitePlan, suite: str) -> list[Questions]:
    """Return the sets of a suite as questions; each is asked in one language and over its own labels."""
    asked = [_ask(evaluation_set, suite) for evaluation_set in plan.sets]
    tasks = Counter(questions.task for questions in asked)
    for questions in asked:
        if tasks[questions.task] > 1:
            raise InputError(
                f"{questions.set}: two sets of the suite would be the task {questions.task!r}; give them names that "
                "differ in letters or digits"
            )
    return asked


def task_name(*parts: str) -> str:
    """Return a name of letters, digits and underscores."""
    return "_".join(["goldlabel", *(re.sub(r"[^0-9a-z]+", "_", part.lower()).strip("_") for part in parts)])


def _ask(evaluation_set: EvaluationSet, suite: str) -> Questions:
    gold = evaluation_set.gold
    texts = (gold.frame["premise"] + " " + gold.frame["hypothesis"]).to_list()
    language = Counter(map(prompt_language, texts)).most_common(1)[0][0]
    try:
        prompt = shipped_prompt(gold.space, language, "both")
    except InputError as error:
        reason = str(error).partition(";")[0]
        raise InputError(f"{evaluation_set.name}: cannot be exported: {reason}; leave the set out") from error
    return Questions(
        task=task_name(suite, evaluation_set.name),
        set=evaluation_set.name,
        space=gold.space.name,
        counts=evaluation_set.counts,
        prompt=prompt,
        pairs=_answered(gold.frame.lazy(), prompt),
        shots=None if evaluation_set.dev is None else _answered(evaluation_set.dev.frame, prompt),
    )


def _answered(frame: pl.LazyFrame, prompt: Prompt) -> pl.DataFrame:
    gold = frame.filter(pl.col("label") != NO_GOLD).select(_COLUMNS)
    return gold.with_columns(pl.col("label").replace_strict(prompt.labels).alias("answer")).collect()
