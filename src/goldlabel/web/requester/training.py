"""The examples that people practise on before they write or judge: the project's own, or those of Goldlabel."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from goldlabel.collect import projects
from goldlabel.collect.configuration import configure
from goldlabel.collect.people.training import NAMES, own_examples
from goldlabel.collect.texts import known_examples
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Person, Stored

router = APIRouter(tags=["training"])

MOST_EXAMPLES = 200
LONGEST = 5000

Texts = Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Form(max_length=MOST_EXAMPLES)]


@router.get("/projects/{project_id}/examples")
def examples_page(request: Request, project: Managed, saved: bool = False) -> Response:
    """The examples with room for one more."""
    shown = project.protocol.examples or known_examples(project.protocol)
    return page(request, "requester/examples.html", project=project, examples=shown, saved=saved, problem="")


@router.post("/projects/{project_id}/examples")
def change_examples(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    premise: Texts = [],  # noqa: B006 - FastAPI copies them
    hypothesis: Texts = [],  # noqa: B006
    label: Texts = [],  # noqa: B006
    explanation: Texts = [],  # noqa: B006
    role: Texts = [],  # noqa: B006
) -> Response:
    """Keep the project's own examples, all of which are asked; without any, those of Goldlabel are asked again."""
    rows = list(zip(premise, hypothesis, label, explanation, role or [""] * len(premise), strict=False))
    try:
        with store.write() as tx:
            present = projects.project(tx, project.id).protocol
            configure(tx, project.id, own_examples(present, rows), by=person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        shown = [dict(zip(NAMES, row, strict=True)) for row in rows]
        values = {"examples": shown, "saved": False, "problem": message}
        return page(request, "requester/examples.html", status=status, project=project, **values)
    return RedirectResponse(f"/projects/{project.id}/examples?saved=true", 303)
