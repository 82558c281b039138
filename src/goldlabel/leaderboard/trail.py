"""The trail: everything that happened on a leaderboard, who did it and when, in the transaction that did it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from goldlabel.collect.store import Transaction
from goldlabel.leaderboard.schema import submitters, trail

MOST_SHOWN = 1000


@dataclass(frozen=True)
class Step:
    """Something that happened; where there is no submitter, whoever runs the leaderboard did it."""

    id: int
    at: datetime
    submitter: str | None
    kind: str
    subject: str
    data: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "id": self.id,
            "at": self.at.isoformat(timespec="seconds"),
            "submitter": self.submitter,
            "kind": self.kind,
            "subject": self.subject,
            "data": dict(self.data),
        }


def record(tx: Transaction, kind: str, subject: str, *, submitter_id: int | None, **data: Any) -> None:
    """Write down that something happened."""
    tx.insert(trail, submitter_id=submitter_id, kind=kind, subject=subject, data=data, at=tx.now)


def steps(
    tx: Transaction, *, submitter_id: int | None = None, after: int = 0, most: int | None = MOST_SHOWN
) -> list[Step]:
    """Return what happened after a step, in order: all of it, or what a submitter did."""
    query = select(trail, submitters.c.name).outerjoin(submitters, submitters.c.id == trail.c.submitter_id)
    query = query.where(trail.c.id > after).order_by(trail.c.id).limit(most)
    if submitter_id is not None:
        query = query.where(trail.c.submitter_id == submitter_id)
    return [Step(row.id, row.at, row.name, row.kind, row.subject, row.data) for row in tx.all(query)]
