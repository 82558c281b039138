"""What I sent: to look at, change or withdraw while nothing is decided on it, and to say something about it."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import Response
from pydantic import Field

from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.people.feedback import feedback
from goldlabel.collect.people.people import ROLES, require_role
from goldlabel.collect.projects import Project, project
from goldlabel.collect.rounds.others import others_beside
from goldlabel.collect.store import LARGEST
from goldlabel.collect.work import history, remarks, tagging
from goldlabel.collect.work.questions import LONGEST_NAME, LONGEST_RESPONSE, MOST_QUESTIONS, asked_with
from goldlabel.collect.work.remarks import LONGEST_REMARK
from goldlabel.web.done import redirect_done
from goldlabel.web.pages import page
from goldlabel.web.security import Before, ObjectId, Person, ProjectId, Stored, limit
from goldlabel.web.work import LONGEST_TEXT

router = APIRouter()


def own_project(project_id: ProjectId, person: Person, store: Stored) -> Project:
    """Return a project to whoever has a role in it."""
    with store.read() as tx:
        require_role(tx, project_id, person.person_id, *ROLES)
        return project(tx, project_id)


Own = Annotated[Project, Depends(own_project)]


@router.get("/projects/{project_id}/mine")
def history_page(request: Request, project: Own, person: Person, store: Stored, before: Before = None) -> Response:
    """What I have in hand, what I sent, and what I remarked."""
    with store.read() as tx:
        sent, older = history.sent(tx, project.id, person.person_id, before=before)
        others = others_beside(tx, person.person_id, [one.answer_id for one in sent if one.pairs])
        held = remarks.in_hand(tx, project.id, person.person_id) if before is None else []
        said = remarks.own_remarks(tx, project.id, person.person_id)
        told = feedback(tx, project, person.person_id)
        tagged = tagging.own_taggings(tx, project.id, person.person_id) if before is None else []
    return page(
        request,
        "annotator/history.html",
        project=project,
        sent=sent,
        older=older,
        others=others,
        held=held,
        remarks=said,
        feedback=told,
        tagged=tagged,
        longest=LONGEST_REMARK,
        answers=project.protocol.answers,
        asked={work: asked_with(project.protocol.questions, work) for work in WORKS},
        longest_response=LONGEST_RESPONSE,
    )


@router.post("/projects/{project_id}/mine/{answer_id}/vote")
def change_vote(
    request: Request,
    project: Own,
    answer_id: ObjectId,
    person: Person,
    store: Stored,
    label: Annotated[str, Form(max_length=50)],
) -> Response:
    """Judge a pair otherwise."""
    with store.write() as tx:
        history.change_vote(tx, project.id, answer_id, person.person_id, label)
    return _back(request, project.id, "answer_changed")


@router.post("/projects/{project_id}/mine/{answer_id}/text")
def change_text(
    request: Request,
    project: Own,
    answer_id: ObjectId,
    person: Person,
    store: Stored,
    pair: Annotated[int, Form(ge=1, le=LARGEST)],
    text: Annotated[str, Form(max_length=LONGEST_TEXT)],
) -> Response:
    """Write a sentence otherwise."""
    with store.write() as tx:
        history.change_text(tx, project.id, answer_id, person.person_id, pair, text)
    return _back(request, project.id, "answer_changed")


@router.post("/projects/{project_id}/mine/{answer_id}/responses")
def change_responses(
    request: Request,
    project: Own,
    answer_id: ObjectId,
    person: Person,
    store: Stored,
    name: Annotated[list[Annotated[str, Field(max_length=LONGEST_NAME)]], Form(max_length=MOST_QUESTIONS)] = [],  # noqa: B006
    response: Annotated[list[Annotated[str, Field(max_length=LONGEST_RESPONSE)]], Form(max_length=MOST_QUESTIONS)] = [],  # noqa: B006
) -> Response:
    """Answer the requester's own questions otherwise."""
    with store.write() as tx:
        said = dict(zip(name, response, strict=False))
        history.change_responses(tx, project.id, answer_id, person.person_id, said)
    return _back(request, project.id, "answer_changed")


@router.post("/projects/{project_id}/mine/{answer_id}/withdraw")
def withdraw(request: Request, project: Own, answer_id: ObjectId, person: Person, store: Stored) -> Response:
    """Take an answer back."""
    with store.write() as tx:
        history.withdraw(tx, project.id, answer_id, person.person_id)
    return _back(request, project.id, "answer_withdrawn")


@router.post("/projects/{project_id}/mine/remarks")
def make_remark(
    request: Request,
    project: Own,
    person: Person,
    store: Stored,
    assignment: Annotated[int, Form(ge=1, le=LARGEST)],
    text: Annotated[str, Form(max_length=LONGEST_REMARK)],
) -> Response:
    """Say something about a task."""
    limit(store, "remarks of", str(person.person_id), most=200, window=timedelta(hours=1))
    with store.write() as tx:
        remarks.make_remark(tx, project.id, assignment, person.person_id, text)
    return _back(request, project.id, "remark_sent")


def _back(request: Request, project_id: int, done: str) -> Response:
    return redirect_done(request, f"/projects/{project_id}/mine", done)
