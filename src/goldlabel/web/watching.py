"""Watching over a server: figures for Prometheus, an id for every request, and logs that programs can read.

``/metrics`` is there for whoever knows the token in ``GOLDLABEL_METRICS_TOKEN``. What a process counts itself
(requests and how long they took) is added up over the processes of one server; what lies in the database (tasks,
leases, answers, tries, jobs) is the same whichever process is asked. Requests are named by their route and never by
their address: that may hold an invitation.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from time import perf_counter

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goldlabel.collect.data.gauges import Gauge, read_gauges
from goldlabel.web.security import Stored

LOG = logging.getLogger("goldlabel.requests")
TOKEN = "GOLDLABEL_METRICS_TOKEN"
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable, known to prometheus_client, with the folder in which processes put their figures together."""
HEADER = "x-request-id"

REQUESTS = Counter("goldlabel_requests", "Requests answered.", ["method", "route", "status"])
SECONDS = Histogram("goldlabel_request_seconds", "Seconds until the answer was sent.", ["method", "route"])

_IDS = re.compile(r"[\w.-]{8,64}", re.ASCII)
_REQUEST: ContextVar[str] = ContextVar("request", default="")

router = APIRouter(tags=["watching"])


class Watch:
    """Middleware: gives every request an id, its own or that of a proxy, times it, counts it and logs it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = next((value.decode("latin-1") for name, value in scope["headers"] if name == HEADER.encode()), "")
        number = given if _IDS.fullmatch(given) else secrets.token_hex(8)
        state = scope.setdefault("state", {})
        status, start, token = 500, perf_counter(), _REQUEST.set(number)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = number
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            seconds = perf_counter() - start
            method, route = scope["method"], state.get("route", "other")
            REQUESTS.labels(method, route, status).inc()
            SECONDS.labels(method, route).observe(seconds)
            LOG.info(
                "%s %s %s", method, route, status, extra={"status": status, "milliseconds": round(1000 * seconds, 1)}
            )
            _REQUEST.reset(token)


async def note_route(request: Request) -> None:
    """Keep which route serves a request, for whoever counts it."""
    request.state.route = request.scope["route"].path


class JsonLines(logging.Formatter):
    """A JSON object on one line for each record, with the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": _REQUEST.get() or None,
            "status": getattr(record, "status", None),
            "milliseconds": getattr(record, "milliseconds", None),
            "trace": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=False)


class _Gauges(Collector):
    def __init__(self, gauges: list[Gauge]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for gauge in self._gauges:
            family = GaugeMetricFamily(f"goldlabel_{gauge.name}", gauge.help, labels=gauge.columns)
            for values, count in gauge.rows.items():
                family.add_metric(values, count)
            yield family


@router.get("/metrics", response_class=PlainTextResponse, include_in_schema=False)
def metrics(request: Request, store: Stored) -> PlainTextResponse:
    """Return everything that is counted, in the text form of Prometheus."""
    wanted = os.environ.get(TOKEN)
    given = request.headers.get("authorization", "")
    if not wanted or not hmac.compare_digest(given.encode(), f"Bearer {wanted}".encode()):
        raise HTTPException(404)
    with store.read() as tx:
        gauges = read_gauges(tx)
    counted = REGISTRY
    if os.environ.get(SHARED):
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    stored = CollectorRegistry()
    stored.register(_Gauges(gauges))
    return PlainTextResponse(generate_latest(counted) + generate_latest(stored))
