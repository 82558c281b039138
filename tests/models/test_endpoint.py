"""The model behind an endpoint: what it is asked, and what its answers become."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.models import Model
from goldlabel.models.endpoint import Endpoint
from goldlabel.models.endpoint.answers import REASONS
from tests.cli.commands import run
from tests.models.endpoint_server import (
    LABELS,
    PLAIN,
    PRICES,
    Body,
    asked,
    chat_logprobs,
    expected,
    model_of,
    number_of,
    pairs_by_number,
    serve,
)

pytestmark = pytest.mark.usefixtures("quick_calls")


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
