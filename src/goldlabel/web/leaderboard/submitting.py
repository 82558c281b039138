"""Submitting on a page: a submitter logs in with their token, sends a file by a form, and sees what came of it.

The browser keeps the token in a cookie that no script reads and no other site's page can send; every form carries a
second token that only our own pages know, as the forms of a collection do.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.types import Scope

from goldlabel.collect.people.passwords import hash_token
from goldlabel.collect.refusals import Forbidden, Invalid
from goldlabel.leaderboard.contents import ALLOWED
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submissions import About, all_own, count_upload, left_of, withdraw
from goldlabel.leaderboard.submitters import Submitter, bearer
from goldlabel.web.leaderboard.api import Shown, Stored
from goldlabel.web.leaderboard.pages import Links, how_page, how_text, render_form
from goldlabel.web.leaderboard.uploads import take_upload
from goldlabel.web.security import (
    HOUR,
    LIFETIME,
    ObjectId,
    SignedOut,
    address_of,
    check_csrf,
    limit,
    public_address,
    read_cookies,
)

UPLOAD = "/submit"
PATHS = (UPLOAD, "/login", "/logout")
"""Where it matters who sends something from a browser."""
TOKEN, VISITOR = "goldlabel_submitter", "goldlabel_visitor"
LONGEST_TOKEN = 200
MOST_LOGINS = 30
"""Tokens that may be tried from one address in an hour."""
PIECE = 1 << 20
LINKS = Links()
_VISITORS = re.compile(r"[\w-]{43}", re.ASCII)
router = APIRouter(tags=["submit"])


async def recognise(scope: Scope, store: BoardStore) -> dict[str, str]:
    """Note who sends a request from a browser; return the cookie that a new visitor is given, if any."""
    cookies = read_cookies(scope)
    token, visitor, given = cookies.get(TOKEN, ""), cookies.get(VISITOR, ""), {}
    if not _VISITORS.fullmatch(visitor):
        visitor = secrets.token_urlsafe(32)
        secure = "; Secure" if scope["scheme"] == "https" else ""
        given = {"set-cookie": f"{VISITOR}={visitor}; Path=/; HttpOnly; SameSite=Lax{secure}"}

    def look_up() -> Submitter | None:
        with store.read() as tx:
            return bearer(tx, token)

    scope["state"]["submitter"] = await run_in_threadpool(look_up) if token else None
    scope["state"]["csrf"] = hash_token(f"csrf {visitor} {token}")
    return given


def _logged_in(request: Request) -> Submitter:
    submitter: Submitter | None = request.state.submitter
    if submitter is None:
        raise SignedOut
    return submitter


def _counted(submitter: Annotated[Submitter, Depends(_logged_in)], store: Stored) -> Submitter:
    """Count a file that somebody begins to send, before it is read."""
    with store.write(repeatable=True) as tx:
        count_upload(tx, submitter)
    return submitter


@router.get(UPLOAD, response_class=HTMLResponse)
def show_form(request: Request, store: Stored, board: Shown) -> HTMLResponse:
    """Show how to submit, a form to do it, and what one has submitted."""
    submitter: Submitter | None = request.state.submitter
    more: dict[str, Any] = {"submitter": submitter, "csrf": request.state.csrf, "allowed": ",".join(ALLOWED)}
    if submitter is not None:
        with store.read() as tx:
            own = all_own(tx, submitter)
            more |= {"submissions": own, "left": left_of(tx, submitter, board.limits)}
    text = how_text(board, public_address(request))
    return HTMLResponse(render_form(board, how_page(board), LINKS, markdown=text, **more))


@router.post("/login", dependencies=[Depends(check_csrf)])
def log_in(
    request: Request, store: Stored, token: Annotated[str, Form(max_length=LONGEST_TOKEN)] = ""
) -> RedirectResponse:
    """Keep a submitter's token in their browser, if it is one."""
    limit(store, "logins from", address_of(request), most=MOST_LOGINS, window=HOUR)
    token = token.strip()
    with store.read() as tx:
        if bearer(tx, token) is None:
            raise Forbidden("unknown_token")
    answer = RedirectResponse(UPLOAD, 303)
    seconds, secure = int(LIFETIME.total_seconds()), request.url.scheme == "https"
    answer.set_cookie(TOKEN, token, max_age=seconds, httponly=True, samesite="lax", secure=secure)
    return answer


@router.post("/logout", dependencies=[Depends(check_csrf)])
def log_out() -> RedirectResponse:
    """Have the browser forget the token."""
    answer = RedirectResponse(UPLOAD, 303)
    answer.delete_cookie(TOKEN)
    return answer


@router.post(UPLOAD)
async def submit(
    request: Request, store: Stored, board: Shown, submitter: Annotated[Submitter, Depends(_counted)]
) -> RedirectResponse:
    """Take a file from the form; it is checked and scored as one that a program sends."""
    async with request.form() as form:
        await check_csrf(request)
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Invalid("board_empty")
        texts = {name: _text(form.get(name)) for name in ("name", "suite", "training", "description")}
        await take_upload(
            _pieces(file),
            store=store,
            board=board,
            submitter=submitter,
            file=file.filename,
            name=texts["name"],
            suite=texts["suite"] or None,
            about=About(description=texts["description"], training=texts["training"]),
        )
    return RedirectResponse(f"{UPLOAD}#yours", 303)


@router.post("/submit/{submission_id}/withdraw", dependencies=[Depends(check_csrf)])
def withdraw_own(
    submission_id: ObjectId, store: Stored, submitter: Annotated[Submitter, Depends(_logged_in)]
) -> RedirectResponse:
    """Take a submission of one's own off the board."""
    with store.write() as tx:
        withdraw(tx, submission_id, submitter=submitter)
    return RedirectResponse(f"{UPLOAD}#yours", 303)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(PIECE):
        yield piece
