from __future__ import annotations

import re

import pytest

from goldlabel.errors import StorageError
from goldlabel.web.app import create_app
from tests.web.test_security import allowed_roles, filled, routes
from tests.web.world import Visitor, World, objects


def test_every_page_has_a_head(world: World) -> None:
    """A HEAD is answered as a GET is, without the page."""
    boss, mine = world.visitor("boss"), objects(world, world.project)
    walked = 0
    for method, path in routes(world):
        if method != "GET" or allowed_roles(path) != ("requester",) or "{assignment_id}" in path:
            continue
        page, head = boss.get(filled(path, mine)), boss.client.head(filled(path, mine))
        assert head.status_code == page.status_code, path
        assert head.content == b"", path
        assert head.headers.get("content-type") == page.headers.get("content-type"), path
        walked += 1
    assert walked > 20


def test_whoever_watches_over_a_server_needs_no_session(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = world.visitor()
    answer = stranger.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "set-cookie" not in answer.headers

    def fail() -> None:
        raise StorageError("the disk is gone")

    monkeypatch.setattr(world.store, "check", fail)
    assert stranger.get("/healthz").status_code == 503


def test_links_begin_with_the_address_that_people_know(world: World) -> None:
    boss = Visitor(create_app(world.store, address="https://label.example/"))
    boss.client.cookies = world.visitor("boss").client.cookies
    boss.csrf = boss.get("/api/session").json()["csrf"]
    form = {"csrf": boss.csrf, "role": "verifier"}
    page = boss.client.post(f"/projects/{world.project}/invitations", data=form, follow_redirects=True).text
    assert re.search(r"https://label\.example/invite/[\w-]{20,}", page)


def test_browsers_keep_to_an_encrypted_connection(world: World) -> None:
    assert "strict-transport-security" not in world.visitor().get("/login").headers
    behind = world.visitor(base="https://label.example")
    assert behind.get("/login").headers["strict-transport-security"] == "max-age=31536000"
