"""What is answered when something cannot be done: a calm page or a line of JSON, always saying what to do next."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goldlabel.collect.refusals import BrokenRules, Conflict, Expired, Forbidden, Missing, Refusal, TooMany
from goldlabel.collect.store import Collision, hide_values, is_unfit_value, noting_changes
from goldlabel.errors import GoldlabelError, StorageError
from goldlabel.web.language import language_of, translator
from goldlabel.web.pages import page
from goldlabel.web.security import FactorWanted, Forged, SignedOut, local_path
from goldlabel.web.translation import as_sentence, translate
from goldlabel.web.words import N_

LOG = logging.getLogger("goldlabel.web")

TRIES = 5
PAUSE = 0.2
"""Seconds at most before a request that collided with another one is served again."""
LARGEST_REPEATED = 1 << 20

_KINDS: list[tuple[type[Exception], str, int]] = [
    (BrokenRules, "broken_rules", 422),
    (TooMany, "too_many", 429),
    (Missing, "missing", 404),
    (Forbidden, "forbidden", 403),
    (Conflict, "conflict", 409),
    (Expired, "expired", 410),
    (StorageError, "unavailable", 503),
    (GoldlabelError, "invalid", 422),
]
_STATUSES = {
    400: ("invalid", N_("What was sent cannot be read. Nothing was changed; go back and try again.")),
    403: ("forbidden", N_("This is not for you to see. If you think it should be, ask the requester.")),
    404: ("missing", N_("There is nothing at this address. Check it, or start from the home page.")),
    405: ("method", N_("This address does not take that kind of request. Start from the home page.")),
    413: ("large", N_("That is larger than what is taken at once. Nothing was changed; send it in parts.")),
    422: (
        "invalid",
        N_("Some of what was sent is missing or out of range. Nothing was changed; go back and check it."),
    ),
}
_SIGNED_OUT = N_("You are not logged in any more. What you wrote is still on this page: log in and send it again.")
_FORGED = N_("This page had been open for too long, or you logged in again since. Go back, reload it, and repeat.")
_FAILED = N_("Something failed on the server. Nothing was half-stored; try again, and tell the requester if it stays.")

TITLES = {
    "missing": N_("Not found"),
    "forbidden": N_("Not allowed"),
    "conflict": N_("Things have moved on"),
    "expired": N_("No longer valid"),
    "too_many": N_("A little slower, please"),
    "large": N_("Too large"),
    "method": N_("Not possible here"),
    "signed_out": N_("Logged out"),
    "csrf": N_("Please repeat"),
    "failed": N_("Something failed"),
    "unavailable": N_("Not available just now"),
    "invalid": N_("That cannot be used"),
    "broken_rules": N_("That cannot be used"),
}


Answer = Callable[[Request, Exception], Response]


def install_failures(app: FastAPI, answer: Answer | None = None) -> None:
    """Give an application its answers to everything that can go wrong; a collision is for the middleware."""

    def answer_or_repeat(request: Request, error: Exception) -> Response:
        if isinstance(error, Collision):
            raise error
        return (answer or answer_failure)(request, error)

    for kind in (GoldlabelError, RequestValidationError, HTTPException, SignedOut, Forged):
        app.add_exception_handler(kind, answer_or_repeat)


class Faults:
    """Middleware: answers what nothing else answers, so that a fault of ours is a page too, and is logged once.

    A request whose transaction collided with another one, as in a deadlock, is served again from its beginning, as
    long as nothing of it was kept and its body is small enough to be held.
    """

    def __init__(self, app: ASGIApp, answer: Answer | None = None) -> None:
        self.app = app
        self.answer = answer or answer_failure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        body = _Body(receive)
        for left in reversed(range(TRIES)):
            with noting_changes() as kept:
                try:
                    if scope["state"].get("trouble") is not None:
                        raise scope["state"]["trouble"]
                    await self.app({**scope}, body.from_start(), send_noting)
                    return
                except Exception as error:
                    if started:
                        raise
                    if isinstance(error, Collision) and left and not kept and body.is_whole:
                        await asyncio.sleep(PAUSE * random.random())
                        continue
                    response = await run_in_threadpool(self.answer, Request(scope), error)
            await response(scope, receive, send)
            return


class _Body:
    """The body of a request, which can be read again from its start as long as it is small."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []
        self._size = 0

    @property
    def is_whole(self) -> bool:
        """Whether all that was read so far is still here."""
        return self._size <= LARGEST_REPEATED

    def from_start(self) -> Receive:
        """Return a ``receive`` that begins with what was read before."""
        again = iter(list(self._messages))

        async def receive() -> Message:
            for message in again:
                return message
            message = await self._receive()
            self._size += len(message.get("body", b""))
            if self.is_whole:
                self._messages.append(message)
            else:
                self._messages.clear()
            return message

        return receive


def answer_failure(request: Request, error: Exception) -> Response:
    """Answer a request that failed."""
    kind, status, message, more = describe(request, error)
    headers = {"retry-after": str(more["retry_after"])} if "retry_after" in more else {}
    if isinstance(error, HTTPException) and error.headers:
        headers |= {name: value for name, value in error.headers.items() if name.lower() == "allow"}
    if wants_json(request):
        return JSONResponse({"error": kind, "message": message, **more}, status, headers)
    if isinstance(error, SignedOut) and request.method == "GET":
        address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(address, safe='')}", 303)
    if isinstance(error, FactorWanted) and request.method == "GET":
        return RedirectResponse("/account/second-factor?wanted=true", 303)
    title = translator(request).gettext(TITLES[kind])
    response = page(
        request, "failure.html", status=status, kind=kind, heading=title, message=message, back=_form(request)
    )
    response.headers.update(headers)
    return response


def _form(request: Request) -> str:
    """Return the page from which something was sent; empty where it was none of ours, or nothing was sent."""
    own = rf"https?://{re.escape(request.headers.get('host', ''))}(/.*)"
    sender = re.fullmatch(own, request.headers.get("referer", "")) if request.method == "POST" else None
    return local_path(sender[1]) if sender else ""


def describe(request: Request, error: Exception) -> tuple[str, int, str, dict[str, Any]]:
    """Return the kind of a failure, its status, what it says in the visitor's language, and what else JSON tells."""
    _, language = translator(request).gettext, language_of(request)
    if isinstance(error, SignedOut):
        return "signed_out", 401, _(_SIGNED_OUT), {}
    if isinstance(error, Forged):
        return "csrf", 403, _(_FORGED), {}
    if isinstance(error, RequestValidationError):
        return "invalid", 422, _(_STATUSES[422][1]), {"fields": [_field(one) for one in error.errors()]}
    if isinstance(error, HTTPException):
        kind, message = _STATUSES.get(error.status_code, _STATUSES[400])
        return kind, error.status_code, _(message), {}
    if is_unfit_value(error):
        return "invalid", 422, _(_STATUSES[422][1]), {}
    for refusal, kind, status in _KINDS:
        if isinstance(error, refusal):
            more: dict[str, Any] = {}
            if isinstance(error, TooMany):
                more["retry_after"] = error.retry_after
            if isinstance(error, BrokenRules):
                more["violations"] = [
                    {**one.to_dict(), "message": translate(one.message, language)} for one in error.violations
                ]
                return kind, status, as_sentence(error.violations[0].message, language), more
            if isinstance(error, Refusal):
                return kind, status, as_sentence(error.message, language), more
            LOG.error("%s", error)
            return kind, status, _(_FAILED if isinstance(error, StorageError) else _STATUSES[422][1]), more
    _log(request, error)
    return "failed", 500, _(_FAILED), {}


def wants_json(request: Request) -> bool:
    """Say whether a request is a script's."""
    return request.url.path.startswith("/api/") or "application/json" in request.headers.get("accept", "")


def _field(error: dict[str, Any]) -> dict[str, str]:
    return {"field": ".".join(map(str, error.get("loc", ()))), "problem": str(error.get("msg", ""))}


def _log(request: Request, error: BaseException) -> None:
    """Log a fault with its traceback, but without what people sent: that can hold passwords and texts."""
    hide_values(error)
    route = request.scope.get("route")
    LOG.error("%s %s failed", request.method, getattr(route, "path", "?"), exc_info=error)
