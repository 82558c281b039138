"""The ledger: what people are owed, line by line; nothing is ever changed, a mistake is reversed by another line.

Amounts are whole ten-thousandths of the project's currency in the database and ``Decimal`` outside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Row, Select, func, select

from goldlabel.collect.messages import ENGLISH, message
from goldlabel.collect.money.amounts import LARGEST_AMOUNT
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import ledger, pseudonyms
from goldlabel.collect.store import Transaction
from goldlabel.messages import Message

UNITS = 10_000
BLOCK = 5_000
"""How many lines are held where all of them are gone through."""
KINDS = ("base", "bonus", "penalty", "reversal")
PAYOUT, TOP_UP = "payout", "top-up"


@dataclass(frozen=True)
class Line:
    """One line of the ledger."""

    id: int
    person_id: int
    pseudonym: str
    kind: str
    amount: Decimal
    reason: str
    key: str
    answer_id: int | None
    reverses: int | None
    event_id: int
    at: datetime


def in_units(amount: Decimal) -> int:
    """Return an amount of money as the database keeps it."""
    if not amount.is_finite() or abs(amount) > LARGEST_AMOUNT or amount * UNITS % 1:
        raise Invalid("not_money", amount=amount, most=LARGEST_AMOUNT)
    return int(amount * UNITS)


def in_currency(units: int) -> Decimal:
    """Return an amount of money from how the database keeps it, with at least two decimal places."""
    amount = Decimal(units) / UNITS
    return amount.quantize(Decimal("0.01")) if units % 100 == 0 else amount.quantize(Decimal("0.0001"))


def pay(
    tx: Transaction,
    *,
    project_id: int,
    person_id: int,
    kind: str,
    units: int,
    reason: str | Message,
    key: str,
    event_id: int,
    answer_id: int | None = None,
    reverses: int | None = None,
) -> None:
    """Write a line; the event that it belongs to says the amount too. A line of nothing is not written.

    A reason of our own is kept as a message, too, so that everybody reads it in their language.
    """
    if units == 0:
        return
    written = tx.insert_new(
        ledger,
        project_id=project_id,
        person_id=person_id,
        event_id=event_id,
        answer_id=answer_id,
        kind=kind,
        amount=units,
        reason=str(reason),
        message={"name": reason.name, "parameters": dict(reason.parameters)} if isinstance(reason, Message) else None,
        key=key,
        reverses=reverses,
        at=tx.now,
    )
    if not written:
        raise Conflict("paid_before", key=key)


def reverse_line(tx: Transaction, project_id: int, line: Line, *, reason: str | Message, event_id: int) -> None:
    """Write the line that reverses another, under an event that says so."""
    pay(
        tx,
        project_id=project_id,
        person_id=line.person_id,
        kind="reversal",
        units=-in_units(line.amount),
        reason=reason,
        key=f"reversal {line.id}",
        event_id=event_id,
        answer_id=line.answer_id,
        reverses=line.id,
    )


def reason_of(line: Row[Any]) -> str | Message:
    """Return why a line was written: a message of ours, or what a requester wrote, as it is."""
    if line.message is None or line.message["name"] not in ENGLISH:
        return str(line.reason)
    return message(line.message["name"], **line.message["parameters"])


def lines(
    tx: Transaction, project_id: int, *, person_id: int | None = None, answer_id: int | None = None
) -> list[Line]:
    """Return the lines of a project, or of one person or one answer in it, the oldest first."""
    chosen = [ledger.c.project_id == project_id]
    if person_id is not None:
        chosen.append(ledger.c.person_id == person_id)
    if answer_id is not None:
        chosen.append(ledger.c.answer_id == answer_id)
    return _lines(tx, *chosen)


def standing_lines(tx: Transaction, project_id: int, answer_id: int) -> list[Line]:
    """Return the lines of an answer that are no reversals and are not reversed."""
    written = lines(tx, project_id, answer_id=answer_id)
    gone = {line.reverses for line in written}
    return [line for line in written if line.kind != "reversal" and line.id not in gone]


def kind_of() -> tuple[FromClause, ColumnElement[str]]:
    """Return what to join with the ledger, and the kind of a line: a reversal is of the kind of what it reverses."""
    reversed_line = ledger.alias("reversed_line")
    return reversed_line, func.coalesce(reversed_line.c.kind, ledger.c.kind)


def totals(tx: Transaction, project_id: int) -> dict[int, Decimal]:
    """Return what each person is owed, summed from the lines."""
    query = (
        select(ledger.c.person_id, func.sum(ledger.c.amount).label("units"))
        .where(ledger.c.project_id == project_id)
        .group_by(ledger.c.person_id)
    )
    return {row.person_id: in_currency(int(row.units)) for row in tx.all(query)}


def each_line(tx: Transaction, project_id: int) -> Iterator[Line]:
    """Yield the lines of a project, the oldest first, without holding them all."""
    for rows in tx.blocks(_query(ledger.c.project_id == project_id), BLOCK):
        yield from map(_told, rows)


def _lines(tx: Transaction, *chosen: ColumnElement[bool]) -> list[Line]:
    return [_told(row) for row in tx.all(_query(*chosen))]


def _query(*chosen: ColumnElement[bool]) -> Select[Any]:
    return (
        select(ledger, pseudonyms.c.pseudonym)
        .join(pseudonyms, known_as(ledger.c.project_id, ledger.c.person_id))
        .where(*chosen)
        .order_by(ledger.c.id)
    )


def _told(row: Row[Any]) -> Line:
    return Line(
        row.id,
        row.person_id,
        row.pseudonym,
        row.kind,
        in_currency(row.amount),
        row.reason,
        row.key,
        row.answer_id,
        row.reverses,
        row.event_id,
        row.at,
    )


def find_line(tx: Transaction, *chosen: ColumnElement[bool]) -> Line | None:
    """Return the first line of some, if there is any."""
    return next(iter(_lines(tx, *chosen)), None)


def line_of(tx: Transaction, *chosen: ColumnElement[bool]) -> Line:
    """Return the first line of some, of which there must be one."""
    found = find_line(tx, *chosen)
    if found is None:
        raise Missing("no_line")
    return found
