"""Worlds for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goldlabel.collect.store import Store
from tests.collect.conftest import MovableClock, cluster, quick_hashes, quick_schema
from tests.web.world import World, opened, populate

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.web.site import Site

__all__ = ["cluster", "quick_hashes", "quick_schema"]


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def empty(tmp_path: Path, clock: MovableClock) -> Iterator[World]:
    """A server with one requester, on a clock that the test moves."""
    with opened(tmp_path / "collection", clock) as world:
        yield world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two projects with people and pairs; tests that share it leave nothing behind that another would miss."""
    with opened(tmp_path_factory.mktemp("world") / "collection") as made:
        yield populate(made)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser that nobody uses yet."""
    from tests.web.site import browsing

    with browsing(chromium) as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An empty collection that is being served."""
    from tests.web.site import serving

    with serving(Store.create(tmp_path_factory.mktemp("served") / "c")) as running:
        yield running
