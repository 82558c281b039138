"""Going: out of a project, or for good."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect import projects
from goldlabel.collect.data.browsing import owed
from goldlabel.collect.people import accounts, leaving, people
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import HOUR, SESSION, Password, Person, ProjectId, Stored, in_turn, limit

router = APIRouter()


@router.get("/projects/{project_id}/leave")
def leave_page(request: Request, project_id: ProjectId, person: Person, store: Stored) -> Response:
    """Ask once more before somebody leaves a project."""
    with store.read() as tx:
        people.require_any_role(tx, project_id, person.person_id)
        project = projects.project(tx, project_id)
        total = owed(tx, project_id, person.person_id)
    return page(request, "account/leave.html", project=project, total=total)


@router.post("/projects/{project_id}/leave")
def leave(project_id: ProjectId, person: Person, store: Stored) -> Response:
    """Leave a project; what was done in it stays."""
    with store.write() as tx:
        leaving.leave_project(tx, project_id, person.person_id)
    return RedirectResponse("/", 303)


@router.get("/account/delete")
def delete_page(request: Request, person: Person, store: Stored) -> Response:
    """Say what is deleted with an account and what stays, and ask for the password, where there is one."""
    return page(request, "account/delete.html", problem="", with_password=_has_password(store, person))


@router.post("/account/delete")
async def delete(request: Request, person: Person, store: Stored, password: Password = "") -> Response:
    """Delete the account of who is logged in and knows its password, if it has one."""
    return await in_turn(request, _delete, request, person, store, password)


def _delete(request: Request, person: Session, store: Store, password: str) -> Response:
    limit(store, "password of", str(person.person_id), most=10, window=HOUR)
    with_password = _has_password(store, person)
    try:
        if with_password:
            accounts.authenticate(store, person.login, password)
        with store.write() as tx:
            leaving.delete_account(tx, person.person_id)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return page(request, "account/delete.html", status=status, problem=message, with_password=with_password)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION)
    return response


def _has_password(store: Store, person: Session) -> bool:
    with store.read() as tx:
        return accounts.has_password(tx, person.person_id)
