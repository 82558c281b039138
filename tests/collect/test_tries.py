from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money.recount import check
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.rounds.fooling import finish
from goldlabel.collect.rounds.records import all_tries
from goldlabel.collect.rounds.rounds import Adversary, open_round
from goldlabel.collect.rounds.tries import LEASE, add_try, are_scores, decide, take_questions
from goldlabel.collect.schema import pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work import assignment
from goldlabel.collect.work.assignment import claim, skip
from goldlabel.collect.work.pool import add_premises
from goldlabel.errors import InputError
from tests.collect.campaign import join
from tests.collect.conftest import MovableClock

LABELS = ("contradiction", "entailment", "neutral")
REASONS = {"label": "Herons feel it.", "model": "It looks for words."}


def say(label: str) -> dict[str, float]:
    """Scores of a model that says a label."""
    return {one: 0.8 if one == label else 0.1 for one in LABELS}


@pytest.fixture
def task(store: Store) -> tuple[Store, int, int]:
    """A premise in a writer's hands, who is to write a contradiction, and three tries at it."""
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(
        protocol,
        writing=replace(protocol.writing, tries=3, writers_per_premise=1),
        qualification=replace(protocol.qualification, training=0),
    )
    with store.write() as tx:
        project_id = create_project(tx, "round", protocol).id
        add_premises(
            tx, project_id, [Premise(text=f"A heron stood in the rain {n}.", genre="news") for n in (1, 2)], by=None
        )
        open_round(tx, project_id, [Adversary(name="m", reference="tests:none", options={})], by=None)
    (writer,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        (given,) = claim(tx, project_id, writer, "write").tasks
    return store, given.assignment_id, writer


def project_of(store: Store, number: int, writer: int) -> int:
    with store.read() as tx:
        return assignment.task(tx, number, writer).project_id


def tried(store: Store, number: int, writer: int, key: str, said: str | None) -> str:
    """Try once and have a model say something, or the target; return the target."""
    with store.write() as tx:
        one = add_try(tx, number, writer, key=key, text=f"The heron was {key}.")
        (question,) = take_questions(tx, "worker", 10)
        decide(tx, question.id, model="m", scores=say(said or one.target))
        return one.target


def other(target: str) -> str:
    return next(one for one in LABELS if one != target)


def test_a_writer_tries_until_the_model_is_wrong(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    with store.write() as tx:
        job = add_try(tx, number, writer, key="a", text=" The heron was   cold. ")
        (first,) = job.tries
        assert (first.number, first.text, first.drawn, first.fooled) == (1, "The heron was cold.", "m", None)
        assert add_try(tx, number, writer, key="a", text="Something else.") == job
        with pytest.raises(Conflict, match="waits for the model"):
            add_try(tx, number, writer, key="b", text="The heron was old.")
        with pytest.raises(Conflict, match="waits for the model"):
            finish(tx, number, writer, key="end", reasons=REASONS)
        (question,) = take_questions(tx, "worker", 10)
        assert (question.premise[:5], question.hypothesis) == ("A her", "The heron was cold.")
        assert question.space.labels == LABELS
        decide(tx, question.id, model="m", scores=say(first.target))
        decide(tx, question.id, model="m2", scores=say(other(first.target)))
        assert all_tries(tx, number)[0].model == "m", "what was said first stands"
        assert all_tries(tx, number)[0].fooled is False
    tried(store, number, writer, "old", other(first.target))
    with store.write() as tx, pytest.raises(Conflict, match="no need for another"):
        add_try(tx, number, writer, key="c", text="The heron was grey.")
    with store.read() as tx:
        assert [(one.number, one.fooled) for one in all_tries(tx, number)] == [(1, False), (2, True)]


def test_tries_become_pairs_and_what_fooled_the_model_is_verified(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    target = tried(store, number, writer, "cold", None)
    with store.write() as tx, pytest.raises(Conflict, match="2 tries are left"):
        finish(tx, number, writer, key="end", reasons=REASONS)
    tried(store, number, writer, "old", other(target))
    with store.write() as tx:
        with pytest.raises(InputError, match="why your label is right"):
            finish(tx, number, writer, key="end", reasons={"label": "So it is.", "model": " "})
        done = finish(tx, number, writer, key="end", reasons=REASONS)
        assert finish(tx, number, writer, key="end", reasons=REASONS).repeated
        assert len(done.pair_ids) == 2
        rows = [tx.row(pairs, id=pair_id) for pair_id in done.pair_ids]
    assert [(row.label, row.draw_number, row.meta["fooled"], row.meta["try"]) for row in rows if row] == [
        (target, None, False, 1),
        (target, 1, True, 2),
    ]
    assert rows[1] is not None
    assert rows[1].meta["reasons"] == REASONS
    project_id = project_of(store, number, writer)
    with store.read() as tx:
        assert check(tx, project_id) == []
        assert sorted(take_snapshot(tx, project_id).own.frame.collect()["hypothesis"]) == [
            "The heron was cold.",
            "The heron was old.",
        ]


def test_tries_are_used_up(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    for turn in range(3):
        tried(store, number, writer, str(turn), None)
    with store.write() as tx:
        with pytest.raises(Conflict, match="all 3 tries are used up"):
            add_try(tx, number, writer, key="more", text="The heron waited.")
        assert len(finish(tx, number, writer, key="end", reasons={}).pair_ids) == 3
        with pytest.raises(Conflict, match="not being written any more"):
            add_try(tx, number, writer, key="late", text="The heron waited.")


def test_the_same_sentence_again_is_refused_and_costs_no_try(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    tried(store, number, writer, "cold", None)
    with store.write() as tx:
        with pytest.raises(InputError, match="you tried this sentence before"):
            add_try(tx, number, writer, key="again", text=" the HERON was  cold.")
        assert len(all_tries(tx, number)) == 1
    tried(store, number, writer, "old", None)


def test_a_try_that_no_model_answers_costs_nothing(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    for turn in range(4):
        with store.write() as tx:
            add_try(tx, number, writer, key=str(turn), text="The heron waited.")
            (question,) = take_questions(tx, "worker", 10)
            decide(tx, question.id, model=None, scores=None, problem="m: no answer within 30 s")
    with store.write() as tx:
        assert all(one.failed for one in all_tries(tx, number))
        with pytest.raises(Conflict, match="nothing has been tried yet"):
            finish(tx, number, writer, key="end", reasons=REASONS)
    tried(store, number, writer, "cold", None)


def test_a_try_of_a_worker_that_died_is_taken_by_another(task: tuple[Store, int, int], clock: MovableClock) -> None:
    store, number, writer = task
    with store.write() as tx:
        add_try(tx, number, writer, key="a", text="The heron was cold.")
        assert len(take_questions(tx, "one", 10)) == 1
        assert len(take_questions(tx, "two", 10)) == 0
        assert len(take_questions(tx, "one", 10, busy=["m"])) == 0
        assert len(take_questions(tx, "one", 10)) == 1, "its own, which it lost when it was started anew"
    clock.move(seconds=LEASE.total_seconds())
    with store.write() as tx:
        assert len(take_questions(tx, "two", 10)) == 1


def test_a_try_shows_that_the_task_is_worked_on(task: tuple[Store, int, int], clock: MovableClock) -> None:
    store, number, writer = task
    clock.now += timedelta(minutes=50)
    with store.write() as tx:
        before = assignment.task(tx, number, writer).expires_at
        add_try(tx, number, writer, key="a", text="The heron was cold.")
        assert assignment.task(tx, number, writer).expires_at > before


def test_what_is_not_a_try_is_refused(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    with store.write() as tx:
        for text in (" ", "x" * 1001):
            with pytest.raises(InputError, match="characters; allowed: 1 to 1000"):
                add_try(tx, number, writer, key="a", text=text)
        for key in ("", "k" * 201, "a\nb"):
            with pytest.raises(InputError, match="1 to 200 printable characters"):
                add_try(tx, number, writer, key=key, text="The heron was cold.")
        with pytest.raises(Missing, match="there is no task"):
            add_try(tx, number, writer + 1, key="a", text="The heron was cold.")
        skip(tx, number, writer)
        with pytest.raises(Conflict, match="not being written any more"):
            add_try(tx, number, writer, key="a", text="The heron was cold.")


@pytest.mark.parametrize(
    "scores",
    [
        {"neutral": 1.0},
        {**say("neutral"), "neutral": float("nan")},
        {**say("neutral"), "neutral": -0.2},
        {**say("neutral"), "neutral": 0.9},
        {**say("neutral"), "likely": 0.0},
    ],
)
def test_what_are_no_scores(scores: dict[str, float]) -> None:
    assert are_scores(say("neutral"), LABELS)
    assert not are_scores(scores, LABELS)
