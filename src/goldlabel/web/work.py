"""What annotators are given, as their pages show it: of a pair never its label, its genre or where it comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.projects import Project
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import assignment, drafts
from goldlabel.collect.work import progress as stages
from goldlabel.collect.work.answering import MOST_SECONDS, MOST_TIMINGS
from goldlabel.collect.work.questions import LONGEST_NAME, LONGEST_RESPONSE, MOST_QUESTIONS

LONGEST_TEXT = 20_000
"""Characters of one box that are read at all; a project's own limit is far below."""
Name = Annotated[str, Field(max_length=100)]
Responses = Annotated[
    dict[
        Annotated[str, Field(max_length=LONGEST_NAME)],
        Annotated[str, Field(max_length=LONGEST_RESPONSE)],
    ],
    Field(max_length=MOST_QUESTIONS),
]
"""To the requester's own questions, by their names."""
Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]


class DraftContent(BaseModel):
    """What a writer has typed so far: texts by slot (``entailment easy``), the seconds spent on each, and where.

    ``device`` is a name that a browser gave itself, so that it knows its own drafts from those of another device.
    """

    texts: dict[Name, Annotated[str, Field(max_length=LONGEST_TEXT)]] = Field(default={}, max_length=100)
    unusable: bool = False
    note: str = Field(default="", max_length=LONGEST_TEXT)
    seconds: dict[Name, Seconds] = Field(default={}, max_length=MOST_TIMINGS)
    device: Name = ""
    responses: Responses = {}


class Draft(BaseModel):
    """A draft and its revision, which is the time at which it was made."""

    revision: int = Field(ge=0, le=drafts.LAST_REVISION)
    content: DraftContent


class WorkItem(BaseModel):
    """One thing to do; ``earlier`` is the answer to it that the person took back, ``responses`` what they said."""

    assignment: int
    premise: str
    genre: str | None = None
    condition: str | None = None
    hypothesis: str | None = None
    draft: Draft | None = None
    earlier: str | None = None
    responses: dict[str, str] | None = None
    suggestion: str | None = None


class Work(BaseModel):
    """The tasks in a person's hands, or why there are none and until when."""

    status: str
    until: datetime | None
    tasks: list[WorkItem]


class LastVote(BaseModel):
    """The vote that can be taken back."""

    key: str
    label: str
    task: WorkItem
    responses: dict[str, str]


class Progress(BaseModel):
    """How many are done, of how many."""

    done: int
    total: int


def take_work(tx: Transaction, project_id: int, person_id: int, kind: str) -> Work:
    """Give a person what they hold already, and more until it is enough."""
    claim = assignment.claim(tx, project_id, person_id, kind, hold=WORKS[kind].held)
    return Work(status=claim.status, until=claim.until, tasks=[view_task(tx, one, person_id) for one in claim.tasks])


def view_task(tx: Transaction, task: assignment.Assignment, person_id: int) -> WorkItem:
    """Return what a page shows of a task."""
    if task.kind == "verify":
        return WorkItem(
            assignment=task.assignment_id,
            premise=task.premise,
            hypothesis=task.hypothesis,
            earlier=task.earlier,
            responses=dict(task.responses) or None,
            suggestion=task.suggestion,
        )
    kept = drafts.load_draft(tx, task.assignment_id, person_id)
    return WorkItem(
        assignment=task.assignment_id,
        premise=task.premise,
        genre=task.genre,
        condition=task.condition,
        draft=Draft(revision=kept.revision, content=DraftContent.model_validate(kept.content)) if kept else None,
    )


def last_vote(tx: Transaction, project_id: int, person_id: int) -> LastVote | None:
    """Return a person's last vote, if it can be taken back, as their page shows it."""
    last = stages.last_vote(tx, project_id, person_id)
    if last is None:
        return None
    task = view_task(tx, last.task, person_id)
    return LastVote(key=last.key, label=last.label, task=task, responses=dict(last.responses))


def progress(tx: Transaction, project: Project, person_id: int, kind: str) -> Progress:
    """Return how far a person is, as their page shows it."""
    done = stages.progress(tx, project, person_id, kind)
    return Progress(done=done.done, total=done.total)
