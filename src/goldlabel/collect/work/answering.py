"""Answering: what every answer has in common, whatever it answers.

An answer comes with a key that its sender made up. The same key again gives back what is stored; another key for a
task that is answered already is refused. Who holds the task is counted, also after the lease ran out, and so is
who had it before while it is free; what comes when the task is in other hands, or answered, is kept as late, and not
counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, bindparam, select

from goldlabel.collect.money.budget import has_room
from goldlabel.collect.money.ledger import in_currency
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, assignments, ledger, pairs
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import lock_assignment, lock_person, own_assignment, release, retake, task_of

LONGEST_KEY = 200
MOST_TIMINGS = 100
MOST_SECONDS = 7 * 24 * 3600
"""Nobody looks at one task for longer than a week; the pages cut their clocks there."""


@dataclass(frozen=True)
class Receipt:
    """What became of an answer; ``repeated`` says that it was stored before and nothing was stored now."""

    answer_id: int
    assignment_id: int
    project_id: int
    state: str
    label: str | None
    pair_ids: list[int]
    amount: Decimal
    repeated: bool


def begin_answer(
    tx: Transaction, assignment_id: int, person_id: int, kinds: Sequence[str], key: str
) -> tuple[Row[Any], Receipt | None]:
    """Return the assignment to answer, its task locked; and the receipt, if this very answer is stored already."""
    check_key(key)
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    if row.kind not in kinds:
        raise Missing("no_task", id=assignment_id)
    earlier = tx.row(answers, assignment_id=row.id, key=key)
    if earlier is not None:
        earned = sum(line.amount for line in tx.all(_EARNED_BY, answer_id=earlier.id))
        return row, receipt(tx, earlier, earned, repeated=True)
    if row.state == "skipped":
        raise Conflict("task_skipped")
    if row.state not in ("leased", "passed"):
        raise Conflict("task_answered")
    if row.state == "passed":
        found = project(tx, row.project_id)
        if has_room(tx, found, task_of(tx, row)) and retake(tx, found, row):
            row = own_assignment(tx, row.id, person_id)
    return row, None


def check_key(key: str) -> None:
    """Refuse a key that is none."""
    if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        raise Invalid("key_form", longest=LONGEST_KEY)


def store_answer(
    tx: Transaction,
    row: Row[Any],
    key: str,
    *,
    label: str | None = None,
    note: str | None = None,
    timings: Mapping[str, float] | None = None,
    seconds: float | None = None,
    responses: Mapping[str, str] | None = None,
    closes: str = "answered",
) -> Row[Any]:
    """Store an answer and close its assignment; the answer is late if its task has passed on to someone else."""
    counted = row.state == "leased"
    stored = tx.insert_row(
        answers,
        project_id=row.project_id,
        assignment_id=row.id,
        task_id=row.task_id,
        person_id=row.person_id,
        kind=row.kind,
        pair_id=row.pair_id,
        key=key,
        state="counted" if counted else "late",
        label=label,
        note=note,
        timings=dict(timings) if timings else None,
        seconds=seconds,
        responses=dict(responses) if responses else None,
        created_at=tx.now,
    )
    if counted:
        release(tx, row, closes, closes)
    else:
        tx.change(assignments, row.id, state="late", closed_at=tx.now)
    return stored


def told(answer: Row[Any], becomes: str = "answered") -> dict[str, Any]:
    """Return what the event of any answer says; only a counted one changes what its task is."""
    said = {"assignment": answer.assignment_id, "task": answer.task_id, "answer": answer.id, "state": answer.state}
    said |= {"responses": answer.responses} if answer.responses else {}
    return {**said, "becomes": becomes} if answer.state == "counted" else said


def receipt(tx: Transaction, answer: Row[Any], units: int, *, repeated: bool = False) -> Receipt:
    """Say what became of a stored answer: the pairs it made and what it earned so far, in units of money."""
    made = tx.all(_PAIRS_OF, answer_id=answer.id) if answer.kind == "write" else ()
    return Receipt(
        answer_id=answer.id,
        assignment_id=answer.assignment_id,
        project_id=answer.project_id,
        state=answer.state,
        label=answer.label,
        pair_ids=[pair.id for pair in made],
        amount=in_currency(units),
        repeated=repeated,
    )


_PAIRS_OF = select(pairs.c.id).where(pairs.c.answer_id == bindparam("answer_id")).order_by(pairs.c.id)
_EARNED_BY = select(ledger.c.amount).where(ledger.c.answer_id == bindparam("answer_id"))


def checked_timings(timings: Mapping[str, float]) -> dict[str, float]:
    """Return times in seconds as they are stored, or say what is wrong with them."""
    if len(timings) > MOST_TIMINGS:
        raise Invalid("timings", n=len(timings), most=MOST_TIMINGS)
    return {str(name)[:100]: checked_seconds(value, str(name)[:100]) for name, value in timings.items()}


def checked_seconds(seconds: float, name: str = "seconds") -> float:
    """Return a time in seconds, or say what is wrong with it."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= MOST_SECONDS:
        raise Invalid("seconds", name=name, seconds=seconds, most=MOST_SECONDS)
    return float(seconds)
