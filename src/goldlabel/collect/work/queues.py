"""Queues: how far each kind of work has come."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from goldlabel.collect.schema import subsets, tasks
from goldlabel.collect.store import Transaction


@dataclass(frozen=True)
class QueueLine:
    """How far one kind of work has come in one condition and genre."""

    kind: str
    origin: str
    condition: str
    genre: str
    waiting: int
    leased: int
    lapsed: int
    answered: int
    unusable: int


def queue_progress(tx: Transaction, project_id: int) -> list[QueueLine]:
    """Return how many tasks of each kind and subset wait, are in someone's hands, or are done."""
    keys = (tasks.c.kind, tasks.c.condition, tasks.c.genre, tasks.c.subset_id)
    own = (tasks.c.project_id == project_id, tasks.c.kind != "gold")
    counts: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    n = func.count().label("n")
    for row in tx.all(select(*keys, tasks.c.state, n).where(*own).group_by(*keys, tasks.c.state)):
        counts[row[:4]][row.state] = row.n
    for row in tx.all(select(*keys, n).where(*own, tasks.c.lease_until <= tx.now).group_by(*keys)):
        counts[row[:4]].update(lapsed=row.n, leased=-row.n)
    drawn = {row.id: row for row in tx.all(select(subsets).where(subsets.c.project_id == project_id))}
    lines = [
        QueueLine(
            kind=kind,
            origin=drawn[subset_id].origin if subset_id else "written",
            condition=drawn[subset_id].condition if subset_id else condition,
            genre=genre,
            waiting=count["open"],
            leased=count["leased"],
            lapsed=count["lapsed"],
            answered=count["answered"],
            unusable=count["unusable"],
        )
        for (kind, condition, genre, subset_id), count in counts.items()
    ]
    return sorted(lines, key=lambda line: (line.kind, line.origin, line.condition, line.genre))
