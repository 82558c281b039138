"""Leaderboards to test with, on SQLite and on a private PostgreSQL where there is one to start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collect.conftest import MovableClock, clock, cluster, database
from tests.collect.postgres import Cluster
from tests.leaderboard.boards import Leaderboard, Make, opened

__all__ = ["clock", "cluster", "database"]


@pytest.fixture
def make(tmp_path: Path, clock: MovableClock) -> Iterator[Make]:
    """Makes leaderboards on SQLite, on a clock that the test moves."""
    made: list[Leaderboard] = []

    def build(name: str = "board", **options: Any) -> Leaderboard:
        made.append(opened(tmp_path / name, clock=clock, **options))
        return made[-1]

    yield build
    for board in made:
        board.store.close()


@pytest.fixture
def board(make: Make) -> Leaderboard:
    return make()


@pytest.fixture
def place(database: str, request: pytest.FixtureRequest) -> str | None:
    """Where the database of a leaderboard can be made; nothing is its folder."""
    if database == "sqlite":
        return None
    running: Cluster = request.getfixturevalue("cluster")
    return running.new_database()
