"""What an answer earns: its event says the amount, and the ledger has a line for each kind of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row

from goldlabel.collect.events import record
from goldlabel.collect.money.ledger import pay
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.answering import told
from goldlabel.messages import Message


class Earning(NamedTuple):
    """A line of the ledger that an answer earns."""

    kind: str
    units: int
    reason: Message


def record_answer(
    tx: Transaction,
    answer: Row[Any],
    event: str,
    subject: str,
    data: Mapping[str, Any],
    earnings: Sequence[Earning],
) -> int:
    """Tell of an answer in the events, and pay for it; return what it earns, which is nothing if it is late."""
    earned = earnings if answer.state == "counted" else ()
    units = sum(earning.units for earning in earned)
    who = {"project_id": answer.project_id, "person_id": answer.person_id}
    event_id = record(
        tx,
        event,
        **who,
        subject=subject,
        data={
            **told(answer),
            **data,
            "pay": {"person": answer.person_id, "units": units},
        },
    )
    for earning in earned:
        pay(
            tx,
            **who,
            kind=earning.kind,
            units=earning.units,
            reason=earning.reason,
            key=f"{earning.kind} {answer.id}",
            event_id=event_id,
            answer_id=answer.id,
        )
    return units
