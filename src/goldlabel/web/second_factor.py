"""The second factor: turned on and off beside the account, and asked for after the password."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import segno
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.people import accounts, passes, second_factor
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.people.second_factor import LONGEST_CODE
from goldlabel.collect.refusals import Expired, Forbidden, Refusal
from goldlabel.collect.store import Store, Transaction
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.security import HOUR, QUARTER, Password, Person, Stored, in_turn, limit, local_path
from goldlabel.web.sessions import CODE_COOKIE, welcome

router = APIRouter()

Change = Callable[[Transaction, int], None]
Code = Annotated[str, Form(max_length=LONGEST_CODE)]
Next = Annotated[str, Query(max_length=1000)]


@router.get("/account/second-factor")
def factor_page(request: Request, person: Person, store: Stored, wanted: bool = False) -> Response:
    """Whether there is a second factor; while it is being set up, the square for the device and the recovery codes.

    Who is led here by a project that wants one is told so.
    """
    return _factor_page(request, person, store, Forbidden("second_factor_wanted") if wanted else None, status=200)


@router.post("/account/second-factor")
async def begin(request: Request, person: Person, store: Stored, password: Password) -> Response:
    """Draw a secret, for who knows the password."""
    return await in_turn(request, _with_password, request, person, store, password, second_factor.begin_factor)


@router.post("/account/second-factor/off")
async def turn_off(request: Request, person: Person, store: Stored, password: Password) -> Response:
    """Ask for no code any more, for who knows the password."""
    return await in_turn(request, _with_password, request, person, store, password, second_factor.drop_factor)


@router.post("/account/second-factor/confirm")
def confirm(request: Request, person: Person, store: Stored, code: Code) -> Response:
    """Turn the second factor on, once a device has given a right code."""
    limit(store, "code of", str(person.person_id), most=10, window=QUARTER)
    try:
        with store.write() as tx:
            second_factor.confirm_factor(tx, person.person_id, code)
    except Refusal as error:
        return _factor_page(request, person, store, error)
    return RedirectResponse("/account/second-factor", 303)


@router.get("/login/code")
def code_page(request: Request, next: Next = "/") -> Response:
    """Ask for the code of who gave the right password."""
    return page(request, "account/code.html", next=local_path(next), problem="")


@router.post("/login/code")
def give_code(
    request: Request, store: Stored, code: Code, next: Annotated[str, Form(max_length=1000)] = "/"
) -> Response:
    """Open a session for who gave the right password and the right code."""
    half, target = request.cookies.get(CODE_COOKIE, ""), local_path(next)
    try:
        with store.read() as tx:
            person_id = passes.person_with_pass(tx, half, passes.CODE)
    except Expired:
        return RedirectResponse("/login", 303)
    limit(store, "code of", str(person_id), most=10, window=QUARTER)
    try:
        with store.write() as tx:
            second_factor.check_code(tx, person_id, code)
            passes.use_pass(tx, half, passes.CODE)
    except Forbidden as error:
        _, status, message, _ = describe(request, error)
        return page(request, "account/code.html", status=status, next=target, problem=message)
    response = welcome(request, store, person_id, target)
    response.delete_cookie(CODE_COOKIE)
    return response


def _with_password(request: Request, person: Session, store: Store, password: str, change: Change) -> Response:
    limit(store, "password of", str(person.person_id), most=10, window=HOUR)
    try:
        accounts.authenticate(store, person.login, password)
        with store.write() as tx:
            change(tx, person.person_id)
    except Refusal as error:
        return _factor_page(request, person, store, error)
    return RedirectResponse("/account/second-factor", 303)


def _factor_page(
    request: Request, person: Session, store: Store, refusal: Refusal | None = None, *, status: int = 0
) -> Response:
    with store.read() as tx:
        factor = second_factor.factor_of(tx, person.person_id)
    _, refused, problem, _ = ("", 200, "", {}) if refusal is None else describe(request, refusal)
    square = ""
    if factor is not None and not factor.confirmed:
        square = segno.make(factor.address(person.login), error="m").svg_data_uri(scale=5, border=2, light="#fff")
    return page(request, "account/factor.html", status=status or refused, factor=factor, square=square, problem=problem)
