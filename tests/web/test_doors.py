from __future__ import annotations

import re

import pytest

from goldlabel.collect.money.ledger import totals
from goldlabel.collect.people import people
from goldlabel.collect.people.second_factor import factor_of
from goldlabel.web.security import SESSION
from tests.collect.conftest import MovableClock
from tests.collect.test_second_factor import code_at
from tests.web.world import PASSWORD, Visitor, World, login_of, populate


def test_a_forgotten_password(empty: World) -> None:
    world = populate(empty, premises=4)
    boss, path = world.visitor("boss"), f"/projects/{world.project}/people/{world.called('writer')}"
    assert "Password lost" in boss.get(path).text
    shown = boss.send(f"{path}/password").text
    found = re.search(r"/password/[\w-]+", shown)
    assert found is not None
    link, stranger, logged_in = found[0], world.visitor(), world.visitor("writer")
    assert stranger.get(link).status_code == 200
    short = stranger.post(link, {"password": "short"})
    assert (short.status_code, "5 characters" in short.text) == (422, True)
    answer = stranger.post(link, {"password": "eleven grey herons"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?changed=true")
    assert "new password is set" in stranger.get("/login?changed=true").text
    assert logged_in.get("/").status_code == 303, "all sessions end"
    for again in (stranger.get(link), stranger.post(link, {"password": "eleven grey herons"})):
        assert (again.status_code, "used before" in again.text) == (410, True)
    form = {"login": login_of("writer"), "password": "eleven grey herons"}
    assert world.visitor().post("/login", form).status_code == 303
    assert world.visitor("writer1").post(f"{path}/password").status_code == 403
    codes = {stranger.get(f"/password/guess{number}").status_code for number in range(61)}
    assert codes == {410, 429}


def _set_up(world: World, boss: Visitor, clock: MovableClock) -> list[str]:
    """Turn the second factor on and return the recovery codes that were shown."""
    assert boss.post("/account/second-factor", {"password": "not the one"}).status_code == 403
    assert boss.post("/account/second-factor", {"password": PASSWORD}).status_code == 303
    page = boss.get("/account/second-factor").text
    assert 'src="data:image/svg+xml' in page
    with world.store.read() as tx:
        factor = factor_of(tx, world.people["boss"])
    assert factor is not None
    assert factor.secret in page
    wrong = boss.post("/account/second-factor/confirm", {"code": "12"})
    assert (wrong.status_code, "code is wrong" in wrong.text) == (403, True)
    code = code_at(factor.secret, clock.now)
    assert boss.post("/account/second-factor/confirm", {"code": code}).status_code == 303
    page = boss.get("/account/second-factor").text
    assert factor.secret not in page
    assert factor.recovery_codes[0] not in page
    return factor.recovery_codes


def test_logging_in_with_a_second_factor(empty: World, clock: MovableClock) -> None:
    codes = _set_up(empty, empty.visitor("boss"), clock)
    visitor = empty.visitor()
    assert visitor.post("/login/code", {"code": codes[0]}).headers["location"] == "/login", "the password comes first"
    answer = visitor.post("/login", {"login": login_of("boss"), "password": PASSWORD, "next": "/account"})
    assert answer.headers["location"] == "/login/code?next=%2Faccount"
    assert SESSION not in visitor.client.cookies
    assert visitor.get("/account").status_code == 303
    assert 'value="/account"' in visitor.get(answer.headers["location"]).text
    assert visitor.post("/login/code", {"code": "1234567", "next": "/account"}).status_code == 403
    answer = visitor.post("/login/code", {"code": codes[0], "next": "/account"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert visitor.get("/account").status_code == 200
    again = empty.visitor()
    again.post("/login", {"login": login_of("boss"), "password": PASSWORD})
    assert [again.post("/login/code", {"code": codes[0]}).status_code for _ in range(9)][-1] == 429
    clock.move(minutes=20)
    assert again.post("/login/code", {"code": codes[1]}).headers["location"] == "/login", "the password was long ago"


def test_the_second_factor_is_turned_off_with_the_password(empty: World, clock: MovableClock) -> None:
    boss = empty.visitor("boss")
    _set_up(empty, boss, clock)
    assert boss.post("/account/second-factor/off", {"password": "not the one"}).status_code == 403
    assert boss.post("/account/second-factor/off", {"password": PASSWORD}).status_code == 303
    answer = empty.visitor().post("/login", {"login": login_of("boss"), "password": PASSWORD})
    assert answer.headers["location"] == "/"


def test_a_project_wants_a_second_factor_of_its_requesters(empty: World, clock: MovableClock) -> None:
    world = populate(empty, premises=4)
    boss, home = world.visitor("boss"), f"/projects/{world.project}"
    with world.store.write() as tx:
        people.add_member(tx, world.project, world.people["nobody"], "requester", by=None)
    deputy, form = world.visitor("nobody"), {"qualification.second_factor": "yes"}
    refused = boss.post(f"{home}/settings", form)
    assert (refused.status_code, "would be locked out" in refused.text) == (422, True)
    assert boss.get(home).status_code == 200
    _set_up(world, boss, clock)
    assert boss.post(f"{home}/settings", form).status_code == 303
    assert boss.get(home).status_code == 200
    for path in (home, f"{home}/people", f"{home}/settings"):
        assert deputy.get(path).headers["location"] == "/account/second-factor?wanted=true"
    assert deputy.post(f"{home}/settings", {}).status_code == 403
    led = deputy.get("/account/second-factor?wanted=true")
    assert (led.status_code, "wants a second factor" in led.text) == (200, True)
    assert world.visitor("writer").get(f"{home}/write").status_code == 200
    assert boss.post("/account/second-factor/off", {"password": PASSWORD}).status_code == 303
    assert boss.get(home).headers["location"] == "/account/second-factor?wanted=true"


def test_contacts_are_for_requesters_alone(empty: World) -> None:
    world = populate(empty, premises=4)
    writer, boss = world.visitor("writer"), world.visitor("boss")
    assert writer.post("/account/contact", {"contact": "wren@example.org"}).headers["location"] == "/account"
    assert 'value="wren@example.org"' in writer.get("/account").text
    assert writer.post("/account/contact", {"contact": "x" * 301}).status_code == 422
    path = f"/projects/{world.project}/payouts/contacts.csv"
    answer = boss.post(path)
    assert answer.headers["content-type"].startswith("text/csv")
    header, *rows = answer.text.splitlines()
    assert header == "person,contact,owed,currency"
    with world.store.read() as tx:
        owed = totals(tx, world.project)[world.people["writer"]]
    assert [row.split(",")[1:] for row in rows if "wren" in row] == [["wren@example.org", str(owed), "USD"]]
    for name, status in (("writer1", 403), ("rival", 404)):
        assert world.visitor(name).post(path).status_code == status
    with world.store.write() as tx:
        people.add_member(tx, world.project, world.people["nobody"], "requester", by=None)
        people.set_member(tx, world.project, world.people["nobody"], "requester", state="paused", by=None)
    assert world.visitor("nobody").post(path).status_code == 403
    for page in (f"/projects/{world.project}/people", f"/projects/{world.project}/pairs"):
        assert "wren@example.org" not in boss.get(page).text


@pytest.mark.parametrize("path", ["/account/second-factor", "/account/delete", "/account"])
def test_pages_of_the_account_are_for_who_is_logged_in(empty: World, path: str) -> None:
    assert empty.visitor().get(path).headers["location"].startswith("/login?next=")
