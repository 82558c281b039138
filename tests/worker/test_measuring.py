from __future__ import annotations

import logging
from html import unescape
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.hypothesis_only import cross_validate, judge_hypotheses
from goldlabel.collect import jobs
from goldlabel.collect.configuration import configure
from goldlabel.collect.data import measurements
from goldlabel.collect.data.measurements import PATIENCE, load_marks, load_measured, look_up, save_measured
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.events import newest_event, record
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import with_settings
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


def test_what_was_just_written_is_measured_and_its_writer_may_see_it(empty: World) -> None:
    world = populate(empty)
    home = f"/projects/{world.project}"
    measuring.measure_project(world.store, world.project)
    with world.store.read() as tx:
        own = take_snapshot(tx, world.project).own
        measured, name = load_measured(tx, world.project), pseudonyms_of(tx, world.project)[world.people["writer"]]
    assert measured is not None
    assert measured.meter is not None
    meter, frame = measured.meter, own.frame.collect().sort(pl.col("id").cast(pl.Int64), descending=True)
    assert [(one.text, one.label, one.writer) for one in meter.newest] == list(
        frame.head(measuring.NEWEST).select("hypothesis", "label", "writer").iter_rows()
    )
    assert {writer: one.text for writer, one in meter.last.items()} == dict(
        frame.unique("writer", keep="first", maintain_order=True).select("writer", "hypothesis").iter_rows()
    )
    corpus = read_corpus(own, tokenizer=measuring.tokenizer_for("en"))
    judged = judge_hypotheses(own)
    told = {one.id: one.probability for one in meter.last.values()}
    folds = cross_validate(corpus.words, corpus.labels, corpus.units, len(corpus.space))
    for row, number in enumerate(own.frame.collect()["id"]):
        if int(number) in told:
            expected = folds.probabilities[list(folds.rows).index(row), corpus.labels[row]]
            assert told[int(number)] == pytest.approx(float(expected))
    assert meter.whole.blind is not None
    assert meter.whole.blind.accuracy.value == judged.accuracy.value
    assert meter.rounds == []
    assert "Just written" in world.visitor("boss").get(f"{home}/figures").text
    writer = world.visitor("writer")
    without = writer.get(f"{home}/write")
    assert (without.status_code, "give away" in without.text) == (200, False)
    with world.store.write() as tx:
        protocol = project(tx, world.project).protocol
        configure(tx, world.project, with_settings(protocol, {"writing.meter": True}), by=None)
    shown = writer.get(f"{home}/write").text
    assert "What my sentences give away" in shown
    assert meter.last[name].text in unescape(shown)


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
