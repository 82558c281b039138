"""Responses: what people answer to a requester's own questions, checked, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.messages import words
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import answers
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.questions import LONGEST_RESPONSE, SCALE, TEXT, Question, asked_with
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Word


def checked_responses(questions: Sequence[Question], work: str, responses: Mapping[str, str]) -> dict[str, str] | None:
    """Return what was answered to the questions of a work, in their order; nothing where none was answered.

    An answer to a question that is not asked is refused, and so is one that is missing or not among the options.
    """
    asked = {one.name: one for one in asked_with(questions, work)}
    unknown = next((name for name in responses if name not in asked), None)
    if unknown is not None:
        raise Invalid("question_unknown", name=unknown)
    kept = {}
    for name, one in asked.items():
        response = clean_text(responses.get(name, ""))
        if not response and one.required:
            raise Invalid("question_open", name=name)
        if response and one.options and response not in one.options:
            raise Invalid("question_response", name=name, response=response, options=words(one.options))
        if len(response) > LONGEST_RESPONSE:
            raise Invalid("question_long", name=name, n=len(response), longest=LONGEST_RESPONSE)
        if response:
            kept[name] = response
    return kept or None


def own_questions(rows: Sequence[Mapping[str, Any]]) -> tuple[Question, ...]:
    """Return the questions that a form says; rows without a name and a text are left out.

    Options stand a line each; where a scale has none, it has five steps.
    """
    questions = []
    for number, row in enumerate(rows, 1):
        name, text = clean_text(row["name"]), clean_text(row["text"])
        if not name and not text:
            continue
        options = tuple(line for line in map(clean_text, str(row["options"]).splitlines()) if line)
        if row["kind"] == SCALE and not options:
            options = ("1", "2", "3", "4", "5")
        values = {"kind": row["kind"], "options": () if row["kind"] == TEXT else options, "asked": row["asked"]}
        try:
            questions.append(Question(name=name, text=text, required=bool(row["required"]), **values))
        except Invalid as error:
            parameters = error.message.parameters
            setting = Word(f"protocol.questions[{number - 1}].{parameters['setting']}")
            raise Invalid(error.message.name, **{**parameters, "setting": setting}) from None
    return tuple(questions)


@dataclass(frozen=True)
class QuestionCounts:
    """How often a question was answered, and with which option; ``mean`` is the mean step of a scale, from 1."""

    question: Question
    n: int
    options: Mapping[str, int]
    mean: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        one = self.question
        told = {"name": one.name, "asked": one.asked, "kind": one.kind, "n": self.n, "options": dict(self.options)}
        return told | ({"mean": self.mean} if one.kind == SCALE else {})


def count_responses(tx: Transaction, project_id: int, protocol: Protocol) -> list[QuestionCounts]:
    """Count what was answered with answers that count; what is no option any more is not counted."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    works = {task: work.name for work in WORKS.values() for task in work.tasks}
    said = select(answers.c.kind, answers.c.responses).where(
        answers.c.project_id == project_id, answers.c.state == "counted", answers.c.responses.is_not(None)
    )
    for row in tx.connection.execute(said, execution_options={"yield_per": 5000}) if protocol.questions else ():
        for name, response in row.responses.items():
            counts.setdefault((works[row.kind], name), Counter())[response] += 1
    found = []
    for one in protocol.questions:
        counted = counts.get((one.asked, one.name), Counter())
        by_option = {option: counted[option] for option in one.options}
        n = sum(by_option.values()) if one.options else counted.total()
        steps = sum(step * by_option[option] for step, option in enumerate(one.options, 1))
        found.append(QuestionCounts(one, n, by_option, steps / n if n and one.kind == SCALE else None))
    return found
