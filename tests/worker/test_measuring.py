from __future__ import annotations

import logging
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from goldlabel.collect import jobs
from goldlabel.collect.data import measurements
from goldlabel.collect.data.measurements import PATIENCE, load_marks, load_measured, look_up, save_measured
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.events import newest_event, record
from goldlabel.worker import measuring, work
from goldlabel.worker.measuring import measure
from tests.collect.conftest import MovableClock
from tests.web.world import World, populate


def happen(world: World) -> None:
    with world.store.write() as tx:
        record(tx, "something", project_id=world.project, person_id=None, subject="nothing")


def test_what_is_kept_reads_as_it_was_measured(empty: World) -> None:
    world = populate(empty)
    with world.store.read() as tx:
        snapshot, newest = take_snapshot(tx, world.project), newest_event(tx, world.project)
    measured, marks = measure(snapshot, newest)
    assert measured.meter is not None
    assert measured.people
    with world.store.write() as tx:
        save_measured(tx, world.project, measured, marks)
    with world.store.read() as tx:
        assert load_measured(tx, world.project) == measured
        kept = load_marks(tx, world.project)
        assert load_measured(tx, world.other) is None
        assert load_marks(tx, world.other) is None
    assert kept is not None
    assert_frame_equal(kept.frame, marks.frame)
    assert kept.frame.schema["words"] == pl.List(pl.String)


def test_a_page_asks_for_a_measurement_and_shows_the_last_one(empty: World, clock: MovableClock) -> None:
    world = populate(empty)
    store = world.store
    first = look_up(store, world.project)
    assert (first.measured, first.pending, first.problem) == (None, True, None)
    world.work_off()
    known = look_up(store, world.project)
    assert known.measured is not None
    assert known.measured.at == clock.now
    assert not known.pending
    happen(world)
    assert not look_up(store, world.project).pending, "measured a moment ago"
    clock.move(seconds=PATIENCE.total_seconds())
    again = look_up(store, world.project)
    assert again.pending
    assert again.measured == known.measured, "the old figures are there while newer ones are on their way"
    world.work_off()
    newer = look_up(store, world.project)
    assert newer.measured is not None
    assert newer.measured.at == clock.now
    clock.move(days=3)
    assert not look_up(store, world.project).pending, "nothing happened since"


def test_a_measurement_of_another_version_is_made_again(empty: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = populate(empty, premises=4)
    world.measured()
    with world.store.write() as tx:
        tx.run(measurements.measurements.update().values(figures='{"at": 7}'))
    assert look_up(world.store, world.project) == measurements.Measuring(None, True, None)


def test_what_fails_in_a_job_is_told_and_the_next_one_is_done(
    empty: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = populate(empty, premises=4)

    def fail(*_: Any) -> None:
        raise ZeroDivisionError("a fault")

    boss = world.visitor("boss")
    home = f"/projects/{world.project}"
    with monkeypatch.context() as patched, caplog.at_level(logging.ERROR):
        patched.setattr(measuring, "measure", fail)
        boss.get(home)
        world.work_off()
    assert "a fault" in caplog.text
    page = boss.get(home).text
    assert "Measuring failed: this could not be finished; try again" in page
    assert "data-again" not in page, "what fails is not tried over and over"
    clock.move(seconds=PATIENCE.total_seconds())
    assert "data-again" in boss.get(home).text
    world.work_off()
    assert "Measuring failed" not in boss.get(home).text


def test_a_lease_is_renewed_while_a_job_runs(empty: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = populate(empty, premises=4)
    renewed: list[int] = []
    monkeypatch.setattr(work, "HEARTBEAT", 0.001)
    monkeypatch.setattr(jobs, "renew_job", lambda tx, job_id, share=None: renewed.append(job_id))

    def wait(*_: Any) -> None:
        while not renewed:
            pass

    monkeypatch.setitem(work._KINDS, "measure", wait)
    look_up(world.store, world.project)
    assert work.work_once(world.store, "wren")
    assert renewed
