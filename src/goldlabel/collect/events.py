"""Events: every change of state, who made it and when, in the transaction that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.schema import events
from goldlabel.collect.store import Transaction


def record(
    tx: Transaction,
    kind: str,
    *,
    project_id: int | None,
    person_id: int | None,
    subject: str,
    data: Mapping[str, Any] | None = None,
) -> int:
    """Write down that something happened and return the event's id.

    ``subject`` names what it happened to (``pair 12``). What ``data`` says about pairs, votes, leases and pay is
    enough to work them out again.
    """
    return tx.insert(
        events,
        project_id=project_id,
        person_id=person_id,
        kind=kind,
        subject=subject,
        data=dict(data or {}),
        at=tx.now,
    )


def history(tx: Transaction, project_id: int, *, after: int = 0, limit: int = 200) -> Sequence[Row[Any]]:
    """Return a project's events in their order, those with an id above ``after``."""
    return tx.all(
        select(events).where(events.c.project_id == project_id, events.c.id > after).order_by(events.c.id).limit(limit)
    )


def newest_event(tx: Transaction, project_id: int) -> int:
    """Return the id of a project's newest event; what was measured after it is still true."""
    newest: int = tx.value(select(func.max(events.c.id)).where(events.c.project_id == project_id)) or 0
    return newest
