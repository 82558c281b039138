from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest

from goldlabel.collect.people.limits import Allowance, block_of, clear_hits, hit
from goldlabel.collect.refusals import TooMany
from goldlabel.collect.store import Store
from tests.collect.conftest import MovableClock


def test_tries_are_counted_within_a_window(store: Store, clock: MovableClock) -> None:
    def attempt() -> None:
        with store.write() as tx:
            hit(tx, "login wren 192.0.2.1", limit=3, window=timedelta(minutes=5))

    for _ in range(3):
        attempt()
    clock.move(minutes=1)
    with pytest.raises(TooMany, match="too many tries; try again in 240 s") as told:
        attempt()
    assert told.value.retry_after == 240
    clock.move(minutes=4)
    attempt()
    with store.write() as tx:
        clear_hits(tx, "login wren 192.0.2.1")
    for _ in range(3):
        attempt()


def test_processes_count_together_and_mostly_by_themselves(store: Store, clock: MovableClock) -> None:
    """Two server processes over one database; a part of the allowance is told at a time."""
    first, second = (Allowance(store, "calls by", most=100, window=timedelta(minutes=1)) for _ in range(2))
    told = 0

    def ask(process: Allowance) -> None:
        nonlocal told
        if process.count(7):
            told += 1
            process.settle(7)

    let_through = 0
    for process in (first, second) * 1000:
        with suppress(TooMany):
            ask(process)
            let_through += 1
    assert 100 <= let_through <= 110
    assert told <= 24
    with pytest.raises(TooMany) as refused:
        first.count(7)
    assert 0 < refused.value.retry_after <= 60
    assert not first.count(8), "another person is not kept waiting"
    clock.move(minutes=1, seconds=1)
    assert not any(process.count(7) for process in (first, second))


@pytest.mark.parametrize(
    ("address", "block"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_an_address_is_counted_by_who_has_it(address: str, block: str) -> None:
    assert block_of(address) == block
