"""Opening a session for who proved who they are, by password and, where they want it, by a code."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people import accounts, passes, second_factor
from goldlabel.collect.store import Store
from goldlabel.web.security import LIFETIME, SESSION, keep_session

CODE_COOKIE = "goldlabel_code"


def welcome(request: Request, store: Store, person_id: int, target: str) -> Response:
    """Open a session, ending the one that the browser had, and go on."""
    with store.write() as tx:
        if SESSION in request.cookies:
            accounts.close_session(tx, request.cookies[SESSION])
        opened = accounts.open_session(tx, person_id, lifetime=LIFETIME)
    response = RedirectResponse(target, 303)
    keep_session(request, response, opened)
    return response


def after_password(request: Request, store: Store, person_id: int, target: str) -> Response:
    """Open a session for who gave the right password, or ask for the code of their second factor first."""
    with store.read() as tx:
        factor = second_factor.factor_of(tx, person_id)
    if factor is None or not factor.confirmed:
        return welcome(request, store, person_id, target)
    with store.write() as tx:
        half = passes.make_pass(tx, person_id, passes.CODE)
    response = RedirectResponse(f"/login/code?next={quote(target, safe='')}", 303)
    lifetime = int(passes.LIFETIMES[passes.CODE].total_seconds())
    secure = request.url.scheme == "https"
    response.set_cookie(CODE_COOKIE, half, max_age=lifetime, httponly=True, samesite="lax", secure=secure)
    return response
