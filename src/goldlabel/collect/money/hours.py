"""Hours: the time that people worked, and for how long a task is lent.

Time is what the pages measured for each answer that counts or is paid, but never more than passed on the server
between the answer before, or the moment at which the task was given out, and the answer, and never more than the task
was lent for: no clock of a browser can make an hour longer than it was.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import BigInteger, Select, case, func, or_, select, type_coerce

from goldlabel.collect.projects import Project
from goldlabel.collect.schema import answers, assignments, ledger

MICROSECONDS = 1_000_000


def lease_time(found: Project, kind: str) -> timedelta:
    """Return for how long a task of a kind is lent."""
    rules = found.protocol.writing if kind == "write" else found.protocol.verifying
    return timedelta(seconds=rules.lease_seconds)


def work_time(found: Project, person_id: int | None = None) -> Select[Any]:
    """Select the seconds that each person worked on tasks of each kind, for how many answers."""
    sent, given = (type_coerce(column, BigInteger) for column in (answers.c.created_at, assignments.c.leased_at))
    before = func.lag(sent).over(partition_by=answers.c.person_id, order_by=answers.c.id)
    began = case((before > given, before), else_=given)
    lease = {kind: int(lease_time(found, kind).total_seconds()) for kind in ("write", "verify")}
    lent = case((answers.c.kind == "write", lease["write"]), else_=lease["verify"])
    passed = (sent - began) / float(MICROSECONDS)
    paid = select(ledger.c.answer_id).where(ledger.c.project_id == found.id, ledger.c.answer_id.is_not(None))
    paid = paid.group_by(ledger.c.answer_id).having(func.sum(ledger.c.amount) > 0)
    counts = or_(answers.c.state == "counted", answers.c.id.in_(paid))
    query = (
        select(
            answers.c.person_id,
            answers.c.kind,
            answers.c.seconds,
            passed.label("passed"),
            lent.label("lent"),
            counts.label("counts"),
        )
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .where(answers.c.project_id == found.id)
    )
    if person_id is not None:
        query = query.where(answers.c.person_id == person_id)
    timed = query.subquery()
    shorter = case((timed.c.passed < timed.c.lent, timed.c.passed), else_=timed.c.lent)
    bounded = case((timed.c.seconds < shorter, timed.c.seconds), (shorter > 0, shorter), else_=0.0)
    return (
        select(timed.c.person_id, timed.c.kind, func.sum(bounded).label("seconds"), func.count().label("n"))
        .where(timed.c.counts, timed.c.seconds.is_not(None))
        .group_by(timed.c.person_id, timed.c.kind)
    )
