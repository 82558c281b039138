"""Drafts: what a writer has typed so far is kept until it is sent, also where the task is skipped meanwhile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import assignments, drafts, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.assignment import Assignment, skip, task
from goldlabel.collect.work.leases import keep_alive, lock_assignment, lock_person, own_assignment

LARGEST_DRAFT = 100_000
"""Characters of a draft's JSON form: nine boxes of the longest hypotheses fit with room to spare."""

LAST_REVISION = 2**53
"""The largest whole number that a page's script counts to exactly."""


@dataclass(frozen=True)
class Draft:
    """What a writer has typed so far, as the page sent it."""

    revision: int
    content: dict[str, Any]
    saved_at: datetime


def save_draft(
    tx: Transaction,
    assignment_id: int,
    person_id: int,
    *,
    revision: int,
    content: Mapping[str, Any],
    base: int | None = None,
) -> int:
    """Keep a draft unless a later one is kept already; return the revision that stands.

    ``base`` is the revision that the draft was made from. Where another one is kept, it came from another window: it
    stands, and the page asks which of the two is meant. Typing shows that the task is being worked on: the lease is
    prolonged when more than half of it is over.
    """
    if not 0 <= revision <= LAST_REVISION:
        raise Invalid("draft_revision", revision=revision, most=LAST_REVISION)
    try:
        size = len(json.dumps(dict(content), allow_nan=False))
    except ValueError as error:
        raise Invalid("draft_number") from error
    if size > LARGEST_DRAFT:
        raise Invalid("draft_length", longest=LARGEST_DRAFT)
    lock_person(tx, person_id)
    row = lock_assignment(tx, assignment_id, person_id)
    if row.kind != "write" or row.state not in ("leased", "passed"):
        raise Conflict("draft_late")
    keep_alive(tx, project(tx, row.project_id), row)
    kept = load_draft(tx, assignment_id, person_id)
    if kept is not None and (kept.revision >= revision or base not in (None, kept.revision)):
        return kept.revision
    values = {"revision": revision, "content": dict(content), "saved_at": tx.now}
    if kept is None:
        tx.insert(drafts, assignment_id=row.id, **values)
    else:
        tx.run(drafts.update().where(drafts.c.assignment_id == row.id).values(**values))
    return revision


def load_draft(tx: Transaction, assignment_id: int, person_id: int) -> Draft | None:
    """Return the draft kept for a person's task, if any."""
    own_assignment(tx, assignment_id, person_id)
    row = tx.row(drafts, assignment_id=assignment_id)
    return None if row is None else Draft(row.revision, row.content, row.saved_at)


def forget_draft(tx: Transaction, assignment_id: int) -> None:
    """Drop a draft that has become an answer."""
    tx.run(drafts.delete().where(drafts.c.assignment_id == assignment_id))


def set_aside(
    tx: Transaction, assignment_id: int, person_id: int, *, revision: int, content: Mapping[str, Any]
) -> None:
    """Skip a task, and keep what was written for it: who skipped it may take it up again."""
    if own_assignment(tx, assignment_id, person_id).state == "leased":
        save_draft(tx, assignment_id, person_id, revision=revision, content=content)
    skip(tx, assignment_id, person_id)


def last_set_aside(tx: Transaction, project_id: int, person_id: int) -> Assignment | None:
    """Return the task skipped last that something was written for, if it can still be taken up again."""
    rows = tx.all(
        select(assignments.c.id, drafts.c.content)
        .join(drafts, drafts.c.assignment_id == assignments.c.id)
        .join(tasks, tasks.c.id == assignments.c.task_id)
        .where(
            assignments.c.project_id == project_id,
            assignments.c.person_id == person_id,
            assignments.c.kind == "write",
            assignments.c.state == "skipped",
            tasks.c.state == "open",
        )
        .order_by(assignments.c.closed_at.desc(), assignments.c.id.desc())
    )
    written = next((row.id for row in rows if any(row.content.get("texts", {}).values())), None)
    return None if written is None else task(tx, written, person_id)
