"""Verifying: votes on pairs that others wrote, and taking back the last of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, select

from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import VERIFY
from goldlabel.collect.messages import message, words
from goldlabel.collect.money.budget import USED_UP, within_budget
from goldlabel.collect.money.ledger import in_units, reverse_line, standing_lines
from goldlabel.collect.people.qualification import suspend_untrusted
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import answers
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.answering import Receipt, begin_answer, checked_seconds, receipt, store_answer
from goldlabel.collect.work.assignment import Assignment, task
from goldlabel.collect.work.earning import Earning, record_answer
from goldlabel.collect.work.leases import lock_assignment, lock_person, prolong
from goldlabel.collect.work.responses import checked_responses
from goldlabel.collect.work.verdicts import settle


def vote(
    tx: Transaction,
    assignment_id: int,
    person_id: int,
    *,
    key: str,
    label: str,
    seconds: float | None = None,
    responses: Mapping[str, str] | None = None,
) -> Receipt:
    """Store a vote, with its pay, and decide about the pair if it is the last one wanted.

    ``responses`` are to the requester's own questions.
    """
    row, earlier = begin_answer(tx, assignment_id, person_id, VERIFY.tasks, key)
    if earlier is not None:
        return earlier
    found = project(tx, row.project_id)
    if label not in found.protocol.answers:
        raise Invalid("answer", answer=label, answers=words(found.protocol.answers))
    said = checked_responses(found.protocol.questions, "verify", responses or {})
    taken = None if seconds is None else checked_seconds(seconds)
    answer = store_answer(tx, row, key, label=label, seconds=taken, responses=said)
    rates = found.protocol.pay
    reason = message("pay_label", rate=str(rates.label), currency=rates.currency)
    data = {"pair": row.pair_id, "label": label, **({"suggestion": row.suggestion} if row.suggestion else {})}
    earned = [Earning("base", in_units(rates.label), reason)]
    units = record_answer(tx, answer, f"answer.{row.kind}", f"pair {row.pair_id}", data, earned)
    if row.kind == "gold":
        suspend_untrusted(tx, found, person_id)
    elif answer.state == "counted":
        settle(tx, found, row.pair_id, person_id)
    return receipt(tx, answer, units)


def undo(tx: Transaction, project_id: int, person_id: int) -> Assignment:
    """Take back a person's last vote: its task is theirs again, and its pay is reversed.

    Its pair may win a bonus after all, and a task in hand is paid by the floor: where there is no room for that any
    more, the vote stays.
    """
    with within_budget(tx, project_id, USED_UP):
        assignment_id = _undo(tx, project_id, person_id)
    return task(tx, assignment_id, person_id)


def _undo(tx: Transaction, project_id: int, person_id: int) -> int:
    lock_person(tx, person_id)
    last = _last_vote(tx, project_id, person_id)
    row = lock_assignment(tx, last.assignment_id, person_id)
    tx.change(answers, last.id, state="undone")
    found = project(tx, project_id)
    earned = standing_lines(tx, project_id, last.id)
    event_id = record(
        tx,
        "answer.undone",
        project_id=project_id,
        person_id=person_id,
        subject=f"pair {row.pair_id}",
        data={
            "assignment": row.id,
            "task": row.task_id,
            "answer": last.id,
            "pair": row.pair_id,
            "kind": row.kind,
            "pay": {"person": person_id, "units": -sum(in_units(line.amount) for line in earned)},
        },
    )
    for line in earned:
        reverse_line(tx, project_id, line, reason=message("pay_undone"), event_id=event_id)
    prolong(tx, found, row)
    if row.kind != "gold":
        settle(tx, found, row.pair_id, person_id)
    return int(row.id)


def take_back(tx: Transaction, assignment_id: int, person_id: int, key: str) -> int:
    """Take back a person's last vote, if it is the one they mean; asked again, nothing more. Return its project."""
    project_id = task(tx, assignment_id, person_id).project_id
    state = tx.value(select(answers.c.state).where(answers.c.assignment_id == assignment_id, answers.c.key == key))
    if state is None:
        raise Missing("no_answer")
    if state != "undone" and undo(tx, project_id, person_id).assignment_id != assignment_id:
        raise Conflict("undo_last_only")
    return project_id


def draw_verification(tx: Transaction, project_id: int, *, by: int | None = None) -> int:
    """Draw what the configured shares still want; return how many pairs were drawn. Submitting draws too."""
    return drawing.draw_all(tx, project(tx, project_id), by)


def _last_vote(tx: Transaction, project_id: int, person_id: int) -> Row[Any]:
    """Return the vote that may be taken back: the last one, once."""
    last = tx.one(
        select(answers)
        .where(
            answers.c.project_id == project_id,
            answers.c.person_id == person_id,
            answers.c.kind.in_(VERIFY.tasks),
        )
        .order_by(answers.c.id.desc())
        .limit(1)
    )
    if last is None:
        raise Conflict("no_answer")
    if last.state == "undone":
        raise Conflict("undone_before")
    if last.state == "late":
        raise Conflict("undo_late")
    if last.state != "counted":
        raise Conflict("undo_not_counted")
    return last
