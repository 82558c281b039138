"""A new password by a link: made by a requester for somebody of the project, and used once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people import passes, people
from goldlabel.collect.people.passwords import SHORTEST_PASSWORD, hash_password
from goldlabel.collect.refusals import Expired, Invalid, Missing
from goldlabel.collect.store import Store
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import (
    HOUR,
    Called,
    Managed,
    Password,
    Person,
    Stored,
    address_of,
    in_turn,
    is_plain,
    limit,
    public_address,
)
from goldlabel.web.shown_once import redirect_to_show, show_once

router = APIRouter()

Token = Annotated[str, Path(max_length=200)]


@router.post("/projects/{project_id}/people/{pseudonym}/password")
def make_link(
    request: Request, project: Managed, pseudonym: str, called: Called, person: Person, store: Stored
) -> Response:
    """Make a link, to be shown once."""
    limit(store, "password links by", str(person.person_id), most=60, window=HOUR)
    with store.write() as tx:
        token = passes.make_reset(tx, project.id, called, by=person.person_id)
    link = f"{public_address(request)}/password/{token}"
    return redirect_to_show(request, f"/projects/{project.id}/people/{pseudonym}/password", link)


@router.get("/projects/{project_id}/people/{pseudonym}/password")
def link_page(request: Request, project: Managed, pseudonym: str, called: Called, store: Stored) -> Response:
    """Show the link that was made just now; without one there is the person's page."""
    with store.read() as tx:
        if not people.roles(tx, project.id, called):
            raise Missing("no_person")

    def render(link: str) -> Response:
        if not link:
            return RedirectResponse(f"/projects/{project.id}/people/{pseudonym}", 303)
        hours = int(passes.LIFETIMES[passes.RESET] / HOUR)
        return page(request, "requester/password.html", project=project, pseudonym=pseudonym, link=link, hours=hours)

    return show_once(request, render)


@router.get("/password/{token}")
def password_page(request: Request, token: Token, store: Stored) -> Response:
    """Ask for a new password."""
    _find(request, store, token)
    return _password_page(request, token)


@router.post("/password/{token}")
async def set_password(request: Request, token: Token, store: Stored, password: Password) -> Response:
    """Set a new password; the link is used up, and all sessions end."""
    return await in_turn(request, _set_password, request, token, store, password)


def _set_password(request: Request, token: str, store: Store, password: str) -> Response:
    _find(request, store, token)
    try:
        hashed = hash_password(password)
    except Invalid as error:
        _, status, message, _ = describe(request, error)
        return _password_page(request, token, status=status, problem=message)
    with store.write() as tx:
        passes.reset_password(tx, token, hashed)
    return RedirectResponse("/login?changed=true", 303)


def _find(request: Request, store: Store, token: str) -> None:
    """Refuse a link that is none, and count who tries such links."""
    try:
        with store.read() as tx:
            passes.person_with_pass(tx, token, passes.RESET)
    except Expired:
        limit(store, "wrong link from", address_of(request), most=60, window=HOUR)
        raise


def _password_page(request: Request, token: str, *, status: int = 200, problem: str = "") -> Response:
    values = {"token": token, "problem": problem, "plain": is_plain(request), "shortest": SHORTEST_PASSWORD}
    return page(request, "account/password.html", status=status, **values)
