"""Submissions: predictions as somebody sent them, once, and what came of them.

A submission waits until a worker takes it, is checked and scored, and then stands on the board until it is withdrawn.
What cannot be scored is refused, with a reason that is a function of ids and of the form of the file alone. The same
bytes under the same name are one submission however often they are sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.jobs import PIECE
from goldlabel.collect.people.limits import hit
from goldlabel.collect.refusals import Conflict, Invalid, Missing, TooMany
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text
from goldlabel.leaderboard.board import Limits
from goldlabel.leaderboard.schema import submissions, submitters, uploads
from goldlabel.leaderboard.submitters import Submitter, clean_name
from goldlabel.leaderboard.trail import record

MOST_BYTES = 64 << 20
"""Of a file that is submitted."""
MOST_UPLOADS = 30
"""Files that a submitter may send in an hour, also such as are refused."""
LONGEST_FILE, LONGEST_TEXT = 200, 2000
WAITING, RUNNING, SCORED, REFUSED, FAILED, WITHDRAWN = "waiting", "running", "scored", "refused", "failed", "withdrawn"
UNCOUNTED = (REFUSED, FAILED)
"""States of what told nothing about the labels, and does not count for the limits."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What a submitter says of a submission, beside the card that may be in it."""

    description: str = ""
    training: str = ""

    def cleaned(self) -> About:
        """Return it as it is kept."""
        texts = {name: clean_text(text) for name, text in vars(self).items()}
        if too_long := next((name for name, text in texts.items() if len(text) > LONGEST_TEXT), None):
            raise Invalid("board_text", name=too_long, longest=LONGEST_TEXT)
        return About(**texts)


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A submission as its submitter sees it."""

    id: int
    name: str
    file: str
    state: str
    problem: str | None
    received_at: datetime
    finished_at: datetime | None
    withdrawn_at: datetime | None
    suite: str | None = None
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.state not in (WAITING, RUNNING)


def receive(
    tx: Transaction,
    submitter: Submitter,
    upload: Path,
    sha256: str,
    *,
    file: str,
    name: str,
    suite: str,
    about: About,
    limits: Limits,
) -> tuple[Submission, bool]:
    """Take a file that was sent, and its hash; return the submission, and whether it is new.

    Give it a write block of its own; the block may be repeated.
    """
    name, about = clean_name(name), about.cleaned()
    file = PurePosixPath(clean_text(file).replace("\\", "/")).name[-LONGEST_FILE:]
    described = json.dumps([name, file, suite, vars(about), sha256], ensure_ascii=False)
    digest = hashlib.sha256(described.encode()).hexdigest()
    tx.lock(submitters, submitter.id)
    row = tx.row(submissions, submitter_id=submitter.id, digest=digest)
    if row is not None and row.state not in UNCOUNTED:
        return _submission(row), False
    _refuse_too_many(tx, submitter.id, limits)
    if row is not None:  # what was not scored tells nothing, and may have been a fault of ours: it is tried again
        tx.change(submissions, row.id, state=WAITING, tries=0, problem=None, finished_at=None, received_at=tx.now)
        submission_id = int(row.id)
    else:
        submission_id = tx.insert(
            submissions,
            submitter_id=submitter.id,
            digest=digest,
            name=name,
            file=file,
            suite=suite,
            about=vars(about),
            state=WAITING,
            tries=0,
            received_at=tx.now,
        )
    with upload.open("rb") as stream:
        number = 0
        while piece := stream.read(PIECE):
            tx.insert(uploads, submission_id=submission_id, number=number, data=piece)
            number += 1
    _record(tx, "submission.received", submission_id, submitter.id, name=name, suite=suite, digest=digest)
    return own(tx, submitter, submission_id), True


def count_upload(tx: Transaction, submitter: Submitter) -> None:
    """Count a file that somebody begins to send, or refuse it; give it a write block of its own."""
    hit(tx, f"uploads {submitter.id}", limit=MOST_UPLOADS, window=timedelta(hours=1))


def own(tx: Transaction, submitter: Submitter, submission_id: int) -> Submission:
    """Return a submission to its submitter; to others there is none."""
    row = tx.row(submissions, id=submission_id, submitter_id=submitter.id)
    if row is None:
        raise Missing("no_submission")
    return _submission(row)


def all_own(tx: Transaction, submitter: Submitter) -> list[Submission]:
    """Return a submitter's submissions, the newest first."""
    query = select(submissions).where(submissions.c.submitter_id == submitter.id)
    return [_submission(row) for row in tx.all(query.order_by(submissions.c.id.desc()))]


def withdraw(tx: Transaction, submission_id: int, *, submitter: Submitter | None) -> None:
    """Take a submission off the board; it stays in the trail. Without a submitter, who runs the board does it."""
    same = {} if submitter is None else {"submitter_id": submitter.id}
    tx.lock(submissions, submission_id)
    row = tx.row(submissions, id=submission_id, **same)
    if row is None:
        raise Missing("no_submission")
    if row.state not in (WAITING, RUNNING, SCORED):
        raise Conflict("not_on_board")
    tx.change(submissions, row.id, state=WITHDRAWN, withdrawn_at=tx.now, lease_until=None)
    tx.run(uploads.delete().where(uploads.c.submission_id == row.id))
    _record(tx, "submission.withdrawn", row.id, None if submitter is None else submitter.id, name=row.name)


def left_of(tx: Transaction, submitter: Submitter, limits: Limits) -> dict[str, int]:
    """Return how many more submissions would be scored today and this week."""
    return {
        "day": max(0, limits.per_day - _counted(tx, submitter.id, timedelta(days=1))),
        "week": max(0, limits.per_week - _counted(tx, submitter.id, timedelta(days=7))),
    }


def _refuse_too_many(tx: Transaction, submitter_id: int, limits: Limits) -> None:
    for most, window in ((limits.per_day, timedelta(days=1)), (limits.per_week, timedelta(days=7))):
        if _counted(tx, submitter_id, window) >= most:
            first = (
                _within(submitter_id, tx.now - window)
                .with_only_columns(submissions.c.received_at)
                .order_by(submissions.c.received_at.desc())
                .offset(most - 1)
                .limit(1)
            )
            free_at: datetime = tx.value(first) + window
            raise TooMany("board_limit", seconds=-((tx.now - free_at) // timedelta(seconds=1)))


def _counted(tx: Transaction, submitter_id: int, window: timedelta) -> int:
    return int(tx.value(_within(submitter_id, tx.now - window).with_only_columns(func.count())))


def _within(submitter_id: int, after: datetime) -> Any:
    return select(submissions).where(
        submissions.c.submitter_id == submitter_id,
        submissions.c.received_at > after,
        submissions.c.state.not_in(UNCOUNTED),
    )


def _submission(row: Row[Any]) -> Submission:
    names = ("id", "name", "file", "state", "problem", "received_at", "finished_at", "withdrawn_at", "suite", "about")
    return Submission(**{name: getattr(row, name) for name in names})


def _record(tx: Transaction, kind: str, submission_id: int, submitter_id: int | None, **data: Any) -> None:
    record(tx, kind, f"submission {submission_id}", submitter_id=submitter_id, **data)
