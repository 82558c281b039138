"""Questions of a requester's own, in their settings and on the annotators' pages."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.people.people import add_member
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import answers
from goldlabel.collect.schema import projects as project_rows
from tests.collect.test_questions import SURE, THEME, WHY
from tests.web.world import Visitor, World

FORM = {
    "name": ["sure", "why", ""],
    "text": ["How sure are you?", "Why?", ""],
    "kind": ["scale", "text", "choice"],
    "asked": ["verify", "verify", "verify"],
    "required": ["yes", "", ""],
    "options": ["not\nso so\nvery", "", ""],
}


@pytest.fixture
def boss(empty: World) -> Visitor:
    return empty.visitor("boss")


def judged_project(world: World) -> int:
    plain = make_protocol("human-baseline", "en")
    protocol = replace(plain, questions=(SURE, WHY), qualification=replace(plain.qualification, training=0))
    with world.store.write() as tx:
        made = create_project(tx, "meadow", protocol, by=world.people["boss"], seed=7)
        pairs = [NewPair(premise="A mule sleeps.", hypothesis=f"Animal {n} rests.") for n in range(3)]
        import_pairs(tx, made.id, pairs, origin="imported", by=None)
        add_member(tx, made.id, world.people["boss"], "verifier", by=None)
    return made.id


def test_questions_are_edited(empty: World, boss: Visitor) -> None:
    form = {"name": "meadow", "kind": "human-baseline", "language": "en", "labels": ""}
    home = boss.post("/projects", form).headers["location"]
    project_id = empty.one(select(project_rows.c.id))
    assert f'href="{home}/questions"' in boss.get(f"{home}/settings").text
    assert "Saved" in boss.send(f"{home}/questions", FORM).text
    with empty.store.read() as tx:
        assert project(tx, project_id).protocol.questions == (SURE, WHY)
    assert "so so" in boss.get(f"{home}/questions").text
    for wrong in (
        {"options": ["not", "", ""]},
        {"asked": ["write", "verify", "verify"]},
        {"name": ["sure", "sure", ""]},
    ):
        answer = boss.post(f"{home}/questions", {**FORM, **wrong})
        assert answer.status_code == 422, wrong
        assert "How sure are you?" in answer.text
    many = {name: values * 4 for name, values in FORM.items()}
    assert boss.post(f"{home}/questions", many).status_code == 422
    assert boss.post(f"{home}/questions", {}).status_code == 303
    with empty.store.read() as tx:
        assert project(tx, project_id).protocol.questions == ()


def test_questions_are_asked_and_changed(empty: World, boss: Visitor) -> None:
    project_id = judged_project(empty)
    home = f"/projects/{project_id}"
    page = boss.get(f"{home}/verify").text
    assert "How sure are you?" in page
    assert THEME.text not in page
    headers = {"X-CSRF-Token": boss.token()}
    claimed = boss.client.post(f"/api{home}/claim", json={"kind": "verify"}, headers=headers).json()
    task = f"/api/assignments/{claimed['tasks'][0]['assignment']}"
    vote = {"key": "one", "label": "neutral", "responses": {"sure": "very"}}
    for wrong in ({}, {"sure": "quite"}, {"other": "very"}, {str(n): "x" for n in range(11)}, {"sure": "x" * 1001}):
        answer = boss.client.post(f"{task}/vote", json={**vote, "responses": wrong}, headers=headers)
        assert answer.status_code == 422, wrong
    assert boss.client.post(f"{task}/vote", json=vote, headers=headers).status_code == 200
    assert empty.one(select(answers.c.responses)) == {"sure": "very"}
    assert boss.client.post(f"{task}/undo", json={"key": "one"}, headers=headers).status_code == 200
    again = boss.client.get(task).json()
    assert (again["earlier"], again["responses"]) == ("neutral", {"sure": "very"})
    assert boss.client.post(f"{task}/vote", json={**vote, "key": "two"}, headers=headers).status_code == 200
    answer_id = empty.one(select(answers.c.id).where(answers.c.key == "two"))
    assert "How sure are you?" in boss.get(f"{home}/mine").text
    counted = boss.get(home).text.partition("Questions of your own")[2]
    rows = re.findall(r"<tr><td>([^<]+)</td><td class=\"number\">(\d+)", counted)
    assert rows == [("not", "0"), ("so so", "0"), ("very", "1")]
    change = {"name": ["sure", "why"], "response": ["not", "No idea."]}
    assert boss.post(f"{home}/mine/{answer_id}/responses", change).status_code == 303
    assert empty.one(select(answers.c.responses).where(answers.c.id == answer_id)) == {"sure": "not", "why": "No idea."}
