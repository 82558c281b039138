"""Real deadlocks on PostgreSQL: two requests that each hold what the other one waits for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from fastapi import Form
from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.schema import events, people
from tests.collect.postgres import Cluster
from tests.web.world import Visitor, World, opened

Value = Annotated[str, Form()]


@pytest.fixture
def world(cluster: Cluster) -> Iterator[World]:
    with opened(cluster.new_database()) as made:
        with made.store.write() as tx:
            for name in ("wren", "otter"):
                tx.insert(people, pseudonym=name, created_at=tx.now)
        yield made


def collide(world: World, *, kept_before: bool = False, repeatable: bool = True) -> list[Any]:
    """Let two requests lock the same two rows, the one in the order of the other's backwards."""
    ids = [world.one(select(people.c.id).where(people.c.pseudonym == name)) for name in ("wren", "otter")]
    both = threading.Barrier(2, timeout=30)
    tries: dict[str, int] = {}

    @world.app.post("/collide")
    def collide(name: Value) -> dict[str, int]:
        tries[name] = tries.get(name, 0) + 1
        if kept_before:
            with world.store.write(repeatable=repeatable) as tx:
                record(tx, "before", project_id=None, person_id=None, subject=name)
        first, second = ids if name == "one" else reversed(ids)
        with world.store.write() as tx:
            record(tx, "collided", project_id=None, person_id=None, subject=name)
            tx.lock(people, first)
            if tries[name] == 1:
                both.wait()
            tx.lock(people, second)
        return {"tries": tries[name]}

    def ask(name: str) -> Any:
        return Visitor(world.app).post("/collide", {"name": name})

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(ask, ["one", "two"]))


def counted(world: World, kind: str) -> list[str]:
    with world.store.read() as tx:
        return sorted(row.subject for row in tx.all(select(events.c.subject).where(events.c.kind == kind)))


def test_a_request_in_a_deadlock_is_served_again_and_keeps_everything_once(world: World) -> None:
    answers = collide(world)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert sorted(answer.json()["tries"] for answer in answers) == [1, 2]
    assert counted(world, "collided") == ["one", "two"]


def test_what_was_kept_under_a_key_may_be_done_again(world: World) -> None:
    answers = collide(world, kept_before=True)
    assert [answer.status_code for answer in answers] == [200, 200]


def test_what_kept_something_is_not_done_twice(world: World) -> None:
    answers = collide(world, kept_before=True, repeatable=False)
    assert sorted(answer.status_code for answer in answers) == [200, 503]
    assert counted(world, "before") == ["one", "two"]
    assert len(counted(world, "collided")) == 1
