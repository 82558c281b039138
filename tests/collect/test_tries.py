from __future__ import annotations

from dataclasses import replace

import pytest

from goldlabel.collect import assignment
from goldlabel.collect.assignment import claim, skip
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.premises import Premise
from goldlabel.collect.projects import add_premises, create_project
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.store import Store
from goldlabel.collect.tries import add_try, record_scores, tries_of
from goldlabel.errors import InputError
from tests.collect.campaign import join
from tests.collect.conftest import MovableClock

RIGHT = {"entailment": 0.1, "neutral": 0.7, "contradiction": 0.2}
WRONG = {"entailment": 0.6, "neutral": 0.3, "contradiction": 0.1}


@pytest.fixture
def task(store: Store) -> tuple[Store, int, int]:
    """A premise in a writer's hands, and three tries at it."""
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(
        protocol,
        writing=replace(protocol.writing, tries=3),
        qualification=replace(protocol.qualification, training=0),
    )
    with store.write() as tx:
        project_id = create_project(tx, "round", protocol).id
        add_premises(tx, project_id, [Premise(text="A heron stood in the rain.", genre="news")], by=None)
    (writer,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        (given,) = claim(tx, project_id, writer, "write").tasks
    return store, given.assignment_id, writer


def test_a_writer_tries_until_the_model_is_wrong(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    with store.write() as tx:
        first = add_try(tx, number, writer, key="a", target="neutral", text=" The heron was   cold. ")
        assert (first.number, first.text, first.fooled) == (1, "The heron was cold.", None)
        assert add_try(tx, number, writer, key="a", target="neutral", text="Something else.") == first
        with pytest.raises(Conflict, match="waits for the model"):
            add_try(tx, number, writer, key="b", target="neutral", text="The heron was old.")
        assert record_scores(tx, number, writer, 1, model="m1", scores=RIGHT).fooled is False
        assert record_scores(tx, number, writer, 1, model="m2", scores=WRONG).model == "m1"
        add_try(tx, number, writer, key="b", target="neutral", text="The heron was old.")
        assert record_scores(tx, number, writer, 2, model="m2", scores=WRONG).fooled is True
        with pytest.raises(Conflict, match="no need for another"):
            add_try(tx, number, writer, key="c", target="neutral", text="The heron was grey.")
    with store.read() as tx:
        kept = tries_of(tx, number, writer)
    assert [(one.number, one.model, one.scores) for one in kept] == [(1, "m1", RIGHT), (2, "m2", WRONG)]


def test_tries_are_used_up(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    with store.write() as tx:
        for turn in range(3):
            add_try(tx, number, writer, key=str(turn), target="neutral", text=f"The heron waited {turn} hours.")
            record_scores(tx, number, writer, turn + 1, model="m", scores=RIGHT)
        with pytest.raises(Conflict, match="all 3 tries are used up"):
            add_try(tx, number, writer, key="more", target="neutral", text="The heron waited.")
        skip(tx, number, writer)
        with pytest.raises(Conflict, match="not being written any more"):
            add_try(tx, number, writer, key="late", target="neutral", text="The heron waited.")
        assert len(tries_of(tx, number, writer)) == 3


def test_a_try_shows_that_the_task_is_worked_on(task: tuple[Store, int, int], clock: MovableClock) -> None:
    store, number, writer = task
    clock.move(minutes=50)
    with store.write() as tx:
        before = assignment.task(tx, number, writer).expires_at
        add_try(tx, number, writer, key="a", target="neutral", text="The heron was cold.")
        assert assignment.task(tx, number, writer).expires_at > before


def test_what_is_not_a_try_is_refused(task: tuple[Store, int, int]) -> None:
    store, number, writer = task
    with store.write() as tx:
        with pytest.raises(InputError, match="target 'likely' is not one of contradiction, entailment, neutral"):
            add_try(tx, number, writer, key="a", target="likely", text="The heron was cold.")
        for text in (" ", "x" * 1001):
            with pytest.raises(InputError, match="characters; allowed: 1 to 1000"):
                add_try(tx, number, writer, key="a", target="neutral", text=text)
        for key in ("", "k" * 201, "a\nb"):
            with pytest.raises(InputError, match="1 to 200 printable characters"):
                add_try(tx, number, writer, key=key, target="neutral", text="The heron was cold.")
        with pytest.raises(Missing, match="there is no task"):
            add_try(tx, number, writer + 1, key="a", target="neutral", text="The heron was cold.")
        add_try(tx, number, writer, key="a", target="neutral", text="The heron was cold.")
        for scores in ({"neutral": 1.0}, {**RIGHT, "neutral": float("nan")}):
            with pytest.raises(InputError, match="no probability for each of contradiction, entailment, neutral"):
                record_scores(tx, number, writer, 1, model="m", scores=scores)
