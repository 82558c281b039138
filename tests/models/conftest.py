"""Fixtures of the tests of models."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def quick_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Calls to a local endpoint: short pauses, no key, no proxy, a cache of their own."""
    from goldlabel.models.endpoint import calls

    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.01)
    monkeypatch.delenv(calls.KEY, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path))
