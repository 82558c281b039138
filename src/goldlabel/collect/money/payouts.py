"""Payouts: what people earned, what was sent to them, and a floor under what an hour of work earns.

A payout is a line of the ledger like any other, so that what is owed is the sum of all lines.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import message
from goldlabel.collect.money.budget import wanted_by_floor
from goldlabel.collect.money.hours import work_time
from goldlabel.collect.money.ledger import PAYOUT, TOP_UP, in_currency, in_units, kind_of, pay
from goldlabel.collect.people.pseudonyms import known_as, pseudonyms_of
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import ledger, pseudonyms
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import lock_person
from goldlabel.collect.work.rules import clean_text

HOUR = timedelta(hours=1)


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
    """Return where everybody stands who is or was in a project, by pseudonym."""
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
        own = f"{key} {one.pseudonym}"
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
        select(ledger, pseudonyms.c.pseudonym)
        .join(pseudonyms, known_as(ledger.c.project_id, ledger.c.person_id))
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
    sums, seconds = _sums(tx, found.id, person_id), Counter[int]()
    for row in tx.all(work_time(found, person_id)):
        seconds[row.person_id] += row.seconds
    names = pseudonyms_of(tx, found.id)
    wanted = names if person_id is None else {person_id: names[person_id]} if person_id in names else {}
    return [_balance(found, key, name, sums[key], timedelta(seconds=seconds[key])) for key, name in wanted.items()]


def _balance(found: Project, person_id: int, pseudonym: str, sums: dict[str, int], time: timedelta) -> Balance:
    earned = sum(amount for kind, amount in sums.items() if kind != PAYOUT)
    hours = Decimal(time // timedelta(seconds=1)) / 3600
    wanted = wanted_by_floor(found, time // timedelta(seconds=1))
    return Balance(
        person_id=person_id,
        pseudonym=pseudonym,
        earned=in_currency(earned),
        paid=in_currency(-sums[PAYOUT]),
        owed=in_currency(earned + sums[PAYOUT]),
        time=time,
        hourly=in_currency(earned) / hours if hours else None,
        due=in_currency(max(0, wanted - earned)),
    )


def _sums(
    tx: Transaction, project_id: int, person_id: int | None = None, since: datetime | None = None
) -> dict[int, dict[str, int]]:
    """Return the sum of each kind of line for each person; a reversal is of the kind of what it reverses."""
    reversed_line, kind = kind_of()
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
