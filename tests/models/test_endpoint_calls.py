"""Calls to a server that is slow, rude, limiting, gone or of another opinion."""

from __future__ import annotations

import asyncio
import math
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldlabel.errors import InputError
from goldlabel.models.endpoint import Endpoint, EndpointOptions, calls
from goldlabel.models.endpoint.replies import Reply
from goldlabel.models.endpoint.tally import Tally
from tests.models.endpoint_server import (
    PLAIN,
    PRICES,
    Body,
    expected,
    model_of,
    number_of,
    paid,
    pairs_by_number,
    serve,
)

pytestmark = pytest.mark.usefixtures("quick_calls")


def test_dropped_cut_and_garbled_replies_are_asked_for_again() -> None:
    def trouble(call: str, attempt: int) -> str:
        return ["drop", "cut", "garbage", "500", "503", ""][min(attempt, 6) - 1]

    with serve(trouble=trouble, accepts=PLAIN) as server, model_of(server, answers="free", **PRICES) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(4)), expected(4))
        summary = model.summary()
        assert (summary.calls, summary.retried, summary.lost) == (4, 20, 12)
        assert summary.cost == pytest.approx(paid(server), rel=1e-12)


def test_a_call_that_keeps_failing_is_an_error_of_its_pair() -> None:
    def trouble(call: str, attempt: int) -> str:
        return "drop" if call in bad else ""

    bad: set[str] = set()
    with serve(trouble=trouble) as server, model_of(server, answers="free", retries=2) as model:
        model.predict(*pairs_by_number(1))
        premises, hypotheses = pairs_by_number(4)
        original = server.begin

        def begin(body: Body) -> tuple[str, int]:
            call, attempt = original(body)
            if number_of(body) == 2:
                bad.add(call)
            return call, attempt

        server.begin = begin  # type: ignore[method-assign]
        scores = model.predict(premises, hypotheses)
        assert np.isnan(scores).all(axis=1).tolist() == [False, False, True, False]
        assert model.summary().unanswered == {"error": 1}
        assert "connection broke off" in model.summary().examples["error"]


def test_a_server_that_hangs_is_given_up_after_the_timeout() -> None:
    with serve(seconds=0.6) as server, model_of(server, timeout=0.1, retries=1, answers="free") as model:
        with pytest.raises(InputError, match=r"answered no call; the last one: no answer within 0.1 s"):
            model.predict(*pairs_by_number(2))
        assert model.summary().lost == 4


def test_rate_limits_are_waited_for() -> None:
    def trouble(call: str, attempt: int) -> str:
        return "429" if attempt == 1 else ""

    with serve(trouble=trouble, retry_after="0.2") as server, model_of(server, answers="free", retries=0) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(6)), expected(6))
        assert server.outcomes() == {"429": 6, "delivered": 6}
        # Waiting for a limit is no retry that failed, or retries=0 would have ended here.
        assert model.summary().retried == 6


def test_retry_after_may_be_a_date_and_too_long() -> None:
    for value in ("4000", formatdate(4e9, usegmt=True)):
        with serve(trouble=lambda call, attempt: "429", retry_after=value) as server, model_of(server) as model:
            pairs = pairs_by_number(1)
            with pytest.raises(InputError, match=r"asks us to wait [\d,]+ s .*run again then"):
                model.predict(*pairs)


def test_calls_under_way_are_limited() -> None:
    with serve(seconds=0.02) as server, model_of(server, answers="free", concurrency="3") as model:
        model.predict(*pairs_by_number(12))
        assert 1 < server.most_under_way <= 3


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        select = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = lambda timeout=None: self._pass(timeout) or select(0)  # type: ignore[attr-defined]

    def _pass(self, seconds: float | None) -> None:
        self.now += seconds or 0.0

    def time(self) -> float:
        return self.now


def test_requests_are_paced_and_a_limit_holds_for_all() -> None:
    async def send(pace: calls.Pace, count: int) -> list[float]:
        starts: list[float] = []

        async def one() -> None:
            await pace.turn()
            starts.append(round(asyncio.get_running_loop().time() - 100, 6))

        await asyncio.gather(*(one() for _ in range(count)))
        return starts

    async def run() -> None:
        pace = calls.Pace(120)
        assert await send(pace, 4) == [0, 0.5, 1, 1.5]
        pace.hold(10)
        pace.hold(1)
        assert await send(pace, 2) == [11.5, 12]
        assert await send(calls.Pace(math.inf), 3) == [12] * 3

    loop = Clock()
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()


def test_pauses_double_up_to_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(calls.Caller):
        async def _attempt(self, body: bytes) -> tuple[Reply | None, str, float | None]:
            starts.append(asyncio.get_running_loop().time())
            return (None, "broken", None) if len(starts) < 10 else (Reply("neutral"), "", None)

    async def run() -> None:
        caller = Failing("openai:x", "http://127.0.0.1:9", EndpointOptions(retries=9), Tally(0, 0))
        await caller.post(b"")
        await caller.close()

    starts: list[float] = []
    monkeypatch.undo()
    loop = Clock()
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    pauses = np.diff(starts)
    longest = np.minimum(0.5 * 2.0 ** np.arange(9), 30)
    assert (pauses >= longest / 2 - 1e-6).all()
    assert (pauses <= longest + 1e-6).all()
    assert len({round(pause / most, 6) for pause, most in zip(pauses, longest, strict=True)}) > 1  # by chance


# What no retry can mend.


@pytest.mark.parametrize(
    ("manners", "reference", "message"),
    [
        ({"key": "sk-right"}, None, r"#tiny: wants an API key; set OPENAI_API_KEY \(status 401"),
        ({}, "large", "has no such address or model .*The model `large` does not exist"),
        ({"trouble": lambda *_: "402"}, None, "has no credit left"),
        ({"trouble": lambda *_: "429", "says": "insufficient_quota"}, None, "has no credit left"),
        ({"trouble": lambda *_: "307"}, None, "leads elsewhere"),
        (
            {"trouble": lambda *_: "400", "says": "bad model"},
            None,
            "answered no call; the last one: status 400: bad model",
        ),
        ({"trouble": lambda *_: "garbage"}, None, "answered no call; .*cannot be read.*<html>busy"),
    ],
)
def test_a_run_that_cannot_go_on_ends_with_one_line(
    manners: dict[str, Any], reference: str | None, message: str
) -> None:
    with serve(**manners) as server:
        named = server.reference.replace("tiny", reference) if reference else server.reference
        model = Endpoint.from_reference(named, retries=1)
        with pytest.raises(InputError, match=message) as caught:
            model.predict(*pairs_by_number(3))
        assert "\n" not in str(caught.value)
        model.close()


def test_a_server_that_is_not_there_is_said_at_once() -> None:
    with serve() as server:
        reference = server.reference
    model = Endpoint.from_reference(reference)
    with pytest.raises(InputError, match=r"cannot be reached \(.+\); is the server running"):
        model.predict(*pairs_by_number(20))
    assert model.summary().retried == 0
    model.close()


def test_a_server_that_goes_away_ends_the_run_and_keeps_what_was_answered() -> None:
    with serve(trouble=lambda *_: "drop" if len(server.bodies) > 8 else "") as server:
        with model_of(server, answers="free", retries=0, concurrency=1) as model:
            with pytest.raises(InputError, match=r"10 calls in a row failed .*what was answered is kept"):
                model.predict(*pairs_by_number(100))
            assert server.outcomes() == {"delivered": 8, "dropped": 10}
        server.manners.trouble = lambda *_: ""
        with model_of(server, answers="free") as model:
            np.testing.assert_array_equal(model.predict(*pairs_by_number(100)), expected(100))
            assert (model.summary().cached, model.summary().calls) == (8, 92)


def test_the_key_is_sent_and_written_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(calls.KEY, "sk-secret-of-mine")
    with serve(key="sk-secret-of-mine") as server, model_of(server) as model:
        model.predict(*pairs_by_number(2))
        assert "secret" not in str(model.summary().to_dict())
    with serve(key="another") as server, model_of(server) as model:
        with pytest.raises(InputError, match="does not accept the key in OPENAI_API_KEY") as caught:
            model.predict(*pairs_by_number(2))
        assert "secret" not in str(caught.value)
    for path in tmp_path.rglob("*"):
        assert b"secret" not in path.read_bytes()


def test_pairs_that_a_server_will_not_have_do_not_end_the_run() -> None:
    with serve() as server, model_of(server, answers="free", concurrency=1) as model:
        model.predict(*pairs_by_number(1))
        server.manners.says = "context length exceeded"
        server.manners.trouble = lambda call, attempt: "400" if len(server.bodies) <= 16 else ""
        scores = model.predict(*pairs_by_number(20))
        assert np.isnan(scores).all(axis=1).tolist() == [False, *[True] * 15, *[False] * 4]
        server.manners.says, server.manners.trouble = "code: content_filter", lambda call, attempt: "400"
        model.predict(["A."], ["B 99."])
        assert model.summary().unanswered == {"error": 15, "refused": 1}
