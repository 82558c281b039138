"""The commands of campaigns beside the loop: what they print, what they refuse, and suggestions of a language model."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.events import history
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.rounds.fooling import finish
from goldlabel.collect.rounds.rounds import Adversary, close_round, open_round, open_round_of
from goldlabel.collect.rounds.tries import add_try, decide, take_questions
from goldlabel.collect.schema import proposals
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises
from goldlabel.models.endpoint import calls
from tests.cli.commands import run
from tests.collect.campaign import join
from tests.models.endpoint_server import PLAIN, PRICES, Body, asked, serve

LANGUAGES = {"en": "A lamp burns in house {label} {n}.", "zh": "{n} 号房子 {label} 里亮着一盏灯。"}


def make(folder: Path, language: str = "en", arms: str = "assisted") -> Store:
    """Make a campaign with two contexts, whose texts hold what a prompt fills in."""
    store = Store.create(folder)
    protocol = make_protocol(arms, language)
    protocol = replace(
        protocol,
        premises=replace(protocol.premises, shortest=5),
        qualification=replace(protocol.qualification, training=0),
    )
    texts = [LANGUAGES[language].replace("{n}", str(n)) for n in (1, 2)]
    with store.write() as tx:
        project_id = create_project(tx, "lamps", protocol, seed=1).id
        add_premises(tx, project_id, [Premise(text=text, genre="news") for text in texts], by=None)
        open_round(tx, project_id, [Adversary(name="m", reference="tests.web.duels:obedient", options={})], by=None)
    return store


def written(folder: Path) -> Store:
    """Make a campaign with one sentence that waits for judgement."""
    store = make(folder, arms="plain")
    (writer,) = join(store, 1, "writer", 1)
    with store.write() as tx:
        (task,) = claim(tx, 1, writer, "write").tasks
        add_try(tx, task.assignment_id, writer, key="a", text="It is lit.")
        (question,) = take_questions(tx, "worker", 1)
        decide(tx, question.id, model="m", scores={label: float(label == "neutral") for label in question.space.labels})
        finish(tx, task.assignment_id, writer, key="end", reasons={})
    return store


def rows(path: Path, *, said: bool) -> Path:
    """Write pairs of two rounds, with what models said to them or without."""
    labels = ("entailment", "neutral", "contradiction")
    lines = [
        {"id": f"{number}-{n}", "premise": f"Lamp {n} of {number} is lit.", "hypothesis": f"It is lamp {n % 7}."}
        | {"label": labels[n % 3], "round": number, "split": "dev", "tags": ["Tricky"], "language": "en"}
        | ({"meta": json.dumps({"analysis": {"adversary_pred": "e"}})} if said else {})
        for number in ("R1", "R2")
        for n in range(30)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def told(*words: object) -> dict[str, Any]:
    done = run("collect", *words, "--json")
    assert done.returncode in (0, None), done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def documented(command: str) -> set[str]:
    """Return the keys that the page of commands names for a command, but for those within others."""
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    section = page.partition(f"## goldlabel collect {command}\n")[2].partition("\n## ")[0]
    keys = section.partition("Keys of `--json`:")[2].partition("\n\n")[0]
    while (outer := re.sub(r"\([^()]*\)", "", keys)) != keys:
        keys = outer
    return set(re.findall(r"`([a-z_]+)`", keys))


@pytest.mark.parametrize("command", ["judge", "round pilot", "round propose", "round compare", "round errors"])
def test_every_command_says_what_it_takes(command: str) -> None:
    done = run("collect", *command.split(), "--help")
    assert done.returncode in (0, None)
    assert "--json" in done.stdout
    assert documented(command)


def test_a_model_judges(tmp_path: Path) -> None:
    written(tmp_path / "c")
    first = told("judge", tmp_path / "c", "--model", "tests.web.duels:obedient")
    assert {*first} == documented("judge")
    assert first["votes"] == 1
    assert told("judge", tmp_path / "c", "--model", "tests.web.duels:obedient")["votes"] == 0
    done = run("collect", "judge", tmp_path / "c", "--model", "nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr


def test_a_pilot_is_estimated(tmp_path: Path) -> None:
    make(tmp_path / "c", arms="plain,assisted")
    pilot = told("round", "pilot", tmp_path / "c", "--contexts", 5)
    assert {*pilot} == documented("round pilot")
    assert {*pilot["arms"]} == {"plain", "assisted", "all"}
    done = run("collect", "round", "pilot", tmp_path / "c", "--fooling", 2)
    assert (done.returncode, "fooling is 2" in done.stderr) == (2, True)


def test_rounds_and_stored_errors_are_shown(tmp_path: Path) -> None:
    with_answers, without = rows(tmp_path / "a.jsonl", said=True), rows(tmp_path / "b.jsonl", said=False)
    compared = told("round", "compare", without)
    assert {*compared} == documented("round compare")
    done = run("collect", "round", "compare", without, "--by", "colour")
    assert (done.returncode, "to group by" in done.stderr) == (2, True)
    errors = told("round", "errors", with_answers)
    assert {*errors} == documented("round errors")
    done = run("collect", "round", "errors", without)
    assert (done.returncode, "holds no predictions of models" in done.stderr) == (2, True)


@pytest.fixture
def quick_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(calls, "MOST_FAILURES", 1000)
    monkeypatch.delenv(calls.KEY, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "home"))


def echo(body: Body) -> str:
    """Answer with what was asked, in quotes, and a remark below it."""
    return f"“{asked(body).splitlines()[-1]}”\n\nI hope that this helps."


@pytest.mark.usefixtures("quick_calls")
@pytest.mark.parametrize(("language", "words"), [("en", "definitely correct"), ("zh", "一定正确")])
def test_a_language_model_proposes(tmp_path: Path, language: str, words: str) -> None:
    store = make(tmp_path / "c", language)
    with serve(answer=echo, accepts=PLAIN - {"temperature"}) as server:
        first = told("round", "propose", tmp_path / "c", "--model", server.reference)
        again = told("round", "propose", tmp_path / "c", "--model", server.reference)
    assert {*first} == documented("round propose")
    assert (first["added"], first["missing"], again["added"]) == (6, 0, 0)
    assert server.outcomes()["delivered"] == 6, "each place is asked for once, in words that the server understands"
    assert {LANGUAGES[language].replace("{n}", n) in asked(server.bodies[-1]) for n in "12"} == {True, False}
    with store.read() as tx:
        kept = tx.all(select(proposals))
    assert re.fullmatch(
        rf"{re.escape(server.reference)} \(prompt proposing-{language} 1, [0-9a-f]{{12}}\)", first["source"]
    )
    assert {row.source for row in kept} == {first["source"]}
    (following,) = {row.text for row in kept if row.label == "entailment"}
    assert words in following
    assert not re.search("[“”]|helps", following)


@pytest.mark.usefixtures("quick_calls")
def test_what_a_language_model_does_not_write_is_asked_for_again_and_its_troubles_are_told(tmp_path: Path) -> None:
    make(tmp_path / "c")
    words = ("collect", "round", "propose", tmp_path / "c", "--model")
    done = run(*words, "openai:nowhere")
    assert (done.returncode, "is not the address of an endpoint" in done.stderr) == (2, True)
    done = run(*words, "openai:http://127.0.0.1:1/v1#m", "--generator", "mine:write")
    assert (done.returncode, "suggestions come from one place" in done.stderr) == (2, True)
    with serve(trouble=lambda *_: "400", says="no such thing") as server:
        done = run(*words, server.reference)
    assert (done.returncode, "answered no call; the last one: status 400" in done.stderr) == (2, True)
    with serve(answer=echo, finish="length") as server:
        assert told(*words[1:], server.reference)["missing"] == 6, "half a sentence is none"


@pytest.mark.usefixtures("quick_calls")
def test_a_language_model_is_kept_within_its_budget_and_its_time(tmp_path: Path) -> None:
    store = make(tmp_path / "c")
    words = ("round", "propose", tmp_path / "c", "--model")
    done = run("collect", *words, "openai:http://127.0.0.1:1/v1#m", "--budget", 1)
    assert (done.returncode, "a budget needs prices" in done.stderr) == (2, True)
    done = run("collect", *words[:-1], "--generator", "mine:write", "--budget", 1)
    assert (done.returncode, "--set and --budget are about the calls of an endpoint" in done.stderr) == (2, True)
    done = run("collect", *words, "openai:http://127.0.0.1:1/v1#m", "--set", "shots=3")
    assert (done.returncode, "openai has no option 'shots'" in done.stderr) == (2, True)
    prices = [f"--set={name}={price}" for name, price in PRICES.items()]
    # A call may cost a token for each of its bytes, and 100 of answer: so there is room for some of six.
    with serve(answer=echo) as server:
        first = told(
            *words, server.reference, *prices, "--set=max_tokens=100", "--set=concurrency=1", "--budget", 0.003
        )
        assert 0 < first["added"] < 6
        assert first["usage"]["unanswered"] == {"budget": 6 - first["added"]}
        tokens_in, tokens_out = server.tokens("delivered")
        cost = (tokens_in * PRICES["price_in"] + tokens_out * PRICES["price_out"]) / 1e6
        assert first["usage"]["cost"] == pytest.approx(cost)
        assert cost <= 0.003
        calls = len(server.ledger)
        limits = ("--set=max_tokens=100", "--budget", 0.003)
        assert told(*words, server.reference, *prices, *limits)["added"] == 0, "what was spent before counts"
        assert len(server.ledger) == calls
        again = told(*words, server.reference, *prices)
    assert (again["added"], again["missing"]) == (6 - first["added"], 0)
    with store.read() as tx:
        noted = [event.data for event in history(tx, 1, limit=100) if event.kind == "proposals.added"]
    assert sorted(one["cost"] for one in noted if one["n"]) == pytest.approx(sorted([cost, again["usage"]["cost"]]))
    make(tmp_path / "slow")
    with serve(answer=echo, seconds=0.5) as server:
        done = run(
            "collect",
            *words[:2],
            tmp_path / "slow",
            "--model",
            server.reference,
            "--set=timeout=0.05",
            "--set=retries=0",
        )
    assert (done.returncode, "no answer within 0.05 s" in done.stderr) == (2, True)


def test_a_round_is_opened_with_limits_and_a_model_that_stands_in(tmp_path: Path) -> None:
    store = make(tmp_path / "c", arms="adversarial")
    with store.write() as tx:
        close_round(tx, 1, force=True, by=None)
    words = ("round", "open", tmp_path / "c", "--adversary", "openai:http://127.0.0.1:1/v1#m", "--seconds", 5)
    words += ("--fallback", "tests.web.duels:obedient", "--budget", 2, "--set", "price_in=1")
    assert told(*words) == told(*words), "the same again changes nothing"
    with store.read() as tx:
        current = open_round_of(tx, 1)
    assert current is not None
    first, second = current.adversaries
    assert (first.seconds, first.fallback, first.options) == (5.0, second.name, {"price_in": "1", "budget": "2.0"})
    assert (second.stands_in, second.fallback, second.options) == (True, None, {})
    assert current.drawn_from == [first]
    for wrong, problem in (("--budget=1", "only endpoints"), ("--fallback=nowhere", "nowhere")):
        done = run("collect", "round", "open", tmp_path / "c", "--adversary", "tests.web.duels:obedient", wrong)
        assert (done.returncode, problem in done.stderr) == (2, True)
