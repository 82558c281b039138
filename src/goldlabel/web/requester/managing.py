"""A project as a whole: another name, a copy, the archive, its end; and where else its affairs are looked after."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect import lifecycle
from goldlabel.collect.configuration import LONGEST_NAME
from goldlabel.collect.projects import Project
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import Managed, Owned, Person, Stored

router = APIRouter(tags=["projects"])

Name = Annotated[str, Form(max_length=4 * LONGEST_NAME)]


@router.get("/projects/{project_id}/manage")
def manage_page(request: Request, project: Managed) -> Response:
    """What can be done with the project as a whole."""
    return _manage_page(request, project)


@router.post("/projects/{project_id}/rename")
def rename(request: Request, project: Managed, person: Person, store: Stored, name: Name) -> Response:
    """Give the project another name."""
    try:
        with store.write() as tx:
            lifecycle.rename_project(tx, project.id, name, by=person.person_id)
    except InputError as error:
        return _manage_page(request, project, error)
    return RedirectResponse(f"/projects/{project.id}/manage", 303)


@router.post("/projects/{project_id}/clone")
def clone(request: Request, project: Owned, person: Person, store: Stored, name: Name) -> Response:
    """Make a project with the same settings, instructions, training and consent text."""
    try:
        with store.write() as tx:
            copied = lifecycle.clone_project(tx, project.id, name, by=person.person_id)
    except InputError as error:
        return _manage_page(request, project, error)
    return RedirectResponse(f"/projects/{copied.id}", 303)


@router.post("/projects/{project_id}/archive")
def archive(project: Owned, person: Person, store: Stored) -> Response:
    """Put the project away."""
    with store.write() as tx:
        lifecycle.archive_project(tx, project.id, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/manage", 303)


@router.post("/projects/{project_id}/restore")
def restore(project: Owned, person: Person, store: Stored) -> Response:
    """Take the project out of the archive."""
    with store.write() as tx:
        lifecycle.restore_project(tx, project.id, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/manage", 303)


@router.post("/projects/{project_id}/delete")
def delete(request: Request, project: Owned, person: Person, store: Stored, name: Name) -> Response:
    """Delete what the project holds, if its name is typed."""
    try:
        with store.write() as tx:
            lifecycle.delete_project(tx, project.id, name=name, by=person.person_id)
    except InputError as error:
        return _manage_page(request, project, error)
    return RedirectResponse("/", 303)


def _manage_page(request: Request, project: Project, error: InputError | None = None) -> Response:
    status, problem = 200, ""
    if error is not None:
        _, status, problem, _ = describe(request, error)
    return page(request, "requester/manage.html", status=status, project=project, problem=problem)
