"""Tries: within one assignment a writer may try several times to write what a model gets wrong.

A try is a text for a target label. It is kept first, with the model that is drawn to answer it; then a worker asks
that model, outside any transaction; then what it said is kept, once. Where it said the target, the writer may try
again, until the round's number of tries is used up. Every try is kept, also those that the model got right (Nie et al.
2020, section 2.1). Where no model could answer, the try costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import isfinite
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, or_, select

from goldlabel.collect.projects import Project, project
from goldlabel.collect.protocols import Condition
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.rounds.proposals import proposal_for
from goldlabel.collect.rounds.records import Try, all_tries, read_try, told
from goldlabel.collect.rounds.rounds import Round, open_round_of
from goldlabel.collect.schema import assignments, pairs, premises, tasks, tries
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.answering import check_key
from goldlabel.collect.work.folding import fold_word
from goldlabel.collect.work.leases import keep_alive, lock_assignment, lock_person
from goldlabel.collect.work.rules import clean_text
from goldlabel.pairs.labels import LabelSpace

LEASE = timedelta(seconds=60)
"""How long a worker may hold a try before another takes it."""
NEAR_ONE = 1e-3
"""By how much a model's probabilities may miss a sum of 1."""


@dataclass(frozen=True)
class Question:
    """A try that waits for a model's answer, with what the model is shown.

    It is asked ``again`` where a worker had it before that did not come to an end with it.
    """

    id: int
    round_id: int
    drawn: str
    premise: str
    hypothesis: str
    space: LabelSpace
    again: bool


@dataclass(frozen=True)
class Job:
    """What an assignment asks for, in which arm, and what was tried so far.

    The writers of one context have the labels in turn.
    """

    project: Project
    arm: Condition
    target: str
    tries: tuple[Try, ...]

    @property
    def waits(self) -> bool:
        """Whether the writer waits for what a model says."""
        return self.arm.shows_model and bool(self.tries) and self.tries[-1].decided_at is None


def job_of(tx: Transaction, row: Row[Any]) -> Job:
    """Return what an assignment asks for, and its tries; one that asks for no writing has none."""
    if row.kind != "write":
        raise Missing("no_task", id=row.id)
    owner = project(tx, row.project_id)
    task = tx.one(_TASK, task_id=row.task_id)
    assert task is not None
    labels = owner.protocol.ordered_labels
    target = labels[(task.number + task.slot) % len(labels)]
    return Job(owner, owner.protocol.condition(task.condition), target, tuple(all_tries(tx, row.id)))


_TASK = (
    select(tasks.c.condition, tasks.c.slot, premises.c.number)
    .join(premises, premises.c.id == tasks.c.premise_id)
    .where(tasks.c.id == bindparam("task_id"))
)


def add_try(tx: Transaction, assignment_id: int, person_id: int, *, key: str, text: str) -> Job:
    """Keep a new try, and draw the model that is to answer; the same ``key`` again changes nothing."""
    check_key(key)
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    job = job_of(tx, row)
    if any(one.key == key for one in job.tries):
        return job
    if row.state != "leased":
        raise Conflict("try_late")
    fought = open_round_of(tx, row.project_id)
    if fought is None:
        raise Conflict("no_round")
    answered = counted_tries(job.arm, job.tries)
    if job.arm.shows_model and answered and answered[-1].fooled is not False:
        raise Conflict("try_waits")
    if len(answered) >= most_tries(job.arm, fought):
        raise Conflict("tries_used", n=most_tries(job.arm, fought))
    text = clean_text(text)
    longest = job.project.protocol.writing.longest
    if not 1 <= len(text) <= longest:
        raise Invalid("try_length", n=len(text), most=longest)
    if fold_word(text) in {fold_word(one.text) for one in answered}:
        raise Invalid("try_repeated")
    keep_alive(tx, job.project, row)
    proposal = proposal_for(tx, row.premise_id, job.target) if job.arm.assisted else None
    chance = job.project.random("adversary", assignment_id, len(job.tries))
    stored = tx.insert_row(
        tries,
        assignment_id=row.id,
        round_id=fought.id,
        number=len(job.tries) + 1,
        key=key,
        target=job.target,
        text=text,
        drawn=chance.choice(fought.drawn_from).name,
        created_at=tx.now,
        proposal_id=None if proposal is None else proposal.id,
    )
    return replace(job, tries=(*job.tries, read_try(stored)))


def take_questions(tx: Transaction, worker: str, most: int, busy: Sequence[str] = ()) -> list[Question]:
    """Give a worker tries to have answered, the oldest first: those of all writers together.

    ``busy`` are models that are to be asked nothing more now.
    """
    query = (
        select(tries, premises.c.text.label("premise"), premises.c.project_id)
        .join(assignments, assignments.c.id == tries.c.assignment_id)
        .join(premises, premises.c.id == assignments.c.premise_id)
        .where(*_free(tx, worker, busy))
        .order_by(tries.c.id)
        .limit(most)
        .with_for_update(of=tries, skip_locked=True)
    )
    rows = tx.all(query)
    if rows:
        held = {"worker": worker, "lease_until": tx.now + LEASE}
        tx.run(tries.update().where(tries.c.id.in_([row.id for row in rows])).values(**held))
    spaces = {number: project(tx, number).protocol.label_space for number in {row.project_id for row in rows}}
    return [
        Question(row.id, row.round_id, row.drawn, row.premise, row.text, spaces[row.project_id], row.worker is not None)
        for row in rows
    ]


def is_waiting(tx: Transaction, worker: str, busy: Sequence[str] = ()) -> bool:
    """Say whether there is a try for a worker to have answered."""
    return tx.one(select(tries.c.id).where(*_free(tx, worker, busy)).limit(1)) is not None


def waiting_jobs(tx: Transaction, assignment_ids: Collection[int]) -> set[int]:
    """Return those of some assignments that have a try without an answer."""
    return {row.assignment_id for row in tx.all(_WAITING, assignment_ids=[*assignment_ids])}


_WAITING = select(tries.c.assignment_id).where(
    tries.c.assignment_id.in_(bindparam("assignment_ids", expanding=True)), tries.c.decided_at.is_(None)
)


def _free(tx: Transaction, worker: str, busy: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    free = or_(tries.c.lease_until.is_(None), tries.c.lease_until <= tx.now, tries.c.worker == worker)
    return (tries.c.decided_at.is_(None), tries.c.drawn.not_in(busy), free)


def decide(
    tx: Transaction, try_id: int, *, model: str | None, scores: Mapping[str, float] | None, problem: str | None = None
) -> None:
    """Keep what a model says to a try, or that none could say anything; what was kept first stands.

    Where the try has become a pair by then, the pair tells it, too.
    """
    said = {"model": model, "scores": None if scores is None else dict(scores), "problem": problem}
    row = tx.one(_DECISION, try_id=try_id, **said, decided_at=tx.now, worker=None, lease_until=None)
    if row is not None and row.pair_id is not None:
        meta = tx.value(select(pairs.c.meta).where(pairs.c.id == row.pair_id))
        tx.change(pairs, row.pair_id, meta=meta | told(read_try(row)))


_DECISION = tries.update().where(tries.c.id == bindparam("try_id"), tries.c.decided_at.is_(None)).returning(tries)


def are_scores(scores: Mapping[str, float], labels: Sequence[str]) -> bool:
    """Say whether these are probabilities, one for each of the labels."""
    named = {*scores} == {*labels} and all(isfinite(one) and one >= 0 for one in scores.values())
    return named and abs(sum(scores.values()) - 1) <= NEAR_ONE


def counted_tries(arm: Condition, before: Sequence[Try]) -> list[Try]:
    """Return the tries that count; one that no model could answer does not, where the writer waits for the model."""
    return [one for one in before if not (arm.shows_model and one.failed)]


def most_tries(arm: Condition, fought: Round) -> int:
    """Return how many tries a job has: one where there is no model to be seen."""
    return fought.tries if arm.shows_model else 1


def tries_left(arm: Condition, fought: Round, before: Sequence[Try]) -> int:
    """Return how many tries are left after those made."""
    return max(0, most_tries(arm, fought) - len(counted_tries(arm, before)))
