"""Assignment: a task is lent to one person for a time, and goes to someone else when the time is over.

Each vote that a pair wants, and each text that a premise wants, is a row of its own, which has one holder at a
time and at most one counted answer. So no pair gets more votes than it wants, and none is left with fewer while
there is anyone who could give them. Tasks are claimed in the order of their ranks, which is the genre with the
least progress first; on PostgreSQL rows that another process is claiming are passed over (``SKIP LOCKED``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, select

from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.money.budget import USED_UP, has_room, hold_budget, is_reached, pause_for_budget
from goldlabel.collect.people.consent import missing_consent
from goldlabel.collect.people.people import Member, require_role
from goldlabel.collect.people.qualification import is_qualified
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import answers, assignments, pairs, premises, rounds, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import (
    counting,
    give_back,
    keep_alive,
    lend,
    lock_assignment,
    lock_person,
    own_assignment,
    own_work,
    prolong,
    retake,
    task_of,
)
from goldlabel.collect.work.search import draw_question, make_question, next_task, outlook


@dataclass(frozen=True)
class Assignment:
    """What a person is shown. A task to verify holds no label, and nothing that tells where its pair comes from.

    ``earlier`` is the person's own answer to it that they took back, ``responses`` what they said to questions then.
    """

    assignment_id: int
    project_id: int
    kind: str
    condition: str
    premise: str
    genre: str
    hypothesis: str | None
    expires_at: datetime
    earlier: str | None = None
    responses: Mapping[str, str] = field(default_factory=dict)
    suggestion: str | None = None


@dataclass(frozen=True)
class Claim:
    """The tasks in a person's hands, or why there are none.

    ``paused`` (the project), ``budget`` (the same, as it is used up), ``between_rounds``, ``suspended`` (the person),
    ``unconsented``, ``unqualified``, ``capped``; ``waiting``: all that is left is in other hands, and the first of them
    may come back at ``until``; ``later``: people are still writing what is to be verified; ``others``: what is left
    needs people who have not seen it; ``finished``.
    """

    tasks: list[Assignment]
    status: str
    until: datetime | None = None


@dataclass(frozen=True)
class Batch:
    """How far a writer is in the present batch, and how many premises are done in all."""

    number: int
    done: int
    size: int
    total: int


def claim(tx: Transaction, project_id: int, person_id: int, kind: str, *, hold: int = 1) -> Claim:
    """Give a person tasks until they hold ``hold`` of them.

    Tasks they hold come first, so that a page loaded again shows the same; then those whose time ran out while
    nobody else took them; then new ones.
    """
    if kind not in WORKS:
        raise Invalid("no_work", kind=kind, allowed=[*WORKS])
    found = hold_budget(tx, project_id)
    lock_person(tx, person_id)
    member = require_role(tx, project_id, person_id, WORKS[kind].role)
    held = _held(tx, found, person_id, kind)
    mine = [row.id for row in held if row.expires_at > tx.now]
    status, until = _obstacle(tx, found, member, kind), None
    if status is None:
        for row in held:
            if row.id not in mine and len(mine) < hold:
                prolong(tx, found, row)
                mine.append(row.id)
        while len(mine) < hold and status is None:
            if kind == "write" and _is_capped(tx, found, person_id):
                status = "capped"
            elif (chosen := next_task(tx, found, member, kind)) is None:
                status, until = outlook(tx, found, member, kind)
            else:
                question = draw_question(tx, found, person_id) if kind == "verify" else None
                if not has_room(tx, found, chosen, again=question is None):
                    pause_for_budget(tx, found)
                    status = "budget"
                else:
                    new = chosen if question is None else make_question(tx, found, person_id, question)
                    mine.append(lend(tx, found, person_id, new))
    shown = _views(tx, mine)
    return Claim(shown, "ok", None) if shown else Claim([], status or "finished", until)


def task(tx: Transaction, assignment_id: int, person_id: int) -> Assignment:
    """Return what a person was given, also after its time."""
    own_assignment(tx, assignment_id, person_id)
    return _views(tx, [assignment_id])[0]


def skip(tx: Transaction, assignment_id: int, person_id: int) -> None:
    """Give a task back for someone else; who skipped it is not given it again."""
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    if row.state in ("skipped", "passed"):
        return
    if row.state != "leased":
        raise Conflict("task_not_skipped")
    give_back(tx, row, "skipped", person_id)


def take_up(tx: Transaction, assignment_id: int, person_id: int) -> Assignment:
    """Give a skipped task back to who skipped it, as long as nobody else has it or has answered it."""
    found = hold_budget(tx, own_assignment(tx, assignment_id, person_id).project_id)
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    work = next(work for work in WORKS.values() if row.kind in work.tasks)
    member = require_role(tx, found.id, person_id, work.role)
    if row.state == "leased":
        keep_alive(tx, found, row)
    elif row.state == "skipped" and not has_room(tx, found, task_of(tx, row)):
        raise Conflict(USED_UP)
    elif (
        row.state != "skipped"
        or _obstacle(tx, found, member, work.name)
        or (work.name == "write" and _is_capped(tx, found, person_id))
        or not retake(tx, found, row)
    ):
        raise Conflict("task_gone")
    return _views(tx, [assignment_id])[0]


def batch(tx: Transaction, project_id: int, person_id: int) -> Batch:
    """Return how far a writer is; premises marked as unusable are done too."""
    size = project(tx, project_id).protocol.writing.batch
    total = _count(tx, project_id, person_id, ("answered", "unusable"))
    return Batch(total // size + 1, total % size, size, total)


def _held(tx: Transaction, found: Project, person_id: int, kind: str) -> list[Row[Any]]:
    own = {"project_id": found.id, "person_id": person_id}
    held = tx.all(_holdings(kind), **own)
    for task_id in sorted(row.task_id for row in held):
        tx.lock(tasks, task_id)
    return list(tx.all(_holdings(kind), **own))


def _obstacle(tx: Transaction, found: Project, member: Member, kind: str) -> str | None:
    if found.state != "running":
        return "budget" if is_reached(tx, found) else "paused"
    if kind == "write" and found.kind.has_rounds and tx.row(rounds, project_id=found.id, state="open") is None:
        return "between_rounds"
    if member.state == "paused":
        return "suspended"
    if missing_consent(tx, found.id, member.person_id) is not None:
        return "unconsented"
    return None if is_qualified(tx, found, member.person_id, member.role) else "unqualified"


def _is_capped(tx: Transaction, found: Project, person_id: int) -> bool:
    cap = found.protocol.writing.cap
    return cap is not None and _count(tx, found.id, person_id, ("answered", "leased")) >= cap


def _count(tx: Transaction, project_id: int, person_id: int, states: tuple[str, ...]) -> int:
    return int(tx.value(counting("write", states), project_id=project_id, person_id=person_id))


@cache
def _holdings(kind: str) -> Select[Any]:
    return select(assignments).where(*own_work(kind), assignments.c.state == "leased").order_by(assignments.c.id)


def _views(tx: Transaction, assignment_ids: Sequence[int]) -> list[Assignment]:
    """Return what people see of assignments, the earliest first."""
    return [
        Assignment(
            assignment_id=row.id,
            project_id=row.project_id,
            kind="write" if row.kind == "write" else "verify",
            condition=row.condition,
            premise=row.text,
            genre=row.genre if row.kind == "write" else "",
            hypothesis=row.hypothesis,
            expires_at=row.expires_at,
            earlier=row.earlier,
            responses=row.responses or {},
            suggestion=row.suggestion,
        )
        for row in tx.all(_SHOWN, assignment_ids=list(assignment_ids))
    ]


_UNDONE = answers.alias("undone")
_TAKEN_BACK = (
    select(func.max(_UNDONE.c.id))
    .where(_UNDONE.c.assignment_id == assignments.c.id, _UNDONE.c.state == "undone")
    .scalar_subquery()
)
_SHOWN = (
    select(
        assignments.c.id,
        assignments.c.project_id,
        assignments.c.kind,
        assignments.c.expires_at,
        tasks.c.condition,
        premises.c.text,
        tasks.c.genre,
        pairs.c.hypothesis,
        answers.c.label.label("earlier"),
        answers.c.responses,
        assignments.c.suggestion,
    )
    .join(tasks, tasks.c.id == assignments.c.task_id)
    .outerjoin(pairs, pairs.c.id == assignments.c.pair_id)
    .outerjoin(answers, answers.c.id == _TAKEN_BACK)
    .join(premises, premises.c.id == func.coalesce(assignments.c.premise_id, pairs.c.premise_id))
    .where(assignments.c.id.in_(bindparam("assignment_ids", expanding=True)))
    .order_by(assignments.c.id)
)
