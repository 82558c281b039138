"""The application: routes, middleware and static files over one store."""

from __future__ import annotations

import os

from anyio import CapacityLimiter
from fastapi import Depends, FastAPI
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from goldlabel.collect.people.passwords import MOST_AT_ONCE
from goldlabel.collect.store import Store
from goldlabel.web import (
    account,
    annotator,
    api,
    departure,
    health,
    history,
    letters,
    marketplace,
    requester,
    reset,
    second_factor,
    tagging,
    tokens,
    watching,
)
from goldlabel.web.failures import Faults, install_failures
from goldlabel.web.language import LANGUAGES
from goldlabel.web.pages import STATIC, environment
from goldlabel.web.security import Guard, check_csrf
from goldlabel.web.watching import Watch, note_route
from goldlabel.worker.keeper import PLACE

ADDRESS = "GOLDLABEL_ADDRESS"
"""The variable that tells a server process where people reach it."""


class _Static(StaticFiles):
    """Static files; addresses in pages hold a hash of the content, so that browsers keep them for good.

    Scripts import each other without one: these are asked for again, so that old and new are never mixed.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        kept = "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"
        response.headers["cache-control"] = kept if response.status_code in (200, 304) else "no-store"
        return response


def create_app(store: Store, *, address: str | None = None) -> FastAPI:
    """Return the application that serves a store; ``address`` is where people reach it, behind a proxy."""
    app = FastAPI(
        title="Goldlabel",
        summary="People write and verify pairs in the browser.",
        dependencies=[Depends(note_route), Depends(check_csrf)],
        middleware=[Middleware(Watch), Middleware(Guard, store=store), Middleware(Faults)],
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.store = store
    app.state.address = address
    app.state.hashing = CapacityLimiter(MOST_AT_ONCE)
    install_failures(app)
    for room in (
        health,
        watching,
        account,
        second_factor,
        reset,
        departure,
        tokens,
        marketplace,
        annotator,
        history,
        letters,
        tagging,
        requester,
        api,
    ):
        app.include_router(room.router)
    app.mount("/static", _Static(packages=[(package, "static") for package in STATIC]))
    for language in LANGUAGES:
        environment(language)
    return app


def app_of_environment() -> FastAPI:
    """Return the application of a server process, which is told its collection by a variable."""
    return create_app(Store.open(os.environ[PLACE]), address=os.environ.get(ADDRESS))
