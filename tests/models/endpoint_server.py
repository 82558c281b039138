"""A local endpoint for tests: well-mannered by default, and slow, rude, limiting, cutting or lying as it is told.

It keeps a ledger of every call: what it did for it and what that would cost. A call is *billed* if the model ran for
it, and *delivered* if the whole reply was written; the difference is what a client cannot know of.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np

from goldlabel.models.endpoint import Endpoint

Body = dict[str, Any]
LABELS = ("contradiction", "entailment", "neutral")
PLAIN = frozenset({"model", "messages", "prompt", "max_tokens", "temperature", "stop", "seed"})
PRICES = {"price_in": 2.0, "price_out": 10.0}


class Entry(NamedTuple):
    """A line of the ledger."""

    call: str
    outcome: str
    """delivered, cut (billed, and not delivered), dropped, or the status that was sent."""
    tokens_in: int
    tokens_out: int


@dataclass
class Manners:
    """How the server behaves."""

    answer: Callable[[Body], str | None] = field(default_factory=lambda: label_by_number)
    logprobs: Callable[[Body], Any] | None = None
    """What stands under ``logprobs`` where they are asked for; None offers none."""
    accepts: frozenset[str] = frozenset(
        {"model", "messages", "prompt", "max_tokens", "temperature", "seed", "stop", "logprobs", "top_logprobs"}
        | {"response_format"}
    )
    """Parameters; any other is refused with status 400."""
    trouble: Callable[[str, int], str] = field(default_factory=lambda: lambda call, attempt: "")
    """What goes wrong with a call at its first, second, … time: drop, cut, garbage, or a status such as 503."""
    says: str = "something is wrong"
    retry_after: str = ""
    seconds: float = 0.0
    finish: str = "stop"
    usage: bool = True
    key: str = ""
    refusal: str | None = None


class LocalEndpoint:
    """A server on a port of its own, with its ledger."""

    def __init__(self, manners: Manners) -> None:
        self.manners = manners
        self._entries: list[Entry] = []
        self.bodies: list[Body] = []
        self.under_way = self.most_under_way = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Condition()
        self.on_delivery: Callable[[int], None] = lambda delivered: None
        """Called with the number of calls delivered so far."""

    @property
    def reference(self) -> str:
        """What a user would write."""
        return f"openai:http://127.0.0.1:{self.port}/v1#tiny"

    @property
    def ledger(self) -> list[Entry]:
        """What became of every call; a client may have its reply a moment before it is noted."""
        with self._lock:
            if not self._lock.wait_for(lambda: not self.under_way, timeout=60):
                raise TimeoutError("calls are still under way")
            return list(self._entries)

    def outcomes(self) -> Counter[str]:
        """Count the ledger's lines by outcome."""
        return Counter(entry.outcome for entry in self.ledger)

    def tokens(self, *outcomes: str) -> tuple[int, int]:
        """Add up the tokens of calls with one of these outcomes."""
        lines = [entry for entry in self.ledger if entry.outcome in outcomes]
        return sum(entry.tokens_in for entry in lines), sum(entry.tokens_out for entry in lines)

    def begin(self, body: Body) -> tuple[str, int]:
        """Note a request; return its name and how often it has come."""
        call = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        with self._lock:
            self.bodies.append(body)
            self._seen[call] += 1
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            return call, self._seen[call]

    def end(self, entry: Entry) -> None:
        """Note what became of a request."""
        with self._lock:
            self.under_way -= 1
            self._entries.append(entry)
            delivered = sum(entry.outcome == "delivered" for entry in self._entries)
            self._lock.notify_all()
        if entry.outcome == "delivered":
            self.on_delivery(delivered)


@contextmanager
def serve(**manners: Any) -> Iterator[LocalEndpoint]:
    """Run a local endpoint."""
    endpoint = LocalEndpoint(Manners(**manners))
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = _Server(("127.0.0.1", 0), handler)
    endpoint.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # the client has gone
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes, and the second would wait 40 ms
    endpoint: LocalEndpoint

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_POST(self) -> None:
        manners = self.endpoint.manners
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        call, attempt = self.endpoint.begin(body)
        time.sleep(manners.seconds)
        outcome, tokens = "gone", (0, 0)
        try:
            outcome, tokens = self._answer(body, call, attempt)
        finally:
            self.endpoint.end(Entry(call, outcome, *tokens))

    def _answer(self, body: Body, call: str, attempt: int) -> tuple[str, tuple[int, int]]:
        manners = self.endpoint.manners
        if manners.key and self.headers.get("Authorization") != f"Bearer {manners.key}":
            return self._refuse(401, f"Incorrect API key provided: {self.headers.get('Authorization')}"), (0, 0)
        if not self.path.endswith("/completions") or body["model"] != "tiny":
            return self._refuse(404, f"The model `{body['model']}` does not exist."), (0, 0)
        for name in body:
            if name not in manners.accepts:
                return self._refuse(400, f"Unrecognized request argument supplied: {name}"), (0, 0)
        trouble = manners.trouble(call, attempt)
        if trouble.isdigit():
            return self._refuse(int(trouble), manners.says), (0, 0)
        if trouble == "drop":
            self._hang_up()
            return "dropped", (0, 0)
        text = manners.answer(body)
        response = self._response(body, text)
        usage = len(json.dumps(body)) // 4, len(text or "") // 3 + 1
        if manners.usage:
            response["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        content = b"<html>busy" if trouble == "garbage" else json.dumps(response).encode()
        try:
            self._send(200, content[: len(content) // 2] if trouble == "cut" else content, len(content))
        except OSError:
            return "cut", usage
        if trouble == "cut":
            self._hang_up()
        return (trouble if trouble in ("cut", "garbage") else "delivered"), usage

    def _response(self, body: Body, text: str | None) -> dict[str, Any]:
        manners = self.endpoint.manners
        choice: dict[str, Any] = {"index": 0, "finish_reason": manners.finish}
        if "messages" in body:
            choice["message"] = {"role": "assistant", "content": text, "refusal": manners.refusal}
        else:
            choice["text"] = text
        if manners.logprobs and body.get("logprobs"):
            choice["logprobs"] = manners.logprobs(body)
        return {"object": "chat.completion", "choices": [choice]}

    def _refuse(self, status: int, message: str) -> str:
        self._send(status, json.dumps({"error": {"message": message, "type": "error"}}).encode())
        return str(status)

    def _send(self, status: int, content: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length or len(content)))
        if self.endpoint.manners.retry_after and status in (429, 503):
            self.send_header("Retry-After", self.endpoint.manners.retry_after)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def pairs_by_number(count: int) -> tuple[list[str], list[str]]:
    """Return pairs whose hypotheses are numbered."""
    return [f"Lamp {number} is lit." for number in range(count)], [f"It is lamp {number}." for number in range(count)]


def asked(body: Body) -> str:
    """Return the question of a request: its last message, or its prompt."""
    question: str = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    return question


def label_by_number(body: Body) -> str:
    """Answer by the last number in the question."""
    return LABELS[number_of(body) % 3]


def number_of(body: Body) -> int:
    """Return the last number in the question."""
    return int(re.findall(r"\d+", asked(body))[-1])


def chat_logprobs(*positions: dict[str, float]) -> dict[str, Any]:
    """Return log-probabilities as a chat has them: tokens with probabilities at each position, the first written."""
    content = []
    for position in positions:
        others = [{"token": text, "logprob": math.log(share), "bytes": None} for text, share in position.items()]
        content.append({**others[0], "top_logprobs": others})
    return {"content": content}


def drop_third(call: str, attempt: int) -> str:
    """Drop a third of all calls, half of them before and half of them after the model ran, by chance without luck."""
    chance = int(hashlib.sha256(f"{call}{attempt}".encode()).hexdigest()[:8], 16) % 6
    return {0: "drop", 1: "cut"}.get(chance, "")


@contextmanager
def model_of(server: LocalEndpoint, **options: Any) -> Iterator[Endpoint]:
    """Give the model of a local endpoint, and close it."""
    model = Endpoint.from_reference(server.reference, **options)
    try:
        yield model
    finally:
        model.close()


def expected(count: int) -> np.ndarray[Any, Any]:
    """Return what a model says of numbered pairs."""
    return np.eye(3)[[number % 3 for number in range(count)]]


def paid(server: LocalEndpoint) -> float:
    """Return what the replies that a server delivered cost."""
    tokens_in, tokens_out = server.tokens("delivered")
    return (tokens_in * PRICES["price_in"] + tokens_out * PRICES["price_out"]) / 1_000_000
