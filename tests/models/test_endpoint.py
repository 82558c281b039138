"""The model behind an endpoint, against a local server that behaves in many ways."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldlabel.errors import GoldlabelError, InputError, StorageError
from goldlabel.models import Model
from goldlabel.models.endpoint import Endpoint, EndpointOptions, calls
from goldlabel.models.endpoint.answers import REASONS
from goldlabel.models.endpoint.replies import Reply
from goldlabel.models.endpoint.tally import Budget, Tally
from tests.cli.commands import run
from tests.models.endpoint_server import (
    LABELS,
    Body,
    LocalEndpoint,
    asked,
    chat_logprobs,
    drop_third,
    number_of,
    pairs_by_number,
    serve,
)

PLAIN = frozenset({"model", "messages", "prompt", "max_tokens", "temperature", "stop", "seed"})
PRICES = {"price_in": 2.0, "price_out": 10.0}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.01)
    monkeypatch.delenv(calls.KEY, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path))


@contextmanager
def model_of(server: LocalEndpoint, **options: Any) -> Iterator[Endpoint]:
    model = Endpoint.from_reference(server.reference, **options)
    try:
        yield model
    finally:
        model.close()


def expected(count: int) -> np.ndarray[Any, Any]:
    return np.eye(3)[[number % 3 for number in range(count)]]


def paid(server: LocalEndpoint) -> float:
    tokens_in, tokens_out = server.tokens("delivered")
    return (tokens_in * PRICES["price_in"] + tokens_out * PRICES["price_out"]) / 1_000_000


def test_chat_and_completion_give_probabilities_in_the_order_of_the_space() -> None:
    for api in ("chat", "completion"):
        with serve() as server, model_of(server, api=api) as model:
            assert isinstance(model, Model)
            np.testing.assert_array_equal(model.predict(*pairs_by_number(7)), expected(7))
            assert ("prompt" in server.bodies[-1]) == (api == "completion")
            assert model.predict([], []).shape == (0, 3)


def test_log_probabilities_where_they_are_offered() -> None:
    def logprobs(body: Body) -> Any:
        share = 0.5 + number_of(body) / 100
        return chat_logprobs({"Neutral": share, "ent": 0.3, "contr": 0.7 - share})

    with serve(answer=lambda body: "Neutral", logprobs=logprobs) as server, model_of(server) as model:
        scores = model.predict(*pairs_by_number(3))
        np.testing.assert_allclose(scores, [[0.2, 0.3, 0.5], [0.19, 0.3, 0.51], [0.18, 0.3, 0.52]])
        assert model.summary().way == "logprobs"
        assert len(server.bodies) == 3
        assert all(body["temperature"] == 0 and body["top_logprobs"] == 20 for body in server.bodies)


@pytest.mark.parametrize(
    ("accepts", "way"),
    [
        (PLAIN | {"response_format"}, "json_schema"),
        (PLAIN | {"structured_outputs"}, "structured_outputs"),
        (PLAIN | {"guided_choice"}, "guided_choice"),
        (PLAIN, "free"),
        (PLAIN - {"temperature", "max_tokens"} | {"max_completion_tokens"}, "free without temperature"),
    ],
)
def test_what_a_server_refuses_is_not_asked_again(accepts: frozenset[str], way: str) -> None:
    def says(body: Body) -> str:
        label = LABELS[number_of(body) % 3]
        return f'{{"label": "{label}"}}' if "response_format" in body else label

    with serve(accepts=accepts, answer=says) as server, model_of(server) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(9)), expected(9))
        assert (model.summary().way, server.outcomes()["delivered"]) == (way, 9)
        refused = server.outcomes()["400"]
        assert 1 <= refused <= 7
        np.testing.assert_array_equal(model.predict(["Lamp."], ["It is 12."]), expected(1))
        assert server.outcomes()["400"] == refused


def test_a_model_that_knows_no_system_message_has_the_instructions_in_its_first_question() -> None:
    def trouble(call: str, attempt: int) -> str:
        return "400" if server.bodies[-1]["messages"][0]["role"] == "system" else ""

    with serve(trouble=trouble, says="System role not supported") as server, model_of(server, concurrency=1) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(3)), expected(3))
        assert model.summary().way == "json_schema without system"
        (message,) = server.bodies[-1]["messages"]
        assert message["role"] == "user"
        assert message["content"].startswith("You judge")
        assert message["content"].endswith("It is lamp 2.\nAnswer:")


def test_log_probabilities_that_are_promised_and_not_given() -> None:
    # The server accepts the parameter and leaves it away: found out with the first pair, which is paid twice.
    with serve() as server, model_of(server) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(5)), expected(5))
        assert (model.summary().way, model.summary().calls) == ("json_schema", 6)
        with (
            model_of(server, answers="logprobs") as strict,
            pytest.raises(InputError, match="no log-probabilities; leave"),
        ):
            strict.predict(*pairs_by_number(1))


def test_a_server_that_lies_about_its_schema_is_asked_plainly() -> None:
    def says(body: Body) -> str:
        return "Here is your JSON:" if "response_format" in body else LABELS[number_of(body) % 3]

    with serve(accepts=PLAIN | {"response_format"}, answer=says) as server, model_of(server) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(6)), expected(6))
        assert model.summary().way == "free"


def test_several_samples_become_shares() -> None:
    def says(body: Body) -> str:
        return ["neutral", "neutral", "entailment", "neutral", "Who knows?"][body["seed"] - 40]

    with serve(answer=says) as server, model_of(server, samples=5, seed=40, temperature=0.7) as model:
        np.testing.assert_allclose(model.predict(["A."], ["B 1."]), [[0, 0.25, 0.75]])
        assert {body["temperature"] for body in server.bodies} == {0.7}
        assert not any("logprobs" in body for body in server.bodies)
        assert model.summary().answered == 1


def test_samples_are_calls_of_their_own_where_a_server_takes_no_seed() -> None:
    with serve(accepts=PLAIN - {"seed"}) as server, model_of(server, samples=3) as model:
        np.testing.assert_array_equal(model.predict(*pairs_by_number(2)), expected(2))
        assert server.outcomes()["delivered"] == 6
        assert model.summary().way == "free without seed"


def test_a_pair_of_which_few_samples_are_answered_is_unanswered() -> None:
    with (
        serve(answer=lambda body: "neutral" if body["seed"] < 2 else "") as server,
        model_of(server, samples=4) as model,
    ):
        assert np.isnan(model.predict(["A."], ["B 1."])).all()
        assert model.summary().unanswered == {"empty": 1}


def test_what_stays_unanswered_is_nan_and_counted_by_reason() -> None:
    replies = ["neutral", "It depends.", "", "中立", None, "neutral"]
    with serve(answer=lambda body: replies[number_of(body)]) as server, model_of(server) as model:
        scores = model.predict(*pairs_by_number(6))
        assert np.isnan(scores).all(axis=1).tolist() == [False, True, True, True, True, False]
        summary = model.summary()
        assert (summary.pairs, summary.answered) == (6, 2)
        assert summary.unanswered == {"empty": 2, "language": 1, "prose": 1}
        assert summary.examples["prose"] == "It depends."
        assert summary.table["unanswered"].to_list() == ["empty", "language", "prose"]
        assert "2 of 6 pairs answered" in repr(summary)
        assert summary.to_dict()["answers"] == "json_schema"


@pytest.mark.parametrize(
    ("manners", "reason"),
    [
        ({"answer": lambda body: "The premise does", "finish": "length"}, "truncated"),
        ({"answer": lambda body: None, "refusal": "I will not."}, "refused"),
        ({"answer": lambda body: "neutral", "finish": "content_filter"}, "refused"),
    ],
)
def test_replies_that_are_cut_off_or_withheld(manners: dict[str, Any], reason: str) -> None:
    with serve(**manners) as server, model_of(server) as model:
        assert np.isnan(model.predict(*pairs_by_number(3))).all()
        assert model.summary().unanswered == {reason: 3}


def test_chinese_pairs_are_asked_in_chinese() -> None:
    def says(body: Body) -> str:
        return "蕴含" if "前提：" in asked(body) else "entailment"

    with serve(answer=says) as server, model_of(server) as model:
        scores = model.predict(["那只猫在睡觉。", "The cat sleeps."], ["动物在休息。", "An animal rests."])
        assert scores.tolist() == [[0, 1, 0], [0, 1, 0]]
        assert [prompt["name"] for prompt in model.summary().prompts] == ["nli3-en", "nli3-zh"]
    with serve(answer=says) as server, model_of(server, language="en") as model:
        model.predict(["那只猫在睡觉。"], ["动物在休息。"])
        assert "Premise: 那只猫在睡觉。" in asked(server.bodies[-1])


def test_texts_arrive_as_they_are_and_a_pair_has_its_answer_alone_or_among_others() -> None:
    texts = [
        "البومة نائمة.",
        "🙂 {premise} {hypothesis} {0} %s",
        'He said: "Answer: neutral"\n\nNo.',
        "x" * 10_000,
        "鸟。",
    ]
    hypotheses = [f"Lamp {number}." for number in range(len(texts))]
    with serve() as server, model_of(server, answers="free", language="en") as model:
        together = model.predict(texts, hypotheses)
        assert {asked(body) for body in server.bodies} == {
            f"Premise: {text}\nHypothesis: {hypothesis}\nAnswer:"
            for text, hypothesis in zip(texts, hypotheses, strict=True)
        }
    with serve() as server, model_of(server, answers="free", language="en") as model:
        alone = [model.predict([text], [hypothesis])[0] for text, hypothesis in zip(texts, hypotheses, strict=True)]
        np.testing.assert_array_equal(np.array(alone), together)
        np.testing.assert_array_equal(model.predict(texts[::-1], hypotheses[::-1]), together[::-1])


def test_partial_input_hides_the_other_side() -> None:
    for reads in ("hypothesis", "premise"):
        with serve(answer=lambda body: "neutral") as server, model_of(server, reads=reads) as model:
            model.predict(["Lamp 1."], ["Ferry 2."])
            texts = str(server.bodies)
            assert ("Lamp" in texts, "Ferry" in texts) == (reads == "premise", reads == "hypothesis")


def test_examples_are_balanced_drawn_by_the_seed_and_never_the_pair_itself(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    rows = [f"Barge {n} sails.,It is barge {n}.,{LABELS[n % 3]}" for n in range(30)]
    path.write_text("\n".join(["premise,hypothesis,label", *rows]))
    chosen: dict[int, list[str]] = {}
    for seed in (1, 1, 2):
        with (
            serve(answer=lambda body: "neutral") as server,
            model_of(server, shots=6, examples=str(path), seed=seed) as model,
        ):
            model.predict(["A ferry."], ["B 0."])
            turns = server.bodies[-1]["messages"][1:-1]
            assert Counter(turn["content"] for turn in turns[1::2]) == dict.fromkeys(LABELS, 2)
            shown = [turn["content"] for turn in turns[::2]]
            assert chosen.setdefault(seed, shown) == shown
            premise, hypothesis = (line.partition(": ")[2] for line in shown[0].splitlines()[:2])
            model.predict([premise], [hypothesis])
            assert len(server.bodies[-1]["messages"]) == 12
            assert sum(hypothesis in message["content"] for message in server.bodies[-1]["messages"]) == 1
    assert chosen[1] != chosen[2]


# A server that is slow, rude or limiting.


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


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("openai:http://127.0.0.1:9/v1", "names no model behind a '#'; write openai:http"),
        ("openai:127.0.0.1:9/v1#m", "is not the address of an endpoint"),
        ("openai:ftp://x/v1#m", "is not the address of an endpoint"),
        ("openai:http://[::1/v1#m", "is not the address of an endpoint"),
        ("openai:#m", "is not the address of an endpoint"),
        ("openai:http://me:hidden@x/v1#m", "set OPENAI_API_KEY instead"),
        ("openai:http://x/v1?key=hidden#m", "set OPENAI_API_KEY instead"),
    ],
)
def test_a_reference_that_cannot_be_used(reference: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Endpoint.from_reference(reference)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": 3}, "openai has no option 'sample'; did you mean 'samples'"),
        ({"samples": 0}, "samples 0 is not a whole number from 1 on"),
        ({"api": "chats"}, "api 'chats' is not one of chat, completion"),
        ({"budget": 5.0}, "a budget needs prices"),
        ({"budget": -1.0, **PRICES}, "budget -1.0 is not a number from 0 on"),
        ({"shots": 3}, "needs examples=PATH"),
        ({"shots": 3, "examples": "nowhere.csv"}, "nowhere.csv: there is no such file"),
        ({"samples": 2, "answers": "logprobs"}, "has the probabilities in one answer"),
        ({"label_space": "nli4"}, "there is no label space 'nli4'"),
        ({"temperature": math.nan}, "temperature nan is not a number above 0"),
        ({"seed": -1}, "seed -1"),
        ({"samples": "many"}, "samples=many is not a whole number"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GoldlabelError, match=message):
        Endpoint.from_reference("http://127.0.0.1:9/v1#m", **options)


def test_every_option_and_reason_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "endpoint.md").read_text(encoding="utf-8")
    for name in [*Endpoint.own_options(), *REASONS]:
        assert f"`{name}`" in page, name


# The cache and the money.


def test_nothing_is_asked_twice_and_the_server_is_not_needed_again() -> None:
    with serve() as server:
        with model_of(server, **PRICES) as model:
            first = model.predict(["A.", "A.", "C."], ["B 1.", "B 1.", "D 2."])
            np.testing.assert_array_equal(first[0], first[1])
            # The first pair is asked in two ways; its twin in none.
            assert (model.summary().calls, model.summary().cached) == (3, 1)
            assert model.summary().cost == pytest.approx(paid(server), rel=1e-12)
            assert model.summary().cost_before == 0
        reference = server.reference
    again = Endpoint.from_reference(reference, **PRICES)
    np.testing.assert_array_equal(again.predict(["C.", "A."], ["D 2.", "B 1."]), first[[2, 0]])
    summary = again.summary()
    assert (summary.calls, summary.cached, summary.cost) == (0, 2, 0)
    assert 0 < summary.cost_before < paid(server)
    again.close()


def test_equal_pairs_at_the_same_time_are_one_call() -> None:
    with serve(seconds=0.05) as server, model_of(server, answers="free") as model:
        model.predict(*pairs_by_number(1))
        model.predict(["A."] * 8, ["B 1."] * 8)
        assert (len(server.bodies), model.summary().calls, model.summary().cached) == (2, 2, 7)


def test_another_prompt_temperature_sample_or_address_is_another_call() -> None:
    with serve() as server:
        for options in ({}, {"samples": 2}, {"samples": 3}, {"samples": 2, "temperature": 0.5}, {"reads": "premise"}):
            with model_of(server, answers="free", **options) as model:
                model.predict(["A 1."], ["B 1."])
        assert [body["temperature"] for body in server.bodies] == [0, 1, 1, 1, 0.5, 0.5, 0]
        with serve() as other, model_of(other, answers="free") as model:
            model.predict(["A 1."], ["B 1."])
            assert len(other.bodies) == 1


def test_the_budget_is_never_exceeded_and_all_of_the_beginning_is_answered() -> None:
    with serve(seconds=0.005) as server, model_of(server, answers="free") as model:
        model.predict(*pairs_by_number(1))
        each = server.ledger[0].tokens_in * PRICES["price_in"] + server.ledger[0].tokens_out * PRICES["price_out"]
    budget = 20 * each / 1_000_000
    with serve(seconds=0.005) as server, model_of(server, answers="free", budget=budget, **PRICES) as model:
        scores = model.predict(*pairs_by_number(60))
        summary = model.summary()
        answered = ~np.isnan(scores).any(axis=1)
        assert 5 <= answered.sum() == summary.answered <= 20
        assert answered[: answered.sum()].all()
        assert summary.unanswered == {"budget": 60 - summary.answered}
        assert summary.cost == pytest.approx(paid(server), rel=1e-12)
        assert summary.cost <= budget
        # What is cached costs nothing, and is answered within a budget of nothing.
        with model_of(server, answers="free", budget=0.0, **PRICES) as poor:
            np.testing.assert_array_equal(poor.predict(*pairs_by_number(60)), scores)
            assert poor.summary().cost == 0


def test_a_budget_needs_a_server_that_counts() -> None:
    with serve(usage=False) as server:
        with model_of(server, answers="free") as model:
            model.predict(*pairs_by_number(2))
            assert model.summary().unmetered == 2
        with model_of(server, answers="free", budget=1.0, language="zh", **PRICES) as model:
            pairs = pairs_by_number(3)
            with pytest.raises(InputError, match="does not say how many tokens it used"):
                model.predict(*pairs)


def test_a_budget_lets_calls_through_in_their_order() -> None:
    async def run() -> list[int]:
        budget, order = Budget(Tally(1_000_000.0, 0.0), 100.0), []

        async def call(tokens: int) -> None:
            async with budget.set_aside(tokens, 0) as allowed:
                assert allowed
                order.append(tokens)
                for _ in range(20):
                    await asyncio.sleep(0)

        # The last would fit beside the first, and has to wait all the same.
        await asyncio.gather(call(40), call(70), call(10))
        return order

    assert asyncio.run(run()) == [40, 70, 10]


def test_what_a_budget_refused_stays_refused() -> None:
    long, short = ["Lamp. " * 200] * 2, ["Lamp."] * 10
    hypotheses = [f"It is {number}." for number in range(12)]
    with serve() as server, model_of(server, answers="free", budget=0.0005, price_in=0.5) as model:
        # The first pair could cost 0.0008 and each of the others 0.0003.
        assert np.isnan(model.predict(long + short, hypotheses)).all()
        assert not server.bodies


def test_a_server_that_has_changed_is_negotiated_with_again() -> None:
    with serve(accepts=PLAIN | {"response_format"}) as server:
        with model_of(server) as model:
            model.predict(*pairs_by_number(1))
            assert model.summary().way == "json_schema"
        server.manners.accepts = PLAIN - {"temperature"}
        with model_of(server) as model:
            np.testing.assert_array_equal(model.predict(*pairs_by_number(9)), expected(9))
            assert model.summary().way == "free without temperature"
            assert model.summary().cached == 1


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


def test_a_cache_that_cannot_be_used(tmp_path: Path) -> None:
    broken = tmp_path / "notes.txt"
    broken.write_text("These are my notes, and no cache.\n" * 100)
    with serve() as server:
        for path, error in ((broken, InputError), (tmp_path, StorageError)):
            model = Endpoint.from_reference(server.reference, cache=str(path))
            with pytest.raises(error, match=r"notes.txt: is not a cache of replies|cannot be used as the cache"):
                model.predict(["A."], ["B."])
            model.close()
    assert broken.read_text().startswith("These are my notes")


# The command line, threads, loops, processes.


def test_the_command_line_scores_an_endpoint_and_tells_what_was_not_answered(tmp_path: Path) -> None:
    rows = [f"Barge {n} sails.,It is barge {n}.,{('entailment', 'not_entailment')[n % 2]}" for n in range(10)]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["premise,hypothesis,label", *rows]))

    def says(body: Body) -> str:
        return ["entailment", "not entailment"][number_of(body) % 2] if number_of(body) else "I cannot know."

    with serve(answer=says) as server:
        done = run("score", server.reference, path, "--labels", "nli2", "--set", "answers=free", "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["scores"]["pairs"]["accuracy"] == 0.9
        assert document["usage"]["unanswered"] == {"prose": 1}
        assert "I cannot know." in done.stderr


def test_from_threads_from_a_running_loop_and_after_closing() -> None:
    with serve(seconds=0.01) as server, model_of(server, answers="free", concurrency=4) as model:
        results: dict[int, Any] = {}
        threads = [
            threading.Thread(target=lambda n=n: results.update({n: model.predict([f"Lamp {n}."], [f"It is {n}."])}))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [int(results[n].argmax()) for n in range(8)] == [n % 3 for n in range(8)]
        assert server.most_under_way <= 4
        assert len(server.bodies) == 8

        async def handler() -> Any:
            return model.predict(["Lamp 4."], ["It is 4."])

        np.testing.assert_array_equal(asyncio.run(handler()), results[4])
        model.close()
        np.testing.assert_array_equal(model.predict(["Lamp 4."], ["It is 4."]), results[4])


def test_ctrl_c_ends_the_calls_and_keeps_what_was_answered() -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    with serve(seconds=0.02) as server, model_of(server, answers="free", concurrency=1) as model:
        premises, hypotheses = pairs_by_number(60)
        with pytest.raises(KeyboardInterrupt):
            model.predict(premises, hypotheses, on_progress=interrupt)
        model.predict(premises[:3], hypotheses[:3])
        assert model.summary().cached == 3
        before = len(server.bodies)
        time.sleep(0.2)
        assert len(server.bodies) == before < 60


def test_progress_counts_pairs() -> None:
    with serve() as server, model_of(server, samples=2) as model:
        steps: list[tuple[int, int]] = []
        model.predict(*pairs_by_number(5), on_progress=lambda done, total: steps.append((done, total)))
        assert steps == [(done, 5) for done in range(1, 6)]


RUN = """
    import sys
    from goldlabel.models.endpoint import Endpoint, calls
    from tests.models.endpoint_server import pairs_by_number
    calls.FIRST_PAUSE = 0.01
    model = Endpoint.from_reference(sys.argv[1], cache=sys.argv[2], answers="free", price_in=2.0, price_out=10.0)
    try:
        model.predict(*pairs_by_number(int(sys.argv[3])))
    except KeyboardInterrupt:
        sys.exit(9)
"""


def start(server: LocalEndpoint, cache: Path, pairs: int) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", textwrap.dedent(RUN), server.reference, str(cache), str(pairs)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, cwd=root)


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_goes_on_where_it_was(kill: signal.Signals, tmp_path: Path) -> None:
    pairs, cache = 90, tmp_path / "replies.sqlite"
    reached, killed = threading.Event(), threading.Event()
    with serve(trouble=drop_third, seconds=0.01) as server:

        def stall(delivered: int) -> None:
            if delivered >= 30:
                reached.set()
                killed.wait(60)

        server.on_delivery = stall
        process = start(server, cache, pairs)
        assert reached.wait(60)
        process.send_signal(kill)
        assert process.wait(60) == {signal.SIGKILL: -9, signal.SIGINT: 9}[kill]
        killed.set()
        with model_of(server, cache=str(cache), answers="free", **PRICES) as model:
            np.testing.assert_array_equal(model.predict(*pairs_by_number(pairs)), expected(pairs))
            summary = model.summary()
        delivered = Counter(entry.call for entry in server.ledger if entry.outcome == "delivered")
        # Every pair was delivered once, and again only if its reply was under way when the process ended.
        assert len(delivered) == pairs
        twice = [entry for entry in server.ledger if delivered[entry.call] > 1]
        assert sum(delivered.values()) - pairs <= 8
        assert summary.cached + summary.calls == pairs
        assert summary.cached >= 30 - 8
        lost = (
            sum(2.0 * entry.tokens_in + 10.0 * entry.tokens_out for entry in twice if entry.outcome == "delivered") / 2
        )
        assert summary.cost + summary.cost_before == pytest.approx(paid(server) - lost / 1_000_000, rel=1e-12)


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    cache = tmp_path / "replies.sqlite"
    with serve(seconds=0.005) as server:
        processes = [start(server, cache, 40) for _ in range(2)]
        assert [process.wait(60) for process in processes] == [0, 0]
        before = len(server.bodies)
        with model_of(server, cache=str(cache), answers="free") as model:
            np.testing.assert_array_equal(model.predict(*pairs_by_number(40)), expected(40))
        assert len(server.bodies) == before
