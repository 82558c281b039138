"""``serve``: the server process or processes of a collection."""

from __future__ import annotations

import logging
import os
import re
import socket
import tempfile
from pathlib import Path
from typing import Any

import uvicorn

from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.app import ADDRESS, create_app
from goldlabel.web.security import is_loopback
from goldlabel.web.watching import SHARED
from goldlabel.worker.keeper import PLACE, kept_workers

LOG = logging.getLogger("uvicorn.error")
_ADDRESSES = re.compile(r"https?://[^\s/?#@]+/?")
TRUSTED = "FORWARDED_ALLOW_IPS"
"""The variable, known to uvicorn, with the addresses of proxies whose word on address and scheme is believed."""


def serve(
    folder: str | Path,
    *,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    address: str | None = None,
    log: str = "plain",
) -> None:
    """Serve the collection in a folder, or in the database at a URL, until interrupted.

    With ``log`` as ``json`` every request is a line, by its route alone: addresses hold invitations. On an address that
    others can reach, a line says that passwords need an encrypted connection, unless ``address`` tells where a proxy
    that provides it is reached. Only with an ``address`` is a proxy's word on a visitor's address and scheme believed.
    """
    place = database or str(Path(folder).expanduser().resolve())
    store = Store.open(place)
    options = server_options(store, host, port, workers, address, log)
    if workers == 1:
        try:
            with kept_workers(place):
                uvicorn.run(create_app(store, address=address), **options)
        finally:
            store.close()
        return
    store.close()
    os.environ[PLACE] = place
    if address is not None:
        os.environ[ADDRESS] = address
    with kept_workers(place), tempfile.TemporaryDirectory(prefix="goldlabel-metrics-") as shared:
        os.environ.setdefault(SHARED, shared)
        uvicorn.run("goldlabel.web.app:app_of_environment", factory=True, workers=workers, **options)


def server_options(store: Store, host: str, port: int, workers: int, address: str | None, log: str) -> dict[str, Any]:
    """Return what uvicorn is told; what cannot be served so is refused, and the store closed."""
    try:
        if workers < 1 or (workers > 1 and not store.is_postgresql):
            raise Invalid("processes", n=workers, place=store.url)
        _check_address(host, port)
        if address is not None and not _ADDRESSES.fullmatch(address):
            raise Invalid("public_address", address=address)
    except InputError:
        store.close()
        raise
    warning = exposure(host, address)
    if warning:
        LOG.warning("%s", warning)
    return {
        "host": host,
        "port": port,
        "access_log": False,
        "server_header": False,
        "proxy_headers": address is not None,
        "log_config": logging_of(log),
        "timeout_graceful_shutdown": 10,
    }


def _check_address(host: str, port: int) -> None:
    """Refuse an address that cannot be served on, before the server would say so in its own way."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise Invalid("not_servable", address=f"{host}:{port}", reason=error.strerror) from error


def exposure(host: str, address: str | None = None) -> str | None:
    """Return what to say of an address that others can reach without encryption; nothing if there is no need."""
    if is_loopback(host) or (address or "").startswith("https://"):
        return None
    return (
        f"{host} can be reached by others, and without TLS: passwords and texts could be read on the way. Put a proxy "
        "with TLS in front that sends X-Forwarded-Proto and X-Forwarded-For, pass --address https://HOST, and set "
        f"{TRUSTED} to the proxy's own address unless it runs on this machine"
    )


LOGS = ("plain", "json")


def logging_of(form: str) -> dict[str, Any]:
    """Return how a server logs: for people to read, or a JSON object for each event, requests among them."""
    levels = {"uvicorn": "INFO", "goldlabel.web": "INFO", "goldlabel.worker": "INFO"}
    levels["goldlabel.requests"] = "INFO" if form == "json" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {"format": "%(asctime)s %(levelname)s %(message)s"},
            "json": {"()": "goldlabel.web.watching.JsonLines"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form, "stream": "ext://sys.stderr"}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": level, "propagate": False} for name, level in levels.items()
        },
    }
