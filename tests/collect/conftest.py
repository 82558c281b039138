"""Stores to test with: SQLite, and a private PostgreSQL where there is one to start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from goldlabel.collect.people import passwords
from goldlabel.collect.store import Store
from tests.collect.postgres import Cluster, empty, find_binaries, postgres_cluster
from tests.collect.quick_schema import quick_schema

__all__ = ["quick_schema"]


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **span: float) -> None:
        self.now += timedelta(**span)


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed slowly on purpose; here that would take most of the time."""
    monkeypatch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    monkeypatch.setattr(passwords, "_NOBODY", passwords._hash_of_nobody())


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed: nothing is tested on it")
    with postgres_cluster(binaries) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a collection can be made."""
    if database == "sqlite":
        return str(tmp_path / "collection")
    found: Cluster = request.getfixturevalue("cluster")
    return found.new_database()


@pytest.fixture(scope="session")
def shared_database(cluster: Cluster) -> str:
    """A collection that is emptied after every test: that is quicker than to make one."""
    url = cluster.new_database()
    Store.create(url).close()
    return url


@pytest.fixture
def store(database: str, request: pytest.FixtureRequest, tmp_path: Path, clock: MovableClock) -> Iterator[Store]:
    """An empty collection on each kind of database."""
    if database == "sqlite":
        made = Store.create(tmp_path / "collection", clock=clock)
        yield made
        made.close()
        return
    url = request.getfixturevalue("shared_database")
    opened = Store.open(url, clock=clock)
    yield opened
    opened.close()
    empty(url)
