"""How many statements pages take: the same number, however many people, premises and pairs a project has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from goldlabel.collect.people import accounts, people
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from tests.collect.campaign import bring_pairs, write_all
from tests.web.test_security import filled
from tests.web.world import HASH, World, login_of, objects, opened, populate

SIZES = ((4, 0), (12, 20))
"""Premises, and how many people join in each role beside those who are there."""


@contextmanager
def counting(store: Store) -> Iterator[list[str]]:
    """Note the statements that a store executes."""
    statements: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    engines = {store._writer, store._reader}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


def made(folder: Path, premises: int, joining: int) -> Iterator[World]:
    with opened(folder) as empty:
        world = populate(empty, premises=premises)
        with world.store.write() as tx:
            for role in ("writer", "verifier", "expert", "requester"):
                for number in range(joining):
                    person_id = accounts.create_account(tx, login_of(f"joining {role} {number}"), HASH)
                    people.add_member(tx, world.project, person_id, role, by=None)
        bring_pairs(world.store, world.project, premises, origin="gold", labels=("entailment", "neutral"))
        yield world


def counts(world: World) -> dict[str, int]:
    """Count the statements of every page of a project for its requester."""
    world.measured()
    boss, ids = world.visitor("boss"), objects(world, world.project)
    counted = {}
    for path, operations in world.app.openapi()["paths"].items():
        if "get" not in operations or "{project_id}" not in path:
            continue
        address = filled(path, ids)
        boss.get(address)  # what a process keeps once it has read it
        with counting(world.store) as statements:
            answer = boss.get(address)
        if answer.status_code == 200:
            counted[path] = len(statements)
    return counted


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, int]]:
    counted = []
    for premises, joining in SIZES:
        for world in made(tmp_path_factory.mktemp("statements") / "c", premises, joining):
            counted.append(counts(world))
    return counted


def test_every_page_takes_the_same_number_of_statements_in_a_larger_project(sizes: list[dict[str, int]]) -> None:
    small, large = sizes
    assert len(small) > 15
    assert small == large


def test_no_page_takes_many(sizes: list[dict[str, int]]) -> None:
    assert max(sizes[-1].values()) <= 30, sizes[-1]


def test_a_vote_takes_few(tmp_path: Path) -> None:
    """What stores a vote and hands out the next pair, with the begins of its three transactions, on SQLite."""
    for world in made(tmp_path / "c", 6, 0):
        write_all(world.store, world.project, [world.people["writer"]])
        verifier = world.visitor("verifier1")
        with world.store.write() as tx:
            task = claim(tx, world.project, world.people["verifier1"], "verify", hold=2).tasks[0]
        address = f"/api/assignments/{task.assignment_id}/vote"
        with counting(world.store) as statements:
            sent = {"key": "k", "label": "neutral"}
            answer = verifier.client.post(address, json=sent, headers={"x-csrf-token": verifier.csrf})
        assert answer.json()["work"]["tasks"]
        assert len(statements) <= 28, statements
