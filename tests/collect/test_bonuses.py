"""Writers earn a bonus for each verified pair that fooled the model, and keep it as long as it is verified."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.events import record
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money.ledger import Line, lines, pay, standing_lines, totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.rejection import carry_out, decide, take_back
from goldlabel.collect.rounds.rounds import Rates, open_round
from goldlabel.collect.schema import answers, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import undo, vote
from tests.collect.campaign import join
from tests.collect.test_rounds import MODELS, fool

OTHER = {"entailment": "neutral", "neutral": "contradiction", "contradiction": "entailment"}


class Campaign:
    """A pair that fooled the model, its writer, and verifiers."""

    def __init__(self, store: Store) -> None:
        self.store, self.votes = store, 0
        protocol = KINDS.get("adversarial").make([], "en")
        protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
        with store.write() as tx:
            self.id = create_project(tx, "campaign", protocol).id
            add_premises(tx, self.id, [Premise(text="A heron stood in the rain.", genre="news")], by=None)
            open_round(tx, self.id, MODELS, pay=Rates(pair=Decimal("1.25"), bonus=Decimal("0.50")), by=None)
        (self.writer,) = join(store, self.id, "writer", 1)
        self.verifiers = join(store, self.id, "verifier", 3)
        self.target = fool(store, self.id, self.writer)

    def vote(self, number: int, label: str) -> None:
        verifier = self.verifiers[number]
        with self.store.write() as tx:
            (task,) = claim(tx, self.id, verifier, "verify").tasks
            self.votes += 1
            vote(tx, task.assignment_id, verifier, key=f"v{self.votes}", label=label)

    def standing(self) -> list[Line]:
        with self.store.read() as tx:
            assert check(tx, self.id) == []
            (answer,) = {row.answer_id for row in tx.all(select(pairs.c.answer_id))}
            return [line for line in standing_lines(tx, self.id, answer) if line.kind == "bonus"]

    def owed(self) -> Decimal:
        with self.store.read() as tx:
            return totals(tx, self.id)[self.writer]


@pytest.fixture
def campaign(store: Store) -> Campaign:
    return Campaign(store)


def test_a_verified_pair_earns_the_rounds_bonus_once(campaign: Campaign) -> None:
    campaign.vote(0, campaign.target)
    assert campaign.standing() == []
    campaign.vote(1, campaign.target)
    assert [line.amount for line in campaign.standing()] == [Decimal("0.50")]
    assert campaign.owed() == Decimal("1.75")


@pytest.mark.parametrize("said", ["overruled", "discarded"])
def test_a_pair_that_others_label_otherwise_earns_none(campaign: Campaign, said: str) -> None:
    campaign.vote(0, OTHER[campaign.target])
    campaign.vote(1, OTHER[campaign.target] if said == "overruled" else campaign.target)
    if said == "discarded":
        campaign.vote(2, OTHER[OTHER[campaign.target]])
    assert campaign.standing() == []
    assert campaign.owed() == Decimal("1.25")


def test_the_bonus_follows_votes_that_are_changed_undone_and_rejected(campaign: Campaign) -> None:
    store = campaign.store
    campaign.vote(0, campaign.target)
    campaign.vote(1, campaign.target)
    with store.write() as tx:
        undo(tx, campaign.id, campaign.verifiers[1])
    assert campaign.standing() == []
    campaign.vote(1, campaign.target)
    assert len(campaign.standing()) == 1
    with store.write() as tx:
        decision = decide(tx, campaign.id, campaign.verifiers[0], "reject", reason="hasty", by=None)
    carry_out(store, campaign.id, decision, by=None)
    assert campaign.standing() == []
    with store.write() as tx:
        take_back(tx, campaign.id, decision, by=None)
    carry_out(store, campaign.id, decision, by=None)
    assert len(campaign.standing()) == 1
    assert campaign.owed() == Decimal("1.75")


@pytest.mark.parametrize("decided", ["reject", "requeue"])
def test_a_job_that_is_set_aside_takes_its_bonus_with_its_other_pay(campaign: Campaign, decided: str) -> None:
    store = campaign.store
    campaign.vote(0, campaign.target)
    campaign.vote(1, campaign.target)
    with store.write() as tx:
        decision = decide(tx, campaign.id, campaign.writer, decided, reason="copied", by=None)
    carry_out(store, campaign.id, decision, by=None)
    assert campaign.owed() == (Decimal("0.00") if decided == "reject" else Decimal("1.75"))
    with store.write() as tx:
        take_back(tx, campaign.id, decision, by=None)
    carry_out(store, campaign.id, decision, by=None)
    assert len(campaign.standing()) == 1, "paid again, and not twice"
    assert campaign.owed() == Decimal("1.75")
    with store.read() as tx:
        votes = tx.all(select(answers.c.id).where(answers.c.kind == "verify").order_by(answers.c.id))
    with store.write() as tx:
        decision = decide(
            tx, campaign.id, campaign.verifiers[1], "reject", reason="no", by=None, answer_id=votes[-1].id
        )
    carry_out(store, campaign.id, decision, by=None)
    assert campaign.standing() == []
    with store.read() as tx:
        bonus = [line.amount for line in lines(tx, campaign.id) if line.person_id == campaign.writer]
    assert sum(bonus) == Decimal("1.25")


@pytest.mark.parametrize("fault", ["not earned", "not paid"])
def test_the_recount_holds_each_bonus_against_its_verdict(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    if fault == "not paid":
        monkeypatch.setattr("goldlabel.collect.money.bonuses.pay", lambda *_, **__: None)
        monkeypatch.setattr("goldlabel.collect.money.bonuses.record", lambda *_, **__: 0)
        campaign.vote(0, campaign.target)
        campaign.vote(1, campaign.target)
    with campaign.store.write() as tx:
        pair_id = tx.value(select(pairs.c.id))
        if fault == "not earned":
            row = tx.row(pairs, id=pair_id)
            assert row is not None
            data = {"pay": {"person": campaign.writer, "units": 5000}, "pair": pair_id}
            event = record(tx, "pay.bonus", project_id=campaign.id, person_id=None, subject="pair", data=data)
            who = {"project_id": campaign.id, "person_id": campaign.writer, "answer_id": row.answer_id}
            pay(tx, **who, kind="bonus", units=5000, reason="", key="fooled x", event_id=event)
        told = [0, 1] if fault == "not earned" else [1, 0]
        said = f"bonus for pair {pair_id}: the events say {told[0]}, the tables {told[1]}"
        assert check(tx, campaign.id) == [said]
