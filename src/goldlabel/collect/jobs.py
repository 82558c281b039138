"""Jobs: what takes longer than a page may, asked for by a page and done by a worker process.

A job is a row. A worker takes the oldest that nobody does, holds it by a lease that it renews, and writes down how far
it is and how it ended. A worker that ends half-way loses nothing but time: its lease runs out, or the worker that is
started in its place, under the same name, takes the job up again. A job that ends its worker every time is given up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, and_, or_, select

from goldlabel.collect.messages import ENGLISH, message
from goldlabel.collect.refusals import Missing
from goldlabel.collect.schema import job_files, jobs
from goldlabel.collect.store import Store, Transaction
from goldlabel.messages import Message

LEASE = timedelta(seconds=60)
MOST_TRIES = 3
KEPT = timedelta(days=1)
"""How long a job that is over is kept, with what it made."""
PIECE = 1 << 20
"""Bytes of a job's file that are written and read at once."""


@dataclass(frozen=True)
class Job:
    """Something to do for a project, and how far it is: a share from 0 to 1."""

    id: int
    project_id: int
    kind: str
    options: Mapping[str, Any]
    state: str
    tries: int
    share: float
    asked_by: int | None
    asked_at: datetime
    finished_at: datetime | None
    problem: Message | None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed")


def ask(tx: Transaction, project_id: int, kind: str, *, by: int | None = None, **options: Any) -> None:
    """Ask for something to be done; what is asked for already, and may be once only, is not asked for twice."""
    tx.insert_new(
        jobs,
        project_id=project_id,
        kind=kind,
        options=options,
        state="waiting",
        tries=0,
        share=0.0,
        asked_by=by,
        asked_at=tx.now,
    )


def latest_job(tx: Transaction, project_id: int, kind: str) -> Job | None:
    """Return what was asked for last."""
    query = select(jobs).where(jobs.c.project_id == project_id, jobs.c.kind == kind)
    row = tx.one(query.order_by(jobs.c.id.desc()).limit(1))
    return None if row is None else _job(row)


def job(tx: Transaction, project_id: int, kind: str, job_id: int) -> Job:
    """Return a job of a project; one of another kind is none."""
    row = tx.row(jobs, id=job_id, project_id=project_id, kind=kind)
    if row is None:
        raise Missing("no_job")
    return _job(row)


def take_job(tx: Transaction, worker: str) -> Job | None:
    """Give a worker the oldest job that nobody does; give up one that ended its workers too often."""
    abandoned = or_(jobs.c.lease_until <= tx.now, jobs.c.worker == worker)
    free = or_(jobs.c.state == "waiting", and_(jobs.c.state == "running", abandoned))
    while True:
        row = tx.one(select(jobs).where(free).order_by(jobs.c.id).limit(1).with_for_update(skip_locked=True))
        if row is None:
            return None
        if row.tries < MOST_TRIES:
            taken = {"state": "running", "tries": row.tries + 1, "share": 0.0}
            tx.change(jobs, row.id, worker=worker, lease_until=tx.now + LEASE, **taken)
            tx.run(job_files.delete().where(job_files.c.job_id == row.id))
            return _job(row)
        end_job(tx, row.id, message("job_crashed", n=row.tries))


def renew_job(tx: Transaction, job_id: int, share: float | None = None) -> None:
    """Hold a job for longer, and tell how far it is."""
    told = {} if share is None else {"share": share}
    tx.change(jobs, job_id, lease_until=tx.now + LEASE, **told)


def end_job(tx: Transaction, job_id: int, problem: Message | None = None) -> None:
    """Write down that a job is done, or why it could not be; forget those that ended long ago."""
    tx.change(
        jobs,
        job_id,
        state="failed" if problem else "done",
        share=1.0,
        lease_until=None,
        finished_at=tx.now,
        problem={"name": problem.name, "parameters": dict(problem.parameters)} if problem else None,
    )
    old = select(jobs.c.id).where(jobs.c.finished_at < tx.now - KEPT)
    tx.run(job_files.delete().where(job_files.c.job_id.in_(old)))
    tx.run(jobs.delete().where(jobs.c.finished_at < tx.now - KEPT))


def add_piece(tx: Transaction, job_id: int, number: int, data: bytes) -> None:
    """Keep a piece of what a job makes."""
    tx.insert(job_files, job_id=job_id, number=number, data=data)


def file_size(tx: Transaction, job_id: int) -> int:
    """Return how many bytes a job made; all pieces but the last are of one size."""
    last = tx.one(
        select(job_files.c.number, job_files.c.data)
        .where(job_files.c.job_id == job_id)
        .order_by(job_files.c.number.desc())
        .limit(1)
    )
    return 0 if last is None else last.number * PIECE + len(last.data)


def read_pieces(store: Store, job_id: int) -> Iterator[bytes]:
    """Read what a job made, a piece at a time, each in a transaction of its own: whoever downloads may be slow."""
    number = 0
    while True:
        with store.read() as tx:
            piece = tx.value(select(job_files.c.data).where(job_files.c.job_id == job_id, job_files.c.number == number))
        if piece is None:
            return
        yield piece
        number += 1


def _job(row: Row[Any]) -> Job:
    problem = None
    if row.problem is not None:
        name = row.problem["name"] if row.problem["name"] in ENGLISH else "job_failed"
        problem = message(name, **row.problem["parameters"])
    names = ("id", "project_id", "kind", "options", "state", "tries", "share", "asked_by", "asked_at", "finished_at")
    return Job(**{name: getattr(row, name) for name in names}, problem=problem)
