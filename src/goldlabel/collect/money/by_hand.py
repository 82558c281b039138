"""By hand: a requester gives a bonus or a penalty, or takes a line of the ledger back, within the budget."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.money.budget import hold_budget, require_room
from goldlabel.collect.money.ledger import Line, find_line, in_units, line_of, pay, reverse_line
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import ledger, members, people
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text


def give(
    tx: Transaction,
    project_id: int,
    person_id: int,
    *,
    kind: str,
    amount: Decimal,
    reason: str,
    key: str,
    by: int | None,
    answer_id: int | None = None,
) -> Line:
    """Add a bonus or a penalty by hand; the same ``key`` again gives the line that is there and writes nothing."""
    if kind not in ("bonus", "penalty"):
        raise Invalid("not_by_hand", kind=kind)
    units = in_units(amount)
    reason = clean_text(reason)
    if units <= 0 or not reason or not key:
        raise Invalid("line_incomplete")
    member = select(members.c.role).where(members.c.project_id == project_id, members.c.person_id == person_id)
    if tx.one(member) is None:
        raise Missing("no_person")
    signed = units if kind == "bonus" else -units
    found = hold_budget(tx, project_id) if signed > 0 else None
    tx.lock(people, person_id)
    there = find_line(tx, ledger.c.project_id == project_id, ledger.c.key == key)
    if there is not None:
        if (there.person_id, there.kind, in_units(there.amount)) != (person_id, kind, signed):
            raise Conflict("key_taken", key=key)
        return there
    if found is not None:
        require_room(tx, found, signed)
    event_id = record(
        tx,
        f"pay.{kind}",
        project_id=project_id,
        person_id=by,
        subject=f"person {person_id}",
        data={"pay": {"person": person_id, "units": signed}, "reason": reason},
    )
    pay(
        tx,
        project_id=project_id,
        person_id=person_id,
        kind=kind,
        units=signed,
        reason=reason,
        key=key,
        event_id=event_id,
        answer_id=answer_id,
    )
    return line_of(tx, ledger.c.project_id == project_id, ledger.c.key == key)


def reverse(tx: Transaction, project_id: int, line_id: int, *, reason: str, by: int | None) -> Line:
    """Take a line back by one of the opposite amount; a line is reversed once, and asking again changes nothing."""
    line = line_of(tx, ledger.c.project_id == project_id, ledger.c.id == line_id)
    units = -in_units(line.amount)
    found = hold_budget(tx, project_id) if units > 0 else None
    tx.lock(people, line.person_id)
    if line.kind == "reversal":
        raise Conflict("no_second_reversal")
    there = find_line(tx, ledger.c.reverses == line_id)
    if there is not None:
        return there
    if found is not None:
        require_room(tx, found, units)
    event_id = record(
        tx,
        "pay.reversal",
        project_id=project_id,
        person_id=by,
        subject=f"ledger {line_id}",
        data={"pay": {"person": line.person_id, "units": units}, "reason": clean_text(reason)},
    )
    reverse_line(tx, project_id, line, reason=clean_text(reason), event_id=event_id)
    return line_of(tx, ledger.c.reverses == line_id)
