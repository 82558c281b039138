"""Payouts: what people earned, what was sent to them, and a floor under what an hour of work earns.

A payout is a line of the ledger like any other, so that what is owed is the sum of all lines. Time is what the pages
measured for each answer that counts or is paid, but never more than passed on the server between the answer before,
or the moment at which the task was given out, and the answer, and never more than the task was lent for: no clock of
a browser can make an hour longer than it was.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy import BigInteger, Row, case, func, or_, select, type_coerce

from goldlabel.collect.assignment import lease_time, lock_person
from goldlabel.collect.events import record
from goldlabel.collect.ledger import in_currency, in_units, pay
from goldlabel.collect.messages import message
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.rules import clean_text
from goldlabel.collect.schema import answers, assignments, ledger, members, people
from goldlabel.collect.store import Transaction

PAYOUT, TOP_UP = "payout", "top-up"
HOUR = timedelta(hours=1)
MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class Balance:
    """Where a person stands: earned, sent to them, still owed; the time it took, and what is missing to the floor."""

    person_id: int
    pseudonym: str
    earned: Decimal
    paid: Decimal
    owed: Decimal
    time: timedelta
    hourly: Decimal | None
    due: Decimal


def balances(tx: Transaction, project_id: int) -> list[Balance]:
    """Return where everybody stands who is in a project or earned something in it, by pseudonym."""
    return _balances(tx, project(tx, project_id))


def balance_of(tx: Transaction, project_id: int, person_id: int) -> Balance:
    """Return where one person stands."""
    found = _balances(tx, project(tx, project_id), person_id)
    if not found:
        raise Missing("no_person")
    return found[0]


def earned_since(tx: Transaction, project_id: int, person_id: int, since: datetime | None = None) -> Decimal:
    """Return what a person earned from a moment on, or ever."""
    units = _sums(tx, project_id, person_id, since)[person_id]
    return in_currency(sum(amount for kind, amount in units.items() if kind != PAYOUT))


def start_of_day(tx: Transaction) -> datetime:
    """Return when today began where the server stands."""
    return tx.now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)


def pay_out(
    tx: Transaction,
    project_id: int,
    person_id: int,
    *,
    amount: Decimal,
    on: date,
    note: str,
    key: str,
    by: int | None,
) -> None:
    """Write down that money was sent to a person; the same ``key`` again writes nothing."""
    lock_person(tx, person_id)
    key = f"{PAYOUT} {key}"
    if tx.row(ledger, project_id=project_id, key=key) is not None:
        return
    owed = balance_of(tx, project_id, person_id).owed
    units = in_units(amount)
    if not 0 < units <= in_units(owed):
        raise Conflict("payout_amount", amount=amount, owed=owed)
    note = clean_text(note)
    said = message("paid_out_for", date=on.isoformat(), note=note) if note else message("paid_out", date=on.isoformat())
    event_id = record(
        tx,
        "pay.payout",
        project_id=project_id,
        person_id=by,
        subject=f"person {person_id}",
        data={"pay": {"person": person_id, "units": -units}, "on": on.isoformat(), "note": note},
    )
    pay(
        tx,
        project_id=project_id,
        person_id=person_id,
        kind=PAYOUT,
        units=-units,
        reason=said,
        key=key,
        event_id=event_id,
    )


def pay_out_everybody(tx: Transaction, project_id: int, *, on: date, note: str, key: str, by: int | None) -> int:
    """Write down that everybody was sent what they are owed; return to how many."""
    owed = [one for one in balances(tx, project_id) if one.owed > 0]
    for one in sorted(owed, key=lambda one: one.person_id):
        own = f"{key} {one.person_id}"
        pay_out(tx, project_id, one.person_id, amount=one.owed, on=on, note=note, key=own, by=by)
    return len(owed)


def top_up(tx: Transaction, project_id: int, *, by: int | None) -> int:
    """Give everybody whose hours earned less than the floor what is missing; return to how many."""
    found = project(tx, project_id)
    if not found.protocol.pay.floor:
        raise Invalid("no_floor")
    raised = 0
    for person_id in sorted(one.person_id for one in _balances(tx, found) if one.due):
        lock_person(tx, person_id)
        one = balance_of(tx, project_id, person_id)
        if not one.due:
            continue
        event_id = record(
            tx,
            "pay.top_up",
            project_id=project_id,
            person_id=by,
            subject=f"person {person_id}",
            data={"pay": {"person": person_id, "units": in_units(one.due)}, "seconds": one.time.total_seconds()},
        )
        pay(
            tx,
            project_id=project_id,
            person_id=person_id,
            kind=TOP_UP,
            units=in_units(one.due),
            reason=message(
                "pay_top_up",
                hours=f"{one.time / HOUR:.2f}",
                floor=str(found.protocol.pay.floor),
                currency=found.protocol.pay.currency,
            ),
            key=f"{TOP_UP} {event_id}",
            event_id=event_id,
        )
        raised += 1
    return raised


def payouts_of(tx: Transaction, project_id: int) -> Sequence[Row[Any]]:
    """Return the payouts of a project that were not taken back, the newest first."""
    reversals = ledger.alias("reversals")
    gone = select(reversals.c.id).where(reversals.c.reverses == ledger.c.id)
    return tx.all(
        select(ledger, people.c.pseudonym)
        .join(people, people.c.id == ledger.c.person_id)
        .where(ledger.c.project_id == project_id, ledger.c.kind == PAYOUT, ~gone.exists())
        .order_by(ledger.c.id.desc())
    )


def owed_table(tx: Transaction, project_id: int) -> str:
    """Return as CSV who is to be paid how much."""
    currency = project(tx, project_id).protocol.pay.currency
    rows = [
        [one.pseudonym, one.owed, currency, one.earned, one.paid, f"{one.time / HOUR:.2f}"]
        for one in balances(tx, project_id)
        if one.owed > 0
    ]
    return csv_text([["person", "owed", "currency", "earned", "paid", "hours"], *rows])


def paid_table(tx: Transaction, project_id: int) -> str:
    """Return as CSV what was paid to whom and when."""
    currency = project(tx, project_id).protocol.pay.currency
    rows = []
    for line in payouts_of(tx, project_id)[::-1]:
        told = line.message["parameters"]
        rows.append([told["date"], line.pseudonym, in_currency(-line.amount), currency, told.get("note", "")])
    return csv_text([["date", "person", "amount", "currency", "note"], *rows])


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV; text that a spreadsheet would take for a formula is marked as text."""
    text = io.StringIO()
    plain = [
        [f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@" and cell else cell for cell in row] for row in rows
    ]
    csv.writer(text, lineterminator="\n").writerows(plain)
    return text.getvalue()


def _balances(tx: Transaction, found: Project, person_id: int | None = None) -> list[Balance]:
    sums, times = _sums(tx, found.id, person_id), _times(tx, found, person_id)
    wanted = select(members.c.person_id).where(members.c.project_id == found.id)
    query = select(people.c.id, people.c.pseudonym).where(or_(people.c.id.in_(wanted), people.c.id.in_([*sums])))
    if person_id is not None:
        query = query.where(people.c.id == person_id)
    return [
        _balance(found, row, sums[row.id], times.get(row.id, timedelta()))
        for row in tx.all(query.order_by(people.c.pseudonym))
    ]


def _balance(found: Project, row: Row[Any], sums: dict[str, int], time: timedelta) -> Balance:
    earned = sum(amount for kind, amount in sums.items() if kind != PAYOUT)
    hours = Decimal(time // timedelta(seconds=1)) / 3600
    before = earned - sums[TOP_UP]
    wanted = (hours * in_units(found.protocol.pay.floor)).quantize(Decimal(100), ROUND_HALF_UP) if hours else Decimal(0)
    return Balance(
        person_id=row.id,
        pseudonym=row.pseudonym,
        earned=in_currency(earned),
        paid=in_currency(-sums[PAYOUT]),
        owed=in_currency(earned + sums[PAYOUT]),
        time=time,
        hourly=in_currency(earned) / hours if hours else None,
        due=in_currency(max(0, int(wanted) - before - sums[TOP_UP])),
    )


def _sums(
    tx: Transaction, project_id: int, person_id: int | None = None, since: datetime | None = None
) -> dict[int, dict[str, int]]:
    """Return the sum of each kind of line for each person; a reversal is of the kind of what it reverses."""
    reversed_line = ledger.alias("reversed_line")
    kind = func.coalesce(reversed_line.c.kind, ledger.c.kind)
    query = (
        select(ledger.c.person_id, kind.label("kind"), func.sum(ledger.c.amount).label("units"))
        .outerjoin(reversed_line, reversed_line.c.id == ledger.c.reverses)
        .where(ledger.c.project_id == project_id)
        .group_by(ledger.c.person_id, kind)
    )
    if person_id is not None:
        query = query.where(ledger.c.person_id == person_id)
    if since is not None:
        query = query.where(ledger.c.at >= since)
    sums: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in tx.all(query):
        sums[row.person_id][row.kind] = int(row.units)
    return sums


def _times(tx: Transaction, found: Project, person_id: int | None = None) -> dict[int, timedelta]:
    """Return the time that each person worked, bounded by what passed on the server."""
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
    bounded = case((timed.c.seconds < shorter, timed.c.seconds), (shorter > 0, shorter), else_=0)
    total = select(timed.c.person_id, func.sum(bounded).label("seconds"))
    total = total.where(timed.c.counts, timed.c.seconds.is_not(None)).group_by(timed.c.person_id)
    return {row.person_id: timedelta(seconds=float(row.seconds)) for row in tx.all(total)}
