from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint

import pytest

from goldlabel.errors import MissingExtraError, UnknownNameError
from goldlabel.registry import Registry, import_extra


def test_unknown_name_suggests_and_lists() -> None:
    registry: Registry[int] = Registry("number")
    registry.add("three", 3)
    registry.add("seven", 7)
    with pytest.raises(
        UnknownNameError, match=r"there is no number 'sevn'; did you mean 'seven'\? allowed: seven, three"
    ):
        registry.get("sevn")
    assert list(registry) == ["seven", "three"]
    assert len(registry) == 2
    assert "three" in registry


def test_a_name_is_given_once() -> None:
    registry: Registry[int] = Registry("number")
    registry.add("one", 1)
    with pytest.raises(ValueError, match="twice"):
        registry.add("one", 2)


def test_entries_by_import_path_are_resolved_when_asked_for() -> None:
    registry: Registry[object] = Registry("thing")
    registry.add("decoder", "json:JSONDecoder")
    assert registry.get("decoder") is json.JSONDecoder


def test_missing_extra_prints_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(MissingExtraError, match=r'jieba is not installed; run: pip install "goldlabel\[zh\]"'):
        import_extra("jieba", "zh")
    assert import_extra("json", "zh").dumps([]) == "[]"


def test_other_packages_bring_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("decoder", "json:JSONDecoder", "goldlabel.things")
    groups = {"goldlabel.things": [entry]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: groups[group])
    registry: Registry[object] = Registry("thing", entry_points="goldlabel.things")
    registry.add("own", 1)
    assert list(registry) == ["decoder", "own"]
    assert registry.get("decoder") is json.JSONDecoder
    assert (registry.origin("decoder"), registry.origin("own")) == ("json", "")
    shadowed: Registry[object] = Registry("thing", entry_points="goldlabel.things")
    shadowed.add("decoder", 1)
    assert (list(shadowed), shadowed.get("decoder"), list(shadowed.items())) == (["decoder"], 1, [("decoder", 1)])
    assert [plugin.problem for plugin in shadowed.refused] == [
        "thing 'decoder' of json cannot be used (Goldlabel has one of that name)"
    ]
