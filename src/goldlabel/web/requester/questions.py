"""Questions of the requester's own: what is asked after the main answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from goldlabel.collect import projects
from goldlabel.collect.configuration import configure
from goldlabel.collect.projects import Project
from goldlabel.collect.work.questions import (
    LONGEST_NAME,
    LONGEST_OPTION,
    LONGEST_QUESTION,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    QUESTION_KINDS,
)
from goldlabel.collect.work.responses import own_questions
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Person, Stored

router = APIRouter(tags=["settings"])

LONGEST = {"name": LONGEST_NAME, "text": LONGEST_QUESTION, "options": MOST_OPTIONS * (LONGEST_OPTION + 2)}
Words = Annotated[list[Annotated[str, Field(max_length=20)]], Form(max_length=MOST_QUESTIONS)]
Names = Annotated[list[Annotated[str, Field(max_length=LONGEST["name"])]], Form(max_length=MOST_QUESTIONS)]
Texts = Annotated[list[Annotated[str, Field(max_length=LONGEST["text"])]], Form(max_length=MOST_QUESTIONS)]
Options = Annotated[list[Annotated[str, Field(max_length=LONGEST["options"])]], Form(max_length=MOST_QUESTIONS)]


@router.get("/projects/{project_id}/questions")
def questions_page(request: Request, project: Managed, saved: bool = False) -> Response:
    """The questions with room for one more."""
    shown = [{**vars(one), "options": "\n".join(one.options)} for one in project.protocol.questions]
    return _questions_page(request, project, shown, saved=saved)


@router.post("/projects/{project_id}/questions")
def change_questions(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    name: Names = [],  # noqa: B006 - FastAPI copies them
    text: Texts = [],  # noqa: B006
    kind: Words = [],  # noqa: B006
    asked: Words = [],  # noqa: B006
    required: Words = [],  # noqa: B006
    options: Options = [],  # noqa: B006
) -> Response:
    """Ask these questions from now on, in the place of those before."""
    columns = ("name", "text", "kind", "asked", "required", "options")
    cells = zip(name, text, kind, asked, required, options, strict=False)
    rows: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in cells]
    try:
        questions = own_questions(rows)
        with store.write() as tx:
            present = projects.project(tx, project.id).protocol
            configure(tx, project.id, replace(present, questions=questions), by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _questions_page(request, project, rows, status=status, problem=message)
    return RedirectResponse(f"/projects/{project.id}/questions?saved=true", 303)


def _questions_page(
    request: Request,
    project: Project,
    questions: list[dict[str, Any]],
    *,
    status: int = 200,
    problem: str = "",
    saved: bool = False,
) -> Response:
    works = project.kind.asks
    empty = {"name": "", "text": "", "kind": QUESTION_KINDS[0], "asked": works[-1], "required": "", "options": ""}
    return page(
        request,
        "requester/questions.html",
        status=status,
        project=project,
        questions=[*questions, empty][:MOST_QUESTIONS],
        kinds=QUESTION_KINDS,
        works=works,
        longest=LONGEST,
        problem=problem,
        saved=saved,
    )
