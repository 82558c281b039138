"""What other writers wrote about a text is told when one's own job about it is ended, and not before."""

from __future__ import annotations

import pytest

from goldlabel.collect.people import accounts, people
from goldlabel.collect.rounds.fooling import finish
from goldlabel.collect.rounds.others import others_beside
from goldlabel.collect.rounds.tries import add_try, decide, job_of, take_questions
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import history
from goldlabel.collect.work.assignment import Assignment, claim
from goldlabel.collect.work.leases import own_assignment
from tests.collect.campaign import join, verify_all
from tests.web.duels import LABELS, start_duel
from tests.web.world import World

HEADING = {"en": "What others wrote about this text", "zh": "别人根据这段文字写了什么"}
ASKED = {
    "en": {"entailment": "definitely correct", "neutral": "neither", "contradiction": "definitely incorrect"},
    "zh": {"entailment": "一定正确", "neutral": "两者都不是", "contradiction": "一定错误"},
}


def take(tx: Transaction, project_id: int, writer: int) -> Assignment | None:
    return next(iter(claim(tx, project_id, writer, "write").tasks), None)


def fool(tx: Transaction, task: Assignment, writer: int, text: str, *, tries: int = 2) -> str:
    """End a job with its last try; return what was asked for."""
    target = job_of(tx, own_assignment(tx, task.assignment_id, writer)).target
    other = next(label for label in LABELS if label != target)
    for key, said in (("first", target), ("second", other))[-tries:]:
        add_try(tx, task.assignment_id, writer, key=key, text=f"{text} {key} {task.premise[70:90]}")
        (question,) = take_questions(tx, "worker", 10)
        decide(tx, question.id, model="m", scores={label: 0.8 if label == said else 0.1 for label in LABELS})
    reasons = {"label": "So it is.", "model": "It was rash."}
    finish(tx, task.assignment_id, writer, key="end", reasons=reasons)
    return target


@pytest.mark.parametrize("language", ["en", "zh"])
def test_others_are_read_after_the_job_and_after_judgement(empty: World, language: str) -> None:
    project_id, mine = start_duel(empty.store, "duel")
    empty.people["me"] = mine
    with empty.store.write() as tx:
        theirs = accounts.create_account(tx, "theirs@duel.example", "none")
        people.add_member(tx, project_id, theirs, "writer", by=None)
        targets = {}
        while (task := take(tx, project_id, theirs)) is not None:
            targets[task.premise] = fool(tx, task, theirs, "Theirs")
        own = take(tx, project_id, mine)
    assert own is not None
    me = empty.visitor("me")

    def page(place: str = "mine") -> str:
        return str(me.get(f"/projects/{project_id}/{place}", headers={"accept-language": language}).text)

    assert "Theirs" not in page() + page("write")
    with empty.store.write() as tx:
        fool(tx, own, mine, "Mine")
    assert "Mine" in page()
    assert "Theirs" not in page(), "nothing of theirs is judged yet, and this writer may be asked to judge it"
    judges = join(empty.store, project_id, "verifier", 2)
    verify_all(empty.store, project_id, judges, lambda *_: "neutral")
    with empty.store.write() as tx:
        unfinished = take(tx, project_id, mine)
    assert unfinished is not None
    told = page()
    beside = told.partition(HEADING[language])[2].partition("</details>")[0]
    assert ASKED[language][targets[own.premise]] in beside
    assert beside.count("Theirs") == told.count("Theirs") == 2, "of the texts whose job is ended, and of no other"
    assert beside.count(ASKED[language]["neutral"]) == 1 + (targets[own.premise] == "neutral")
    assert "Theirs" not in page("write")
    assert "theirs@duel.example" not in told


def test_arms_do_not_learn_from_each_other(empty: World) -> None:
    project_id, mine = start_duel(empty.store, "duel", arm="adversarial,plain")
    with empty.store.write() as tx:
        theirs = accounts.create_account(tx, "theirs@duel.example", "none")
        people.add_member(tx, project_id, theirs, "writer", by=None)
        ended = {}
        for writer in (mine, theirs):
            while (task := take(tx, project_id, writer)) is not None:
                fool(tx, task, writer, "Sentence", tries=1)
                ended[writer] = task.premise
    verify_all(empty.store, project_id, join(empty.store, project_id, "verifier", 2), lambda *_: "neutral")
    with empty.store.read() as tx:
        sent, _ = history.sent(tx, project_id, mine)
        assert ended[mine] in {one.premise for one in sent}
        assert not any(others_beside(tx, mine, [one.answer_id for one in sent]).values())
