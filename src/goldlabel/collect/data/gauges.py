"""Gauges: how much of everything there is in the whole collection, for whoever watches over a server."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Table, case, func, select

from goldlabel.collect.schema import answers, assignments, jobs, tasks, tries
from goldlabel.collect.store import Transaction


@dataclass(frozen=True)
class Gauge:
    """A number of rows for each value of one or two columns."""

    name: str
    help: str
    columns: tuple[str, ...]
    rows: dict[tuple[str, ...], int]


def read_gauges(tx: Transaction) -> list[Gauge]:
    """Count tasks, leases, answers, tries and jobs: five questions, whatever the size of the collection."""
    overdue = case((assignments.c.expires_at < tx.now, "overdue"), else_="running")
    decided = case((tries.c.decided_at.is_(None), "waiting"), (tries.c.model.is_(None), "failed"), else_="decided")
    return [
        _count(
            tx,
            "tasks",
            "Answers wanted, by the kind of task and its state.",
            tasks,
            kind=tasks.c.kind,
            state=tasks.c.state,
        ),
        _count(tx, "leases", "Tasks in somebody's hands.", assignments, assignments.c.state == "leased", state=overdue),
        _count(
            tx,
            "answers",
            "Answers, by kind and whether they count.",
            answers,
            kind=answers.c.kind,
            state=answers.c.state,
        ),
        _count(tx, "tries", "Tries against models, by what became of them.", tries, state=decided),
        _count(tx, "jobs", "Exports and other jobs of the worker.", jobs, kind=jobs.c.kind, state=jobs.c.state),
    ]


def _count(
    tx: Transaction, name: str, told: str, table: Table, *where: ColumnElement[bool], **by: ColumnElement[str]
) -> Gauge:
    columns = [column.label(label) for label, column in by.items()]
    query = select(*columns, func.count()).select_from(table).where(*where).group_by(*by.values())
    return Gauge(name, told, tuple(by), {tuple(row[:-1]): row[-1] for row in tx.all(query)})
