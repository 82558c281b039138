"""The budget: never exceeded, and what is in hand is always taken and paid."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project, set_state
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money import payouts
from goldlabel.collect.money.budget import is_reached, standing
from goldlabel.collect.money.ledger import totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.people import set_member
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol, with_settings
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.rounds.rounds import open_round
from goldlabel.collect.schema import assignments, deliveries, events, ledger, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.webhooks import BUDGET_REACHED, add_webhook
from goldlabel.collect.work.assignment import claim, skip, take_up
from goldlabel.collect.work.history import change_text
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.collect.work.writing import submit
from tests.collect.campaign import ANIMALS, bring_pairs, join, small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import pool
from tests.collect.test_rounds import MODELS, fool, fool_once

LABELS = ("entailment", "neutral", "contradiction")
WRITTEN = [
    Hypothesis(label=label, level="only", text=text)
    for label, text in zip(LABELS, ("Someone told it", "Many like that", "All is silent"), strict=True)
]


def protocol_with(name: str = "single", **settings: Any) -> Protocol:
    changes = {f"pay.{key}": str(value) for key, value in settings.items()}
    return with_settings(small_protocol(name), changes)


def made(store: Store, protocol: Protocol, *, premises: int = 40) -> int:
    with store.write() as tx:
        project_id = create_project(tx, "meadow", protocol, seed=2).id
        if protocol.conditions:
            add_premises(tx, project_id, pool({"news": premises}), by=None)
        add_webhook(tx, project_id, "https://hooks.example/a", [BUDGET_REACHED], by=None)
    return project_id


def write_one(store: Store, project_id: int, person_id: int) -> str:
    """Write about one premise; return why not, where there is none."""
    with store.write() as tx:
        got = claim(tx, project_id, person_id, "write")
    if got.tasks:
        with store.write() as tx:
            submit(tx, got.tasks[0].assignment_id, person_id, key="k", hypotheses=WRITTEN)
    return got.status


def earned(store: Store, project_id: int) -> int:
    with store.read() as tx:
        lines = tx.all(select(ledger.c.amount).where(ledger.c.project_id == project_id, ledger.c.kind != "payout"))
        assert check(tx, project_id) == []
    return sum(line.amount for line in lines)


def test_the_project_pauses_before_it_could_cost_more(store: Store) -> None:
    project_id = made(store, protocol_with(budget=2))
    first, second = join(store, project_id, "writer", 2)
    with store.write() as tx:
        in_hand = claim(tx, project_id, first, "write").tasks[0]
    assert write_one(store, project_id, second) == "ok"
    with store.write() as tx:
        assert claim(tx, project_id, second, "write").status == "budget"
        # In hand it stays, and is shown again.
        assert [one.assignment_id for one in claim(tx, project_id, first, "write").tasks] == [in_hand.assignment_id]
        found = project(tx, project_id)
        assert (found.state, is_reached(tx, found)) == ("paused", True)
        told = standing(tx, found)
        assert (told.earned, told.in_hand, told.left) == (Decimal("0.90"), Decimal("0.90"), Decimal("0.20"))
        (row,) = tx.all(select(events).where(events.c.kind == BUDGET_REACHED))
        assert row.data == {"budget": "2", "earned": "0.90", "in_hand": "0.90"}
        (delivery,) = tx.all(select(deliveries.c.body))
        assert json.loads(delivery.body)["data"] == {"currency": "USD", **row.data}
        receipt = submit(tx, in_hand.assignment_id, first, key="k", hypotheses=WRITTEN)
        assert (receipt.state, receipt.amount) == ("counted", Decimal("0.90"))
    assert earned(store, project_id) == 18_000


def test_it_goes_on_when_the_budget_is_raised_and_pauses_again(store: Store) -> None:
    protocol = protocol_with(budget=1)
    project_id = made(store, protocol)
    [writer] = join(store, project_id, "writer", 1)
    assert [write_one(store, project_id, writer) for _ in range(2)] == ["ok", "budget"]
    with store.write() as tx:
        configure(tx, project_id, protocol_with(budget=2), by=None)
        assert claim(tx, project_id, writer, "write").status == "budget"
        set_state(tx, project_id, "running", by=None)
    assert [write_one(store, project_id, writer) for _ in range(2)] == ["ok", "budget"]
    with store.write() as tx:
        assert len(tx.all(select(deliveries.c.id))) == 2
        # A pause of the requester's own is no matter of the budget.
        set_state(tx, project_id, "running", by=None)
        set_state(tx, project_id, "paused", by=None)
        assert claim(tx, project_id, writer, "write").status == "paused"
    assert earned(store, project_id) == 18_000


def test_a_payout_is_no_new_room(store: Store) -> None:
    project_id = made(store, protocol_with(budget=1))
    [writer] = join(store, project_id, "writer", 1)
    write_one(store, project_id, writer)
    with store.write() as tx:
        payouts.pay_out_everybody(tx, project_id, on=date(2030, 1, 1), note="", key="k", by=None)
        assert standing(tx, project(tx, project_id)).earned == Decimal("0.90")
        assert claim(tx, project_id, writer, "write").status == "budget"


def test_what_lapsed_is_taken_over_but_not_counted_twice(store: Store, clock: MovableClock) -> None:
    project_id = made(store, protocol_with(budget=1))
    first, second = join(store, project_id, "writer", 2)
    with store.write() as tx:
        held = claim(tx, project_id, first, "write").tasks[0]
    clock.move(hours=2)
    with store.write() as tx:
        taken = claim(tx, project_id, second, "write").tasks[0]
        skip(tx, taken.assignment_id, second)
        # Whoever had it first may still send it, so it is not free for anything else.
        assert standing(tx, project(tx, project_id)).in_hand == Decimal("0.90")
        assert claim(tx, project_id, second, "write").status == "budget"
        assert submit(tx, held.assignment_id, first, key="k", hypotheses=WRITTEN).state == "counted"
    assert earned(store, project_id) == 9_000


def test_a_skipped_task_is_not_taken_up_beyond_the_budget(store: Store) -> None:
    project_id = made(store, protocol_with(budget=1))
    [first] = join(store, project_id, "writer", 1)
    with store.write() as tx:
        skipped = claim(tx, project_id, first, "write").tasks[0]
        skip(tx, skipped.assignment_id, first)
        configure(tx, project_id, protocol_with(budget="0.89"), by=None)
    with pytest.raises(Conflict, match="budget is used up"), store.write() as tx:
        take_up(tx, skipped.assignment_id, first)


def test_the_bonus_counts_where_it_may_be_won(store: Store) -> None:
    """Nine sentences at 0.30 and 0.10: 3.60 in all; a text changed later may not win what is not there."""
    project_id = made(store, protocol_with("multi-encourage", budget="3.59"))
    [writer] = join(store, project_id, "writer", 1)
    with store.write() as tx:
        assert claim(tx, project_id, writer, "write").status == "budget"
        configure(tx, project_id, protocol_with("multi-encourage", budget="3.60"), by=None)
        set_state(tx, project_id, "running", by=None)
        (task,) = claim(tx, project_id, writer, "write").tasks
        slots = project(tx, project_id).protocol.slots("multi-encourage")
        texts = [f"Some {animal} slept" for animal in ANIMALS[:8]] + ["Nobody spoke that day"]
        new = [Hypothesis(label=a, level=b, text=text) for (a, b), text in zip(slots, texts, strict=True)]
        receipt = submit(tx, task.assignment_id, writer, key="k", hypotheses=new)
        assert receipt.amount == Decimal("2.70")
        configure(tx, project_id, protocol_with("multi-encourage", budget="3.00"), by=None)
        last = tx.value(select(pairs.c.id).order_by(pairs.c.id.desc()).limit(1))
    with pytest.raises(Conflict, match="budget is used up"), store.write() as tx:
        change_text(tx, project_id, receipt.answer_id, writer, last, "A crowd gathered there after all")
    assert earned(store, project_id) == 27_000


def test_the_floor_counts_by_the_time_for_which_a_task_is_lent(store: Store, clock: MovableClock) -> None:
    """An hour at 12.00, whatever is written in it; done in half of it, the other half is free again."""
    project_id = made(store, protocol_with(floor=12, budget="12.01"))
    [writer] = join(store, project_id, "writer", 1)
    with store.write() as tx:
        assert claim(tx, project_id, writer, "write").status == "budget"
        configure(tx, project_id, protocol_with(floor=12, budget="18.02"), by=None)
        set_state(tx, project_id, "running", by=None)
    for _ in range(2):
        with store.write() as tx:
            (task,) = claim(tx, project_id, writer, "write").tasks
        clock.move(minutes=30)
        with store.write() as tx:
            timings = {"total": 1800.0}
            submit(tx, task.assignment_id, writer, key="k", hypotheses=WRITTEN, timings=timings)
    with store.write() as tx:
        assert standing(tx, project(tx, project_id)).earned == Decimal("12.00")
        assert claim(tx, project_id, writer, "write").status == "budget"
        payouts.top_up(tx, project_id, by=None)
        assert standing(tx, project(tx, project_id)).earned == Decimal("12.00")
    assert earned(store, project_id) == 120_000


def test_questions_with_a_known_answer_cost_as_much(store: Store) -> None:
    protocol = protocol_with(budget="0.50")
    protocol = replace(
        protocol,
        qualification=replace(protocol.qualification, gold_rate=1.0),
        verifying=replace(protocol.verifying, foreign=20),
    )
    project_id = made(store, protocol, premises=1)
    bring_pairs(store, project_id, 5, origin="foreign", labels=LABELS)
    bring_pairs(store, project_id, 5, origin="gold", labels=LABELS)
    [verifier] = join(store, project_id, "verifier", 1)
    with store.write() as tx:
        tasks = claim(tx, project_id, verifier, "verify", hold=9).tasks
        assert len(tasks) == 2
        assert {row.kind for row in tx.all(select(assignments.c.kind))} == {"gold"}
        for number, one in enumerate(tasks):
            vote(tx, one.assignment_id, verifier, key=f"k{number}", label="neutral")
        undo(tx, project_id, verifier)
        assert standing(tx, project(tx, project_id)).in_hand == Decimal("0.20")
        assert len(claim(tx, project_id, verifier, "verify", hold=9).tasks) == 1
    assert earned(store, project_id) == 2_000


def test_who_was_paused_with_a_task_in_hand_is_paid(store: Store) -> None:
    project_id = made(store, protocol_with(budget="0.90"))
    first, second = join(store, project_id, "writer", 2)
    with store.write() as tx:
        (held,) = claim(tx, project_id, first, "write").tasks
        set_member(tx, project_id, first, "writer", state="paused", by=None)
        assert claim(tx, project_id, second, "write").status == "budget"
        assert submit(tx, held.assignment_id, first, key="k", hypotheses=WRITTEN).amount == Decimal("0.90")


def test_twenty_people_at_once_never_exceed_it(store: Store) -> None:
    """Writers and verifiers of one project, each in a thread; leases, answers, undoing and skipping side by side."""
    protocol = protocol_with(budget="9.05")
    project_id = made(store, replace(protocol, verifying=replace(protocol.verifying, foreign=40)))
    bring_pairs(store, project_id, 40, origin="foreign", labels=LABELS)
    writers, verifiers = join(store, project_id, "writer", 10), join(store, project_id, "verifier", 10)
    together, failures = threading.Barrier(20), list[BaseException]()

    def work(person_id: int, kind: str) -> None:
        try:
            together.wait()
            for number in range(12):
                with store.write() as tx:
                    got = claim(tx, project_id, person_id, kind, hold=2)
                for one in got.tasks[:-1] if number % 3 == 2 else got.tasks:
                    with store.write() as tx:
                        if kind == "write":
                            submit(tx, one.assignment_id, person_id, key="k", hypotheses=WRITTEN)
                        else:
                            vote(tx, one.assignment_id, person_id, key=f"k{number}", label="neutral")
                if number == 5 and kind == "verify" and got.tasks:
                    with store.write() as tx:
                        undo(tx, project_id, person_id)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(one, "write")) for one in writers]
    threads += [threading.Thread(target=work, args=(one, "verify")) for one in verifiers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    spent = earned(store, project_id)
    with store.read() as tx:
        told = standing(tx, project(tx, project_id))
        assert told.reached
        assert len(tx.all(select(events.c.id).where(events.c.kind == BUDGET_REACHED))) == 1
    assert told.earned * 10_000 == spent <= 90_500
    assert 0 <= told.left < Decimal("0.90")


def adversarial(store: Store, **settings: Any) -> int:
    """A project of rounds with this pay and texts enough for everybody."""
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    changes = {f"pay.{key}": str(value) for key, value in settings.items()}
    return made(store, with_settings(protocol, changes), premises=60)


def test_twenty_people_at_once_never_exceed_it_by_the_bonuses_that_come_with_verdicts(store: Store) -> None:
    """Every pair that fools the model is confirmed: what its bonus costs was kept when the job was given out."""
    project_id = adversarial(store, budget="9.05", pair="0.30", bonus="1.00", label="0.05")
    with store.write() as tx:
        open_round(tx, project_id, MODELS, by=None)
    writers, verifiers = join(store, project_id, "writer", 10), join(store, project_id, "verifier", 10)
    together, failures = threading.Barrier(20), list[BaseException]()

    def work(person_id: int, kind: str) -> None:
        try:
            together.wait()
            for number in range(6):
                with store.write() as tx:
                    for one in claim(tx, project_id, person_id, kind).tasks:
                        if kind == "write":
                            fool_once(tx, one.assignment_id, person_id, set())
                        else:
                            judged = select(assignments.c.pair_id).where(assignments.c.id == one.assignment_id)
                            confirmed = tx.value(select(pairs.c.label).where(pairs.c.id.in_(judged)))
                            vote(tx, one.assignment_id, person_id, key=f"k{number}", label=confirmed)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(one, "write")) for one in writers]
    threads += [threading.Thread(target=work, args=(one, "verify")) for one in verifiers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with store.read() as tx:
        told = standing(tx, project(tx, project_id))
        waits = pairs.c.draw_number.is_not(None), pairs.c.verdict.is_(None)
        waiting = len(tx.all(select(pairs.c.id).where(*waits)))
    assert told.reached
    assert earned(store, project_id) + waiting * 10_000 <= 90_500
    assert told.in_hand >= waiting


def test_a_round_keeps_the_rates_that_it_was_opened_with(store: Store) -> None:
    project_id = adversarial(store, pair="0.30", bonus="0.50", label="0.05")
    with store.write() as tx:
        opened = open_round(tx, project_id, MODELS, by=None)
    (writer,) = join(store, project_id, "writer", 1)
    target = fool(store, project_id, writer)
    with store.write() as tx:
        configure(tx, project_id, with_settings(project(tx, project_id).protocol, {"pay.bonus": "0"}), by=None)
        assert open_round(tx, project_id, MODELS, by=None) == opened, "asked twice, opened once"
    for verifier in join(store, project_id, "verifier", 2):
        with store.write() as tx:
            (task,) = claim(tx, project_id, verifier, "verify").tasks
            vote(tx, task.assignment_id, verifier, key="k", label=target)
    with store.read() as tx:
        assert totals(tx, project_id)[writer] == Decimal("0.80")
        assert check(tx, project_id) == []
