"""Trying a project out as its annotators see it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people.people import ROLES, require_role
from goldlabel.collect.refusals import Missing
from goldlabel.collect.work import tryout
from goldlabel.web.security import Owned, Person, ProjectId, Stored

router = APIRouter(tags=["try-outs"])


@router.post("/projects/{project_id}/tryout")
def begin(
    project: Owned,
    person: Person,
    store: Stored,
    role: Annotated[Literal["writer", "verifier"], Form()],
    condition: Annotated[str, Form(max_length=40)] = "",
    training: Annotated[bool, Form()] = False,
) -> Response:
    """Copy some of the project for the requester alone, and show them what an annotator sees first."""
    number = tryout.begin(store, project.id, person, condition=condition, training=training)
    return RedirectResponse(f"/projects/{number}/instructions/{role}", 303)


@router.post("/projects/{project_id}/tryout/end")
def end(project_id: ProjectId, person: Person, store: Stored) -> Response:
    """Throw the copy away and go back to the project."""
    with store.read() as tx:
        require_role(tx, project_id, person.person_id, *ROLES)
    if not tryout.is_tryout(project_id):
        raise Missing("no_project", name=project_id)
    return RedirectResponse(f"/projects/{tryout.end(project_id)}/manage", 303)
