"""The application of a leaderboard: pages for everybody, and an API for submitters, who come with a token."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from goldlabel.leaderboard.board import Board, BoardSuite, open_board
from goldlabel.leaderboard.standings import entries, suite_entries
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submissions import MOST_BYTES
from goldlabel.web import health
from goldlabel.web.app import ADDRESS
from goldlabel.web.failures import Faults, describe, install_failures, wants_json
from goldlabel.web.leaderboard import api, submitting
from goldlabel.web.leaderboard.pages import (
    Links,
    board_page,
    board_table,
    entry_page,
    failure_page,
    render,
    script_hash,
)
from goldlabel.web.security import (
    HEADERS,
    SMALL_BODY,
    ObjectId,
    SignedOut,
    bounded_body,
    with_headers,
    without_body,
)
from goldlabel.worker.keeper import FOLDER, PLACE

LINKS = Links()
_NO_TOKEN = (
    "This needs a token of a submitter: ask who runs the leaderboard for one, and log in with it on the page Submit, "
    "or send it as a bearer token."
)
_TOO_LARGE = f"The file is larger than {MOST_BYTES >> 20} MB, which is the most that is taken; nothing was stored."


class Guard:
    """Middleware: bounds what is sent, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, store: BoardStore) -> None:
        self.app, self.store = app, store
        self.headers = HEADERS | {
            "content-security-policy": f"default-src 'none'; script-src 'sha256-{script_hash()}'; style-src "
            "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, without_body(send)
        scope.setdefault("state", {})
        added = {"strict-transport-security": "max-age=31536000"} if scope["scheme"] == "https" else {}
        allowed = MOST_BYTES if scope["path"] == api.UPLOAD else SMALL_BODY
        if scope["path"].startswith(submitting.PATHS):
            try:
                added |= await submitting.recognise(scope, self.store)
            except Exception as error:
                scope["state"]["trouble"] = error  # answered further in, with these headers
            if scope["path"] == submitting.UPLOAD and scope["state"].get("submitter") is not None:
                allowed = MOST_BYTES + SMALL_BODY  # the other fields of the form stand around the file
        await self.app(scope, bounded_body(scope, receive, allowed), with_headers(send, self.headers | added))


def create_board_app(board: Board, store: BoardStore, *, address: str | None = None) -> FastAPI:
    """Return the application that serves a leaderboard; ``address`` is where people reach it, behind a proxy."""
    app = FastAPI(
        title="Goldlabel leaderboard",
        summary="Predictions are submitted, checked, scored and ranked.",
        middleware=[Middleware(Guard, store=store), Middleware(Faults, answer=_answer_failure)],
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.store, app.state.board, app.state.address = store, board, address
    install_failures(app, _answer_failure)
    app.include_router(health.router)
    app.include_router(api.router)
    app.include_router(submitting.router)

    @app.get("/", response_class=HTMLResponse, tags=["pages"])
    def show_board() -> HTMLResponse:
        """Show the table."""
        with store.read() as tx:
            listed = entries(tx, board)
        return HTMLResponse(render(board_page(board, listed, LINKS), LINKS))

    @app.get("/entries/{submission_id}", response_class=HTMLResponse, tags=["pages"])
    def show_entry(submission_id: ObjectId) -> HTMLResponse:
        """Show one entry of the table."""
        with store.read() as tx:
            entry = next((entry for entry in entries(tx, board) if entry.id == submission_id), None)
        if entry is None:
            raise HTTPException(404)
        return HTMLResponse(render(entry_page(board, entry), LINKS, heading="Model card", markdown=entry.readme))

    for number, suite in enumerate(board.suites, start=1):
        app.add_api_route(
            LINKS.csv(number), _sender(store, board, suite), response_class=PlainTextResponse, tags=["pages"]
        )

    return app


def _sender(store: BoardStore, board: Board, suite: BoardSuite) -> Callable[[], PlainTextResponse]:
    def send_table() -> PlainTextResponse:
        """Send the table of a suite as a file."""
        with store.read() as tx:
            listed = suite_entries(tx, board, suite)
        return PlainTextResponse(board_table(board, suite, listed).to_csv(), media_type="text/csv")

    return send_table


def app_of_environment() -> FastAPI:
    """Return the application of a server process, which is told its leaderboard by variables."""
    board, store = open_board(Path(os.environ[FOLDER]), os.environ[PLACE])
    return create_board_app(board, store, address=os.environ.get(ADDRESS))


def _answer_failure(request: Request, error: Exception) -> Response:
    """Answer a request that failed, with a page or a line of JSON."""
    kind, status, message, more = _describe(request, error)
    headers = {"retry-after": str(more["retry_after"])} if "retry_after" in more else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if wants_json(request):
        return JSONResponse({"error": kind, "message": message, **more}, status, headers)
    heading = "That cannot be shown" if request.method == "GET" else "That was not done"
    return HTMLResponse(render(failure_page(heading, message), LINKS), status, headers)


def _describe(request: Request, error: Exception) -> tuple[str, int, str, dict[str, Any]]:
    if isinstance(error, SignedOut):
        return "signed_out", 401, _NO_TOKEN, {}
    if isinstance(error, HTTPException) and error.status_code == 413:
        return "large", 413, _TOO_LARGE, {}
    return describe(request, error)
