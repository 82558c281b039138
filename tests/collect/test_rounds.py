from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.hiding import hide_premise
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money.ledger import lines
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.rejection import carry_out
from goldlabel.collect.people.rejection import decide as reject
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import with_settings
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.rounds.fooling import finish
from goldlabel.collect.rounds.rounds import (
    Adversary,
    Rates,
    close_round,
    keep_trained,
    open_round,
    open_round_of,
    open_work,
    rounds_of,
    unused_contexts,
)
from goldlabel.collect.rounds.tries import add_try, decide, take_questions
from goldlabel.collect.schema import assignments, pairs, premises, rounds, tries
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.assignment import claim, skip
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import vote
from goldlabel.errors import InputError
from goldlabel.rounds import measure_campaign
from tests.collect.campaign import join, small_protocol

MODELS = [Adversary(name=name, reference="tests:none", options={}) for name in ("m1", "m2")]


@pytest.fixture
def project_id(store: Store) -> int:
    """Four contexts, each for a writer of each label."""
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    with store.write() as tx:
        made = create_project(tx, "campaign", protocol).id
        add_premises(
            tx, made, [Premise(text=f"A heron stood in the rain {n}.", genre="news") for n in range(4)], by=None
        )
    return made


def fool(store: Store, project_id: int, writer: int) -> str:
    """Do the next job; return its target."""
    with store.write() as tx:
        (task,) = claim(tx, project_id, writer, "write").tasks
        return fool_once(tx, task.assignment_id, writer, set())


def fool_once(tx: Transaction, number: int, writer: int, drawn: set[str]) -> str:
    """Do a job: the model that is drawn says at once what it should not; return the target."""
    one = add_try(tx, number, writer, key="a", text="The heron was cold.")
    (question,) = take_questions(tx, "worker", 10)
    drawn.add(question.drawn)
    wrong = next(label for label in question.space.labels if label != one.target)
    scores = {label: float(label == wrong) for label in question.space.labels}
    decide(tx, question.id, model=question.drawn, scores=scores)
    finish(tx, number, writer, key="end", reasons={"label": "So it is.", "model": "It was rash."})
    return one.target


def test_writing_waits_for_a_round(store: Store, project_id: int) -> None:
    (writer,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        assert claim(tx, project_id, writer, "write").status == "between_rounds"
        first = open_round(tx, project_id, MODELS, by=None)
        assert (first.number, first.tries, first.adversaries) == (1, 5, tuple(MODELS))
        assert open_round(tx, project_id, MODELS, by=None) == first, "asked twice, opened once"
        with pytest.raises(Conflict, match="round 1 is open; close it first"):
            open_round(tx, project_id, MODELS[:1], by=None)
        assert claim(tx, project_id, writer, "write").status == "ok"


def test_the_writers_of_a_context_have_the_labels_in_turn(store: Store, project_id: int) -> None:
    with store.write() as tx:
        open_round(tx, project_id, MODELS, by=None)
    targets: dict[str, list[str]] = defaultdict(list)
    drawn = set()
    for writer in join(store, project_id, "writer", 3):
        for _ in range(4):
            with store.write() as tx:
                (task,) = claim(tx, project_id, writer, "write").tasks
                targets[task.premise].append(fool_once(tx, task.assignment_id, writer, drawn))
    assert [sorted(labels) for labels in targets.values()] == [["contradiction", "entailment", "neutral"]] * 4
    assert drawn == {"m1", "m2"}


def test_a_round_with_open_work_is_closed_by_force_alone_and_loses_nothing(store: Store, project_id: int) -> None:
    first, second = join(store, project_id, "writer", 2)
    with store.write() as tx:
        opened = open_round(tx, project_id, MODELS, by=None)
    fool(store, project_id, first)
    with store.write() as tx:
        (task,) = claim(tx, project_id, second, "write").tasks
        add_try(tx, task.assignment_id, second, key="a", text="The heron was old.")
    with store.write() as tx:
        work = open_work(tx, project_id, opened)
        assert (work.jobs, work.tries, work.unverified) == (1, 1, 1)
        with pytest.raises(Conflict, match="1 jobs are in people's hands, 1 tries wait for a model, 1 pairs"):
            close_round(tx, project_id, by=None)
    with store.write() as tx:
        before = unused_contexts(tx, project_id)
        closed = close_round(tx, project_id, force=True, by=None)
        assert closed.state == "closed"
        assert close_round(tx, project_id, by=None) == closed, "asked twice, closed once"
        assert open_round_of(tx, project_id) is None
        assert check(tx, project_id) == []
        assert unused_contexts(tx, project_id) == before
        second_round = open_round(tx, project_id, MODELS[1:], by=None)
        assert (second_round.number, second_round.tries) == (2, 10)
        given = claim(tx, project_id, first, "write").tasks[0].premise
        assert check(tx, project_id) == []
    assert given not in contexts_of_closed_rounds(store)


@pytest.mark.parametrize("label", [None, "-"])
def test_a_round_without_a_verified_pair_is_closed_by_force_alone(
    store: Store, project_id: int, label: str | None
) -> None:
    (writer,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        open_round(tx, project_id, MODELS, by=None)
    if label is not None:  # the verdict was that there is none
        fool(store, project_id, writer)
        with store.write() as tx:
            tx.run(pairs.update().values(verdict=label))
    with store.write() as tx:
        with pytest.raises(Conflict, match=r"no pair of round 1 has a label.* close it all the same with --force"):
            close_round(tx, project_id, by=None)
        assert open_round_of(tx, project_id) is not None
        assert close_round(tx, project_id, force=True, by=None).state == "closed"


def test_tries_of_jobs_that_nobody_ended_become_pairs_when_the_round_closes(store: Store, project_id: int) -> None:
    skipper, holder = join(store, project_id, "writer", 2)
    with store.write() as tx:
        open_round(tx, project_id, MODELS, by=None)
    targets = []
    for writer in (skipper, holder):
        with store.write() as tx:
            (task,) = claim(tx, project_id, writer, "write").tasks
            targets.append(add_try(tx, task.assignment_id, writer, key="a", text=f"The heron was {writer}.").target)
            (question,) = take_questions(tx, "worker", 10)
            if writer == skipper:
                scores = {label: float(label == targets[0]) for label in question.space.labels}
                decide(tx, question.id, model="m1", scores=scores)
                skip(tx, task.assignment_id, writer)
    with store.write() as tx:
        close_round(tx, project_id, force=True, by=None)
        assert check(tx, project_id) == []
    with store.write() as tx:  # what a model says later is told of the pair
        scores = {label: float(label != targets[1]) / 2 for label in question.space.labels}
        decide(tx, question.id, model="m2", scores=scores)
    with store.read() as tx:
        assert check(tx, project_id) == []
        rows = take_snapshot(tx, project_id).own.frame.collect()
        told = [json.loads(meta) for meta in rows["meta"]]
        assert measure_campaign(take_snapshot(tx, project_id)).rounds == (), "no example of a job that was ended"
    assert rows["label"].to_list() == targets
    assert [(one["verified"], one["pair_meta"]["unfinished"]) for one in told] == [(False, True)] * 2
    assert [(one["pair_meta"]["model"], one["pair_meta"]["fooled"]) for one in told] == [("m1", False), ("m2", True)]


def test_a_context_of_a_closed_round_is_never_handed_out_again(store: Store, project_id: int) -> None:
    first, second = join(store, project_id, "writer", 2)
    with store.write() as tx:
        open_round(tx, project_id, MODELS, by=None)
    fool(store, project_id, first)
    with store.write() as tx:
        premise_id = tx.value(select(assignments.c.premise_id))
        close_round(tx, project_id, force=True, by=None)
        decision = reject(tx, project_id, first, "requeue", reason="The sentence is garbled.", by=None)
    carry_out(store, project_id, decision, by=None)
    with store.write() as tx:
        hide_premise(tx, project_id, premise_id, "hidden", by=None)
        hide_premise(tx, project_id, premise_id, "shown", by=None)
        protocol = project(tx, project_id).protocol
        configure(tx, project_id, with_settings(protocol, {"writing.writers_per_premise": 4}), by=None)
        assert unused_contexts(tx, project_id) == 3
        open_round(tx, project_id, MODELS, by=None)
        assert check(tx, project_id) == []
    for _ in range(3):
        fool(store, project_id, second)
    with store.write() as tx:
        assert claim(tx, project_id, second, "write").tasks == []
        given = tx.all(select(assignments.c.premise_id).where(assignments.c.person_id == second))
    assert premise_id not in {row.premise_id for row in given}


def contexts_of_closed_rounds(store: Store) -> set[str]:
    query = (
        select(premises.c.text)
        .join(assignments, assignments.c.premise_id == premises.c.id)
        .join(tries, tries.c.assignment_id == assignments.c.id)
        .join(rounds, rounds.c.id == tries.c.round_id)
        .where(rounds.c.state == "closed")
    )
    with store.read() as tx:
        return {row.text for row in tx.all(query)}


def test_two_verifiers_close_a_round_and_rates_are_the_rounds_own(store: Store, project_id: int) -> None:
    (writer,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        open_round(tx, project_id, MODELS, pay=Rates(pair=Decimal("1.25"), bonus=Decimal("0.50")), by=None)
    target = fool(store, project_id, writer)
    for verifier in join(store, project_id, "verifier", 2):
        with store.write() as tx:
            (task,) = claim(tx, project_id, verifier, "verify").tasks
            vote(tx, task.assignment_id, verifier, key="v", label=target)
    with store.write() as tx:
        assert close_round(tx, project_id, by=None).state == "closed"
        keep_trained(tx, project_id, 1, {"runs": ["runs/round-1/seed-0"]}, by=None)
        assert rounds_of(tx, project_id)[0].trained == {"runs": ["runs/round-1/seed-0"]}
        assert Decimal("1.25") in [line.amount for line in lines(tx, project_id)]
        assert check(tx, project_id) == []


def test_what_is_no_round_is_refused(store: Store, project_id: int) -> None:
    with store.write() as tx:
        other = create_project(tx, "plain", small_protocol("single")).id
        with pytest.raises(InputError, match="project 'plain' has no rounds"):
            open_round(tx, other, MODELS, by=None)
        for adversaries in ([], [MODELS[0], MODELS[0]]):
            with pytest.raises(InputError, match="1 to 50 adversaries of different names"):
                open_round(tx, project_id, adversaries, by=None)
        with pytest.raises(InputError, match="fallback 'm9'"):
            open_round(tx, project_id, [replace(MODELS[0], fallback="m9")], by=None)
        with pytest.raises(Conflict, match="no round is open"):
            close_round(tx, project_id, by=None)
        empty = create_project(tx, "empty", KINDS.get("adversarial").make([], "en")).id
        with pytest.raises(Conflict, match="no context that no round has used"):
            open_round(tx, empty, MODELS, by=None)
        with pytest.raises(Conflict, match="round 1 is not closed"):
            keep_trained(tx, project_id, 1, {}, by=None)
