"""The project as a whole, in the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from goldlabel.collect.schema import events, pairs, projects
from tests.web.world import World, opened, populate


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[World]:
    with opened(tmp_path / "collection") as world:
        yield populate(world, premises=4)


def test_a_project_is_renamed_copied_archived_and_deleted(crowd: World) -> None:
    boss, place = crowd.visitor("boss"), f"/projects/{crowd.project}"
    assert boss.post(f"{place}/rename", {"name": "wet meadow"}).status_code == 303
    assert boss.post(f"{place}/rename", {"name": "marsh"}).status_code == 409
    answer = boss.post(f"{place}/clone", {"name": "another"})
    assert "another" in boss.get(answer.headers["location"]).text
    assert boss.post(f"{place}/archive").status_code == 303
    home = boss.get("/").text
    assert f'href="{place}"' not in home
    assert f'href="{place}/manage"' in home
    assert f'href="{place}/write"' not in crowd.visitor("writer").get("/").text
    for page in ("", "/pairs", "/people", "/ledger", "/settings", "/export", "/manage"):
        assert boss.get(place + page).status_code == 200, page
    for path, form in (("settings", {}), ("state", {"state": "running"}), ("rename", {"name": "x"})):
        answer = boss.post(f"{place}/{path}", form)
        assert answer.status_code == 409, path
        assert "is archived" in answer.text
    assert boss.post(f"{place}/invitations", {"role": "writer"}).status_code == 409
    assert "A pause" in crowd.visitor("writer1").get(f"{place}/write").text
    assert boss.post(f"{place}/restore").status_code == 303
    assert boss.post(f"{place}/state", {"state": "running"}).status_code == 303
    refused = boss.post(f"{place}/delete", {"name": "meadow"})
    assert refused.status_code == 422
    assert f'href="{place}/export"' in refused.text
    assert crowd.one(select(pairs.c.id).where(pairs.c.project_id == crowd.project).limit(1)) is not None
    assert boss.post(f"{place}/delete", {"name": "wet meadow"}).headers["location"] == "/"
    assert boss.get(place).status_code == 404
    assert crowd.visitor("writer").get(f"{place}/write").status_code == 404
    assert crowd.visitor("writer").get("/").status_code == 200
    assert crowd.one(select(pairs.c.id).where(pairs.c.project_id == crowd.project).limit(1)) is None
    assert crowd.one(select(events.c.data).where(events.c.kind == "project.deleted"))["name"] == "wet meadow"
    assert crowd.one(select(projects.c.state).where(projects.c.id == crowd.project)) == "deleted"
    assert crowd.visitor("rival").get(f"/projects/{crowd.other}").status_code == 200
