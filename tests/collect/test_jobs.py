from __future__ import annotations

from datetime import timedelta

import pytest

from goldlabel.collect import jobs
from goldlabel.collect.configuration import create_project
from goldlabel.collect.jobs import LEASE, MOST_TRIES, PIECE, ask, end_job, latest_job, renew_job, take_job
from goldlabel.collect.messages import message
from goldlabel.collect.refusals import Missing
from goldlabel.collect.store import Store
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock


@pytest.fixture
def project_id(store: Store) -> int:
    with store.write() as tx:
        return create_project(tx, "meadow", small_protocol("single")).id


def take(store: Store, worker: str = "wren") -> jobs.Job | None:
    with store.write() as tx:
        return take_job(tx, worker)


def test_jobs_are_done_in_their_order_each_by_one_worker(store: Store, project_id: int) -> None:
    with store.write() as tx:
        ask(tx, project_id, "export", audit=True)
        ask(tx, project_id, "export", audit=False)
    first, second = take(store, "wren"), take(store, "otter")
    assert first is not None
    assert second is not None
    assert (first.options, second.options) == ({"audit": True}, {"audit": False})
    assert take(store, "lynx") is None
    with store.write() as tx:
        renew_job(tx, second.id, 0.5)
        end_job(tx, first.id)
        last = latest_job(tx, project_id, "export")
    assert last is not None
    assert (last.id, last.state, last.share) == (second.id, "running", 0.5)


def test_a_project_is_measured_by_one_job_at_a_time(store: Store, project_id: int) -> None:
    with store.write() as tx:
        ask(tx, project_id, "measure")
        ask(tx, project_id, "measure")
    taken = take(store)
    assert taken is not None
    with store.write() as tx:
        ask(tx, project_id, "measure")
    assert take(store, "otter") is None
    with store.write() as tx:
        end_job(tx, taken.id)
        ask(tx, project_id, "measure")
    assert take(store) is not None


def test_a_job_whose_worker_is_gone_is_taken_up_again(store: Store, project_id: int, clock: MovableClock) -> None:
    with store.write() as tx:
        ask(tx, project_id, "measure")
    assert take(store, "wren") is not None
    clock.move(seconds=LEASE.total_seconds() - 1)
    assert take(store, "otter") is None
    clock.move(seconds=1)
    assert take(store, "otter") is not None
    assert take(store, "otter") is not None, "started again under its name, a worker need not wait"


def test_a_job_that_ends_its_worker_every_time_is_given_up(store: Store, project_id: int) -> None:
    with store.write() as tx:
        ask(tx, project_id, "measure")
    for _ in range(MOST_TRIES):
        assert take(store) is not None
    assert take(store) is None
    with store.read() as tx:
        last = latest_job(tx, project_id, "measure")
    assert last is not None
    assert last.state == "failed"
    assert last.problem == message("job_crashed", n=MOST_TRIES)


def test_what_a_job_makes_is_read_in_pieces_until_it_is_cleared_away(
    store: Store, project_id: int, clock: MovableClock
) -> None:
    with store.write() as tx:
        ask(tx, project_id, "export")
    taken = take(store)
    assert taken is not None
    pieces = [b"a" * PIECE, b"b" * PIECE, b"cc"]
    with store.write() as tx:
        for number, piece in enumerate(pieces):
            jobs.add_piece(tx, taken.id, number, piece)
        end_job(tx, taken.id)
    with store.read() as tx:
        assert jobs.file_size(tx, taken.id) == sum(map(len, pieces))
    assert list(jobs.read_pieces(store, taken.id)) == pieces
    clock.move(seconds=timedelta(days=1, seconds=1).total_seconds())
    with store.write() as tx:
        ask(tx, project_id, "export")
    again = take(store)
    assert again is not None
    with store.write() as tx:
        end_job(tx, again.id)
    assert list(jobs.read_pieces(store, taken.id)) == []
    with store.read() as tx:
        assert latest_job(tx, project_id, "export") is not None


def test_a_job_is_one_of_its_project_and_kind(store: Store, project_id: int) -> None:
    with store.write() as tx:
        ask(tx, project_id, "export")
        other = create_project(tx, "marsh", small_protocol("single")).id
    taken = take(store)
    assert taken is not None
    with store.read() as tx:
        assert jobs.job(tx, project_id, "export", taken.id).state == "running"
        for place, kind in ((other, "export"), (project_id, "measure")):
            with pytest.raises(Missing, match="no such job"):
                jobs.job(tx, place, kind, taken.id)
