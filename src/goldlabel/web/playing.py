"""A server for one player: a door that logs them in, kept from everybody who does not know its address."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response

from goldlabel.collect.store import Store
from goldlabel.web.app import create_app
from goldlabel.web.serving import logging_of
from goldlabel.web.sessions import welcome
from goldlabel.worker.keeper import kept_workers

HOST = "127.0.0.1"


def serve_player(folder: Path, project_id: int, person_id: int, *, port: int, opened: Callable[[str], object]) -> None:
    """Serve the collection in a folder to one writer of a project until interrupted.

    ``opened`` is told the address that logs them in, as soon as it can be asked for. Where the port is taken, a free
    one is.
    """
    store = Store.open(folder)
    app = create_app(store)
    path = add_door(app, store, project_id, person_id)
    config = uvicorn.Config(app, access_log=False, server_header=False, log_config=_QUIET)
    try:
        with _listening(port) as listener, kept_workers(str(folder)):
            opened(f"http://{HOST}:{listener.getsockname()[1]}{path}")
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        store.close()


def add_door(app: FastAPI, store: Store, project_id: int, person_id: int) -> str:
    """Add an address at which whoever comes is this writer, and return its path, which cannot be guessed."""
    token = secrets.token_urlsafe(24)

    @app.get("/play/{given}", include_in_schema=False)
    def enter(request: Request, given: str) -> Response:
        if not secrets.compare_digest(given.encode(), token.encode()):
            raise HTTPException(404)
        return welcome(request, store, person_id, f"/projects/{project_id}/write")

    return f"/play/{token}"


def _listening(port: int) -> socket.socket:
    """Return a socket that listens; who comes before the server does waits in its queue."""
    try:
        return socket.create_server((HOST, port))
    except OSError:
        return socket.create_server((HOST, 0))


_LOGS = logging_of("plain")
_QUIET = {**_LOGS, "loggers": {name: {**one, "level": "WARNING"} for name, one in _LOGS["loggers"].items()}}
"""Who plays in a terminal wants to see the address, and what goes wrong."""
