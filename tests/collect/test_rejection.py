"""Work that is set aside goes back into the queue, its pay follows the project's rule, and all can be restored."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.money.ledger import lines, totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people import rejection
from goldlabel.collect.people.people import add_member, roles
from goldlabel.collect.people.qualification import people_overview, trust
from goldlabel.collect.people.rejection import STEP, carry_out, decide, decisions_of, take_back, take_step
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, assignments, events, pairs, tasks
from goldlabel.collect.store import Collision, Store, Transaction
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.verifying import draw_verification, undo, vote
from tests.collect.campaign import bring_pairs, join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import agrees, answer, get, meadow
from tests.collect.test_verdicts import protocol_with

PAIR, LABEL = Decimal("0.30"), Decimal("0.20")


def set_aside(store: Store, project_id: int, person_id: int, decision: str = "reject", **chosen: Any) -> int:
    with store.write() as tx:
        decision_id = decide(tx, project_id, person_id, decision, reason="hasty", by=None, **chosen)
    carry_out(store, project_id, decision_id, by=None)
    return decision_id


def give_back(store: Store, project_id: int, decision_id: int) -> None:
    with store.write() as tx:
        take_back(tx, project_id, decision_id, by=None)
    carry_out(store, project_id, decision_id, by=None)


def judged(store: Store, **options: Any) -> tuple[int, list[int], list[int]]:
    """Two premises, six pairs, each judged by two of three people."""
    project_id = meadow(store, small_protocol("single", verifiers=2), news=2, **options)
    writers = join(store, project_id, "writer", 2)
    write_all(store, project_id, writers)
    verifiers = join(store, project_id, "verifier", 3)
    verify_all(store, project_id, verifiers[:2])
    return project_id, writers, verifiers


def verdicts(store: Store) -> list[str | None]:
    with store.read() as tx:
        return [row.verdict for row in tx.all(select(pairs).where(pairs.c.state == "counted").order_by(pairs.c.id))]


def owed(store: Store, project_id: int, person_id: int) -> Decimal:
    with store.read() as tx:
        return totals(tx, project_id).get(person_id, Decimal(0))


@pytest.mark.parametrize(("decision", "paid"), [("reject", False), ("reject", True), ("requeue", False)])
def test_votes_go_to_someone_else_and_verdicts_wait_for_them(store: Store, decision: str, paid: bool) -> None:
    project_id, _, (hasty, _, fresh) = judged(store)
    with store.write() as tx:
        protocol = project(tx, project_id).protocol
        configure(tx, project_id, replace(protocol, pay=replace(protocol.pay, rejected=paid)), by=None)
    assert None not in verdicts(store)
    set_aside(store, project_id, hasty, decision)
    assert verdicts(store) == [None] * 6
    assert owed(store, project_id, hasty) == (6 * LABEL if paid or decision == "requeue" else 0)
    assert agrees(store, project_id)
    assert get(store, project_id, hasty).status == "others"
    assert verify_all(store, project_id, [fresh]) == 6
    assert None not in verdicts(store)
    assert agrees(store, project_id)
    with store.read() as tx:
        assert {row.state for row in tx.all(select(answers).where(answers.c.person_id == hasty))} == {"set_aside"}
        reasons = {line.reason for line in lines(tx, project_id, person_id=hasty) if line.kind == "reversal"}
    assert reasons == (set() if paid or decision == "requeue" else {"not paid: hasty"})


def test_pairs_leave_the_data_and_their_premise_is_written_about_again(store: Store) -> None:
    project_id, (hasty, other), verifiers = judged(store)
    set_aside(store, project_id, hasty)
    assert agrees(store, project_id)
    with store.read() as tx:
        assert Counter(row.state for row in tx.all(select(pairs))) == {"counted": 3, "set_aside": 3}
        assert len(take_snapshot(tx, project_id).own) == 3
        paid = {one.person_id: one.owed for one in people_overview(tx, project_id)}
    assert paid[hasty] == 0
    assert {paid[one] for one in verifiers[:2]} == {6 * LABEL}
    assert write_all(store, project_id, [hasty]) == 0
    assert write_all(store, project_id, [other]) == 1
    assert verify_all(store, project_id, verifiers) == 6
    assert agrees(store, project_id)
    with store.read() as tx:
        assert not [row for row in tx.all(select(tasks)) if row.state in ("open", "leased")]


def test_votes_that_nobody_began_with_are_withdrawn_and_one_in_hand_is_paid(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=2), news=1)
    [writer] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer])
    holder, other = join(store, project_id, "verifier", 2)
    [held] = get(store, project_id, holder).tasks
    set_aside(store, project_id, writer)
    assert get(store, project_id, other).tasks == []
    assert answer(store, holder, held.assignment_id) == "counted"
    assert owed(store, project_id, holder) == LABEL
    assert agrees(store, project_id)
    with store.write() as tx:  # a vote taken back, and given again, on what is out of the data
        vote(tx, undo(tx, project_id, holder).assignment_id, holder, key="again", label="neutral")
        protocol = project(tx, project_id).protocol
        more = replace(protocol, verifying=replace(protocol.verifying, verifiers=4))
        configure(tx, project_id, more, by=None)
        assert draw_verification(tx, project_id) == 0
    assert agrees(store, project_id)
    with store.read() as tx:
        assert Counter(row.state for row in tx.all(select(tasks).where(tasks.c.kind == "verify"))) == {
            "answered": 1,
            "withdrawn": 5,
        }


@pytest.mark.parametrize("policy", ["panel", "two-plus-one"])
def test_a_decision_that_is_taken_back_restores_everything(store: Store, policy: str) -> None:
    project_id = meadow(store, protocol_with(policy), news=2)
    [writer] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer])
    verifiers = join(store, project_id, "verifier", 3)
    verify_all(store, project_id, verifiers, lambda number, _, text: text.split()[2] if number else "neutral")
    before, sums = verdicts(store), [owed(store, project_id, one) for one in (writer, *verifiers)]
    assert None not in before
    for person_id in (writer, verifiers[0], writer):
        decision_id = set_aside(store, project_id, person_id)
        assert verdicts(store) != before
        assert agrees(store, project_id)
        give_back(store, project_id, decision_id)
        assert agrees(store, project_id)
        assert verdicts(store) == before
        assert [owed(store, project_id, one) for one in (writer, *verifiers)] == sums
        with store.write() as tx, pytest.raises(Conflict, match="taken back already"):
            take_back(tx, project_id, decision_id, by=None)
    with store.read() as tx:
        assert {row.state for row in tx.all(select(answers))} == {"counted"}
        assert "paid again: a decision was taken back" in {line.reason for line in lines(tx, project_id)}


def test_a_restored_vote_can_be_taken_back(store: Store) -> None:
    project_id, _, (first, *_) = judged(store)
    give_back(store, project_id, set_aside(store, project_id, first))
    with store.write() as tx:
        undo(tx, project_id, first)
    assert owed(store, project_id, first) == 5 * LABEL
    assert agrees(store, project_id)


def test_what_others_did_meanwhile_stands_and_the_work_is_paid(store: Store) -> None:
    project_id, (hasty, other), (first, _, fresh) = judged(store)
    sums = [owed(store, project_id, one) for one in (hasty, first)]
    taken = [set_aside(store, project_id, one) for one in (hasty, first)]
    [held] = get(store, project_id, other, "write").tasks
    assert verify_all(store, project_id, [fresh], most=2) == 2
    for decision_id in taken:
        give_back(store, project_id, decision_id)
        assert agrees(store, project_id)
    assert [owed(store, project_id, one) for one in (hasty, first)] == sums
    with store.read() as tx:
        states = Counter((row.kind, row.state) for row in tx.all(select(answers).where(answers.c.person_id == first)))
        assert states == {("verify", "counted"): 4, ("verify", "late"): 2}
        assert {row.state for row in tx.all(select(pairs).where(pairs.c.writer_id == hasty))} == {"late"}
        votes = tx.all(select(answers).where(answers.c.kind == "verify", answers.c.state == "counted"))
        assert max(Counter(row.pair_id for row in votes).values()) == 2
    assert held.premise


def test_a_larger_panel_is_made_up_for_when_a_pair_comes_back(store: Store) -> None:
    project_id, (writer, _), verifiers = judged(store)
    decision_id = set_aside(store, project_id, writer)
    with store.write() as tx:
        protocol = project(tx, project_id).protocol
        configure(tx, project_id, replace(protocol, verifying=replace(protocol.verifying, verifiers=3)), by=None)
    give_back(store, project_id, decision_id)
    assert agrees(store, project_id)
    assert verify_all(store, project_id, verifiers) == 6
    assert None not in verdicts(store)


def test_who_is_excluded_gets_nothing_more_and_comes_back_with_the_decision(store: Store) -> None:
    project_id, _, verifiers = judged(store)
    hasty, steady, fresh = verifiers
    with store.write() as tx:
        undo(tx, project_id, hasty)
    decision_id = set_aside(store, project_id, hasty, "exclude")
    assert get(store, project_id, hasty).status == "suspended"
    with store.read() as tx:
        assert roles(tx, project_id, hasty)["verifier"].state == "paused"
        assert not tx.all(select(assignments).where(assignments.c.state == "leased", assignments.c.person_id == hasty))
    assert agrees(store, project_id)
    assert verify_all(store, project_id, [fresh, steady]) == 6
    give_back(store, project_id, decision_id)
    with store.read() as tx:
        assert roles(tx, project_id, hasty)["verifier"].state == "active"
    assert agrees(store, project_id)


def test_known_answers_still_tell_about_who_was_rejected(store: Store) -> None:
    protocol = small_protocol("single", verifiers=1)
    project_id = meadow(store, replace(protocol, qualification=replace(protocol.qualification, gold_rate=0.9)), news=2)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    bring_pairs(store, project_id, 3, origin="gold", labels=("neutral",))
    [hasty] = join(store, project_id, "verifier", 1)
    verify_all(store, project_id, [hasty], lambda *_: "entailment")
    with store.read() as tx:
        before = trust(tx, project_id, hasty)
    assert before.n == 3
    set_aside(store, project_id, hasty)
    with store.read() as tx:
        assert trust(tx, project_id, hasty) == before
    assert owed(store, project_id, hasty) == 0
    assert agrees(store, project_id)


def test_only_what_was_chosen_is_set_aside(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=2)
    both, other = join(store, project_id, "writer", 2)
    write_all(store, project_id, [both, other])
    with store.write() as tx:
        add_member(tx, project_id, both, "verifier", by=None)
    verify_all(store, project_id, [both], most=1)
    clock.move(days=1)
    verify_all(store, project_id, [both], most=1)
    set_aside(store, project_id, both, works=("verify",), since=clock.now - timedelta(hours=1))
    assert owed(store, project_id, both) == 3 * PAIR + LABEL
    with store.read() as tx:
        left = tx.value(select(answers.c.id).where(answers.c.kind == "verify", answers.c.state == "counted"))
    set_aside(store, project_id, both, answer_id=left)
    assert owed(store, project_id, both) == 3 * PAIR
    with store.write() as tx:
        with pytest.raises(Conflict, match="no counted work"):
            decide(tx, project_id, both, "reject", reason="hasty", by=None, works=("verify",))
        with pytest.raises(Invalid, match="for a reason"):
            decide(tx, project_id, both, "reject", reason=" ", by=None)
        with pytest.raises(Invalid, match="allowed: requeue, reject, exclude"):
            decide(tx, project_id, both, "punish", reason="x", by=None)
        with pytest.raises(Missing, match="no such person"):
            decide(tx, project_id, 999, "reject", reason="x", by=None)
        with pytest.raises(Conflict, match="does not count any more"):
            undo(tx, project_id, both)
    assert agrees(store, project_id)


def test_a_decision_is_carried_out_in_steps_and_can_be_gone_on_with(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=STEP // 3 + 2)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    [hasty] = join(store, project_id, "verifier", 1)
    count = verify_all(store, project_id, [hasty])
    assert STEP < count < 2 * STEP
    with store.write() as tx:
        decision_id = decide(tx, project_id, hasty, "reject", reason="hasty", by=None)
    with store.write() as tx:
        assert take_step(tx, project_id, decision_id, by=None)
        [shown] = decisions_of(tx, project_id, hasty)
        assert (shown.answers, shown.left) == (count, count - STEP)
        undo_last = undo(tx, project_id, hasty)
    assert undo_last
    carry_out(store, project_id, decision_id, by=None)
    with store.read() as tx:
        assert decisions_of(tx, project_id)[0].left == 0
        told = tx.all(select(events).where(events.c.kind.in_(("work.reject", "answer.set_aside"))))
        assert len(told) == count
    assert agrees(store, project_id)
    give_back(store, project_id, decision_id)
    with store.read() as tx:
        assert decisions_of(tx, project_id)[0].left == 0
    assert owed(store, project_id, hasty) == (count - 1) * LABEL
    assert agrees(store, project_id)


def test_a_step_that_collides_is_taken_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project_id, _, verifiers = judged(store)
    with store.write() as tx:
        decision_id = decide(tx, project_id, verifiers[0], "reject", reason="hasty", by=None)
    tries = []

    def collide_once(tx: Transaction, *arguments: Any, **options: Any) -> bool:
        is_left = take_step(tx, *arguments, **options)
        tries.append(is_left)
        if len(tries) == 1:
            raise Collision("two changes got into each other's way")
        return is_left

    monkeypatch.setattr(rejection, "take_step", collide_once)
    carry_out(store, project_id, decision_id, by=None)
    assert len(tries) == 2
    with store.read() as tx:
        assert decisions_of(tx, project_id)[0].left == 0
    assert agrees(store, project_id)


def test_people_work_while_others_are_rejected(store: Store) -> None:
    """On PostgreSQL all of these run side by side; whatever the order, each pair ends with exactly its votes."""
    project_id = meadow(store, small_protocol("single", verifiers=2), news=6)
    writers = join(store, project_id, "writer", 2)
    write_all(store, project_id, writers)
    verifiers = join(store, project_id, "verifier", 8)
    together, failures = threading.Barrier(6), []

    def work(person_id: int) -> None:
        together.wait()
        try:
            while True:
                with store.write() as tx:
                    got = claim(tx, project_id, person_id, "verify").tasks
                if not got:
                    return
                with store.write() as tx:
                    vote(tx, got[0].assignment_id, person_id, key="k", label="neutral")
        except BaseException as error:
            failures.append(error)

    def decide_on(*chosen: int) -> None:
        together.wait()
        for person_id in chosen:
            try:
                set_aside(store, project_id, person_id)
            except Conflict:
                continue
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in verifiers[:4]]
    threads += [threading.Thread(target=decide_on, args=chosen) for chosen in (verifiers[:2], writers[:1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert agrees(store, project_id)
    write_all(store, project_id, writers[1:])
    verify_all(store, project_id, verifiers[2:])
    with store.read() as tx:
        assert check(tx, project_id) == []
        live = [row.id for row in tx.all(select(pairs.c.id).where(pairs.c.state == "counted"))]
        votes = tx.all(select(answers).where(answers.c.kind == "verify", answers.c.state == "counted"))
    assert {pair: count for pair, count in Counter(row.pair_id for row in votes).items() if pair in live} == (
        dict.fromkeys(live, 2)
    )
    assert None not in verdicts(store)
