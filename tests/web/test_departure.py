from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from goldlabel.collect.people import people
from goldlabel.collect.people.marketplaces import enter, open_market
from goldlabel.collect.schema import accounts, metadata
from tests.web.test_security import allowed_roles, call, filled, routes
from tests.web.world import PASSWORD, World, objects, populate


def test_no_route_of_a_requester_serves_one_who_is_paused_or_removed(empty: World) -> None:
    world = populate(empty, premises=4)
    boss, deputy = world.people["boss"], world.people["nobody"]
    mine = objects(world, world.project)
    with world.store.write() as tx:
        people.add_member(tx, world.project, deputy, "requester", by=boss)
    visitor = world.visitor("nobody")
    assert visitor.get(f"/projects/{world.project}").status_code == 200
    for state, status in (("paused", 403), ("removed", 404)):
        path = f"/projects/{world.project}/people/{world.called('nobody')}/requester"
        assert world.visitor("boss").post(path, {"state": state}).status_code == 303
        tried = 0
        for method, route in routes(world):
            if "{project_id}" in route and allowed_roles(route) == ("requester",):
                answer = call(visitor, method, filled(route, mine))
                assert answer.status_code == status, (method, route, answer.status_code)
                tried += 1
        assert tried > 25
    assert "New project" not in visitor.get("/").text


def test_a_person_is_removed_and_let_in_again(empty: World) -> None:
    world = populate(empty, premises=4)
    boss, writer = world.visitor("boss"), world.visitor("writer")
    path = f"/projects/{world.project}/people/{world.called('writer')}"
    assert boss.post(f"{path}/writer", {"state": "removed"}).headers["location"] == path
    page = boss.get(path).text
    assert '<option value="removed" selected>' in page
    assert writer.get(f"/projects/{world.project}/write").status_code == 404
    assert "meadow" in writer.get("/").text
    assert "1.50 USD" in writer.get(f"/projects/{world.project}/my-pay").text
    assert boss.post(f"{path}/writer", {"state": "active"}).status_code == 303
    assert writer.get(f"/projects/{world.project}/write").status_code == 200


def test_the_last_requester_is_told_so(empty: World) -> None:
    world = populate(empty, premises=4)
    boss = world.visitor("boss")
    for state in ("paused", "removed"):
        answer = boss.post(f"/projects/{world.project}/people/{world.called('boss')}/requester", {"state": state})
        assert (answer.status_code, "no other active requester" in answer.text) == (409, True)
    assert boss.post(f"/projects/{world.project}/leave").status_code == 409
    assert boss.post("/account/delete", {"password": PASSWORD}).status_code == 409
    assert boss.get(f"/projects/{world.project}").status_code == 200


def test_leaving_a_project(empty: World) -> None:
    world = populate(empty, premises=4)
    writer = world.visitor("writer")
    page = writer.get(f"/projects/{world.project}/leave").text
    assert "what you earned" in page
    assert writer.post(f"/projects/{world.project}/leave").headers["location"] == "/"
    home = writer.get("/").text
    assert f"/projects/{world.project}/write" not in home
    assert not re.search(r"·\s*</p>", home), "no role is left to be told"
    assert writer.get(f"/projects/{world.project}/write").status_code == 404
    assert writer.get(f"/projects/{world.project}/my-pay").status_code == 200


def test_who_came_from_a_marketplace_deletes_an_account_without_a_password(empty: World) -> None:
    world = populate(empty, premises=4)
    sent = {"PROLIFIC_PID": "5f0c1d", "STUDY_ID": "st1", "SESSION_ID": "se1"}
    with world.store.write() as tx:
        offer: dict[str, Any] = {"provider": "prolific", "role": "verifier", "quota": 2, "code": "C0DE7", "uses": 5}
        token = open_market(tx, world.project, **offer, lifetime=timedelta(days=1), by=None)
        world.people["outsider"], _ = enter(tx, token, sent)
    outsider, boss = world.visitor("outsider"), world.visitor("boss")
    assert "password" not in outsider.get("/account").text.lower()
    assert 'type="password"' not in outsider.get("/account/delete").text
    assert "5f0c1d" in boss.get(f"/projects/{world.project}/marketplace").text
    assert outsider.post("/account/delete").headers["location"] == "/login"
    with world.store.read() as tx:
        assert tx.row(accounts, person_id=world.people["outsider"]) is None
        kept = "".join(str(tx.all(select(table))) for table in metadata.sorted_tables)
    assert "5f0c1d" not in kept
    assert "se1" not in kept
    with world.store.write() as tx:
        assert enter(tx, token, sent)[0] != world.people["outsider"]


def test_deleting_an_account(empty: World) -> None:
    world = populate(empty, premises=4)
    writer = world.visitor("writer")
    assert "cannot be brought back" in writer.get("/account/delete").text
    wrong = writer.post("/account/delete", {"password": "not the one"})
    assert (wrong.status_code, "is wrong" in wrong.text) == (403, True)
    assert writer.post("/account/delete", {"password": PASSWORD}).headers["location"] == "/login"
    assert writer.get("/").status_code == 303
    with world.store.read() as tx:
        assert tx.row(accounts, person_id=world.people["writer"]) is None
    assert world.visitor("boss").get(f"/projects/{world.project}/people/{world.called('writer')}").status_code == 200
