"""Tries: within one assignment a writer may try several times to write what a model gets wrong.

A try is a text for a target label. A model answers it with a probability for each label; where it says the target,
the writer may try again, until the protocol's number of tries is used up. Every try is kept, also those that the
model got right (Nie et al. 2020, section 2.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from sqlalchemy import Row, select

from goldlabel.collect.answering import check_key
from goldlabel.collect.assignment import keep_alive, lock_assignment, lock_person, own_assignment
from goldlabel.collect.messages import words
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.rules import clean_text
from goldlabel.collect.schema import tries
from goldlabel.collect.store import Transaction


@dataclass(frozen=True)
class Try:
    """One try; ``model`` and ``scores`` are there once a model has answered."""

    number: int
    key: str
    target: str
    text: str
    model: str | None
    scores: Mapping[str, float] | None
    created_at: datetime

    @property
    def fooled(self) -> bool | None:
        """Whether the model said something else than the target; ``None`` while it has not answered."""
        return None if self.scores is None else max(self.scores, key=self.scores.__getitem__) != self.target


def add_try(tx: Transaction, assignment_id: int, person_id: int, *, key: str, target: str, text: str) -> Try:
    """Keep a new try; the same ``key`` again gives the one that is there."""
    check_key(key)
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    current = project(tx, row.project_id)
    rules, space = current.protocol.writing, current.protocol.label_space
    before = tries_of(tx, assignment_id, person_id)
    known = next((one for one in before if one.key == key), None)
    if known is not None:
        return known
    if row.kind != "write" or row.state != "leased":
        raise Conflict("try_late")
    if before and before[-1].fooled is not False:
        raise Conflict("try_waits")
    if len(before) >= rules.tries:
        raise Conflict("tries_used", n=rules.tries)
    if target not in space:
        raise Invalid("target", label=target, allowed=words(space.labels))
    text = clean_text(text)
    if not 1 <= len(text) <= rules.longest:
        raise Invalid("try_length", n=len(text), most=rules.longest)
    keep_alive(tx, current, row)
    number = len(before) + 1
    values = {"assignment_id": row.id, "number": number, "key": key, "target": target, "text": text}
    tx.insert(tries, **values, created_at=tx.now)
    return tries_of(tx, assignment_id, person_id)[-1]


def record_scores(
    tx: Transaction, assignment_id: int, person_id: int, number: int, *, model: str, scores: Mapping[str, float]
) -> Try:
    """Keep what a model says to a try: the probability of each label. What it said first stands."""
    row = lock_assignment(tx, assignment_id, person_id)
    labels = project(tx, row.project_id).protocol.label_space.labels
    if {*scores} != {*labels} or not all(isfinite(one) and one >= 0 for one in scores.values()):
        raise Invalid("model_answer", labels=words(labels))
    own = (tries.c.assignment_id == row.id, tries.c.number == number, tries.c.model.is_(None))
    tx.run(tries.update().where(*own).values(model=model, scores=dict(scores)))
    return tries_of(tx, assignment_id, person_id)[number - 1]


def tries_of(tx: Transaction, assignment_id: int, person_id: int) -> list[Try]:
    """Return the tries of a person's assignment in their order."""
    own_assignment(tx, assignment_id, person_id)
    query = select(tries).where(tries.c.assignment_id == assignment_id).order_by(tries.c.number)
    return [_try(row) for row in tx.all(query)]


def _try(row: Row[Any]) -> Try:
    return Try(row.number, row.key, row.target, row.text, row.model, row.scores, row.created_at)
