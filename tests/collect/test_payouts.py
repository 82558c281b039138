"""What is earned, sent and owed; and the floor under an hour's pay."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from goldlabel.collect.money.by_hand import give, reverse
from goldlabel.collect.money.ledger import lines
from goldlabel.collect.money.payouts import (
    balance_of,
    balances,
    earned_since,
    pay_out,
    pay_out_everybody,
    payouts_of,
    start_of_day,
    top_up,
)
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.store import Store
from goldlabel.collect.work.verifying import vote
from tests.collect.campaign import join, small_protocol, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import agrees, get, meadow
from tests.collect.test_rejection import set_aside

DAY = date(2030, 1, 31)


def working(store: Store, clock: MovableClock, *seconds: tuple[float, float], floor: str = "0") -> tuple[int, int]:
    """A verifier who says that votes took so long, while so long passed on the server."""
    protocol = small_protocol("single", verifiers=1)
    protocol = replace(protocol, pay=replace(protocol.pay, floor=Decimal(floor)))
    project_id = meadow(store, protocol, news=len(seconds))
    write_all(store, project_id, join(store, project_id, "writer", 1))
    [verifier] = join(store, project_id, "verifier", 1)
    for said, passed in seconds:
        [lent, *_] = get(store, project_id, verifier, hold=2).tasks
        clock.move(seconds=passed)
        with store.write() as tx:
            vote(tx, lent.assignment_id, verifier, key="k", label="neutral", seconds=said)
    return project_id, verifier


def test_a_payout_lowers_what_is_owed_and_not_what_is_earned(store: Store, clock: MovableClock) -> None:
    project_id, verifier = working(store, clock, (3, 3), (3, 3))
    with store.write() as tx:
        for _ in range(2):
            pay_out(tx, project_id, verifier, amount=Decimal("0.30"), on=DAY, note="bank", key="january", by=None)
        with pytest.raises(Conflict, match=r"0\.20 cannot be paid out, as 0\.10 is owed"):
            pay_out(tx, project_id, verifier, amount=Decimal("0.20"), on=DAY, note="", key="more", by=None)
        with pytest.raises(Missing):
            pay_out(tx, project_id, 999, amount=Decimal("0.20"), on=DAY, note="", key="nobody", by=None)
        stands = balance_of(tx, project_id, verifier)
        [made] = payouts_of(tx, project_id)
    assert (stands.earned, stands.paid, stands.owed) == (Decimal("0.40"), Decimal("0.30"), Decimal("0.10"))
    assert (made.reason, made.amount) == ("paid out on 2030-01-31: bank", -3000)
    assert agrees(store, project_id)
    with store.write() as tx:
        reverse(tx, project_id, made.id, reason="it came back", by=None)
        assert balance_of(tx, project_id, verifier).owed == balance_of(tx, project_id, verifier).earned
        assert list(payouts_of(tx, project_id)) == []
        assert pay_out_everybody(tx, project_id, on=DAY, note="", key="february", by=None) == 2
        assert pay_out_everybody(tx, project_id, on=DAY, note="", key="february", by=None) == 0
        assert {one.owed for one in balances(tx, project_id)} == {0}
    assert agrees(store, project_id)
    set_aside(store, project_id, verifier)
    with store.read() as tx:
        assert balance_of(tx, project_id, verifier).owed == Decimal("-0.40")
    assert agrees(store, project_id)


def test_no_clock_of_a_browser_makes_an_hour_longer(store: Store, clock: MovableClock) -> None:
    project_id, verifier = working(store, clock, (500, 100), (500, 100), (40, 100), (5000, 4000))
    with store.read() as tx:
        assert balance_of(tx, project_id, verifier).time == timedelta(seconds=100 + 100 + 40 + 600)
    set_aside(store, project_id, verifier, since=clock.now)
    with store.read() as tx:
        assert balance_of(tx, project_id, verifier).time == timedelta(seconds=100 + 100 + 40)
        assert balance_of(tx, project_id, verifier).hourly == Decimal("0.60") * 3600 / 240


def test_pay_below_the_floor_is_made_up_once(store: Store, clock: MovableClock) -> None:
    project_id, verifier = working(store, clock, *[(300, 300)] * 3, floor="12")
    with store.write() as tx:
        assert balance_of(tx, project_id, verifier).due == Decimal("2.40")
        assert [top_up(tx, project_id, by=None) for _ in range(2)] == [1, 0]
        stands = balance_of(tx, project_id, verifier)
        assert (stands.earned, stands.hourly, stands.due) == (Decimal("3.00"), 12, 0)
        assert lines(tx, project_id, person_id=verifier)[-1].reason == "0.25 hours raised to 12 USD an hour"
    assert agrees(store, project_id)
    set_aside(store, project_id, verifier)
    with store.write() as tx:
        assert top_up(tx, project_id, by=None) == 0
        assert balance_of(tx, project_id, verifier).earned == Decimal("2.40")
    assert agrees(store, project_id)


def test_without_a_floor_nothing_is_made_up(store: Store, clock: MovableClock) -> None:
    project_id, _ = working(store, clock, (300, 300))
    with store.write() as tx, pytest.raises(Invalid, match="no floor of pay"):
        top_up(tx, project_id, by=None)


def test_what_was_earned_today(store: Store, clock: MovableClock) -> None:
    project_id, verifier = working(store, clock, (3, 3))
    clock.move(days=1)
    with store.write() as tx:
        give(tx, project_id, verifier, kind="bonus", amount=Decimal(1), reason="kind", key="k", by=None)
        pay_out(tx, project_id, verifier, amount=Decimal("1.20"), on=DAY, note="", key="k", by=None)
        assert earned_since(tx, project_id, verifier, start_of_day(tx)) == 1
        assert earned_since(tx, project_id, verifier, tx.now + timedelta(seconds=1)) == 0
