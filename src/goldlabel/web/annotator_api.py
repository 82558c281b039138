"""What the annotators' pages send and fetch: drafts, answers, and the next tasks.

Every answer carries a key that the page made up; sent again under the same key it is stored once. An answer is stored
in a transaction of its own before the next tasks are claimed, so that nothing that keeps a person from going on can
keep their answer from being stored.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from goldlabel.collect.people import marketplaces
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Missing
from goldlabel.collect.store import Store
from goldlabel.collect.work import assignment, drafts, verifying, writing
from goldlabel.collect.work.answering import LONGEST_KEY, MOST_TIMINGS, Receipt
from goldlabel.collect.work.drafts import LAST_REVISION
from goldlabel.collect.work.review import Review, review
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.errors import InputError
from goldlabel.web.language import language_of
from goldlabel.web.security import ObjectId, Person, ProjectId, Stored
from goldlabel.web.translation import translate
from goldlabel.web.work import (
    LONGEST_TEXT,
    Draft,
    Name,
    Progress,
    Responses,
    Seconds,
    Work,
    WorkItem,
    progress,
    take_work,
    view_task,
)

router = APIRouter(tags=["annotators"])

Key = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
Kind = Literal["write", "verify"]


class Written(BaseModel):
    """One box of the writing page."""

    label: str = Field(max_length=50)
    level: str = Field(max_length=50)
    text: str = Field(max_length=LONGEST_TEXT)


class Texts(BaseModel):
    """All boxes of one premise."""

    hypotheses: list[Written] = Field(max_length=100)

    def given(self) -> list[Hypothesis]:
        """Return them as the rules take them."""
        return [Hypothesis(label=one.label, level=one.level, text=one.text) for one in self.hypotheses]


class Submission(Texts):
    """The hypotheses of one premise; ``timings`` are seconds, ``total`` those for the whole premise."""

    key: Key
    timings: dict[Name, Seconds] = Field(default={}, max_length=MOST_TIMINGS)
    responses: Responses = {}


class Unusable(BaseModel):
    """A premise that cannot be written about, and why."""

    key: Key
    note: str = Field(max_length=LONGEST_TEXT)


class Vote(BaseModel):
    """A verifier's answer, and how many seconds it took."""

    key: Key
    label: str = Field(max_length=50)
    seconds: Seconds | None = None
    responses: Responses = {}


class Undo(BaseModel):
    """The key of the vote to take back."""

    key: Key


class Wanted(BaseModel):
    """Which kind of work a person asks for."""

    kind: Kind


class NewDraft(Draft):
    """A draft, and the revision that it was made from."""

    base: int | None = Field(default=None, ge=0, le=LAST_REVISION)


class Aside(BaseModel):
    """What was written for a task that is skipped."""

    draft: Draft | None = None


class Kept(BaseModel):
    """The revision of a draft that stands, and the draft itself where it is not the one that was sent."""

    revision: int
    draft: Draft | None


class Broken(BaseModel):
    """A rule that a hypothesis breaks, as ``goldlabel.collect.work.rules`` tells it."""

    rule: str
    label: str
    level: str
    spans: list[tuple[int, int]]
    parameters: dict[str, str | int]
    message: str


class Claimed(Work):
    """Tasks, and how far the person is."""

    progress: Progress


class Answered(BaseModel):
    """What became of an answer, and what there is to do next; ``work`` is empty where nothing more is given out."""

    state: str
    repeated: bool
    amount: str
    work: Work | None


class Done(BaseModel):
    """What there is to do next."""

    work: Work | None


@router.post("/projects/{project_id}/claim")
def claim(project_id: ProjectId, wanted: Wanted, person: Person, store: Stored) -> Claimed:
    """Give a person their tasks."""
    with store.write() as tx:
        work = take_work(tx, project_id, person.person_id, wanted.kind)
        done = progress(tx, project(tx, project_id), person.person_id, wanted.kind)
    return Claimed(**dict(work), progress=done)


@router.get("/assignments/{assignment_id}")
def show(assignment_id: ObjectId, person: Person, store: Stored) -> WorkItem:
    """Return a task that a person was given, also one that is over."""
    with store.read() as tx:
        return view_task(tx, assignment.task(tx, assignment_id, person.person_id), person.person_id)


@router.put("/assignments/{assignment_id}/draft")
def save_draft(assignment_id: ObjectId, draft: NewDraft, person: Person, store: Stored) -> Kept:
    """Keep what a writer has typed so far, unless something newer, or something from another window, is kept."""
    with store.write(repeatable=True) as tx:
        stands = drafts.save_draft(
            tx,
            assignment_id,
            person.person_id,
            revision=draft.revision,
            content=draft.content.model_dump(),
            base=draft.base,
        )
        task = assignment.task(tx, assignment_id, person.person_id)
        other = view_task(tx, task, person.person_id).draft if stands != draft.revision else None
    return Kept(revision=stands, draft=other)


@router.post("/assignments/{assignment_id}/check")
def check(request: Request, assignment_id: ObjectId, texts: Texts, person: Person, store: Stored) -> list[Broken]:
    """Say which rules hypotheses would break, without storing anything."""
    found = _review(store, assignment_id, person.person_id, texts.given()).violations
    language = language_of(request)
    return [Broken(**{**one.to_dict(), "message": translate(one.message, language)}) for one in found]


@router.post("/assignments/{assignment_id}/submit")
def submit(assignment_id: ObjectId, sent: Submission, person: Person, store: Stored) -> Answered:
    """Store the hypotheses of one premise; the rules are asked before anything is locked."""
    reviewed = _review(store, assignment_id, person.person_id, sent.given())
    with store.write(repeatable=True) as tx:
        receipt = writing.submit(
            tx,
            assignment_id,
            person.person_id,
            key=sent.key,
            hypotheses=sent.given(),
            timings=sent.timings,
            responses=sent.responses,
            reviewed=reviewed,
        )
    return answered(store, person.person_id, receipt, "write")


@router.post("/assignments/{assignment_id}/unusable")
def mark_unusable(assignment_id: ObjectId, sent: Unusable, person: Person, store: Stored) -> Answered:
    """Store that a premise cannot be written about."""
    with store.write(repeatable=True) as tx:
        receipt = writing.mark_unusable(tx, assignment_id, person.person_id, key=sent.key, note=sent.note)
    return answered(store, person.person_id, receipt, "write")


@router.post("/assignments/{assignment_id}/skip")
def skip(assignment_id: ObjectId, person: Person, store: Stored, sent: Aside | None = None) -> Done:
    """Give a task back for someone else; what was written for it is kept, in case the person takes it up again."""
    with store.write() as tx:
        task = assignment.task(tx, assignment_id, person.person_id)
        if sent is None or sent.draft is None:
            assignment.skip(tx, assignment_id, person.person_id)
        else:
            content = sent.draft.content.model_dump()
            drafts.set_aside(tx, assignment_id, person.person_id, revision=sent.draft.revision, content=content)
    return Done(work=_next(store, person.person_id, task.project_id, task.kind))


@router.post("/assignments/{assignment_id}/resume")
def resume(assignment_id: ObjectId, person: Person, store: Stored) -> Done:
    """Take up a task that was skipped, with what was written for it."""
    with store.write() as tx:
        task = assignment.take_up(tx, assignment_id, person.person_id)
        item = view_task(tx, task, person.person_id)
    return Done(work=Work(status="ok", until=None, tasks=[item]))


@router.post("/assignments/{assignment_id}/vote")
def vote(assignment_id: ObjectId, sent: Vote, person: Person, store: Stored) -> Answered:
    """Store a vote."""
    with store.write(repeatable=True) as tx:
        receipt = verifying.vote(
            tx,
            assignment_id,
            person.person_id,
            key=sent.key,
            label=sent.label,
            seconds=sent.seconds,
            responses=sent.responses,
        )
    return answered(store, person.person_id, receipt, "verify")


@router.post("/assignments/{assignment_id}/undo")
def undo(assignment_id: ObjectId, sent: Undo, person: Person, store: Stored) -> Done:
    """Take back a person's last vote."""
    with store.write(repeatable=True) as tx:
        project_id = verifying.take_back(tx, assignment_id, person.person_id, sent.key)
    return Done(work=_next(store, person.person_id, project_id, "verify"))


def _review(store: Store, assignment_id: int, person_id: int, hypotheses: list[Hypothesis]) -> Review:
    with store.read() as tx:
        task = assignment.task(tx, assignment_id, person_id)
        if task.kind != "write":
            raise Missing("no_task", id=assignment_id)
        protocol = project(tx, task.project_id).protocol
    return review(task.premise, task.condition, protocol, hypotheses)


def answered(store: Store, person_id: int, receipt: Receipt, kind: Kind) -> Answered:
    """Say what became of an answer, with what there is to do next."""
    return Answered(
        state=receipt.state,
        repeated=receipt.repeated,
        amount=str(receipt.amount),
        work=_next(store, person_id, receipt.project_id, kind),
    )


def _next(store: Store, person_id: int, project_id: int, kind: str) -> Work | None:
    """Return what comes next; where a person may not go on, the page tells them why when it is loaded again."""
    try:
        with store.write() as tx:
            visit = marketplaces.present_visit(tx, project_id, person_id)
            return None if visit is not None and visit.is_over else take_work(tx, project_id, person_id, kind)
    except InputError:
        return None
