"""Trying a project out: every page of an annotator works, the rules hold, and the collection stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from goldlabel.collect.schema import metadata
from goldlabel.collect.work import tryout
from tests.web.world import Visitor, World, opened, populate

BOXES = {"entailment": "An animal was out.", "neutral": "It sought some food.", "contradiction": "All beasts slept."}


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(tryout.tempfile, "gettempdir", lambda: str(tmp_path))
    with opened(tmp_path / "collection") as world:
        yield populate(world, premises=4)


def everything(world: World) -> dict[str, list[Any]]:
    """All rows but those of sessions, which a look at a page may bring."""
    with world.store.read() as tx:
        tables = [table for table in metadata.sorted_tables if table.name not in ("sessions", "rate_buckets")]
        return {table.name: [tuple(row) for row in tx.all(select(table))] for table in tables}


def data_of(page: str) -> Any:
    return json.loads(page.partition('type="application/json" id="data">')[2].partition("</script>")[0])


def ask(visitor: Visitor, path: str, body: Any) -> Any:
    return visitor.client.post(path, json=body, headers={"x-csrf-token": visitor.csrf})


def test_a_requester_writes_and_judges_and_leaves_no_trace(crowd: World) -> None:
    boss, place = crowd.visitor("boss"), f"/projects/{crowd.project}"
    others = [crowd.visitor(name) for name in ("rival", "writer", "nobody")]
    before = everything(crowd)
    start = boss.post(f"{place}/tryout", {"role": "writer"}).headers["location"]
    trial = start.removesuffix("/instructions/writer")
    assert tryout.is_tryout(int(trial.rpartition("/")[2]))
    assert "This is a try-out" in boss.get(start).text
    page = boss.get(f"{trial}/write").text
    assert "Yesterday a" in page
    task = data_of(page)["work"]["tasks"][0]["assignment"]
    assert tryout.is_tryout(task)
    bad = [{"label": label, "level": "easy", "text": text} for label, text in BOXES.items()]
    refused = ask(boss, f"/api/assignments/{task}/submit", {"key": "k", "hypotheses": bad})
    assert refused.json()["error"] == "broken_rules"
    good = bad + [
        {"label": label, "level": "medium", "text": text + " So they told us."} for label, text in BOXES.items()
    ]
    sent = ask(boss, f"/api/assignments/{task}/submit", {"key": "k", "hypotheses": good})
    assert sent.json()["state"] == "counted", sent.text
    assert sent.json()["work"]["tasks"][0]["assignment"] == task + 1
    judged = data_of(boss.get(f"{trial}/verify").text)["work"]["tasks"][0]["assignment"]
    assert ask(boss, f"/api/assignments/{judged}/vote", {"key": "v", "label": "neutral"}).status_code == 200
    assert boss.get(f"{trial}/my-pay").status_code == 200
    for requester_page in ("", "/people", "/settings", "/export"):
        assert boss.get(trial + requester_page).status_code == 403
    for other in others:
        assert other.get(f"{trial}/write").status_code == 404
        assert ask(other, f"/api/assignments/{judged}/undo", {"key": "v"}).status_code == 404
    assert everything(crowd) == before
    assert boss.post(f"{trial}/tryout/end").headers["location"] == f"{place}/manage"
    assert boss.get(f"{trial}/write").status_code == 404
    assert everything(crowd) == before
    assert not any(tryout._folder().iterdir())


def test_the_training_is_tried_too(crowd: World) -> None:
    boss = crowd.visitor("boss")
    protocol = {"qualification.training": "3"}
    assert boss.post(f"/projects/{crowd.project}/settings", protocol).status_code == 303
    start = boss.post(f"/projects/{crowd.project}/tryout", {"role": "verifier", "training": "true"}).headers["location"]
    trial = start.removesuffix("/instructions/verifier")
    answer = boss.get(f"{trial}/verify")
    assert answer.headers["location"] == f"{trial}/training/verifier"
    assert boss.get(answer.headers["location"]).status_code == 200


def test_numbers_of_no_try_out(crowd: World) -> None:
    boss = crowd.visitor("boss")
    for number in (tryout.FIRST, tryout.FIRST + 12345678, 2**63 - 1, 10**30, "9" * 6000):
        assert boss.get(f"/projects/{number}/write").status_code in (404, 422)
    assert boss.post(f"/projects/{crowd.project}/tryout/end").status_code == 404
    assert crowd.visitor("writer").post(f"/projects/{crowd.project}/tryout", {"role": "writer"}).status_code == 403
