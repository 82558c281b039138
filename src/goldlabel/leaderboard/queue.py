"""The queue: a worker takes the oldest submission that nobody scores, and holds it by a lease that it renews.

A worker that ends half-way loses nothing but time: its lease runs out, or the worker that is started in its place,
under the same name, takes the submission up again. What a submission came to is written in one transaction, and only by
the worker that still holds it; so it is scored once. One that ends its worker every time is given up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import and_, or_, select

from goldlabel.collect.jobs import LEASE, MOST_TRIES
from goldlabel.collect.store import Transaction
from goldlabel.leaderboard.schema import scores, submissions, uploads
from goldlabel.leaderboard.submissions import FAILED, REFUSED, RUNNING, SCORED, WAITING
from goldlabel.leaderboard.trail import record

CRASHED = "it could not be scored, whatever it holds; send it again, or ask who runs the leaderboard"


@dataclass(frozen=True)
class Taken:
    """A submission that a worker holds."""

    id: int
    worker: str
    submitter_id: int
    name: str
    file: str
    about: Mapping[str, str]
    suite: str | None


def take(tx: Transaction, worker: str) -> Taken | None:
    """Give a worker the oldest submission that nobody scores; give up one that ended its workers too often."""
    abandoned = or_(submissions.c.lease_until <= tx.now, submissions.c.worker == worker)
    free = or_(submissions.c.state == WAITING, and_(submissions.c.state == RUNNING, abandoned))
    while True:
        query = select(submissions).where(free).order_by(submissions.c.id).limit(1).with_for_update(skip_locked=True)
        row = tx.one(query)
        if row is None:
            return None
        taken = Taken(row.id, worker, row.submitter_id, row.name, row.file, row.about, row.suite)
        if row.tries < MOST_TRIES:
            tx.change(
                submissions, row.id, state=RUNNING, tries=row.tries + 1, worker=worker, lease_until=tx.now + LEASE
            )
            return taken
        tx.change(submissions, row.id, state=RUNNING, worker=worker)
        end_without_score(tx, taken, FAILED, CRASHED)


def renew(tx: Transaction, taken: Taken) -> None:
    """Hold a submission for longer."""
    tx.run(_held(taken).values(lease_until=tx.now + LEASE))


def copy_upload(tx: Transaction, taken: Taken, path: Path) -> None:
    """Write the file of a submission to disk, a piece at a time."""
    with path.open("wb") as stream:
        number = 0
        while (
            piece := tx.value(
                select(uploads.c.data).where(uploads.c.submission_id == taken.id, uploads.c.number == number)
            )
        ) is not None:
            stream.write(piece)
            number += 1


def end_with_score(
    tx: Transaction, taken: Taken, *, figures: Mapping[str, Any], card: Mapping[str, Any], hits: bytes
) -> bool:
    """Write down how a submission scored; say whether that was still this worker's to do."""
    if not _end(tx, taken, SCORED):
        return False
    tx.insert(scores, submission_id=taken.id, figures=dict(figures), card=dict(card), hits=hits)
    record(tx, "submission.scored", f"submission {taken.id}", submitter_id=taken.submitter_id, mean=figures["mean"])
    return True


def end_without_score(tx: Transaction, taken: Taken, state: str, problem: str) -> None:
    """Write down why a submission has no score: it is ``refused``, or a fault of ours made it ``failed``."""
    assert state in (REFUSED, FAILED)
    if _end(tx, taken, state, problem):
        record(tx, f"submission.{state}", f"submission {taken.id}", submitter_id=taken.submitter_id, problem=problem)


def _end(tx: Transaction, taken: Taken, state: str, problem: str | None = None) -> bool:
    ended = _held(taken).values(state=state, problem=problem, lease_until=None, finished_at=tx.now)
    if not tx.run(ended):
        return False
    tx.run(uploads.delete().where(uploads.c.submission_id == taken.id))
    return True


def _held(taken: Taken) -> Any:
    return submissions.update().where(
        submissions.c.id == taken.id, submissions.c.state == RUNNING, submissions.c.worker == taken.worker
    )
