"""Leases: a task is in one person's hands for a time, is held while it is worked on, and comes back."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, func, or_, select

from goldlabel.collect.data.hiding import is_wanted
from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.money.hours import lease_time
from goldlabel.collect.people.people import GONE
from goldlabel.collect.projects import ARCHIVED, Project
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.schema import assignments, members, people, projects, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.suggestions import suggestion_for


def take_away(tx: Transaction, project_id: int, person_id: int, *, by: int | None) -> None:
    """Give back all that a person holds, for someone else; an answer that still comes is late."""
    held = (assignments.c.project_id == project_id, assignments.c.person_id == person_id)
    for leased in tx.all(select(assignments).where(*held, assignments.c.state == "leased").order_by(assignments.c.id)):
        row = lock_assignment(tx, leased.id, person_id)
        if row.state == "leased":
            give_back(tx, row, "passed", by)


def give_back(tx: Transaction, row: Row[Any], state: str, by: int | None) -> None:
    """End a lease; its task waits for someone else, unless it is a known answer or its pair is out of the data."""
    wanted = is_wanted(tx, pair_id=row.pair_id, premise_id=row.premise_id)
    becomes = "open" if wanted and row.kind != "gold" else "withdrawn"
    release(tx, row, state, becomes)
    record(
        tx,
        f"lease.{state}",
        project_id=row.project_id,
        person_id=by,
        subject=f"task {row.task_id}",
        data={"assignment": row.id, "task": row.task_id, "becomes": becomes},
    )


def retake(tx: Transaction, found: Project, row: Row[Any]) -> bool:
    """Lend a task once more to somebody who had it, if it is free: in nobody's hands, or its time is over again."""
    free = task_of(tx, row)
    if free.state != "open" and not (free.state == "leased" and free.lease_until <= tx.now):
        return False
    until = tx.now + lease_time(found, row.kind)
    passed = _pass_on(tx, row.task_id)
    tx.change(assignments, row.id, state="leased", closed_at=None, expires_at=until)
    tx.change(tasks, row.task_id, state="leased", lease_until=until)
    _record_lease(tx, "lease.granted", found, row.person_id, row.task_id, row.id, until, passed)
    return True


def own_assignment(tx: Transaction, assignment_id: int, person_id: int) -> Row[Any]:
    """Return a person's assignment; to anybody else, and who has the role no more, it does not exist."""
    row = tx.one(_OWN_ASSIGNMENT, id=assignment_id, person_id=person_id)
    if row is None:
        raise Missing("no_task", id=assignment_id)
    return row


_OWN_ASSIGNMENT = (
    select(assignments)
    .join(
        members,
        and_(
            members.c.project_id == assignments.c.project_id,
            members.c.person_id == assignments.c.person_id,
            members.c.state.not_in(GONE),
            or_(*(and_(members.c.role == work.role, assignments.c.kind.in_(work.tasks)) for work in WORKS.values())),
        ),
    )
    .where(assignments.c.id == bindparam("id"), assignments.c.person_id == bindparam("person_id"))
)


def lock_person(tx: Transaction, person_id: int) -> None:
    """Make what one person does happen one after another, also from two windows at once."""
    tx.lock(people, person_id)


def lock_assignment(tx: Transaction, assignment_id: int, person_id: int) -> Row[Any]:
    """Return a person's assignment as it stands, with its task held until the transaction ends."""
    row = own_assignment(tx, assignment_id, person_id)
    tx.lock(tasks, row.task_id)
    held = tx.one(_IN_PROJECT, assignment_id=assignment_id)
    assert held is not None
    if held.project_state == ARCHIVED:
        raise Conflict("project_archived", name=held.project_name)
    return held


_IN_PROJECT = (
    select(assignments, projects.c.state.label("project_state"), projects.c.name.label("project_name"))
    .join(projects, projects.c.id == assignments.c.project_id)
    .where(assignments.c.id == bindparam("assignment_id"))
)


def release(tx: Transaction, row: Row[Any], state: str, task_state: str) -> None:
    """End the lease of an assignment and say what became of it and of its task."""
    tx.change(assignments, row.id, state=state, closed_at=tx.now)
    tx.change(tasks, row.task_id, state=task_state, lease_until=None)


def prolong(tx: Transaction, found: Project, row: Row[Any]) -> datetime:
    """Give the holder of a task a whole lease from now on."""
    until = tx.now + lease_time(found, row.kind)
    tx.change(assignments, row.id, state="leased", closed_at=None, expires_at=until)
    tx.change(tasks, row.task_id, state="leased", lease_until=until)
    _record_lease(tx, "lease.prolonged", found, row.person_id, row.task_id, row.id, until)
    return until


def keep_alive(tx: Transaction, found: Project, row: Row[Any]) -> None:
    """Prolong the lease of a task that is being worked on when more than half of it is over."""
    if row.state == "leased" and row.expires_at - tx.now < lease_time(found, row.kind) / 2:
        prolong(tx, found, row)


@cache
def counting(kind: str, states: tuple[str, ...] = ()) -> Select[Any]:
    """Count a person's assignments in a project, of all states or of some."""
    chosen = [assignments.c.state.in_(states)] if states else []
    return select(func.count()).where(*own_work(kind), *chosen)


def own_work(kind: str) -> tuple[ColumnElement[bool], ...]:
    """What a person was given of a kind of work in a project; person and project are parameters."""
    return (
        assignments.c.project_id == bindparam("project_id"),
        assignments.c.person_id == bindparam("person_id"),
        assignments.c.kind.in_(WORKS[kind].tasks),
    )


def lend(tx: Transaction, found: Project, person_id: int, chosen: Row[Any]) -> int:
    """Lend a task to a person and return the assignment's id."""
    until = tx.now + lease_time(found, chosen.kind)
    passed = _pass_on(tx, chosen.id)
    tx.change(tasks, chosen.id, state="leased", lease_until=until)
    assignment_id = tx.insert(
        assignments,
        project_id=found.id,
        task_id=chosen.id,
        person_id=person_id,
        kind=chosen.kind,
        premise_id=chosen.premise_id,
        pair_id=chosen.pair_id,
        rank=chosen.rank,
        state="leased",
        leased_at=tx.now,
        expires_at=until,
        suggestion=suggestion_for(tx, found, chosen),
    )
    _record_lease(tx, "lease.granted", found, person_id, chosen.id, assignment_id, until, passed)
    return assignment_id


def task_of(tx: Transaction, row: Row[Any]) -> Row[Any]:
    """Return the task of an assignment."""
    task = tx.row(tasks, id=row.task_id)
    assert task is not None
    return task


def _pass_on(tx: Transaction, task_id: int) -> int | None:
    """Take a task out of the hands of who let its time run out, and return that assignment's id."""
    holder = tx.row(assignments, task_id=task_id, state="leased")
    if holder is None:
        return None
    tx.change(assignments, holder.id, state="passed", closed_at=tx.now)
    return int(holder.id)


def _record_lease(
    tx: Transaction,
    kind: str,
    found: Project,
    person_id: int,
    task_id: int,
    assignment_id: int,
    until: datetime,
    passed: int | None = None,
) -> None:
    data = {"assignment": assignment_id, "task": task_id, "until": until.isoformat()}
    if passed is not None:
        data["passed"] = passed
    record(tx, kind, project_id=found.id, person_id=person_id, subject=f"task {task_id}", data=data)
