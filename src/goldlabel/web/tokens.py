"""Tokens of one's own: made and withdrawn on a page beside the account."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from goldlabel.collect.people import tokens
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import HOUR, ObjectId, Person, Stored, limit
from goldlabel.web.shown_once import redirect_to_show, show_once

router = APIRouter(tags=["tokens"])

MOST_DAYS = 365


@router.get("/account/tokens")
def tokens_page(request: Request, person: Person, store: Stored) -> Response:
    """Which tokens there are, and a form for another."""
    return show_once(request, lambda token: _tokens_page(request, person, store, token=token))


@router.post("/account/tokens")
def make_token(
    request: Request,
    person: Person,
    store: Stored,
    name: Annotated[str, Form(max_length=4 * tokens.LONGEST_NAME)] = "",
    scopes: Annotated[list[Annotated[str, Field(max_length=20)]], Form(max_length=5)] = [],  # noqa: B006 - FastAPI copies it
    days: Annotated[int, Form(ge=1, le=MOST_DAYS)] = 90,
) -> Response:
    """Make a token, to be shown once."""
    limit(store, "tokens by", str(person.person_id), most=60, window=HOUR)
    try:
        with store.write() as tx:
            lifetime = timedelta(days=days)
            _, token = tokens.make_token(tx, person.person_id, name=name, scopes=scopes, lifetime=lifetime)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        return _tokens_page(request, person, store, status=status, problem=message)
    return redirect_to_show(request, "/account/tokens", token)


@router.post("/account/tokens/{token_id}/withdraw")
def withdraw_token(token_id: ObjectId, person: Person, store: Stored) -> Response:
    """Make a token useless."""
    with store.write() as tx:
        tokens.withdraw_token(tx, person.person_id, token_id)
    return RedirectResponse("/account/tokens", 303)


def _tokens_page(
    request: Request, person: Person, store: Stored, *, status: int = 200, problem: str = "", token: str = ""
) -> Response:
    with store.read() as tx:
        mine = tokens.tokens_of(tx, person.person_id)
        scopes = tokens.allowed_scopes(tx, person.person_id)
    values = {"mine": mine, "scopes": scopes, "problem": problem, "token": token, "most_days": MOST_DAYS}
    return page(request, "account/tokens.html", status=status, **values)
