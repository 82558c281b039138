"""Rejection: a requester decides that work of a person is not to count, and may take that back.

``requeue`` asks others for it again and pays it; ``reject`` asks again and pays it only where the project pays for
rejected work; ``exclude`` rejects, and gives the person no more tasks. A decision is written down first and carried out
in small steps, so that nobody who works meanwhile waits for all of it; what broke off goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.messages import message, words
from goldlabel.collect.money.budget import require_room, within_budget
from goldlabel.collect.people.people import roles, set_member
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.people.qualification import WORKERS
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, decided_answers, decisions, ledger, projects, pseudonyms
from goldlabel.collect.store import Collision, Store, Transaction
from goldlabel.collect.work.leases import lock_person, take_away
from goldlabel.collect.work.retraction import lock_answer, restore, retract
from goldlabel.collect.work.rules import clean_text

DECISIONS = ("requeue", "reject", "exclude")
STEP = 50
"""Answers of one transaction: a moment's work."""
SET_ASIDE = "set_aside"


@dataclass(frozen=True)
class Decision:
    """What was decided about how many answers of a person; ``left`` are those still to be dealt with."""

    id: int
    person_id: int
    decision: str
    paid: bool
    reason: str
    answers: int
    left: int
    decided_by: str | None
    decided_at: datetime
    reversed_at: datetime | None


def decide(
    tx: Transaction,
    project_id: int,
    person_id: int,
    decision: str,
    *,
    reason: str,
    by: int | None,
    works: Sequence[str] = tuple(WORKS),
    since: datetime | None = None,
    answer_id: int | None = None,
) -> int:
    """Write down what is to become of a person's counted answers and return the decision's id.

    It is about all of them, or those of some works, from a moment on, or about one. ``carry_out`` does it.
    """
    found = _locked(tx, project_id, person_id)
    if decision not in DECISIONS:
        raise Invalid("decision", decision=decision, allowed=words(DECISIONS))
    reason = clean_text(reason)
    if not reason:
        raise Invalid("decision_reason")
    kinds = [kind for name in works for kind in WORKS[name].tasks]
    chosen = [
        answers.c.project_id == project_id,
        answers.c.person_id == person_id,
        answers.c.kind.in_(kinds),
        answers.c.state == "counted",
        *([answers.c.created_at >= since] if since is not None else []),
        *([answers.c.id == answer_id] if answer_id is not None else []),
    ]
    ids = [row.id for row in tx.all(select(answers.c.id).where(*chosen).order_by(answers.c.id))]
    if not ids and decision != "exclude":
        raise Conflict("decision_empty")
    paid = decision == "requeue" or found.protocol.pay.rejected
    paused = _pause(tx, found, person_id, by) if decision == "exclude" else []
    decision_id = tx.insert(
        decisions,
        project_id=project_id,
        person_id=person_id,
        decision=decision,
        paid=paid,
        reason=reason,
        paused=paused,
        decided_by=by,
        decided_at=tx.now,
    )
    tx.insert_all(decided_answers, [{"decision_id": decision_id, "answer_id": one} for one in ids])
    record(
        tx,
        f"work.{decision}",
        project_id=project_id,
        person_id=by,
        subject=f"person {person_id}",
        data={"decision": decision_id, "answers": ids, "paid": paid, "paused": paused, "reason": reason},
    )
    return decision_id


def carry_out(store: Store, project_id: int, decision_id: int, *, by: int | None) -> None:
    """Do what was decided, or taken back, until nothing is left of it."""
    is_left = True
    while is_left:
        with suppress(Collision), store.write() as tx:  # of a step that collided nothing was kept: it is taken again
            is_left = take_step(tx, project_id, decision_id, by=by)


def take_step(tx: Transaction, project_id: int, decision_id: int, *, by: int | None) -> bool:
    """Deal with some of the answers of a decision; say whether any is left."""
    row = _decision(tx, project_id, decision_id)
    found = _locked(tx, project_id, row.person_id)
    row = _decision(tx, project_id, decision_id)
    own = decided_answers.c.decision_id == decision_id
    waiting = (
        decided_answers.c.set_aside_by.is_(None)
        if row.reversed_at is None
        else decided_answers.c.restored_by.is_(None) & decided_answers.c.set_aside_by.is_not(None)
    )
    query = select(decided_answers).where(own, waiting).order_by(decided_answers.c.answer_id).limit(STEP)
    rows = tx.all(query)
    with within_budget(tx, project_id) if row.reversed_at else nullcontext():
        for one in rows:
            answer = lock_answer(tx, one.answer_id)
            assert answer is not None
            values = (
                _restore(tx, found, row, answer, one, by) if row.reversed_at else _set_aside(tx, found, row, answer, by)
            )
            place = decided_answers.c.answer_id == one.answer_id
            tx.run(decided_answers.update().where(own, place).values(**values))
    return len(rows) == STEP


def take_back(tx: Transaction, project_id: int, decision_id: int, *, by: int | None) -> None:
    """Write down that a decision is taken back: ``carry_out`` lets the answers count again where they still can."""
    row = _decision(tx, project_id, decision_id)
    found = _locked(tx, project_id, row.person_id)
    row = _decision(tx, project_id, decision_id)
    if row.reversed_at is not None:
        raise Conflict("decision_taken_back")
    require_room(tx, found, _taken(tx, decision_id))
    tx.change(decisions, decision_id, reversed_by=by, reversed_at=tx.now)
    for name, role in roles(tx, found.id, row.person_id).items():
        if name in row.paused and role.state == "paused":  # who has left meanwhile stays away
            set_member(tx, found.id, row.person_id, name, state="active", by=by)
    record(
        tx,
        "work.taken_back",
        project_id=project_id,
        person_id=by,
        subject=f"person {row.person_id}",
        data={"decision": decision_id},
    )


def decisions_of(tx: Transaction, project_id: int, person_id: int | None = None) -> list[Decision]:
    """Return what was decided in a project, or about one person, the newest first."""
    own = decided_answers.c.decision_id == decisions.c.id
    done = func.coalesce(decided_answers.c.restored_by, decided_answers.c.set_aside_by)
    unrestored = decided_answers.c.restored_by.is_(None) & decided_answers.c.set_aside_by.is_not(None)
    counts = {
        "answers": select(func.count()).where(own),
        "waiting": select(func.count()).where(own, done.is_(None)),
        "unrestored": select(func.count()).where(own, unrestored),
    }
    query = (
        select(
            decisions,
            pseudonyms.c.pseudonym,
            *(count.scalar_subquery().label(name) for name, count in counts.items()),
        )
        .outerjoin(pseudonyms, known_as(decisions.c.project_id, decisions.c.decided_by))
        .where(decisions.c.project_id == project_id)
        .order_by(decisions.c.id.desc())
    )
    if person_id is not None:
        query = query.where(decisions.c.person_id == person_id)
    return [
        Decision(
            id=row.id,
            person_id=row.person_id,
            decision=row.decision,
            paid=row.paid,
            reason=row.reason,
            answers=row.answers,
            left=row.waiting if row.reversed_at is None else row.unrestored,
            decided_by=row.pseudonym,
            decided_at=row.decided_at,
            reversed_at=row.reversed_at,
        )
        for row in tx.all(query)
    ]


def _set_aside(tx: Transaction, found: Project, row: Row[Any], answer: Row[Any], by: int | None) -> dict[str, int]:
    """Set an answer aside; one that does not count any more, as it was taken back meanwhile, is left as it is."""
    if answer.state != "counted":
        return {"set_aside_by": 0, "restored_by": 0}
    event_id = retract(
        tx,
        found,
        answer,
        state=SET_ASIDE,
        kind="answer.set_aside",
        by=by,
        unpaid=None if row.paid else message("pay_rejected", reason=row.reason),
        data={"decision": row.id},
    )
    return {"set_aside_by": event_id}


def _restore(
    tx: Transaction, found: Project, row: Row[Any], answer: Row[Any], one: Row[Any], by: int | None
) -> dict[str, int]:
    event_id = restore(tx, found, answer, retracted_by=one.set_aside_by, kind="answer.restored", by=by, decision=row.id)
    return {"restored_by": event_id}


def _taken(tx: Transaction, decision_id: int) -> int:
    """Return what a decision took from a person's pay."""
    events_of = select(decided_answers.c.set_aside_by).where(decided_answers.c.decision_id == decision_id)
    taken = select(func.sum(ledger.c.amount)).where(ledger.c.event_id.in_(events_of), ledger.c.kind == "reversal")
    return -int(tx.value(taken) or 0)


def _pause(tx: Transaction, found: Project, person_id: int, by: int | None) -> list[str]:
    """Give a person no more tasks, and what they hold to others; return the roles that were active."""
    active = [name for name, role in roles(tx, found.id, person_id).items() if role.state == "active"]
    paused = [name for name in active if name in WORKERS]
    for name in paused:
        set_member(tx, found.id, person_id, name, state="paused", by=by)
    take_away(tx, found.id, person_id, by=by)
    return paused


def _locked(tx: Transaction, project_id: int, person_id: int) -> Project:
    """Return a project for a decision about a person: decisions, and what the person does, wait for each other."""
    if not roles(tx, project_id, person_id):
        raise Missing("no_person")
    tx.lock(projects, project_id)
    lock_person(tx, person_id)
    return project(tx, project_id)


def _decision(tx: Transaction, project_id: int, decision_id: int) -> Row[Any]:
    row = tx.row(decisions, id=decision_id, project_id=project_id)
    if row is None:
        raise Missing("no_decision")
    return row
