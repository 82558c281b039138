"""What takes a pair out of the data waits for a vote on it, and neither ends the other: all lock in one order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from sqlalchemy import select, text

from goldlabel.collect.data.hiding import HIDDEN, hide_pair, hide_premise
from goldlabel.collect.people.rejection import decide, take_step
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.schema import answers, pairs
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.history import withdraw
from goldlabel.collect.work.verifying import vote
from tests.collect.campaign import join, small_protocol, write_all
from tests.collect.test_assignment import agrees, meadow

BLOCKED = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")


def reject(tx: Transaction, project_id: int, writer_id: int) -> None:
    decision_id = decide(tx, project_id, writer_id, "reject", reason="hasty", by=None)
    take_step(tx, project_id, decision_id, by=None)


def take_back(tx: Transaction, project_id: int, writer_id: int) -> None:
    withdraw(tx, project_id, tx.value(select(answers.c.id)), writer_id)


def hide_all(tx: Transaction, project_id: int, writer_id: int) -> None:
    hide_premise(tx, project_id, tx.value(select(pairs.c.premise_id)), HIDDEN, by=None)


def hide_each(tx: Transaction, project_id: int, writer_id: int) -> None:
    for row in tx.all(select(pairs.c.id).order_by(pairs.c.id)):
        hide_pair(tx, project_id, row.id, HIDDEN, by=None)


@pytest.mark.parametrize("take_out", [reject, take_back, hide_all, hide_each])
@pytest.mark.parametrize("database", ["postgresql"])
def test_a_vote_and_what_takes_its_pair_out_wait_for_each_other(
    store: Store, take_out: Callable[[Transaction, int, int], None]
) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    [writer_id] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer_id])
    [verifier_id] = join(store, project_id, "verifier", 1)
    failures: list[BaseException] = []

    def other() -> None:
        try:
            with suppress(Conflict), store.write() as tx:
                take_out(tx, project_id, writer_id)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=other)
    with store.write() as tx:
        [held] = claim(tx, project_id, verifier_id, "verify").tasks
        thread.start()
        while thread.is_alive():
            with store.read() as watch:
                if watch.value(BLOCKED):
                    break
            time.sleep(0.01)
        vote(tx, held.assignment_id, verifier_id, key="k", label="neutral")
    thread.join()
    assert not failures
    assert agrees(store, project_id)
    with store.read() as tx:
        assert [row.state for row in tx.all(select(answers).filter_by(kind="verify"))] == ["counted"]
