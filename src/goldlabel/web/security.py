"""Who is asking, and what they may send: sessions, CSRF tokens, limits, and the headers of every answer.

One piece of middleware looks up the session before anything is read of a request's body, so that how much may be
sent depends on who sends it. One dependency of the whole application asks every unsafe request for its token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Depends, Form, HTTPException, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goldlabel.collect.data.importing.tables import MOST_BYTES
from goldlabel.collect.people import accounts, limits, people
from goldlabel.collect.people.accounts import LONGEST_LOGIN, NewSession, Session
from goldlabel.collect.people.passwords import LONGEST_PASSWORD
from goldlabel.collect.people.pseudonyms import person_called
from goldlabel.collect.people.second_factor import has_factor
from goldlabel.collect.people.tokens import Bearer, bearer
from goldlabel.collect.projects import Project, project, projects_of, require_open
from goldlabel.collect.refusals import Forbidden
from goldlabel.collect.store import LARGEST, Store
from goldlabel.collect.work.tryout import trial_store, tryout_number

SESSION, VISITOR = "goldlabel_session", "goldlabel_visitor"
API = "/api/v1/"
"""Where programs come in: with tokens, never with the session of a browser."""
LIFETIME = timedelta(days=14)
MINUTE, QUARTER, HOUR = timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=1)
MOST_CALLS = 2000
"""Requests to the API that a person may make in a minute: far beyond what a page sends."""
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")

SMALL_BODY, BODY, UPLOAD_BODY = 64 << 10, 1 << 20, MOST_BYTES + (1 << 20)
"""Bytes that a stranger, a person, and a person who uploads may send in one request."""
_UPLOADS = re.compile(r"(/api/v1)?/projects/\d+/(premises|pairs)")
_VISITORS = re.compile(r"[\w-]{43}", re.ASCII)

ANONYMOUS = ("/static/", "/healthz", "/readyz", "/metrics")
"""Where nobody is asked who they are."""
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class SignedOut(Exception):  # noqa: N818 - not a fault: the page asks to log in
    """The request needs a person, and there is no session, or it is over."""


class FactorWanted(Forbidden):
    """The project asks its requesters for a second factor, and this one has none yet."""


class Forged(Exception):  # noqa: N818
    """An unsafe request without the token that our own pages send."""


class Guard:
    """Middleware: looks up the session, bounds the body, and sets the headers of the answer."""

    def __init__(self, app: ASGIApp, store: Store) -> None:
        self.app = app
        self.store = store
        self.calls = limits.Allowance(store, "calls by", most=MOST_CALLS, window=MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, without_body(send)
        cookies = {} if scope["path"].startswith(ANONYMOUS) else read_cookies(scope)
        state = scope.setdefault("state", {})
        found: Session | None = None
        try:
            if scope["path"].startswith(API):
                found = await self._bearer(scope)
            else:
                found = await self._session(cookies.get(SESSION))
            if found is not None and scope["path"].startswith("/api/") and self.calls.count(found.person_id):
                await run_in_threadpool(self.calls.settle, found.person_id)
        except Exception as error:
            state["trouble"] = error  # answered further in, with these headers
        visitor = cookies.get(VISITOR, "")
        added = {}
        if found is None and not _VISITORS.fullmatch(visitor) and not scope["path"].startswith((*ANONYMOUS, API)):
            visitor = secrets.token_urlsafe(32)
            added["set-cookie"] = _cookie(VISITOR, visitor, secure=scope["scheme"] == "https")
        state["session"] = found
        state["csrf"] = found.csrf_secret if found else hashlib.sha256(f"csrf {visitor}".encode()).hexdigest()
        if scope["scheme"] == "https":
            added["strict-transport-security"] = "max-age=31536000"
        allowed = _allowed_body(scope["path"], found)
        await self.app(scope, bounded_body(scope, receive, allowed), with_headers(send, HEADERS | added))

    async def _session(self, token: str | None) -> Session | None:
        if not token:
            return None

        def look_up() -> Session | None:
            with self.store.read() as tx:
                return accounts.session(tx, token)

        return await run_in_threadpool(look_up)

    async def _bearer(self, scope: Scope) -> Bearer | None:
        header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = header.decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None

        def look_up() -> Bearer | None:
            with self.store.read() as tx:
                return bearer(tx, token.strip())

        return await run_in_threadpool(look_up)


def read_cookies(scope: Scope) -> dict[str, str]:
    """Return the cookies of a request."""
    raw = next((value for name, value in scope["headers"] if name == b"cookie"), b"")
    return cookie_parser(raw.decode("latin-1"))


def session_of(request: Request) -> Session | None:
    """Return the session of a request, if it has one."""
    found: Session | None = request.state.session
    return found


async def signed_in(request: Request) -> Session:
    """Return who is asking; without a session the answer is to log in."""
    found = session_of(request)
    if found is None:
        raise SignedOut
    return found


async def check_csrf(request: Request) -> None:
    """Refuse an unsafe request without the session's token, from a header or a field of its form.

    What comes with a token of its own needs none: no other site's page can make a browser send that.
    """
    if request.method in SAFE or request.scope["path"].startswith(API):
        return
    given: Any = request.headers.get(CSRF_HEADER)
    if given is None and request.headers.get("content-type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        given = (await request.form()).get(CSRF_FIELD)
    foreign = request.headers.get("sec-fetch-site") == "cross-site"
    if foreign or not isinstance(given, str) or not hmac.compare_digest(given.encode(), request.state.csrf.encode()):
        raise Forged


async def the_store(request: Request) -> Store:
    """Return the store that the application serves; what has the number of a try-out is in the try-out's own."""
    for name in ("project_id", "assignment_id"):
        number = tryout_number(request.path_params.get(name))
        if number is not None:
            return await run_in_threadpool(trial_store, number)
    found: Store = request.app.state.store
    return found


ProjectId = Annotated[int, Path(ge=1, le=LARGEST)]
ObjectId = Annotated[int, Path(ge=1, le=LARGEST)]
Before = Annotated[int | None, Query(ge=1, le=LARGEST)]
LONGEST_NAME = 20
Stored = Annotated[Store, Depends(the_store)]
Person = Annotated[Session, Depends(signed_in)]
Login = Annotated[str, Form(max_length=LONGEST_LOGIN)]
Password = Annotated[str, Form(max_length=LONGEST_PASSWORD)]


def owned_project(project_id: ProjectId, person: Person, store: Stored) -> Project:
    """Return a project to its requester; to others it is missing or forbidden."""
    with store.read() as tx:
        people.require_role(tx, project_id, person.person_id, "requester")
        owned = project(tx, project_id)
        if owned.protocol.qualification.second_factor and not has_factor(tx, person.person_id):
            raise FactorWanted("second_factor_wanted")
        return owned


Owned = Annotated[Project, Depends(owned_project)]


def managed_project(request: Request, owned: Owned) -> Project:
    """Return a project to its requester; one that is archived can be looked at only."""
    if request.method not in SAFE:
        require_open(owned)
    return owned


Managed = Annotated[Project, Depends(managed_project)]


def called_person(project: Managed, pseudonym: Annotated[str, Path(max_length=LONGEST_NAME)], store: Stored) -> int:
    """Return whom an address names: by what they are called in the project, which says nothing about other projects."""
    with store.read() as tx:
        return person_called(tx, project.id, pseudonym)


Called = Annotated[int, Depends(called_person)]


def may_make_projects(person: Session, store: Store) -> bool:
    """Say whether a person may make projects: who was invited to, and who runs one already."""
    if person.requester:
        return True
    with store.read() as tx:
        return any("requester" in held for _, held in projects_of(tx, person.person_id))


def limit(store: Store, what: str, who: str, *, most: int, window: timedelta) -> None:
    """Count a try of something that could be tried too often; raises ``TooMany``."""
    with store.write(repeatable=True) as tx:
        limits.hit(tx, f"{what} {who}", limit=most, window=window)


async def in_turn(request: Request, answer: Callable[..., Response], *arguments: Any) -> Response:
    """Answer a request that hashes a password: few at a time, and those that wait take no thread from other pages."""
    return await to_thread.run_sync(partial(answer, *arguments), limiter=request.app.state.hashing)


def address_of(request: Request) -> str:
    """Return what a request's address is counted by, as the server or a proxy it trusts tells it."""
    return limits.block_of(request.client.host) if request.client else "unknown"


def public_address(request: Request) -> str:
    """Return where people reach the server, for links: as it was told, else as this request reached it."""
    return str(request.app.state.address or request.base_url).rstrip("/")


def is_plain(request: Request) -> bool:
    """Say whether a request travelled in the clear between two machines."""
    return request.url.scheme != "https" and not is_loopback(request.url.hostname or "")


def is_loopback(host: str) -> bool:
    """Say whether an address is this machine's own."""
    return host in ("localhost", "::1", "[::1]") or host.startswith("127.")


def keep_session(request: Request, response: Response, opened: NewSession) -> None:
    """Give the browser the token of a session just opened; scripts cannot read it."""
    response.set_cookie(
        SESSION,
        opened.token,
        max_age=int(LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def local_path(address: str | None) -> str:
    """Return an address only if it stays on this server; otherwise the home page's."""
    if not address or not re.fullmatch(r"/(?![/\\])[\x21-\x7e]*", address) or "\\" in address:
        return "/"
    return address


def _cookie(name: str, value: str, *, secure: bool) -> str:
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"


def _allowed_body(path: str, found: Session | None) -> int:
    if found is None:
        return SMALL_BODY
    return UPLOAD_BODY if _UPLOADS.fullmatch(path) else BODY


def bounded_body(scope: Scope, receive: Receive, allowed: int) -> Receive:
    """Return a ``receive`` that stops with 413 when more comes than is allowed, announced or not."""
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    taken = int(announced) if announced.isdigit() and int(announced) > allowed else 0

    async def receive_bounded() -> Message:
        nonlocal taken
        if taken > allowed:
            raise HTTPException(413)
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > allowed:
            raise HTTPException(413)
        return message

    return receive_bounded


def without_body(send: Send) -> Send:
    """Return a ``send`` that answers as a page would, headers and all, without the page (RFC 9110, 9.3.2)."""

    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Return a ``send`` that sets headers; a page may have its own rules for caching and content."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = MutableHeaders(scope=message)
            for name, value in headers.items():
                if name in ("cache-control", "content-security-policy") and name in given:
                    continue
                if name == "set-cookie":
                    given.append(name, value)
                else:
                    given[name] = value
        await send(message)

    return send_with_headers
