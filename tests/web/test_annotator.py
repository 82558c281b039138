from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from goldlabel.collect import projects
from goldlabel.collect.configuration import configure, create_project, set_state
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money import recount
from goldlabel.collect.people import people, qualification
from goldlabel.collect.people.accounts import close_session, open_session
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import answers, drafts, ledger, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.texts import training_examples
from goldlabel.collect.work import assignment
from goldlabel.collect.work.pool import add_premises
from goldlabel.web.app import create_app
from tests.collect.campaign import Projects, bring_pairs, join, small_protocol, verify_all, write_all

GOOD = {
    ("entailment", "easy"): "An animal was outside.",
    ("entailment", "medium"): "Something moved over stone.",
    ("neutral", "easy"): "It was looking for food.",
    ("neutral", "medium"): "Children watched it pass.",
    ("contradiction", "easy"): "Nothing ever moved there.",
    ("contradiction", "medium"): "All beasts stayed at home.",
}


class Visitor:
    """A person with a browser: session, token, and what the server last said."""

    def __init__(self, app: FastAPI, store: Store, person_id: int) -> None:
        self.client = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
        with store.write() as tx:
            self.session = open_session(tx, person_id, lifetime=timedelta(hours=1))
        self.client.cookies.set("goldlabel_session", self.session.token)
        self.person_id = person_id

    def page(self, path: str, **options: Any) -> Any:
        return self.client.get(path, **options)

    def data(self, path: str) -> dict[str, Any]:
        """The data that a page hands to its script."""
        text = self.page(path).text
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
        assert found is not None, text
        return dict(orjson.loads(found[1]))

    def send(self, path: str, body: Any = None, *, method: str = "POST", csrf: str | None = None) -> Any:
        headers = {"X-CSRF-Token": csrf or self.session.csrf_secret}
        return self.client.request(method, path, json=body, headers=headers)

    def fill(self, path: str, **fields: Any) -> Any:
        return self.client.post(path, data=fields | {"csrf": self.session.csrf_secret})


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[tuple[Store, FastAPI, int, list[int]]]:
    """A project in which two people write, two verify, and everything is verified twice."""
    with Projects() as opened:
        store, project_id = opened.open(tmp_path / "c", small_protocol("multi-constraint", verifiers=2), premises=3)
        writers = join(store, project_id, "writer", 2, condition="multi-constraint")
        yield store, create_app(store), project_id, writers + join(store, project_id, "verifier", 2)


def hypotheses(**changed: str) -> list[dict[str, str]]:
    texts = {" ".join(slot): text for slot, text in GOOD.items()} | {
        name.replace("_", " "): text for name, text in changed.items()
    }
    return [{"label": name.split()[0], "level": name.split()[1], "text": text} for name, text in texts.items()]


def count(store: Store, table: Any, *conditions: Any) -> int:
    with store.read() as tx:
        return int(tx.value(select(func.count()).select_from(table).where(*conditions)))


def test_a_premise_is_written_about_once_however_often_it_is_sent(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    task = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]
    body = {"key": "abc", "hypotheses": hypotheses(), "timings": {"total": 41.5, "entailment easy": 7}}
    first, again = (visitor.send(f"/api/assignments/{task['assignment']}/submit", body) for _ in range(2))
    assert first.status_code == again.status_code == 200
    assert first.json() | {"repeated": True} == again.json()
    assert first.json()["state"] == "counted"
    assert first.json()["amount"] == "1.80"
    assert len(first.json()["work"]["tasks"]) == 1
    assert count(store, pairs) == 6
    assert count(store, ledger) == 1
    other = visitor.send(f"/api/assignments/{task['assignment']}/submit", body | {"key": "another"})
    assert other.status_code == 409
    assert count(store, pairs) == 6
    with store.read() as tx:
        assert tx.value(select(answers.c.seconds)) == 41.5
        assert recount.check(tx, project_id) == []


def test_what_breaks_a_rule_is_refused_with_each_rule_and_the_task_stays(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    task = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]
    broken = hypotheses(contradiction_medium="There was no beast.", entailment_easy=task["premise"])
    answer = visitor.send(f"/api/assignments/{task['assignment']}/submit", {"key": "k", "hypotheses": broken})
    assert answer.status_code == 422
    assert answer.json()["error"] == "broken_rules"
    assert [one["rule"] for one in answer.json()["violations"]] == ["same_as_premise", "negator"]
    checked = visitor.send(f"/api/assignments/{task['assignment']}/check", {"hypotheses": broken})
    assert [one["rule"] for one in checked.json()] == ["same_as_premise", "negator"]
    assert count(store, pairs) == 0
    assert visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0] == task


def test_a_draft_is_kept_and_an_older_one_does_not_replace_it(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    task = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]
    path = f"/api/assignments/{task['assignment']}/draft"
    newer = {
        "texts": {"neutral easy": "<b>半</b> 😀 \u2028"},
        "unusable": False,
        "note": "",
        "seconds": {"total": 3.5},
        "device": "d",
        "responses": {"why": "It is near."},
    }
    older = newer | {"texts": {"neutral easy": "old"}}
    assert visitor.send(path, {"revision": 1700000000002, "content": newer}, method="PUT").json()["revision"] % 10 == 2
    assert visitor.send(path, {"revision": 1700000000001, "content": older}, method="PUT").json()["revision"] % 10 == 2
    shown = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]
    assert shown["draft"] == {"revision": 1700000000002, "content": newer}
    assert "<b>半</b>" not in visitor.page(f"/projects/{project_id}/write").text
    visitor.send(f"/api/assignments/{task['assignment']}/submit", {"key": "k", "hypotheses": hypotheses()})
    assert count(store, drafts) == 0
    assert visitor.send(path, {"revision": 1700000000003, "content": newer}, method="PUT").status_code == 409


def test_what_was_written_for_a_skipped_premise_is_offered_where_nothing_is_left(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    (first,) = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"]
    content = {"texts": {"neutral easy": "It waited."}}
    path = f"/api/assignments/{first['assignment']}/skip"
    done = [visitor.send(path, {"draft": {"revision": 9, "content": content}}) for _ in range(2)]
    assert [one.status_code for one in done] == [200, 200]
    shown = visitor.data(f"/projects/{project_id}/write")
    assert shown["aside"] == {"assignment": first["assignment"], "premise": first["premise"]}
    for _ in range(2):
        (task,) = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"]
        visitor.send(f"/api/assignments/{task['assignment']}/skip")
    assert first["premise"] in unescape(visitor.page(f"/projects/{project_id}/write").text)
    back = visitor.fill(f"/projects/{project_id}/write/resume", assignment=first["assignment"])
    assert back.headers["location"] == f"/projects/{project_id}/write"
    (again,) = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"]
    assert again["draft"]["content"]["texts"] == content["texts"]


def test_pages_that_need_a_script_say_so(writing: Any) -> None:
    store, app, project_id, (ann, bob, cem, _) = writing
    assert "<noscript>" in Visitor(app, store, ann).page(f"/projects/{project_id}/write").text
    write_all(store, project_id, [ann, bob])
    page = Visitor(app, store, cem).page(f"/projects/{project_id}/verify").text
    assert "<noscript>" in page
    assert "If A is true, then B is …" in page


def test_unusable_and_skipped_premises(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    (one,) = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"]
    assert visitor.send(f"/api/assignments/{one['assignment']}/unusable", {"key": "k", "note": " "}).status_code == 422
    done = visitor.send(f"/api/assignments/{one['assignment']}/unusable", {"key": "k", "note": "only a date"}).json()
    (two,) = done["work"]["tasks"]
    assert two["assignment"] != one["assignment"]
    for _ in range(2):
        left = visitor.send(f"/api/assignments/{two['assignment']}/skip")
        assert left.status_code == 200
        assert two["assignment"] not in [task["assignment"] for task in left.json()["work"]["tasks"]]
    data = visitor.data(f"/projects/{project_id}/write")
    assert data["progress"] == {"done": 1, "total": 50}
    with store.read() as tx:
        assert tx.value(select(answers.c.note)) == "only a date"


def test_answers_are_stored_also_when_their_writer_may_not_go_on(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    task = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]
    with store.write() as tx:
        people.set_member(tx, project_id, ann, "writer", by=None, state="paused")
    answer = visitor.send(f"/api/assignments/{task['assignment']}/submit", {"key": "k", "hypotheses": hypotheses()})
    assert answer.json()["state"] == "counted"
    assert count(store, pairs) == 6


def test_verifiers_see_neither_labels_nor_where_a_pair_comes_from(writing: Any) -> None:
    store, app, project_id, (ann, bob, cem, _) = writing
    write_all(store, project_id, [ann, bob])
    bring_pairs(store, project_id, 3, origin="gold", labels=("neutral",))
    bring_pairs(store, project_id, 3, origin="foreign", labels=("neutral",))
    visitor = Visitor(app, store, cem)
    data = visitor.data(f"/projects/{project_id}/verify")
    for task in data["work"]["tasks"]:
        given = {name for name, value in task.items() if value is not None}
        assert given == {"assignment", "premise", "hypothesis"}
    answer = visitor.send(
        f"/api/assignments/{data['work']['tasks'][0]['assignment']}/vote",
        {"key": "k", "label": "neutral", "seconds": 2},
    ).json()
    assert set(answer) == {"state", "repeated", "amount", "work"}
    own = Visitor(app, store, ann)
    assert own.page(f"/projects/{project_id}/verify").status_code == 403


def test_a_vote_is_stored_once_and_the_last_can_be_taken_back_once(writing: Any) -> None:
    store, app, project_id, (ann, bob, cem, _) = writing
    write_all(store, project_id, [ann, bob])
    visitor = Visitor(app, store, cem)
    one, two = visitor.data(f"/projects/{project_id}/verify")["work"]["tasks"]

    def vote(task: dict[str, Any], key: str) -> Any:
        return visitor.send(f"/api/assignments/{task['assignment']}/vote", {"key": key, "label": "neutral"})

    def undo(task: dict[str, Any], key: str) -> Any:
        return visitor.send(f"/api/assignments/{task['assignment']}/undo", {"key": key})

    assert vote(one, "first").json()["repeated"] is False
    assert vote(one, "first").json()["repeated"] is True
    assert vote(two, "second").status_code == 200
    assert visitor.data(f"/projects/{project_id}/verify")["last"]["task"] == two
    assert undo(one, "first").status_code == 409
    assert undo(two, "first").status_code == 404
    for _ in range(3):
        back = undo(two, "second")
        assert back.status_code == 200
        assert two | {"earlier": "neutral"} in back.json()["work"]["tasks"]
    assert count(store, answers, answers.c.kind == "verify", answers.c.state == "counted") == 1
    assert vote(two, "third").json()["state"] == "counted"
    assert undo(two, "second").status_code == 200
    assert count(store, answers, answers.c.kind == "verify", answers.c.state == "counted") == 2
    with store.read() as tx:
        assert recount.check(tx, project_id) == []


def test_the_last_vote_of_all_can_be_taken_back(writing: Any) -> None:
    store, app, project_id, (ann, bob, cem, dee) = writing
    write_all(store, project_id, [ann, bob])
    verify_all(store, project_id, [cem, dee])
    visitor = Visitor(app, store, cem)
    page = visitor.page(f"/projects/{project_id}/verify").text
    assert "All done" in page
    fields = {name: re.search(rf'name="{name}" value="([^"]+)"', page)[1] for name in ("assignment", "key")}  # type: ignore[index]
    assert visitor.fill(f"/projects/{project_id}/verify/undo", **fields).status_code == 303
    assert len(visitor.data(f"/projects/{project_id}/verify")["work"]["tasks"]) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("paused", "paused this project"),
        ("suspended", "no more tasks in this project for now"),
        ("capped", "as much as one person may"),
        ("waiting", "Others are working on what is left"),
        ("finished", "Everything in this project is done"),
    ],
)
def test_why_there_is_nothing_to_do(writing: Any, change: str, words: str) -> None:
    store, app, project_id, (ann, bob, *_) = writing
    with store.write() as tx:
        if change == "paused":
            set_state(tx, project_id, "paused", by=None)
        elif change == "suspended":
            people.set_member(tx, project_id, ann, "writer", by=None, state="paused")
        elif change == "capped":
            protocol = projects.project(tx, project_id).protocol
            configure(tx, project_id, replace(protocol, writing=replace(protocol.writing, cap=1)), by=None)
        elif change == "waiting":
            assignment.claim(tx, project_id, bob, "write", hold=3)
    if change == "capped":
        write_all(store, project_id, [ann], most=1)
    if change == "finished":
        write_all(store, project_id, [bob])
    page = Visitor(app, store, ann).page(f"/projects/{project_id}/write")
    assert page.status_code == 200
    assert words in unescape(page.text)


def test_verifiers_wait_while_people_write_and_others_take_what_is_left(writing: Any) -> None:
    store, app, project_id, (ann, bob, cem, _) = writing
    assert "people are still writing" in Visitor(app, store, cem).page(f"/projects/{project_id}/verify").text
    write_all(store, project_id, [ann, bob])
    verify_all(store, project_id, [cem])
    assert "people who have not seen it" in Visitor(app, store, cem).page(f"/projects/{project_id}/verify").text


def make_training(store: Store, **rules: Any) -> tuple[int, int]:
    """A human baseline with training, and a verifier in it."""
    protocol = make_protocol("human-baseline", "en")
    with store.write() as tx:
        made = create_project(
            tx, "baseline", replace(protocol, qualification=replace(protocol.qualification, **rules)), seed=1
        )
        import_pairs(
            tx,
            made.id,
            [NewPair(premise="A goat sleeps.", hypothesis="It rests.", label="entailment")],
            origin="imported",
            by=None,
        )
    return made.id, join(store, made.id, "verifier", 1)[0]


def test_training_tells_the_answer_after_each_example_and_lets_pass(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "c")
    project_id, person_id = make_training(store, training=5, threshold=0.8)
    visitor = Visitor(create_app(store), store, person_id)
    start = visitor.page(f"/projects/{project_id}/verify")
    training = f"/projects/{project_id}/training/verifier"
    assert start.headers["location"] == training
    with store.read() as tx:
        examples = training_examples(projects.project(tx, project_id).protocol, "verifier")
    assert "5 examples to practise on" in visitor.page(training).text
    for number, example in examples.items():
        page = unescape(visitor.page(f"{training}?begin=true").text)
        assert example.premise in page
        assert example.explanation not in page
        assert example.explanation not in unescape(visitor.page(f"{training}?seen={number}").text)
        label = example.label if number else next(one for one in ("neutral", "entailment") if one != example.label)
        told = visitor.fill(training, example=number, label=label)
        assert told.status_code == 303
        page = unescape(visitor.page(told.headers["location"]).text)
        assert example.explanation in page
        assert ("Right:" in page) == bool(number)
    page = visitor.page(training).text
    assert "4 of 5 examples right" in page
    assert len(visitor.data(f"/projects/{project_id}/verify")["work"]["tasks"]) == 1
    store.close()


def test_training_that_fails_can_be_taken_again_if_the_requester_allows_it(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "c")
    project_id, person_id = make_training(store, training=2, threshold=1.0)
    visitor = Visitor(create_app(store), store, person_id)
    training = f"/projects/{project_id}/training/verifier"
    for number in range(2):
        visitor.fill(training, example=number, label="contradiction")
    page = unescape(visitor.page(training).text)
    assert "Not yet" in page
    assert "2 are needed" in page
    assert visitor.page(f"/projects/{project_id}/verify").headers["location"] == training
    with store.write() as tx:
        qualification.allow_attempt(tx, project_id, person_id, by=None)
    assert "This is attempt 2" in visitor.page(training).text
    assert visitor.fill(training, example=7, label="contradiction").status_code == 422
    assert visitor.fill(training, example=0, label="perhaps").status_code == 422
    store.close()


def test_instructions_of_a_project_are_shown_as_text_and_markup_of_ours_only(writing: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    with store.write() as tx:
        protocol = projects.project(tx, project_id).protocol
        own = {"multi-constraint": "# Hear, hear\n\n<script>alert(1)</script> **twice**"}
        configure(tx, project_id, replace(protocol, instructions=own), by=None)
    page = Visitor(app, store, ann).page(f"/projects/{project_id}/instructions/writer").text
    assert "<h1>Hear, hear</h1>" in page
    assert "<strong>twice</strong>" in page
    assert "&lt;script&gt;" in page
    assert Visitor(app, store, ann).page(f"/projects/{project_id}/instructions/verifier").status_code == 403


def test_texts_of_people_never_become_markup(tmp_path: Path) -> None:
    nasty = "</script><script>alert(1)</script> a quite long premise"
    store = Store.create(tmp_path / "c")
    with store.write() as tx:
        made = create_project(tx, "<i>name</i>", small_protocol("single", verifiers=1), seed=1)
        add_premises(tx, made.id, [Premise(text=nasty, genre="<u>g</u>")], by=None)
    (person_id,) = join(store, made.id, "writer", 1, condition="single")
    page = Visitor(create_app(store), store, person_id).page(f"/projects/{made.id}/write").text
    for markup in ("<script>alert", "<i>name", "<u>g"):
        assert markup not in page
    store.close()


def test_nobody_touches_the_task_of_another_and_a_session_that_is_over_says_so(writing: Any) -> None:
    store, app, project_id, (ann, bob, *_) = writing
    visitor, other = Visitor(app, store, ann), Visitor(app, store, bob)
    number = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]["assignment"]
    calls: list[tuple[str, str, Any]] = [
        ("PUT", "draft", {"revision": 1, "content": {}}),
        ("POST", "submit", {"key": "k", "hypotheses": hypotheses()}),
        ("POST", "check", {"hypotheses": hypotheses()}),
        ("POST", "unusable", {"key": "k", "note": "n"}),
        ("POST", "skip", None),
        ("POST", "vote", {"key": "k", "label": "neutral"}),
        ("POST", "undo", {"key": "k"}),
    ]
    for method, name, body in calls:
        assert other.send(f"/api/assignments/{number}/{name}", body, method=method).status_code == 404, name
        assert visitor.send(f"/api/assignments/{number}/{name}", body, method=method, csrf="x").status_code == 403, name
    assert other.page(f"/api/assignments/{number}").status_code == 404
    assert visitor.page(f"/api/assignments/{number}").json()["assignment"] == number
    with store.write() as tx:
        close_session(tx, visitor.session.token)
    answer = visitor.send(f"/api/assignments/{number}/skip")
    assert answer.status_code == 401 or answer.json()["error"] == "csrf"
    assert visitor.page("/api/session").json()["signed_in"] is False
    assert count(store, answers) == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("submit", {"key": "", "hypotheses": []}),
        ("submit", {"key": "k" * 201, "hypotheses": []}),
        ("submit", {"key": "a\x00b", "hypotheses": hypotheses()}),
        ("submit", {"key": "k", "hypotheses": [{"label": "entailment", "level": "hardest", "text": "x"}]}),
        ("submit", {"key": "k", "hypotheses": hypotheses(), "timings": {"total": -1}}),
        ("submit", {"key": "k", "hypotheses": [*hypotheses(), *hypotheses()]}),
        ("unusable", {"key": "k", "note": "n" * 1001}),
        ("draft", {"revision": -1, "content": {}}),
        ("draft", {"revision": 2**63, "content": {}}),
        ("draft", {"revision": 1, "content": {"texts": {"x": "\ud800"}}}),
    ],
)
def test_what_cannot_be_stored_is_refused_in_words(writing: Any, path: str, body: Any) -> None:
    store, app, project_id, (ann, *_) = writing
    visitor = Visitor(app, store, ann)
    number = visitor.data(f"/projects/{project_id}/write")["work"]["tasks"][0]["assignment"]
    answer = visitor.client.request(
        "PUT" if path == "draft" else "POST",
        f"/api/assignments/{number}/{path}",
        content=json.dumps(body),
        headers={"X-CSRF-Token": visitor.session.csrf_secret, "Content-Type": "application/json"},
    )
    assert answer.status_code == 422, answer.text
    assert answer.json()["message"]
    assert count(store, answers) == count(store, drafts) == 0


def test_the_count_of_a_verifier_does_not_tell_questions_apart(writing: Any) -> None:
    store, app, project_id, (ann, bob, cem, _) = writing
    write_all(store, project_id, [ann, bob])
    with store.write() as tx:
        protocol = projects.project(tx, project_id).protocol
        rules = replace(protocol.qualification, gold_rate=0.5)
        configure(tx, project_id, replace(protocol, qualification=rules), by=None)
    bring_pairs(store, project_id, 9, origin="gold", labels=("neutral",))
    visitor = Visitor(app, store, cem)
    seen = []
    for number in range(12):
        data = visitor.data(f"/projects/{project_id}/verify")
        seen.append((data["progress"]["done"], data["progress"]["total"]))
        body = {"key": f"k{number}", "label": "neutral"}
        visitor.send(f"/api/assignments/{data['work']['tasks'][0]['assignment']}/vote", body)
    assert seen == [(number, 27 + 9) for number in range(12)]
    assert count(store, answers, answers.c.kind == "gold") > 0


def ordinal_project(store: Store) -> tuple[int, int]:
    protocol = make_protocol("vetting", "zh")
    with store.write() as tx:
        made = create_project(
            tx, "审阅", replace(protocol, qualification=replace(protocol.qualification, training=0)), seed=1
        )
        import_pairs(
            tx, made.id, [NewPair(premise="山羊在睡觉。", hypothesis="山羊累了。")], origin="imported", by=None
        )
    return made.id, join(store, made.id, "verifier", 1)[0]


def test_five_steps_and_what_else_can_be_answered(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "c")
    project_id, person_id = ordinal_project(store)
    visitor = Visitor(create_app(store), store, person_id)
    page = visitor.page(f"/projects/{project_id}/verify").text
    keys: Callable[[str], list[str]] = lambda name: re.findall(rf'data-{name}="([^"]+)"', page)  # noqa: E731
    assert dict(zip(keys("key"), keys("answer"), strict=True)) == {
        "1": "very_likely",
        "2": "likely",
        "3": "plausible",
        "4": "technically_possible",
        "5": "impossible",
        "i": "incomprehensible",
    }
    number = visitor.data(f"/projects/{project_id}/verify")["work"]["tasks"][0]["assignment"]
    refused = visitor.send(f"/api/assignments/{number}/vote", {"key": "k", "label": "neutral"})
    assert refused.status_code == 422
    assert visitor.send(f"/api/assignments/{number}/vote", {"key": "k", "label": "likely"}).status_code == 200
    store.close()
