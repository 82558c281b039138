"""The search for a task: what a person may be given next, and when there may be something where there is nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, select

from goldlabel.collect.people.people import Member
from goldlabel.collect.projects import Project
from goldlabel.collect.schema import assignments, pairs, premises, subsets, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import counting, own_work

MOMENT = timedelta(seconds=1)
"""How soon to ask again where something may be free at once."""


def next_task(tx: Transaction, found: Project, member: Member, kind: str) -> Row[Any] | None:
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
    judged = select(func.max(assignments.c.rank)).where(*own_work(kind), assignments.c.state == "answered")
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


def draw_question(tx: Transaction, found: Project, person_id: int) -> Row[Any] | None:
    """Once in a while, return a question with a known answer that the person has not seen."""
    given = int(tx.value(counting("verify"), project_id=found.id, person_id=person_id))
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


def make_question(tx: Transaction, found: Project, person_id: int, question: Row[Any]) -> Row[Any]:
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


def outlook(tx: Transaction, found: Project, member: Member, kind: str) -> tuple[str, datetime | None]:
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
_JUDGED = select(func.count()).where(*own_work("verify"), assignments.c.kind == "verify")


def _unanswered(tx: Transaction, found: Project, kind: str, condition: str) -> bool:
    own = (tasks.c.project_id == found.id, tasks.c.kind == kind, tasks.c.condition == condition)
    return tx.one(select(tasks.c.id).where(*own, tasks.c.state.in_(("open", "leased"))).limit(1)) is not None
