"""How far annotators are: pairs or premises done of those there are, and the vote that can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from goldlabel.collect.kinds.kind import VERIFY
from goldlabel.collect.projects import Project
from goldlabel.collect.schema import answers, assignments, pairs, subsets
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import assignment


@dataclass(frozen=True)
class Progress:
    """How many are done, of how many."""

    done: int
    total: int


@dataclass(frozen=True)
class LastVote:
    """The vote that can be taken back, by its key, and its task."""

    key: str
    label: str
    responses: Mapping[str, str]
    task: assignment.Assignment


def progress(tx: Transaction, project: Project, person_id: int, kind: str) -> Progress:
    """Return how far a writer is in the batch, or a verifier among the pairs drawn so far."""
    if kind == "write":
        batch = assignment.batch(tx, project.id, person_id)
        return Progress(batch.done, batch.size)
    done = tx.value(
        select(func.count()).where(
            assignments.c.project_id == project.id,
            assignments.c.person_id == person_id,
            assignments.c.kind.in_(VERIFY.tasks),
            assignments.c.state == "answered",
        )
    )
    return Progress(done, max(_judgeable(tx, project), done))


def last_vote(tx: Transaction, project_id: int, person_id: int) -> LastVote | None:
    """Return a person's last vote, if it counts and so can be taken back."""
    row = tx.one(
        select(answers.c.key, answers.c.label, answers.c.state, answers.c.assignment_id, answers.c.responses)
        .where(
            answers.c.project_id == project_id,
            answers.c.person_id == person_id,
            answers.c.kind.in_(VERIFY.tasks),
        )
        .order_by(answers.c.id.desc())
        .limit(1)
    )
    if row is None or row.state != "counted":
        return None
    return LastVote(row.key, row.label, row.responses or {}, assignment.task(tx, row.assignment_id, person_id))


def _judgeable(tx: Transaction, project: Project) -> int:
    """Return how many pairs a verifier may expect; questions with known answers are counted as likely as they come.

    Their true number would tell which pair was one.
    """
    highest = {
        name: select(func.max(pairs.c[name])).where(pairs.c.subset_id == subsets.c.id).scalar_subquery()
        for name in ("number", "draw_number")
    }
    sizes = tx.all(
        select(subsets.c.origin, highest["number"].label("size"), highest["draw_number"].label("drawn")).where(
            subsets.c.project_id == project.id
        )
    )
    drawn = sum(row.drawn or 0 for row in sizes if row.origin != "gold")
    questions = sum(row.size or 0 for row in sizes if row.origin == "gold")
    return drawn + min(questions, round(project.protocol.qualification.gold_rate * drawn))
