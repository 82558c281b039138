"""A project of a year: people come, go, are rejected, change their minds, are paid; the books agree at every step."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import func, select

from goldlabel.collect.configuration import create_project, set_state
from goldlabel.collect.money.by_hand import give
from goldlabel.collect.money.ledger import totals
from goldlabel.collect.money.payouts import balances, earned_since, pay_out_everybody, top_up
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.consent import agree, missing_consent, publish_consent
from goldlabel.collect.people.leaving import leave_project
from goldlabel.collect.people.people import add_member, roles
from goldlabel.collect.people.rejection import carry_out, decide, decisions_of, take_back
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.schema import answers, events, ledger, members, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.history import change_vote, sent, withdraw
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.collect.work.writing import submit
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import pool

MONTHS = 12


class Year:
    """A project, the people in it, and what may happen to them."""

    def __init__(self, store: Store, clock: MovableClock) -> None:
        self.store, self.clock, self.chance = store, clock, random.Random(5)
        self.people: list[int] = []
        self.began = clock.now
        protocol = small_protocol("single", verifiers=2)
        protocol = replace(
            protocol,
            pay=replace(protocol.pay, floor=Decimal(20)),
            qualification=replace(protocol.qualification, feedback=True),
        )
        with store.write() as tx:
            self.project_id = create_project(tx, "meadow", protocol, seed=3).id
            self.boss = create_account(tx, "boss", "not a hash: nobody logs in")
            add_premises(tx, self.project_id, pool({"news": 40, "letters": 20}), by=None)

    def join(self) -> None:
        with self.store.write() as tx:
            person_id = create_account(tx, f"person-{len(self.people)}", "not a hash: nobody logs in")
            for role in ("writer", "verifier"):
                add_member(tx, self.project_id, person_id, role, by=None)
        self.people.append(person_id)

    def work(self) -> None:
        """Somebody writes or judges for a while, agreeing to the newest text first."""
        person_id = self.chance.choice(self.people)
        with self.store.write() as tx:
            if all(role.state == "left" for role in roles(tx, self.project_id, person_id).values()):
                return
            text = missing_consent(tx, self.project_id, person_id)
            if text is not None:
                agree(tx, self.project_id, person_id, text.version)
        for number in range(self.chance.randint(2, 6)):
            self._do(person_id, "write" if number == 0 else "verify")

    def _do(self, person_id: int, kind: str) -> None:
        with self.store.write() as tx:
            got = claim(tx, self.project_id, person_id, kind).tasks
        seconds = self.chance.choice([5, 60, 500])
        self.clock.move(seconds=self.chance.choice([5, 60, 500]))
        if got and kind == "write":
            number = got[0].assignment_id
            texts = {label: f"It is {label} claim {number}" for label in ("entailment", "neutral", "contradiction")}
            new = [Hypothesis(label=label, level="only", text=text) for label, text in texts.items()]
            with self.store.write() as tx:
                submit(tx, number, person_id, key="k", hypotheses=new, timings={"total": seconds})
        elif got:
            label = (got[0].hypothesis or "").split()[2] if self.chance.random() < 0.8 else "neutral"
            with self.store.write() as tx:
                vote(tx, got[0].assignment_id, person_id, key="k", label=label, seconds=seconds)

    def change_mind(self) -> None:
        person_id = self.chance.choice(self.people)
        with self.store.write() as tx:
            free = [one for one in sent(tx, self.project_id, person_id)[0] if one.open]
            for one in free[:2]:
                if one.writes or self.chance.random() < 0.5:
                    withdraw(tx, self.project_id, one.answer_id, person_id)
                else:
                    change_vote(tx, self.project_id, one.answer_id, person_id, "unrelated")

    def undo(self) -> None:
        with self.store.write() as tx, suppress(Conflict):
            undo(tx, self.project_id, self.chance.choice(self.people))

    def reject(self) -> None:
        """Somebody's work of the last weeks, or all of it, is set aside."""
        since = self.clock.now - timedelta(days=self.chance.choice([30, 400]))
        decision = self.chance.choice(["reject", "reject", "requeue", "exclude"])
        recent = select(answers.c.person_id).where(answers.c.state == "counted", answers.c.created_at >= since)
        with self.store.write() as tx:
            working = sorted({row.person_id for row in tx.all(recent)})
            if not working:
                return
            person_id = self.chance.choice(working)
            number = decide(tx, self.project_id, person_id, decision, reason="hasty", by=self.boss, since=since)
        carry_out(self.store, self.project_id, number, by=self.boss)

    def think_again(self) -> None:
        with self.store.write() as tx:
            open_ones = [one for one in decisions_of(tx, self.project_id) if one.reversed_at is None]
            if not open_ones:
                return
            number = self.chance.choice(open_ones).id
            take_back(tx, self.project_id, number, by=self.boss)
        carry_out(self.store, self.project_id, number, by=self.boss)

    def leave(self) -> None:
        person_id = self.chance.choice(self.people)
        with self.store.write() as tx:
            if any(role.state != "left" for role in roles(tx, self.project_id, person_id).values()):
                leave_project(tx, self.project_id, person_id)

    def end_month(self) -> None:
        month = self.clock.now.date().isoformat()
        with self.store.write() as tx:
            person_id = self.chance.choice(self.people)
            give(
                tx, self.project_id, person_id, kind="bonus", amount=Decimal(1), reason="kind", key=month, by=self.boss
            )
            top_up(tx, self.project_id, by=self.boss)
            on = self.clock.now.date()
            pay_out_everybody(tx, self.project_id, on=on, note="", key=month, by=self.boss)
            assert all(one.owed <= 0 for one in balances(tx, self.project_id))
            if self.chance.random() < 0.3:
                publish_consent(tx, self.project_id, f"The text of {month}.", by=self.boss)

    def pause(self) -> None:
        for state in ("paused", "running"):
            with self.store.write() as tx:
                set_state(tx, self.project_id, state, by=self.boss)
            self.clock.move(hours=3)

    def agree(self) -> None:
        """The ledger, what the events tell of it, and the balances are the same money."""
        with self.store.read() as tx:
            assert check(tx, self.project_id) == []
            owed = totals(tx, self.project_id)
            for one in balances(tx, self.project_id):
                assert one.earned - one.paid == one.owed == owed.get(one.person_id, 0)
                assert one.earned == earned_since(tx, self.project_id, one.person_id)
                assert one.time <= self.clock.now - self.began
            votes = select(answers.c.pair_id, func.count().label("n")).where(
                answers.c.kind == "verify", answers.c.state == "counted"
            )
            assert all(row.n <= 2 for row in tx.all(votes.group_by(answers.c.pair_id)))


@pytest.mark.parametrize("database", ["sqlite"])
def test_the_books_of_a_year_agree_at_every_step(store: Store, clock: MovableClock) -> None:
    year = Year(store, clock)
    steps: list[tuple[Callable[[], None], int]] = [
        (year.work, 8),
        (year.change_mind, 2),
        (year.undo, 1),
        (year.leave, 1),
        (year.pause, 1),
    ]
    for _ in range(3):
        year.join()
    kinds, weights = zip(*steps, strict=True)
    for month in range(MONTHS):
        year.join()
        decided = [year.reject, year.think_again][: 1 + month % 2]
        for step in (*year.chance.choices(kinds, weights, k=5), *decided):
            step()
            year.agree()
            clock.move(days=4)
        year.end_month()
        year.agree()
    with store.read() as tx:
        told = {row.kind for row in tx.all(select(events.c.kind).distinct())}
        lines = {row.kind for row in tx.all(select(ledger.c.kind).distinct())}
        gone = tx.value(select(func.count()).where(members.c.state == "left"))
        verdicts = tx.value(select(func.count()).where(pairs.c.verdict.is_not(None)))
    assert lines == {"base", "bonus", "payout", "reversal", "top-up"}
    assert {"answer.set_aside", "answer.restored", "answer.withdrawn", "answer.changed", "answer.undone"} <= told
    assert "consent.given" in told
    assert gone > 0
    assert verdicts > 10
