"""What was sent can be changed and withdrawn while nothing is decided on it; remarks reach the requester."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select

from goldlabel.collect.money.ledger import totals
from goldlabel.collect.people.qualification import trust
from goldlabel.collect.refusals import BrokenRules, Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, events, pairs, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import skip
from goldlabel.collect.work.history import Sent, change_text, change_vote, sent, withdraw
from goldlabel.collect.work.remarks import (
    LONGEST_REMARK,
    make_remark,
    own_remarks,
    remarks_of,
    remarks_on,
    resolve_remark,
    waiting_remarks,
)
from goldlabel.collect.work.verifying import undo
from tests.collect.campaign import bring_pairs, join, small_protocol, verify_all, write_all
from tests.collect.test_assignment import agrees, get, meadow
from tests.collect.test_ledger import TEXTS, worked


def mine(store: Store, project_id: int, person_id: int) -> list[Sent]:
    with store.read() as tx:
        return sent(tx, project_id, person_id)[0]


def half_judged(store: Store) -> tuple[int, int, int]:
    """One premise, three pairs, one of two votes on each."""
    project_id = meadow(store, small_protocol("single", verifiers=2), news=1)
    [writer] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer])
    [verifier, _] = join(store, project_id, "verifier", 2)
    verify_all(store, project_id, [verifier])
    return project_id, writer, verifier


def test_a_vote_is_changed_until_there_is_a_verdict(store: Store) -> None:
    project_id, _, verifier = half_judged(store)
    last = mine(store, project_id, verifier)[0]
    assert (last.state, last.open, last.earned) == ("counted", True, Decimal("0.20"))
    with store.write() as tx:
        change_vote(tx, project_id, last.answer_id, verifier, "unrelated")
        with pytest.raises(Invalid, match="is not one of"):
            change_vote(tx, project_id, last.answer_id, verifier, "odd")
        with pytest.raises(Missing, match="no such answer"):
            change_vote(tx, project_id, last.answer_id, verifier + 1, "neutral")
        told = tx.one(select(events).where(events.c.kind == "answer.changed"))
    assert told is not None
    assert (told.data["before"], told.data["label"]) == (last.label, "unrelated")
    assert mine(store, project_id, verifier)[0].label == "unrelated"
    assert agrees(store, project_id)
    verify_all(store, project_id, [verifier + 1])
    assert not any(one.open for one in mine(store, project_id, verifier))
    with store.write() as tx:
        for change in (
            lambda: change_vote(tx, project_id, last.answer_id, verifier, "neutral"),
            lambda: withdraw(tx, project_id, last.answer_id, verifier),
        ):
            with pytest.raises(Conflict, match="cannot be changed any more"):
                change()
    assert agrees(store, project_id)


def test_a_withdrawn_vote_is_asked_of_somebody_else_and_not_paid(store: Store) -> None:
    project_id, _, verifier = half_judged(store)
    last = mine(store, project_id, verifier)[0]
    with store.write() as tx:
        withdraw(tx, project_id, last.answer_id, verifier)
        assert totals(tx, project_id)[verifier] == Decimal("0.40")
        with pytest.raises(Conflict, match="does not count any more"):
            withdraw(tx, project_id, last.answer_id, verifier)
        with pytest.raises(Conflict, match="nothing to take back"):
            undo(tx, project_id, verifier)
    assert [one.state for one in mine(store, project_id, verifier)] == ["withdrawn", "counted", "counted"]
    assert get(store, project_id, verifier).status == "others"
    assert agrees(store, project_id)


def test_what_was_written_is_changed_until_somebody_begins_to_judge_it(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    [writer] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer])
    [one] = mine(store, project_id, writer)
    first, *others = one.pairs
    with store.write() as tx:
        change_text(tx, project_id, one.answer_id, writer, first.id, "  Somebody wrote about  streets ")
        with pytest.raises(BrokenRules):
            change_text(tx, project_id, one.answer_id, writer, first.id, others[0].hypothesis)
        with pytest.raises(Missing, match="no such pair"):
            change_text(tx, project_id, one.answer_id, writer, 999, "Somebody wrote")
        assert tx.value(select(pairs.c.hypothesis).where(pairs.c.id == first.id)) == "Somebody wrote about streets"
        told = tx.one(select(events).where(events.c.kind == "answer.changed"))
    assert told is not None
    assert told.data["before"] == first.hypothesis
    [verifier] = join(store, project_id, "verifier", 1)
    [lent] = get(store, project_id, verifier).tasks
    [one] = mine(store, project_id, writer)
    begun = next(pair for pair in one.pairs if pair.hypothesis == lent.hypothesis)
    assert [pair.open for pair in one.pairs].count(False) == 1
    assert not begun.open
    with store.write() as tx:
        with pytest.raises(Conflict, match="cannot be changed any more"):
            change_text(tx, project_id, one.answer_id, writer, begun.id, "Somebody wrote something else")
        withdraw(tx, project_id, one.answer_id, writer)
        assert totals(tx, project_id)[writer] == 0
        skip(tx, lent.assignment_id, verifier)
        assert {row.state for row in tx.all(select(tasks).where(tasks.c.kind == "verify"))} == {"withdrawn"}
    assert agrees(store, project_id)
    assert get(store, project_id, writer, "write").status == "others"


def test_the_bonus_follows_a_changed_text(store: Store) -> None:
    project_id, writer = worked(store, "multi-encourage")
    [one] = mine(store, project_id, writer)
    pair = next(pair for pair in one.pairs if pair.label == "contradiction")
    for text, owed in (("Nobody was ever there", "2.70"), (TEXTS["contradiction"][0], "3.60")):
        with store.write() as tx:
            change_text(tx, project_id, one.answer_id, writer, pair.id, text)
            assert totals(tx, project_id)[writer] == Decimal(owed)
        assert agrees(store, project_id)


def test_a_question_with_a_known_answer_is_as_fixed_as_the_vote_before_it(store: Store) -> None:
    protocol = small_protocol("single", verifiers=2)
    project_id = meadow(store, replace(protocol, qualification=replace(protocol.qualification, gold_rate=0.5)), news=2)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    bring_pairs(store, project_id, 3, origin="gold", labels=("neutral",))
    first, second = join(store, project_id, "verifier", 2)
    verify_all(store, project_id, [first], lambda *_: "entailment")
    with store.read() as tx:
        gold = {row.id for row in tx.all(select(answers).where(answers.c.kind == "gold", answers.c.person_id == first))}
        before = trust(tx, project_id, first).right
    assert gold
    assert all(one.open for one in mine(store, project_id, first))
    with store.write() as tx:
        change_vote(tx, project_id, min(gold), first, "neutral")
        assert trust(tx, project_id, first).right == before + 1
    assert agrees(store, project_id)
    verify_all(store, project_id, [second], lambda *_: "entailment")
    assert not any(one.open for one in mine(store, project_id, first))
    with store.write() as tx, pytest.raises(Conflict, match="cannot be changed any more"):
        withdraw(tx, project_id, min(gold), first)


def test_remarks_reach_the_requester_and_are_answered(store: Store) -> None:
    project_id, writer, verifier = half_judged(store)
    last = mine(store, project_id, verifier)[0]
    with store.write() as tx:
        remark_id = make_remark(tx, project_id, last.assignment_id, verifier, " <b>a typo</b>\n in B ")
        for text in (" ", "x" * (LONGEST_REMARK + 1)):
            with pytest.raises(Invalid, match="the remark has"):
                make_remark(tx, project_id, last.assignment_id, verifier, text)
        with pytest.raises(Missing, match="no task"):
            make_remark(tx, project_id, last.assignment_id, writer, "not mine")
        assert waiting_remarks(tx, project_id) == 1
        [shown] = remarks_of(tx, project_id)
        assert (shown.text, shown.hypothesis) == ("<b>a typo</b> in B", last.hypothesis)
        assert [row.id for row in remarks_on(tx, shown.pair_id)] == [remark_id]
        with pytest.raises(Missing, match="no such remark"):
            resolve_remark(tx, project_id + 1, remark_id, answer="", by=None)
        resolve_remark(tx, project_id, remark_id, answer="thank you", by=None)
        with pytest.raises(Conflict, match="done with already"):
            resolve_remark(tx, project_id, remark_id, answer="", by=None)
        assert waiting_remarks(tx, project_id) == 0
        assert own_remarks(tx, project_id, verifier)[0].answer == "thank you"
        assert len(own_remarks(tx, project_id, writer)) == 0
