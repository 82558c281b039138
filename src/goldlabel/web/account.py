"""Accounts: invitations, logging in and out, passwords, and the home page with one's own projects and pay."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from goldlabel.collect import projects
from goldlabel.collect.data.browsing import ledger_slice
from goldlabel.collect.money import payouts
from goldlabel.collect.people import accounts, consent, contacts, letters, limits, people, second_factor
from goldlabel.collect.people.accounts import Session, fold_login
from goldlabel.collect.people.contacts import LONGEST_CONTACT
from goldlabel.collect.people.passwords import SHORTEST_PASSWORD, hash_password
from goldlabel.collect.people.pseudonyms import own_pseudonyms
from goldlabel.collect.refusals import Conflict, Forbidden, Invalid, Missing
from goldlabel.collect.store import LARGEST, Store, Transaction
from goldlabel.errors import InputError
from goldlabel.web.done import redirect_done
from goldlabel.web.failures import describe
from goldlabel.web.language import COOKIE, LANGUAGES, language_of
from goldlabel.web.pages import THEME_COOKIE, THEMES, page
from goldlabel.web.security import (
    HOUR,
    QUARTER,
    SESSION,
    Before,
    Login,
    Password,
    Person,
    ProjectId,
    Stored,
    address_of,
    in_turn,
    is_plain,
    limit,
    local_path,
    may_make_projects,
    session_of,
)
from goldlabel.web.sessions import after_password, welcome

router = APIRouter()

YEAR_SECONDS = 365 * 24 * 3600

Token = Annotated[str, Path(max_length=200)]
Agreed = Annotated[int | None, Form(ge=1, le=LARGEST)]
"""The version of the text that somebody agrees to."""
Next = Annotated[str, Query(max_length=1000)]


@router.get("/")
def home(request: Request, person: Person, store: Stored) -> Response:
    """My projects, what I can do in each, and what I earned."""
    with store.read() as tx:
        mine = []
        for project, held in projects.projects_of(tx, person.person_id):
            works = set(held) & {"writer", "verifier", "expert"}
            earns = works or not held
            pay = payouts.earned_since(tx, project.id, person.person_id) if earns else None
            today = payouts.earned_since(tx, project.id, person.person_id, payouts.start_of_day(tx)) if earns else None
            unread = len(letters.inbox(tx, project.id, person.person_id, unread=True)) if held else 0
            mine.append({"project": project, "roles": held, "pay": pay, "today": today, "unread": unread})
    return page(request, "account/home.html", mine=mine, may_make=may_make_projects(person, store))


@router.get("/projects/{project_id}/my-pay")
def my_pay(request: Request, project_id: ProjectId, person: Person, store: Stored, before: Before = None) -> Response:
    """Every line of the ledger that is mine in a project."""
    with store.read() as tx:
        people.require_any_role(tx, project_id, person.person_id)
        values: dict[str, Any] = {
            "project": projects.project(tx, project_id),
            "lines": ledger_slice(tx, project_id, person_id=person.person_id, before=before),
            "balance": payouts.balance_of(tx, project_id, person.person_id),
            "today": payouts.earned_since(tx, project_id, person.person_id, payouts.start_of_day(tx)),
        }
    return page(request, "account/pay.html", **values)


@router.get("/login")
def login_page(request: Request, next: Next = "/", changed: bool = False) -> Response:
    """Ask for login and password."""
    return _login_page(request, local_path(next), changed=changed)


@router.post("/login")
async def log_in(
    request: Request,
    store: Stored,
    login: Login,
    password: Password,
    next: Annotated[str, Form(max_length=1000)] = "/",
) -> Response:
    """Open a session; wrong tries are counted by login and by address."""
    return await in_turn(request, _log_in, request, store, login, password, local_path(next))


def _log_in(request: Request, store: Store, login: str, password: str, target: str) -> Response:
    address = address_of(request)
    limit(store, "login from", address, most=100, window=QUARTER)
    tried = f"{fold_login(login)} {address}"
    limit(store, "login as", tried, most=10, window=QUARTER)
    try:
        person_id = accounts.authenticate(store, login, password)
    except Forbidden as error:
        return _login_page(request, target, login=login, problem=error)
    with store.write() as tx:
        limits.clear_hits(tx, f"login as {tried}")
    return after_password(request, store, person_id, target)


@router.post("/logout")
def log_out(request: Request, person: Person, store: Stored) -> Response:
    """End this session."""
    with store.write() as tx:
        accounts.close_session(tx, request.cookies[SESSION])
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION)
    return response


@router.get("/account")
def account_page(request: Request, person: Person, store: Stored, changed: bool = False) -> Response:
    """Who I am here, how I can be reached, and a form for a new password."""
    return _account_page(request, person, store, changed=changed)


@router.post("/account/contact")
def change_contact(
    request: Request, person: Person, store: Stored, contact: Annotated[str, Form(max_length=4 * LONGEST_CONTACT)] = ""
) -> Response:
    """Keep how I can be reached, or forget it."""
    try:
        with store.write() as tx:
            contacts.set_contact(tx, person.person_id, contact)
    except InputError as error:
        return _account_page(request, person, store, refusal=error)
    return redirect_done(request, "/account", "contact_kept" if contact.strip() else "contact_forgotten")


@router.post("/account/password")
async def change_password(request: Request, person: Person, store: Stored, old: Password, new: Password) -> Response:
    """Set a new password; all other sessions end."""
    return await in_turn(request, _change_password, request, person, store, old, new)


def _change_password(request: Request, person: Session, store: Store, old: str, new: str) -> Response:
    limit(store, "password of", str(person.person_id), most=10, window=HOUR)
    try:
        accounts.authenticate(store, person.login, old)
        hashed = hash_password(new)
    except InputError as error:
        return _account_page(request, person, store, refusal=error)
    with store.write() as tx:
        accounts.change_password(tx, person.person_id, hashed)
    return welcome(request, store, person.person_id, "/account?changed=true")


@router.get("/invite/{token}")
def invitation_page(request: Request, token: Token, store: Stored) -> Response:
    """What a link offers, and how to take it."""
    return _invitation_page(request, store, token)


@router.post("/invite/{token}")
def accept_invitation(request: Request, token: Token, store: Stored, agreed: Agreed = None) -> Response:
    """Take what a link offers with the account that is logged in."""
    _count_join(request, store, token)
    session = session_of(request)
    if session is None:
        return RedirectResponse(f"/login?next=/invite/{token}", 303)
    with store.write() as tx:
        taken = people.accept(tx, token, session.person_id)
        _agree(tx, taken, session.person_id, agreed)
    return RedirectResponse(_after(taken), 303)


@router.post("/invite/{token}/account")
async def create_account(
    request: Request, token: Token, store: Stored, login: Login, password: Password, agreed: Agreed = None
) -> Response:
    """Make an account and take what a link offers, both or neither."""
    return await in_turn(request, _create_account, request, token, store, login, password, agreed)


def _create_account(
    request: Request, token: str, store: Store, login: str, password: str, agreed: int | None
) -> Response:
    _count_join(request, store, token)
    try:
        with store.read() as tx:
            people.invitation(tx, token)
        hashed = hash_password(password)
        with store.write() as tx:
            person_id = accounts.create_account(tx, login, hashed)
            taken = people.accept(tx, token, person_id)
            _agree(tx, taken, person_id, agreed)
    except (Conflict, Invalid) as error:
        return _invitation_page(request, store, token, login=login, problem=error)
    return welcome(request, store, person_id, _after(taken))


def _agree(tx: Transaction, taken: people.Invitation, person_id: int, version: int | None) -> None:
    """Write down to which text somebody agreed on the invitation; who agreed to none is asked before the first task."""
    if version is not None and taken.project_id is not None:
        consent.agree(tx, taken.project_id, person_id, version)


def _count_join(request: Request, store: Store, token: str) -> None:
    """Count a try to join by its link, so that a class behind one address gets in; wrong links by the address."""
    try:
        with store.read() as tx:
            offered = people.find_invitation(tx, token)
    except Missing:
        limit(store, "wrong link from", address_of(request), most=60, window=HOUR)
        raise
    limit(store, "join by link", str(offered.id), most=60 + 2 * offered.uses, window=HOUR)


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
    session = session_of(request)
    return JSONResponse(
        {
            "signed_in": session is not None,
            "person": session.person_id if session else None,
            "csrf": request.state.csrf,
            "language": language_of(request),
        }
    )


def _account_page(
    request: Request, person: Session, store: Store, *, changed: bool = False, refusal: InputError | None = None
) -> Response:
    with store.read() as tx:
        contact, names = contacts.contact_of(tx, person.person_id), own_pseudonyms(tx, person.person_id)
        factor = second_factor.factor_of(tx, person.person_id)
        with_password = accounts.has_password(tx, person.person_id)
    status, problem = 200, ""
    if refusal is not None:
        _, status, problem, _ = describe(request, refusal)
    return page(
        request,
        "account/account.html",
        names=names,
        status=status,
        problem=problem,
        changed=changed,
        shortest=SHORTEST_PASSWORD,
        contact=contact,
        longest_contact=LONGEST_CONTACT,
        second_factor=factor is not None and factor.confirmed,
        with_password=with_password,
    )


def _after(taken: people.Invitation) -> str:
    return "/" if taken.project_id is None or taken.role != "requester" else f"/projects/{taken.project_id}"


def _login_page(
    request: Request, target: str, *, login: str = "", problem: InputError | None = None, changed: bool = False
) -> Response:
    status, message = 200, ""
    if problem is not None:
        _, status, message, _ = describe(request, problem)
    values: dict[str, Any] = {"next": target, "login": login, "problem": message, "plain": is_plain(request)}
    return page(request, "account/login.html", status=status, changed=changed, **values)


def _invitation_page(
    request: Request, store: Store, token: str, *, login: str = "", problem: InputError | None = None
) -> Response:
    with store.read() as tx:
        offered = people.invitation(tx, token)
        project = projects.project(tx, offered.project_id) if offered.project_id is not None else None
        text = consent.newest_consent(tx, project.id) if project and offered.role != "requester" else None
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
        consent=text if text and text.text else None,
        login=login,
        problem=message,
        plain=is_plain(request),
        shortest=SHORTEST_PASSWORD,
    )


def _remember(request: Request, name: str, value: str | None, target: str) -> Response:
    response = RedirectResponse(local_path(target), 303)
    if value is None:
        response.delete_cookie(name)
    else:
        secure = request.url.scheme == "https"
        response.set_cookie(name, value, max_age=YEAR_SECONDS, httponly=True, samesite="lax", secure=secure)
    return response
