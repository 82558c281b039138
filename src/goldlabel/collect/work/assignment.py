"""Assignment: a task is lent to one person for a time, and goes to someone else when the time is over.

Each vote that a pair wants, and each text that a premise wants, is a row of its own, which has one holder at a
time and at most one counted answer. So no pair gets more votes than it wants, and none is left with fewer while
there is anyone who could give them. Tasks are claimed in the order of their ranks, which is the genre with the
least progress first; on PostgreSQL rows that another process is claiming are passed over (``SKIP LOCKED``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, func, or_, select

from goldlabel.collect.data.hiding import is_wanted
from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.money.budget import has_room, hold_budget, is_reached, pause_for_budget
from goldlabel.collect.money.hours import lease_time
from goldlabel.collect.people.consent import missing_consent
from goldlabel.collect.people.people import GONE, Member, require_role
from goldlabel.collect.people.qualification import is_qualified
from goldlabel.collect.projects import ARCHIVED, Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import (
    answers,
    assignments,
    members,
    pairs,
    people,
    premises,
    projects,
    rounds,
    subsets,
    tasks,
)
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.suggestions import suggestion_for

MOMENT = timedelta(seconds=1)
"""How soon to ask again where something may be free at once."""


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
            elif (chosen := _next(tx, found, member, kind)) is None:
                status, until = _outlook(tx, found, member, kind)
            else:
                question = _question(tx, found, person_id) if kind == "verify" else None
                if not has_room(tx, found, chosen, again=question is None):
                    pause_for_budget(tx, found)
                    status = "budget"
                else:
                    new = chosen if question is None else _ask(tx, found, person_id, question)
                    mine.append(_lease(tx, found, person_id, new))
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


def take_up(tx: Transaction, assignment_id: int, person_id: int) -> Assignment:
    """Give a skipped task back to who skipped it, as long as nobody else has it or has answered it."""
    found = hold_budget(tx, own_assignment(tx, assignment_id, person_id).project_id)
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    work = next(work for work in WORKS.values() if row.kind in work.tasks)
    member = require_role(tx, found.id, person_id, work.role)
    if row.state == "leased":
        keep_alive(tx, found, row)
    elif row.state == "skipped" and not has_room(tx, found, _task_of(tx, row)):
        raise Conflict("budget_used_up")
    elif (
        row.state != "skipped"
        or _obstacle(tx, found, member, work.name)
        or (work.name == "write" and _is_capped(tx, found, person_id))
        or not retake(tx, found, row)
    ):
        raise Conflict("task_gone")
    return _views(tx, [assignment_id])[0]


def retake(tx: Transaction, found: Project, row: Row[Any]) -> bool:
    """Lend a task once more to somebody who had it, if it is free: in nobody's hands, or its time is over again."""
    free = _task_of(tx, row)
    if free.state != "open" and not (free.state == "leased" and free.lease_until <= tx.now):
        return False
    until = tx.now + lease_time(found, row.kind)
    passed = _pass_on(tx, row.task_id)
    tx.change(assignments, row.id, state="leased", closed_at=None, expires_at=until)
    tx.change(tasks, row.task_id, state="leased", lease_until=until)
    _record_lease(tx, "lease.granted", found, row.person_id, row.task_id, row.id, until, passed)
    return True


def batch(tx: Transaction, project_id: int, person_id: int) -> Batch:
    """Return how far a writer is; premises marked as unusable are done too."""
    size = project(tx, project_id).protocol.writing.batch
    total = _count(tx, project_id, person_id, ("answered", "unusable"))
    return Batch(total // size + 1, total % size, size, total)


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
    return None if is_qualified(tx, found, member.person_id) else "unqualified"


def _is_capped(tx: Transaction, found: Project, person_id: int) -> bool:
    cap = found.protocol.writing.cap
    return cap is not None and _count(tx, found.id, person_id, ("answered", "leased")) >= cap


def _count(tx: Transaction, project_id: int, person_id: int, states: tuple[str, ...]) -> int:
    return int(tx.value(_counting("write", states), project_id=project_id, person_id=person_id))


@cache
def _counting(kind: str, states: tuple[str, ...] = ()) -> Select[Any]:
    """Count a person's assignments in a project, of all states or of some."""
    chosen = [assignments.c.state.in_(states)] if states else []
    return select(func.count()).where(*_own(kind), *chosen)


@cache
def _holdings(kind: str) -> Select[Any]:
    return select(assignments).where(*_own(kind), assignments.c.state == "leased").order_by(assignments.c.id)


def _own(kind: str) -> tuple[ColumnElement[bool], ...]:
    """What a person was given of a kind of work in a project; person and project are parameters."""
    return (
        assignments.c.project_id == bindparam("project_id"),
        assignments.c.person_id == bindparam("person_id"),
        assignments.c.kind.in_(WORKS[kind].tasks),
    )


def _lease(tx: Transaction, found: Project, person_id: int, chosen: Row[Any]) -> int:
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


def _task_of(tx: Transaction, row: Row[Any]) -> Row[Any]:
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


def _next(tx: Transaction, found: Project, member: Member, kind: str) -> Row[Any] | None:
    """Return the next task for a person, locked: first what others let lapse, then by rank.

    Where many wait that the person has judged already, the search goes on from the last one judged; only if there
    is nothing beyond does it start again from the first.
    """
    who = {"project_id": found.id, "person_id": member.person_id, "condition": member.condition}
    row = tx.one(_lapsed(kind), **who, now=tx.now)
    if row is None and kind == "verify":
        row = tx.one(_waiting_beyond(kind), **who)
    if row is None and (kind == "write" or not _has_judged_all(tx, found, member.person_id)):
        row = tx.one(_waiting(kind), **who)
    return row


@cache
def _lapsed(kind: str) -> Select[Any]:
    out = (
        select(pairs.c.id).where(pairs.c.id == tasks.c.pair_id, pairs.c.hidden.is_not(None)),
        select(premises.c.id).where(premises.c.id == tasks.c.premise_id, premises.c.hidden.is_not(None)),
    )
    over = tasks.c.lease_until <= bindparam("now")
    return _first(_available(kind).where(over, *(~one.exists() for one in out)).order_by(tasks.c.lease_until))


@cache
def _waiting(kind: str) -> Select[Any]:
    return _first(_open(kind))


@cache
def _waiting_beyond(kind: str) -> Select[Any]:
    """Search from the rank of the last task that a person judged."""
    judged = select(func.max(assignments.c.rank)).where(*_own(kind), assignments.c.state == "answered")
    return _first(_open(kind).where(tasks.c.rank >= judged.scalar_subquery()))


def _open(kind: str) -> Select[Any]:
    return _available(kind).where(tasks.c.state == "open").order_by(tasks.c.rank, tasks.c.tie)


def _first(search: Select[Any]) -> Select[Any]:
    """Take and lock the first task of a search that no other transaction has locked."""
    return search.limit(1).with_for_update(of=tasks, key_share=True, skip_locked=True)


def _available(kind: str) -> Select[Any]:
    """Select the tasks that a person may be given at some time: not seen before, and not their own pairs."""
    person = bindparam("person_id", type_=assignments.c.person_id.type)
    same = [assignments.c.pair_id == tasks.c.pair_id]
    if kind == "write":
        same = [assignments.c.kind == kind, assignments.c.premise_id == tasks.c.premise_id]
    seen = select(assignments.c.id).where(assignments.c.person_id == person, *same)
    return select(tasks).where(
        tasks.c.project_id == bindparam("project_id"),
        tasks.c.kind == kind,
        tasks.c.condition == bindparam("condition"),
        tasks.c.author_id.is_distinct_from(person),
        ~seen.exists(),
    )


def _question(tx: Transaction, found: Project, person_id: int) -> Row[Any] | None:
    """Once in a while, return a question with a known answer that the person has not seen."""
    given = int(tx.value(_counting("verify"), project_id=found.id, person_id=person_id))
    chance = found.random("question", person_id, given)
    if chance.random() >= found.protocol.qualification.gold_rate:
        return None
    seen = select(assignments.c.id).where(assignments.c.person_id == person_id, assignments.c.pair_id == pairs.c.id)
    left = tx.all(
        select(pairs.c.id, pairs.c.subset_id, subsets.c.genre)
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .where(subsets.c.project_id == found.id, subsets.c.origin == "gold", ~seen.exists(), pairs.c.hidden.is_(None))
        .order_by(pairs.c.id)
    )
    return chance.choice(left) if left else None


def _ask(tx: Transaction, found: Project, person_id: int, question: Row[Any]) -> Row[Any]:
    """Make a task of a question with a known answer, for one person."""
    return tx.insert_row(
        tasks,
        project_id=found.id,
        kind="gold",
        condition="",
        genre=question.genre,
        subset_id=question.subset_id,
        pair_id=question.id,
        slot=person_id,
        rank=0,
        tie=0,
        state="open",
    )


def _outlook(tx: Transaction, found: Project, member: Member, kind: str) -> tuple[str, datetime | None]:
    """Say why there is nothing for a person now, and when there may be."""
    held = _available(kind).where(tasks.c.lease_until.is_not(None)).subquery()
    who = {"project_id": found.id, "person_id": member.person_id, "condition": member.condition}
    soonest = tx.value(select(func.min(held.c.lease_until)), **who)
    if _is_being_claimed(tx, found, member, kind):
        soonest = tx.now
    if soonest is not None:
        return "waiting", max(soonest, tx.now + MOMENT)
    if any(
        _unanswered(tx, found, work.name, one.name)
        for work in found.kind.before(kind)
        for one in found.protocol.conditions
    ):
        return "later", None
    return ("others" if _unanswered(tx, found, kind, member.condition) else "finished"), None


def _is_being_claimed(tx: Transaction, found: Project, member: Member, kind: str) -> bool:
    """Say whether a task was passed over that another process is claiming at this very moment, and may yet fail to."""
    if tx.connection.dialect.name != "postgresql":
        return False
    if kind == "verify" and _has_judged_all(tx, found, member.person_id):
        return False
    who = {"project_id": found.id, "person_id": member.person_id, "condition": member.condition}
    return tx.one(_open(kind).limit(1), **who) is not None


def _has_judged_all(tx: Transaction, found: Project, person_id: int) -> bool:
    """Say whether every pair drawn so far was in a person's hands: then none needs to be searched for.

    Without this, who is ahead of all others would have every pair that still waits for those looked up in vain.
    """
    drawn = tx.value(_DRAWN, project_id=found.id) or 0
    return int(tx.value(_JUDGED, project_id=found.id, person_id=person_id)) >= int(drawn)


_DRAWN = select(
    func.sum(select(func.max(pairs.c.draw_number)).where(pairs.c.subset_id == subsets.c.id).scalar_subquery())
).where(subsets.c.project_id == bindparam("project_id"))
_JUDGED = select(func.count()).where(*_own("verify"), assignments.c.kind == "verify")


def _unanswered(tx: Transaction, found: Project, kind: str, condition: str) -> bool:
    own = (tasks.c.project_id == found.id, tasks.c.kind == kind, tasks.c.condition == condition)
    return tx.one(select(tasks.c.id).where(*own, tasks.c.state.in_(("open", "leased"))).limit(1)) is not None


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
