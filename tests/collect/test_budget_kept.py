"""Whatever people and requesters change afterwards, what was earned never passes the budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, set_state
from goldlabel.collect.data.hiding import HIDDEN, hide_pair
from goldlabel.collect.money.budget import standing
from goldlabel.collect.money.by_hand import give, reverse
from goldlabel.collect.money.ledger import lines, totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.rejection import carry_out, decide, take_back
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import with_settings
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.rounds.rounds import open_round
from goldlabel.collect.schema import assignments, decisions, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.adjudication import adjudicate
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.model_votes import add_votes
from goldlabel.collect.work.verifying import undo, vote
from tests.collect.campaign import join
from tests.collect.conftest import MovableClock
from tests.collect.test_bonuses import OTHER
from tests.collect.test_budget import adversarial
from tests.collect.test_rounds import MODELS, fool_once

LABELS = ("entailment", "neutral", "contradiction")


class Round:
    """A round whose job pays 0.30, a confirmed pair 1.00 more, a judgement 0.05; two writers and four verifiers."""

    def __init__(self, store: Store, budget: str, **settings: str) -> None:
        self.store = store
        self.id = adversarial(store, budget=budget, pair="0.30", bonus="1.00", label="0.05", **settings)
        with store.write() as tx:
            open_round(tx, self.id, MODELS, by=None)
        self.writers, self.verifiers = join(store, self.id, "writer", 2), join(store, self.id, "verifier", 4)
        self.votes = 0

    def write(self, number: int = 0) -> str:
        """Fool the model; return the status of the claim."""
        with self.store.write() as tx:
            got = claim(tx, self.id, self.writers[number], "write")
            for task in got.tasks:
                fool_once(tx, task.assignment_id, self.writers[number], set())
        return got.status

    def judge(self, number: int, answer: Callable[[str], str]) -> str:
        """Judge the next pair as its writer's label says; return the status of the claim."""
        with self.store.write() as tx:
            got = claim(tx, self.id, self.verifiers[number], "verify")
            for task in got.tasks[:1]:
                self.votes += 1
                judged = select(assignments.c.pair_id).where(assignments.c.id == task.assignment_id)
                label = tx.value(select(pairs.c.label).where(pairs.c.id.in_(judged)))
                person = self.verifiers[number]
                vote(tx, task.assignment_id, person, key=f"v{self.votes}", label=answer(label), seconds=3.0)
        return got.status

    def set(self, **settings: str) -> None:
        with self.store.write() as tx:
            present = project(tx, self.id).protocol
            configure(tx, self.id, with_settings(present, {f"pay.{k}": v for k, v in settings.items()}), by=None)

    def earned(self) -> Decimal:
        """What people earned, which never is above the budget, and is what a recount says."""
        with self.store.read() as tx:
            assert check(tx, self.id) == []
            told = standing(tx, project(tx, self.id))
        assert told.earned <= told.budget
        return told.earned


def right(label: str) -> str:
    return label


def wrong(label: str) -> str:
    return OTHER[label]


@pytest.fixture
def used_up(store: Store) -> Round:
    """A pair that others judged otherwise than its writer, and hardly anything left."""
    played = Round(store, "1.50")
    assert [played.write(), played.judge(0, wrong), played.judge(1, wrong)] == ["ok"] * 3
    assert played.earned() == Decimal("0.40")
    played.set(budget="0.60")
    return played


def test_an_answer_stays_whose_pair_might_win_what_is_not_there(used_up: Round) -> None:
    with pytest.raises(Conflict, match="budget is used up"), used_up.store.write() as tx:
        undo(tx, used_up.id, used_up.verifiers[1])
    assert used_up.earned() == Decimal("0.40")
    used_up.set(budget="1.50")
    with used_up.store.write() as tx:
        undo(tx, used_up.id, used_up.verifiers[1])
        (task,) = claim(tx, used_up.id, used_up.verifiers[1], "verify").tasks
        vote(tx, task.assignment_id, used_up.verifiers[1], key="again", label=tx.value(select(pairs.c.label)))
    assert [used_up.judge(2, right), used_up.earned()] == ["ok", Decimal("1.45")]


def test_a_vote_that_is_rejected_leaves_nothing_to_be_given_out_beyond_the_budget(used_up: Round) -> None:
    store = used_up.store
    with store.write() as tx:
        decision = decide(tx, used_up.id, used_up.verifiers[0], "requeue", reason="hasty", by=None)
    carry_out(store, used_up.id, decision, by=None)
    assert used_up.judge(2, right) == "budget"
    used_up.set(budget="1.60")
    with store.write() as tx:
        set_state(tx, used_up.id, "running", by=None)
    assert [used_up.judge(2, right), used_up.judge(3, right), used_up.earned()] == ["ok", "ok", Decimal("1.50")]


def test_whose_task_was_passed_on_and_rejected_there_is_late_where_nothing_is_left(
    store: Store, clock: MovableClock
) -> None:
    played = Round(store, "1.60")
    played.write()
    first, second = played.verifiers[:2]
    with store.write() as tx:
        (slow,) = claim(tx, played.id, first, "verify").tasks
    clock.move(hours=2)
    assert [played.judge(1, wrong), played.judge(2, wrong)] == ["ok"] * 2
    played.set(budget="0.40")
    with store.write() as tx:
        decision = decide(tx, played.id, second, "requeue", reason="hasty", by=None)
    carry_out(store, played.id, decision, by=None)
    with store.write() as tx:
        receipt = vote(tx, slow.assignment_id, first, key="slow", label="neutral")
    assert (receipt.state, receipt.amount, played.earned()) == ("late", Decimal("0.00"), Decimal("0.40"))


def test_rejected_work_is_taken_back_in_within_the_budget(store: Store) -> None:
    played = Round(store, "1.50")
    assert [played.write(), played.judge(0, right), played.judge(1, right)] == ["ok"] * 3
    with store.write() as tx:
        protocol = project(tx, played.id).protocol
        configure(tx, played.id, replace(protocol, pay=replace(protocol.pay, rejected=False)), by=None)
        decision = decide(tx, played.id, played.writers[0], "reject", reason="copied", by=None)
    carry_out(store, played.id, decision, by=None)
    assert played.earned() == Decimal("0.10")
    played.set(budget="0.90")
    with pytest.raises(Conflict, match=r"may cost 1\.40 USD, more than a budget of 0\.90 USD"), store.write() as tx:
        take_back(tx, played.id, decision, by=None)
    with store.read() as tx:
        assert tx.value(select(decisions.c.reversed_at)) is None
    played.set(budget="1.40")
    with store.write() as tx:
        take_back(tx, played.id, decision, by=None)
    carry_out(store, played.id, decision, by=None)
    assert played.earned() == Decimal("1.40")


def test_what_a_requester_does_stays_within_the_budget(used_up: Round) -> None:
    store, writer = used_up.store, used_up.writers[0]

    def by_hand(kind: str, amount: str, key: str) -> None:
        with store.write() as tx:
            give(tx, used_up.id, writer, kind=kind, amount=Decimal(amount), reason="so", key=key, by=None)

    by_hand("bonus", "0.20", "first")
    by_hand("bonus", "0.20", "first")
    for budget in ("0.59", "0.10"):
        with pytest.raises(Conflict, match=f"may cost 0.60 USD, more than a budget of {budget} USD"):
            used_up.set(budget=budget)
    with pytest.raises(Conflict, match=r"may cost 0\.61 USD, more than a budget of 0\.60 USD; set that higher first"):
        by_hand("bonus", "0.01", "second")
    by_hand("penalty", "0.10", "third")
    by_hand("bonus", "0.05", "fourth")
    with store.read() as tx:
        penalty = next(line.id for line in lines(tx, used_up.id) if line.kind == "penalty")
    with pytest.raises(Conflict, match=r"may cost 0\.65"), store.write() as tx:
        reverse(tx, used_up.id, penalty, reason="no", by=None)
    assert used_up.earned() == Decimal("0.55")


def test_higher_rates_are_refused_while_tasks_are_out_that_they_would_make_too_dear(store: Store) -> None:
    played = Round(store, "1.50")
    with store.write() as tx:
        assert claim(tx, played.id, played.writers[0], "write").status == "ok"
    assert played.judge(0, right) == "later"
    played.set(label="0.20")
    with pytest.raises(Conflict, match=r"more than a budget of 1\.29"):
        played.set(budget="1.29")
    # An open round keeps its rates; the protocol's own count for whatever is not of a round.
    played.set(pair="9.00", budget="10.00")
    with store.write() as tx:
        assert totals(tx, played.id) == {}


def test_a_hidden_pair_keeps_its_bonus_as_long_as_a_vote_is_in_hand(store: Store) -> None:
    played = Round(store, "2.75")
    assert [played.write(), played.judge(0, right)] == ["ok"] * 2
    with store.write() as tx:
        (task,) = claim(tx, played.id, played.verifiers[1], "verify").tasks
        pair_id = tx.value(select(pairs.c.id))
        hide_pair(tx, played.id, pair_id, HIDDEN, by=None)
        assert standing(tx, project(tx, played.id)).in_hand == Decimal("1.05")
        label = tx.value(select(pairs.c.label))
        vote(tx, task.assignment_id, played.verifiers[1], key="k", label=label)
    assert played.earned() == Decimal("1.40")


def test_models_that_judge_do_not_turn_a_verdict_beyond_the_budget(store: Store) -> None:
    played = Round(store, "1.50")
    assert [played.write(), played.judge(0, right), played.judge(1, wrong)] == ["ok"] * 3
    assert played.judge(2, lambda label: OTHER[OTHER[label]]) == "ok"
    assert played.earned() == Decimal("0.45")
    played.set(budget="0.50")
    with store.write() as tx:
        pair = tx.one(select(pairs.c.id, pairs.c.label))
        assert pair is not None
        scores = {label: float(label == pair.label) for label in LABELS}
        assert add_votes(tx, played.id, "model", [(pair.id, scores)]) == 1
        adjudicate(tx, played.id, pair.id, pair.label, by=None)
    assert played.earned() == Decimal("0.45"), "a requester's decision is no verdict of votes, and pays nothing"
