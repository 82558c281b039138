from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project, set_state
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.events import history
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.projects import all_projects, project, project_named, projects_of
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.schema import premises, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.queues import queue_progress
from goldlabel.errors import InputError
from tests.collect.campaign import join, small_protocol, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import get, meadow, pool


def test_several_projects_live_side_by_side(store: Store) -> None:
    with store.write() as tx:
        person_id = create_account(tx, "wren", "not a hash")
        first = create_project(tx, "  meadow\n", small_protocol("single"), by=person_id, seed=1)
        second = create_project(tx, "河边", make_protocol("multi", "zh"), seed=2)
        assert all_projects(tx) == [first, second]
        assert project_named(tx, "meadow") == project(tx, first.id) == first
        assert projects_of(tx, person_id) == [(first, ["requester"])]
        add_premises(tx, first.id, pool({"news": 2}), by=person_id)
        assert queue_progress(tx, second.id) == []
    with store.read() as tx, pytest.raises(Missing, match="there is no project 'lake'"):
        project_named(tx, "lake")
    with store.read() as tx, pytest.raises(Missing, match="there is no project 99"):
        project(tx, 99)


@pytest.mark.parametrize("name", ["", " \n", "x" * 101])
def test_names_that_cannot_be(store: Store, name: str) -> None:
    with store.write() as tx, pytest.raises(InputError, match=r"a project's name has .* characters; allowed: 1 to 100"):
        create_project(tx, name, small_protocol("single"))


def test_a_name_is_taken_once(store: Store) -> None:
    meadow(store)
    with store.write() as tx, pytest.raises(Conflict, match="there is a project 'meadow' already"):
        create_project(tx, "meadow", small_protocol("single"))


def test_premises_are_numbered_and_keep_what_they_came_with(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, news=2)
    more = [Premise(text="一只苍鹭站在水里。", genre=None, source="journal", original_id="7", meta={"页": [3]})]
    with store.write() as tx:
        assert add_premises(tx, project_id, more, by=None) == 1
        rows = tx.all(select(premises).order_by(premises.c.number))
    assert [row.number for row in rows] == [1, 2, 3]
    last = rows[-1]
    assert (last.text, last.genre, last.source, last.original_id, last.meta, last.created_at) == (
        "一只苍鹭站在水里。", "", "journal", "7", {"页": [3]}, clock.now,
    )  # fmt: skip


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_the_planner_knows_of_new_premises_at_once(store: Store) -> None:
    meadow(store, news=5)
    with store.read() as tx:
        known = dict(tx.connection.exec_driver_sql("SELECT relname, reltuples FROM pg_class").all())
    assert (known["premises"], known["tasks"]) == (5, 5)


def test_the_queue_tells_what_waits_and_what_lapsed(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, small_protocol("single", share=0), news=5)
    first, second, third = join(store, project_id, "writer", 3)
    write_all(store, project_id, [first], most=1)
    get(store, project_id, second, "write")
    clock.move(hours=1)
    get(store, project_id, third, "write", hold=2)
    get(store, project_id, second, "write")
    clock.move(minutes=30)
    with store.read() as tx:
        [line] = queue_progress(tx, project_id)
    assert (line.kind, line.origin, line.condition, line.genre) == ("write", "written", "single", "news")
    assert (line.waiting, line.leased, line.lapsed, line.answered, line.unusable) == (1, 3, 0, 1, 0)
    clock.move(minutes=30)
    with store.read() as tx:
        [line] = queue_progress(tx, project_id)
    assert (line.waiting, line.leased, line.lapsed, line.answered) == (1, 0, 3, 1)


def test_several_writers_for_each_premise(store: Store) -> None:
    protocol = small_protocol("single", share=0)
    project_id = meadow(store, replace(protocol, writing=replace(protocol.writing, writers_per_premise=2)), news=2)
    writers = join(store, project_id, "writer", 3)
    assert write_all(store, project_id, writers) == 4
    with store.read() as tx:
        assert sorted((row.premise_id, row.slot) for row in tx.all(select(tasks))) == [(1, 0), (1, 1), (2, 0), (2, 1)]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (make_protocol("single", "zh"), "setting 'language' is 'en' and cannot become 'zh'; make a new project"),
        (small_protocol("multi"), "condition 'single' cannot be taken away, as people work in it"),
        (make_protocol("vetting", "en"), "setting 'kind' is 'elicitation' and cannot become 'vetting'"),
    ],
)
def test_what_a_project_is_cannot_change(store: Store, other: object, message: str) -> None:
    project_id = meadow(store)
    with store.write() as tx, pytest.raises(InputError, match=message):
        configure(tx, project_id, other, by=None)  # type: ignore[arg-type]


def test_states_and_premises_that_cannot_be(store: Store) -> None:
    with store.write() as tx:
        vetting = create_project(tx, "lake", make_protocol("vetting", "en"))
        with pytest.raises(InputError, match="a project cannot be 'gone'; allowed: running, paused"):
            set_state(tx, vetting.id, "gone", by=None)
        with pytest.raises(InputError, match="is of kind 'vetting': nobody writes in it; import pairs instead"):
            add_premises(tx, vetting.id, pool({"news": 1}), by=None)


def test_every_change_is_an_event_with_who_and_when(store: Store, clock: MovableClock) -> None:
    with store.write() as tx:
        person_id = create_account(tx, "wren", "not a hash")
        made = create_project(tx, "meadow", small_protocol("single"), by=person_id)
        add_premises(tx, made.id, pool({"news": 2}), by=person_id)
        clock.move(minutes=1)
        set_state(tx, made.id, "paused", by=person_id)
        set_state(tx, made.id, "paused", by=person_id)
    with store.write() as tx:
        set_state(tx, made.id, "running", by=None)
        found = history(tx, made.id)
        assert history(tx, made.id, after=found[0].id, limit=1) == [found[1]]
    assert [row.kind for row in found] == ["project.created", "premises.added", "project.paused", "project.running"]
    assert [row.person_id for row in found] == [person_id, person_id, person_id, None]
    assert (found[3].at - found[2].at).total_seconds() == 60
    assert found[1].data == {"first": 1, "last": 2}
