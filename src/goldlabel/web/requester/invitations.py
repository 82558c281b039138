"""Invitations by link; the link itself is shown once, and only its hash is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people import people
from goldlabel.collect.projects import Project
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import HOUR, Managed, ObjectId, Person, Stored, limit, public_address
from goldlabel.web.shown_once import redirect_to_show, show_once

router = APIRouter(tags=["invitations"])

MOST_USES, MOST_DAYS = 10_000, 365


@router.get("/projects/{project_id}/invitations")
def invitations_page(request: Request, project: Managed, store: Stored) -> Response:
    """Which links there are, and a form for another."""
    return show_once(request, lambda link: _invitations_page(request, project, store, link=link))


@router.post("/projects/{project_id}/invitations")
def make_invitation(
    request: Request,
    project: Managed,
    person: Person,
    store: Stored,
    role: Annotated[str, Form(max_length=40)],
    condition: Annotated[str, Form(max_length=40)] = "",
    exclusive: Annotated[bool, Form()] = False,
    uses: Annotated[int, Form(ge=1, le=MOST_USES)] = 1,
    days: Annotated[int, Form(ge=1, le=MOST_DAYS)] = 7,
) -> Response:
    """Make a link, to be shown once."""
    limit(store, "invitations by", str(person.person_id), most=200, window=HOUR)
    writes = role == "writer"
    try:
        with store.write() as tx:
            token = people.invite(
                tx,
                project_id=project.id,
                role=role,
                condition=condition if writes else "",
                exclusive=exclusive and writes,
                uses=uses,
                lifetime=timedelta(days=days),
                by=person.person_id,
            )
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _invitations_page(request, project, store, status=status, problem=message)
    link = f"{public_address(request)}/invite/{token}"
    return redirect_to_show(request, f"/projects/{project.id}/invitations", link)


@router.post("/projects/{project_id}/invitations/{invite_id}/revoke")
def revoke_invitation(project: Managed, invite_id: ObjectId, person: Person, store: Stored) -> Response:
    """Make a link useless."""
    with store.write() as tx:
        people.revoke_invite(tx, project.id, invite_id, by=person.person_id)
    return RedirectResponse(f"/projects/{project.id}/invitations", 303)


def _invitations_page(
    request: Request, project: Project, store: Store, *, status: int = 200, problem: str = "", link: str = ""
) -> Response:
    with store.read() as tx:
        invitations = people.invitations_of(tx, project.id)
        now = tx.now
    return page(
        request,
        "requester/invitations.html",
        status=status,
        project=project,
        invitations=invitations,
        now=now,
        roles=project.kind.roles,
        problem=problem,
        link=link,
        most_uses=MOST_USES,
        most_days=MOST_DAYS,
    )
