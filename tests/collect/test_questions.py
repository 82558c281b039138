"""Questions of a requester's own: bounded, asked with an answer, kept with it, exported beside the votes, counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import select

from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.stats import project_stats
from goldlabel.collect.money.recount import check
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import answers
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.history import change_responses, change_vote, sent, withdraw
from goldlabel.collect.work.questions import LONGEST_RESPONSE, MOST_QUESTIONS, Question
from goldlabel.collect.work.responses import checked_responses, own_questions
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.collect.work.writing import submit
from goldlabel.pairs import read
from tests.collect.campaign import join, small_protocol
from tests.collect.test_assignment import meadow

SURE = Question(name="sure", text="How sure are you?", kind="scale", options=("not", "so so", "very"), required=True)
WHY = Question(name="why", text="Why?", kind="text")
THEME = Question(name="theme", text="What is it about?", options=("wildlife", "roads"), asked="write")


def asking(verifiers: int = 2) -> Protocol:
    return replace(small_protocol("single", verifiers=verifiers), questions=(SURE, WHY, THEME))


def write_one(store: Store, project_id: int, writer: int, responses: dict[str, str]) -> None:
    with store.write() as tx:
        [got] = claim(tx, project_id, writer, "write").tasks
        labels = ("entailment", "neutral", "contradiction")
        texts = [
            Hypothesis(label=label, level="only", text=f"It is {label} claim {got.assignment_id}") for label in labels
        ]
        submit(tx, got.assignment_id, writer, key="w", hypotheses=texts, responses=responses)


def judge(store: Store, project_id: int, person: int, label: str, responses: dict[str, str]) -> int:
    with store.write() as tx:
        [got] = claim(tx, project_id, person, "verify").tasks
        return vote(
            tx, got.assignment_id, person, key=f"{label} {responses}", label=label, responses=responses
        ).answer_id


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"name": ""}, "name"),
        ({"text": "x" * 501}, "text"),
        ({"kind": "number"}, "choice, scale, text"),
        ({"options": ("one",)}, "options"),
        ({"options": ("one", "one")}, "options"),
        ({"options": tuple("abcdefghij")}, "options"),
        ({"kind": "text"}, "options"),
        ({"asked": "tag"}, "write, verify"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        replace(SURE, **wrong)


def test_questions_of_a_protocol() -> None:
    protocol = make_protocol("human-baseline", "en")
    with pytest.raises(Invalid, match="verify"):
        replace(protocol, questions=(THEME,))
    with pytest.raises(Invalid, match="names differ"):
        replace(protocol, questions=(SURE, SURE))
    many = tuple(replace(SURE, name=str(n)) for n in range(MOST_QUESTIONS + 1))
    with pytest.raises(Invalid, match=f"up to {MOST_QUESTIONS} questions"):
        replace(protocol, questions=many)
    kept = replace(protocol, questions=(SURE, WHY))
    assert Protocol.from_dict(orjson.loads(orjson.dumps(kept.to_dict()))) == kept


def test_what_a_form_says() -> None:
    row = {"name": " sure ", "text": "How sure?", "kind": "scale", "options": "", "asked": "verify", "required": True}
    empty = {**row, "name": "", "text": " "}
    [made] = own_questions([row, empty])
    assert (made.name, made.options, made.required) == ("sure", ("1", "2", "3", "4", "5"), True)
    with pytest.raises(Invalid, match=r"questions\[1\]\.text"):
        own_questions([row, {**row, "text": ""}])


@pytest.mark.parametrize(
    ("responses", "says"),
    [
        ({}, "'sure' is not answered"),
        ({"sure": " "}, "'sure' is not answered"),
        ({"sure": "quite"}, "not one of not, so so, very"),
        ({"sure": "very", "theme": "roads"}, "no question 'theme'"),
        ({"sure": "very", "why": "x" * (LONGEST_RESPONSE + 1)}, "up to 1000"),
    ],
)
def test_responses_that_are_refused(responses: dict[str, str], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        checked_responses((SURE, WHY, THEME), "verify", responses)


def test_responses_follow_their_answers(store: Store, tmp_path: Path) -> None:
    project_id = meadow(store, asking(), news=1)
    [writer] = join(store, project_id, "writer", 1)
    ann, bob = join(store, project_id, "verifier", 2)
    write_one(store, project_id, writer, {"theme": "roads"})
    with pytest.raises(Invalid, match="not answered"):
        judge(store, project_id, ann, "neutral", {})
    judge(store, project_id, ann, "neutral", {"sure": "not", "why": "I guess."})
    with store.write() as tx:
        undo(tx, project_id, ann)
    again = judge(store, project_id, ann, "neutral", {"sure": "so so"})
    with store.write() as tx:
        change_responses(tx, project_id, again, ann, {"sure": "very", "why": "Clear."})
        with pytest.raises(Invalid):
            change_responses(tx, project_id, again, ann, {})
        change_vote(tx, project_id, again, ann, "entailment")
        assert sent(tx, project_id, ann)[0][0].responses == {"sure": "very", "why": "Clear."}
        written = sent(tx, project_id, writer)[0][0]
        change_responses(tx, project_id, written.answer_id, writer, {"theme": "wildlife"})
        assert not check(tx, project_id)
    judge(store, project_id, bob, "entailment", {"sure": "not"})
    with store.write() as tx:
        with pytest.raises(Conflict):
            change_responses(tx, project_id, again, ann, {"sure": "not"})
        figures = {one["name"]: one for one in project_stats(tx, project_id, resamples=10).to_dict()["questions"]}
    assert figures["sure"]["options"] == {"not": 1, "so so": 0, "very": 1}
    assert (figures["sure"]["mean"], figures["why"]["n"], figures["theme"]["n"]) == (2.0, 1, 1)
    export_project(store, project_id, tmp_path / "out")
    metas = [orjson.loads(meta) for meta in read(tmp_path / "out").collect()["meta"]]
    [judged] = [meta for meta in metas if "annotators" in meta]
    assert judged["questions"] == [{"theme": "wildlife"}, {"sure": "very", "why": "Clear."}, {"sure": "not"}]
    assert len(judged["annotators"]) == 3
    assert [meta["questions"] for meta in metas if "annotators" not in meta] == [[{"theme": "wildlife"}]] * 2


def test_a_withdrawn_answer_takes_its_responses_out_of_the_figures(store: Store) -> None:
    project_id = meadow(store, asking(), news=1)
    [writer] = join(store, project_id, "writer", 1)
    write_one(store, project_id, writer, {"theme": "roads"})
    [ann] = join(store, project_id, "verifier", 1)
    judged = judge(store, project_id, ann, "neutral", {"sure": "very"})
    with store.write() as tx:
        withdraw(tx, project_id, judged, ann)
        figures = {one["name"]: one for one in project_stats(tx, project_id, resamples=10).to_dict()["questions"]}
        assert tx.value(select(answers.c.responses).where(answers.c.id == judged)) == {"sure": "very"}
        assert not check(tx, project_id)
        tx.change(answers, judged, responses={"sure": "not"})
        assert [line for line in check(tx, project_id) if line.startswith(f"responses of answer {judged}")]
    assert (figures["sure"]["n"], figures["theme"]["n"]) == (0, 1)
