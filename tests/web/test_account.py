from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from goldlabel.collect import projects
from goldlabel.collect.configuration import create_project
from goldlabel.collect.people import accounts, people
from goldlabel.collect.schema import accounts as account_rows
from goldlabel.collect.schema import pseudonyms
from goldlabel.web.security import SESSION
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock
from tests.web.world import PASSWORD, World, login_of, populate


def invited(world: World, role: str = "writer", *, project: bool = True, uses: int = 1) -> str:
    """Make a project and an invitation; return the link's path."""
    with world.store.write() as tx:
        project_id = None
        if project:
            known = {one.name: one.id for one in projects.all_projects(tx)}
            project_id = (
                known.get("meadow") or create_project(tx, "meadow", small_protocol(), by=world.people["boss"]).id
            )
        token = people.invite(
            tx, project_id=project_id, role=role, uses=uses, lifetime=timedelta(days=7), by=world.people["boss"]
        )
    return f"/invite/{token}"


def test_the_home_page_asks_strangers_to_log_in(empty: World) -> None:
    stranger = empty.visitor()
    answer = stranger.get("/projects/new?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fprojects%2Fnew%3Fx%3D1")
    page = stranger.get(answer.headers["location"])
    assert 'value="/projects/new?x=1"' in page.text


def test_logging_in_and_out(empty: World) -> None:
    visitor = empty.visitor()
    answer = visitor.post("/login", {"login": login_of("BOSS"), "password": PASSWORD, "next": "/account"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert login_of("boss") in visitor.get("/account").text
    visitor.csrf = visitor.get("/api/session").json()["csrf"]
    token = visitor.client.cookies[SESSION]
    assert visitor.post("/logout").headers["location"] == "/login"
    visitor.client.cookies.set(SESSION, token)
    assert visitor.get("/").status_code == 303


def test_logging_in_again_ends_the_session_before(empty: World) -> None:
    visitor = empty.visitor("boss")
    old = visitor.client.cookies[SESSION]
    assert visitor.post("/login", {"login": login_of("boss"), "password": PASSWORD}).status_code == 303
    other = empty.visitor()
    other.client.cookies.set(SESSION, old)
    assert other.get("/").status_code == 303


def test_a_wrong_password_keeps_what_was_typed(empty: World) -> None:
    answer = empty.visitor().post("/login", {"login": "me&you", "password": "not the one", "next": "/account"})
    assert answer.status_code == 403
    assert "Login or password is wrong" in answer.text
    assert 'value="me&amp;you"' in answer.text
    assert "not the one" not in answer.text
    assert 'name="next" value="/account"' in answer.text


@pytest.mark.parametrize(("base", "told"), [("http://label.example", True), ("http://127.0.0.1:8000", False)])
def test_an_open_connection_is_pointed_out(empty: World, base: str, told: bool) -> None:
    assert ("not encrypted" in empty.visitor(base=base).get("/login").text) == told


def test_an_invitation_makes_an_account(empty: World) -> None:
    link, visitor = invited(empty), empty.visitor()
    page = visitor.get(link)
    assert "meadow" in page.text
    assert "invited to write" in page.text
    answer = visitor.post(f"{link}/account", {"login": "Anna ", "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    home = visitor.get("/").text
    assert "/write" in home
    assert "New project" not in home
    pseudonym = empty.one(select(pseudonyms.c.pseudonym).order_by(pseudonyms.c.person_id.desc()))
    assert pseudonym in visitor.get("/account").text
    assert "anna" not in home
    assert visitor.get(link).status_code == 410
    assert empty.visitor().post(f"{link}/account", {"login": "otto", "password": PASSWORD}).status_code == 410
    assert empty.one(select(account_rows.c.login).where(account_rows.c.login == "otto")) is None


@pytest.mark.parametrize(
    ("login", "password", "status", "told"),
    [
        (login_of("boss"), PASSWORD, 409, "This login is taken"),
        ("anna", "short", 422, "The password has 5 characters"),
        ("two words", PASSWORD, 422, "no spaces"),
    ],
)
def test_an_account_that_cannot_be_made_uses_nothing_up(
    empty: World, login: str, password: str, status: int, told: str
) -> None:
    link, visitor = invited(empty), empty.visitor()
    answer = visitor.post(f"{link}/account", {"login": login, "password": password})
    assert answer.status_code == status
    assert told in answer.text
    assert login in answer.text
    assert visitor.post(f"{link}/account", {"login": "somebody-else", "password": PASSWORD}).status_code == 303


def test_who_has_an_account_accepts_with_it(empty: World) -> None:
    with empty.store.write() as tx:
        empty.people["anna"] = accounts.create_account(tx, "anna", "no hash")
    link, anna = invited(empty, "verifier"), empty.visitor("anna")
    assert "anna" in anna.get(link).text
    assert anna.post(link).headers["location"] == "/"
    assert "Judge pairs" in anna.get("/").text
    assert anna.post(link).status_code == 303
    stranger = empty.visitor()
    assert stranger.post(invited(empty)).headers["location"].startswith("/login?next=/invite/")


def test_an_invitation_to_run_a_project_leads_there(empty: World) -> None:
    link, visitor = invited(empty, "requester"), empty.visitor()
    answer = visitor.post(f"{link}/account", {"login": "anna", "password": PASSWORD})
    assert re.fullmatch(r"/projects/\d+", answer.headers["location"])
    assert visitor.get(answer.headers["location"]).status_code == 200
    assert visitor.get("/projects/new").status_code == 200


def test_an_invitation_to_the_server_allows_projects(empty: World) -> None:
    link, visitor = invited(empty, "requester", project=False), empty.visitor()
    assert "set up projects" in visitor.get(link).text
    assert visitor.post(f"{link}/account", {"login": "anna", "password": PASSWORD}).headers["location"] == "/"
    assert "New project" in visitor.get("/").text


def test_old_and_unknown_links_are_told_apart(empty: World, clock: MovableClock) -> None:
    link, visitor = invited(empty), empty.visitor()
    clock.move(days=8)
    assert visitor.get(link).status_code == 410
    assert "ask for a new one" in visitor.get(link).text
    assert visitor.get("/invite/nothing").status_code == 404


def test_changing_the_password(empty: World) -> None:
    boss = empty.visitor("boss")
    wrong = boss.post("/account/password", {"old": "not the one", "new": "a new password"})
    assert (wrong.status_code, "is wrong" in wrong.text) == (403, True)
    short = boss.post("/account/password", {"old": PASSWORD, "new": "short"})
    assert (short.status_code, "5 characters" in short.text) == (422, True)
    assert boss.post("/account/password", {"old": PASSWORD, "new": "a new password"}).status_code == 303
    assert "is changed" in boss.get("/account?changed=true").text
    assert empty.visitor().post("/login", {"login": login_of("boss"), "password": PASSWORD}).status_code == 403


def test_my_pay_is_mine_alone(empty: World) -> None:
    world = populate(empty, premises=4)
    page = world.visitor("writer").get(f"/projects/{world.project}/my-pay").text
    assert "bonus: kind" in page
    assert "1.50 USD" in page
    other = world.visitor("writer1").get(f"/projects/{world.project}/my-pay").text
    assert "There is no line yet" in other
    assert world.visitor("nobody").get(f"/projects/{world.project}/my-pay").status_code == 404
    assert "Earned: " in world.visitor("writer").get("/").text


def test_the_session_tells_scripts_who_is_there(empty: World) -> None:
    boss = empty.visitor("boss")
    told = boss.get("/api/session", headers={"accept-language": "zh-CN,en;q=0.5"}).json()
    assert told == {"signed_in": True, "person": empty.people["boss"], "csrf": boss.csrf, "language": "zh"}
    told = empty.visitor().get("/api/session").json()
    assert (told["signed_in"], told["person"]) == (False, None)
    assert len(told["csrf"]) > 20


def test_light_and_dark(empty: World) -> None:
    boss = empty.visitor("boss")
    assert "data-theme" not in boss.get("/").text
    assert boss.get("/theme/dark?next=/account").headers["location"] == "/account"
    assert 'data-theme="dark"' in boss.get("/").text
    boss.get("/theme/system")
    assert "data-theme" not in boss.get("/").text
