from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text

from goldlabel.collect.configuration import create_project
from goldlabel.collect.money.by_hand import give, reverse
from goldlabel.collect.money.ledger import in_currency, in_units, lines, totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.protocols import CONDITIONS, Protocol
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.schema import ledger, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.checking import checks_of, record_check
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.writing import submit
from goldlabel.errors import InputError
from tests.collect.campaign import join, small_protocol, verify_all, write_all
from tests.collect.test_assignment import agrees, get, meadow

TEXTS = {
    "entailment": ("Roads get told about", "Words mention streets", "Print names places"),
    "neutral": ("Many cars pass there", "Children like that", "Winter made it icy"),
    "contradiction": ("Silence is total", "Books were burnt", "Every street vanished"),
}


def worked(store: Store, condition: str, **texts: tuple[str, str, str]) -> tuple[int, int]:
    """One premise written about in one condition; each writer's answers are all drawn for a look."""
    protocol = small_protocol(condition)
    checked = replace(CONDITIONS.get(condition), checked_share=float(condition == "multi-constraint"))
    project_id = meadow(store, replace(protocol, conditions=(checked,)), news=1)
    [writer] = join(store, project_id, "writer", 1)
    [lent] = get(store, project_id, writer, "write").tasks
    hypotheses = [
        Hypothesis(label=label, level=level, text=one)
        for label, three in (TEXTS | texts).items()
        for level, one in zip(("easy", "medium", "hard"), three, strict=True)
    ]
    with store.write() as tx:
        submit(tx, lent.assignment_id, writer, key="k", hypotheses=hypotheses)
    return project_id, writer


@given(st.decimals(-1000, 1000, places=4))
def test_money_comes_back_as_it_was(amount: Decimal) -> None:
    assert in_currency(in_units(amount)) == amount


@pytest.mark.parametrize("amount", ["0.00001", "NaN", "Infinity", "1e30"])
def test_amounts_that_cannot_be_paid(amount: str) -> None:
    with pytest.raises(InputError, match=r"is no amount of money; allowed: up to .*, with up to four decimal places"):
        in_units(Decimal(amount))


def test_rates_that_cannot_be_paid_are_refused_at_once(store: Store) -> None:
    protocol: Protocol = small_protocol("single")
    with store.write() as tx, pytest.raises(InputError, match=r"0\.00001\' is no amount of money"):
        create_project(tx, "meadow", replace(protocol, pay=replace(protocol.pay, label=Decimal("0.00001"))))


def test_sums_are_exact_over_many_lines(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=3), news=4)
    write_all(store, project_id, join(store, project_id, "writer", 2))
    verify_all(store, project_id, join(store, project_id, "verifier", 3))
    with store.read() as tx:
        assert sum(totals(tx, project_id).values()) == 12 * Decimal("0.30") + 36 * Decimal("0.20")
        assert check(tx, project_id) == []


def test_diverse_hypotheses_without_negators_earn_the_bonus(store: Store) -> None:
    project_id, writer = worked(store, "multi-encourage")
    with store.read() as tx:
        found = lines(tx, project_id, person_id=writer)
    assert [(line.kind, line.amount) for line in found] == [("base", Decimal("2.70")), ("bonus", Decimal("0.90"))]
    assert found[1].reason == "diverse, and no contradiction with a negator: 9 pairs at 0.10 USD"
    assert agrees(store, project_id)


@pytest.mark.parametrize(
    ("condition", "contradiction"),
    [
        ("multi-encourage", ("Silence is total", "Books were not made", "Every street vanished")),
        ("multi", TEXTS["contradiction"]),
    ],
)
def test_no_bonus_without_meeting_the_criteria(
    store: Store, condition: str, contradiction: tuple[str, str, str]
) -> None:
    project_id, writer = worked(store, condition, contradiction=contradiction)
    with store.read() as tx:
        assert [line.kind for line in lines(tx, project_id, person_id=writer)] == ["base"]


def test_a_violation_found_by_hand_lowers_the_pay(store: Store) -> None:
    project_id, writer = worked(store, "multi-constraint")
    with store.write() as tx:
        [drawn] = checks_of(tx, project_id, pending=True)
        assert [one.hypothesis for one in drawn.pairs] == [one for three in TEXTS.values() for one in three]
        broken = [one.id for one in drawn.pairs if one.label == "contradiction"][:2]
        with pytest.raises(InputError, match="a violation needs a note"):
            record_check(tx, project_id, drawn.id, broken=broken, note="", by=None)
        with pytest.raises(InputError, match="pairs 999 are not of this answer"):
            record_check(tx, project_id, drawn.id, broken=[999], note="no", by=None)
        record_check(tx, project_id, drawn.id, broken=broken, note="hidden negators", by=None)
        assert totals(tx, project_id) == {writer: Decimal("2.50")}
        assert checks_of(tx, project_id, pending=True) == []
        [done] = checks_of(tx, project_id)
        assert (done.violation, done.note) == (True, "hidden negators")
    with store.write() as tx, pytest.raises(Conflict, match="was looked at before"):
        record_check(tx, project_id, drawn.id, broken=broken, note="again", by=None)
    with store.write() as tx, pytest.raises(Missing):
        record_check(tx, project_id + 1, drawn.id, broken=[], note="", by=None)
    assert agrees(store, project_id)


def test_a_look_that_finds_nothing_costs_nothing(store: Store) -> None:
    project_id, writer = worked(store, "multi-constraint")
    with store.write() as tx:
        record_check(tx, project_id, checks_of(tx, project_id)[0].id, broken=[], note="", by=None)
        assert totals(tx, project_id) == {writer: Decimal("2.70")}


def test_a_line_by_hand_is_written_once(store: Store) -> None:
    project_id, writer = worked(store, "multi")
    given = {"kind": "bonus", "amount": Decimal("5.5"), "reason": "a whole batch in a day", "key": "batch 1"}
    with store.write() as tx:
        first = give(tx, project_id, writer, by=None, **given)  # type: ignore[arg-type]
        again = give(tx, project_id, writer, by=None, **given)  # type: ignore[arg-type]
        assert first == again
        assert totals(tx, project_id) == {writer: Decimal("8.20")}
        with pytest.raises(Conflict, match="another line under key 'batch 1'"):
            give(tx, project_id, writer, by=None, **{**given, "amount": Decimal(6)})  # type: ignore[arg-type]
    assert agrees(store, project_id)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "base"}, "a line of kind 'base' is not given by hand; allowed: bonus, penalty"),
        ({"amount": Decimal(-1)}, "needs an amount above 0, a reason and a key"),
        ({"reason": " "}, "needs an amount above 0, a reason and a key"),
        ({"person_id": 999}, "there is no such person in this project"),
    ],
)
def test_lines_that_cannot_be(store: Store, changes: dict[str, object], message: str) -> None:
    project_id, writer = worked(store, "multi")
    given = {"person_id": writer, "kind": "penalty", "amount": Decimal(1), "reason": "late", "key": "k"} | changes
    with store.write() as tx, pytest.raises(InputError, match=message):
        give(tx, project_id, by=None, **given)  # type: ignore[arg-type]


def test_a_line_is_reversed_once(store: Store) -> None:
    project_id, writer = worked(store, "multi")
    with store.write() as tx:
        penalty = give(
            tx, project_id, writer, kind="penalty", amount=Decimal("0.7"), reason="copied", key="p", by=None
        )  # fmt: skip
        assert totals(tx, project_id) == {writer: Decimal("2.00")}
        back = reverse(tx, project_id, penalty.id, reason="it was not", by=None)
        assert reverse(tx, project_id, penalty.id, reason="again", by=None) == back
        assert (back.kind, back.amount, back.reverses) == ("reversal", Decimal("0.70"), penalty.id)
        assert totals(tx, project_id) == {writer: Decimal("2.70")}
        with pytest.raises(Conflict, match="a reversal is not reversed"):
            reverse(tx, project_id, back.id, reason="never", by=None)
        with pytest.raises(Missing):
            reverse(tx, project_id + 1, penalty.id, reason="elsewhere", by=None)
    assert agrees(store, project_id)


def test_a_recount_finds_what_does_not_agree(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = Store.create(tmp_path_factory.mktemp("tampered"))
    project_id = meadow(store, small_protocol("single", verifiers=1), news=2)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    [verifier] = join(store, project_id, "verifier", 1)
    verify_all(store, project_id, [verifier], most=2)
    get(store, project_id, verifier)
    with store.write() as tx:
        [first, *_] = tx.all(select(ledger.c.event_id))
        tx.run(text("DROP TRIGGER ledger_no_update"))
        tx.run(text("UPDATE ledger SET amount = amount + 1 WHERE id = 1"))
        tx.run(text("UPDATE answers SET state = 'late' WHERE kind = 'verify' AND id = (SELECT max(id) FROM answers)"))
        tx.run(text("UPDATE tasks SET state = 'open' WHERE state = 'leased'"))
        tx.run(
            text(
                "DELETE FROM tasks WHERE id = (SELECT max(id) FROM tasks WHERE state = 'open' AND lease_until IS NULL)"
            )
        )
        tx.run(pairs.update().where(pairs.c.id == 1).values(label="neutral"))
        found = check(tx, project_id)
    store.close()
    heads = [line.split(":")[0].rstrip("0123456789 ") for line in found]
    assert heads == [
        "pair", "votes wanted on pair", "counted votes on pair", "task", "pay of event", "pay of person",
    ]  # fmt: skip
    assert f"pay of event {first.event_id}: the events say 9000, the tables 9001" in found
