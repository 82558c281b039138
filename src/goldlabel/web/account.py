"""Accounts: invitations, logging in and out, passwords, and the home page with one's own projects and pay."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from goldlabel.collect import accounts, payouts, people, projects
from goldlabel.collect.accounts import LONGEST_LOGIN, LONGEST_PASSWORD, SHORTEST_PASSWORD
from goldlabel.collect.browsing import ledger_slice
from goldlabel.collect.refusals import Conflict, Forbidden, Invalid
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.language import COOKIE, LANGUAGES, language_of
from goldlabel.web.pages import THEME_COOKIE, THEMES, page
from goldlabel.web.security import (
    LIFETIME,
    SESSION,
    Before,
    Person,
    ProjectId,
    Stored,
    address_of,
    is_plain,
    keep_session,
    limit,
    local_path,
    may_make_projects,
    session_of,
)

router = APIRouter()

QUARTER, HOUR = timedelta(minutes=15), timedelta(hours=1)
YEAR_SECONDS = 365 * 24 * 3600

Login = Annotated[str, Form(max_length=LONGEST_LOGIN)]
Password = Annotated[str, Form(max_length=LONGEST_PASSWORD)]
Token = Annotated[str, Path(max_length=200)]
Next = Annotated[str, Query(max_length=1000)]


@router.get("/")
def home(request: Request, person: Person, store: Stored) -> Response:
    """My projects, what I can do in each, and what I earned."""
    with store.read() as tx:
        mine = []
        for project, held in projects.projects_of(tx, person.person_id):
            works = set(held) & {"writer", "verifier", "expert"}
            pay = payouts.earned_since(tx, project.id, person.person_id) if works else None
            today = payouts.earned_since(tx, project.id, person.person_id, payouts.start_of_day(tx)) if works else None
            mine.append({"project": project, "roles": held, "pay": pay, "today": today})
    return page(request, "account/home.html", mine=mine, may_make=may_make_projects(person, store))


@router.get("/projects/{project_id}/my-pay")
def my_pay(request: Request, project_id: ProjectId, person: Person, store: Stored, before: Before = None) -> Response:
    """Every line of the ledger that is mine in a project."""
    with store.read() as tx:
        people.require_role(tx, project_id, person.person_id, *people.ROLES)
        values: dict[str, Any] = {
            "project": projects.project(tx, project_id),
            "lines": ledger_slice(tx, project_id, person_id=person.person_id, before=before),
            "balance": payouts.balance_of(tx, project_id, person.person_id),
            "today": payouts.earned_since(tx, project_id, person.person_id, payouts.start_of_day(tx)),
        }
    return page(request, "account/pay.html", **values)


@router.get("/login")
def login_page(request: Request, next: Next = "/") -> Response:
    """Ask for login and password."""
    return _login_page(request, local_path(next))


@router.post("/login")
def log_in(
    request: Request,
    store: Stored,
    login: Login,
    password: Password,
    next: Annotated[str, Form(max_length=1000)] = "/",
) -> Response:
    """Open a session; wrong tries are counted by login and by address."""
    address, target = address_of(request), local_path(next)
    limit(store, "login from", address, most=100, window=QUARTER)
    limit(store, "login as", f"{login.casefold()} {address}", most=10, window=QUARTER)
    try:
        with store.read() as tx:
            person_id = accounts.authenticate(tx, login, password)
    except Forbidden as error:
        return _login_page(request, target, login=login, problem=error)
    with store.write() as tx:
        accounts.clear_hits(tx, f"login as {login.casefold()} {address}")
    return _welcome(request, store, person_id, target)


@router.post("/logout")
def log_out(request: Request, person: Person, store: Stored) -> Response:
    """End this session."""
    with store.write() as tx:
        accounts.close_session(tx, request.cookies[SESSION])
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION)
    return response


@router.get("/account")
def account_page(request: Request, person: Person, changed: bool = False) -> Response:
    """Who I am here, and a form for a new password."""
    return page(request, "account/account.html", problem=None, changed=changed, shortest=SHORTEST_PASSWORD)


@router.post("/account/password")
def change_password(request: Request, person: Person, store: Stored, old: Password, new: Password) -> Response:
    """Set a new password; all other sessions end."""
    limit(store, "password of", str(person.person_id), most=10, window=HOUR)
    try:
        with store.read() as tx:
            accounts.authenticate(tx, person.login, old)
        hashed = accounts.hash_password(new)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        values = {"problem": message, "changed": False, "shortest": SHORTEST_PASSWORD}
        return page(request, "account/account.html", status=status, **values)
    with store.write() as tx:
        accounts.change_password(tx, person.person_id, hashed)
    return _welcome(request, store, person.person_id, "/account?changed=true")


@router.get("/invite/{token}")
def invitation_page(request: Request, token: Token, store: Stored) -> Response:
    """What a link offers, and how to take it."""
    return _invitation_page(request, store, token)


@router.post("/invite/{token}")
def accept_invitation(request: Request, token: Token, store: Stored) -> Response:
    """Take what a link offers with the account that is logged in."""
    limit(store, "invite from", address_of(request), most=60, window=HOUR)
    found = session_of(request)
    if found is None:
        return RedirectResponse(f"/login?next=/invite/{token}", 303)
    with store.write() as tx:
        taken = people.accept(tx, token, found.person_id)
    return RedirectResponse(_after(taken), 303)


@router.post("/invite/{token}/account")
def create_account(request: Request, token: Token, store: Stored, login: Login, password: Password) -> Response:
    """Make an account and take what a link offers, both or neither."""
    limit(store, "invite from", address_of(request), most=60, window=HOUR)
    try:
        with store.read() as tx:
            people.invitation(tx, token)
        hashed = accounts.hash_password(password)
        with store.write() as tx:
            person_id = accounts.create_account(tx, login, hashed)
            taken = people.accept(tx, token, person_id)
    except (Conflict, Invalid) as error:
        return _invitation_page(request, store, token, login=login, problem=error)
    return _welcome(request, store, person_id, _after(taken))


@router.get("/language/{language}")
def choose_language(request: Request, language: Annotated[str, Path(max_length=10)], next: Next = "/") -> Response:
    """Remember a language and go back to the page."""
    return _remember(request, COOKIE, language if language in LANGUAGES else None, next)


@router.get("/theme/{theme}")
def choose_theme(request: Request, theme: Annotated[str, Path(max_length=10)], next: Next = "/") -> Response:
    """Remember light or dark, or follow the system again, and go back to the page."""
    return _remember(request, THEME_COOKIE, theme if theme in THEMES else None, next)


@router.get("/api/session")
def tell_session(request: Request) -> JSONResponse:
    """Tell a page that was open for long who is logged in now, and the token to send with requests."""
    found = session_of(request)
    return JSONResponse(
        {
            "signed_in": found is not None,
            "person": found.person_id if found else None,
            "csrf": request.state.csrf,
            "language": language_of(request),
        }
    )


def _after(taken: people.Invitation) -> str:
    return "/" if taken.project_id is None or taken.role != "requester" else f"/projects/{taken.project_id}"


def _login_page(request: Request, target: str, *, login: str = "", problem: InputError | None = None) -> Response:
    status, message = 200, ""
    if problem is not None:
        _, status, message, _ = describe(request, problem)
    values: dict[str, Any] = {"next": target, "login": login, "problem": message, "plain": is_plain(request)}
    return page(request, "account/login.html", status=status, **values)


def _invitation_page(
    request: Request, store: Store, token: str, *, login: str = "", problem: InputError | None = None
) -> Response:
    with store.read() as tx:
        offered = people.invitation(tx, token)
        project = projects.project(tx, offered.project_id) if offered.project_id is not None else None
    status, message = 200, ""
    if problem is not None:
        _, status, message, _ = describe(request, problem)
    return page(
        request,
        "account/invite.html",
        status=status,
        token=token,
        offered=offered,
        project=project,
        login=login,
        problem=message,
        plain=is_plain(request),
        shortest=SHORTEST_PASSWORD,
    )


def _welcome(request: Request, store: Store, person_id: int, target: str) -> Response:
    """Open a session, ending the one that the browser had, and go on."""
    with store.write() as tx:
        if SESSION in request.cookies:
            accounts.close_session(tx, request.cookies[SESSION])
        opened = accounts.open_session(tx, person_id, lifetime=LIFETIME)
    response = RedirectResponse(target, 303)
    keep_session(request, response, opened)
    return response


def _remember(request: Request, name: str, value: str | None, target: str) -> Response:
    response = RedirectResponse(local_path(target), 303)
    if value is None:
        response.delete_cookie(name)
    else:
        secure = request.url.scheme == "https"
        response.set_cookie(name, value, max_age=YEAR_SECONDS, httponly=True, samesite="lax", secure=secure)
    return response
