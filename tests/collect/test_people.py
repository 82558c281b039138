from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from argon2.exceptions import VerifyMismatchError
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.people import passwords
from goldlabel.collect.people.accounts import (
    authenticate,
    change_password,
    close_session,
    create_account,
    open_session,
    session,
)
from goldlabel.collect.people.passwords import hash_password
from goldlabel.collect.people.people import (
    accept,
    add_member,
    invitation,
    invitations_of,
    invite,
    require_role,
    revoke_invite,
    roles,
    set_member,
)
from goldlabel.collect.projects import projects_of
from goldlabel.collect.refusals import Conflict, Expired, Forbidden, Missing
from goldlabel.collect.schema import accounts, events, invites, people, sessions
from goldlabel.collect.store import Store, Transaction
from goldlabel.errors import InputError
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock

DAY = timedelta(days=1)
HASH = "not a hash: nobody logs in"


def person(store: Store, login: str) -> int:
    with store.write() as tx:
        return create_account(tx, login, HASH)


def meadow(store: Store, *conditions: str) -> int:
    with store.write() as tx:
        return create_project(tx, "meadow", small_protocol(",".join(conditions) or "multi"), seed=1).id


def links(tx: Transaction, project_id: int | None, role: str = "verifier", **options: object) -> str:
    return invite(tx, project_id=project_id, role=role, lifetime=DAY, by=None, **options)  # type: ignore[arg-type]


def test_logging_in_and_out(store: Store) -> None:
    hashed = hash_password("seven herons")
    with store.write() as tx:
        person_id = create_account(tx, "Wren@Example.org ", hashed)
    assert authenticate(store, "wren@example.ORG", "seven herons") == person_id
    with store.write() as tx:
        opened = open_session(tx, person_id, lifetime=DAY)
    with store.read() as tx:
        found = session(tx, opened.token)
        assert found is not None
        assert (found.person_id, found.login, found.requester) == (person_id, "wren@example.org", False)
        assert found.csrf_secret == opened.csrf_secret
        assert session(tx, opened.token + "x") is None
        assert session(tx, "\ud800\0") is None
    with store.write() as tx:
        close_session(tx, opened.token)
        close_session(tx, opened.token)
    with store.read() as tx:
        assert session(tx, opened.token) is None


@pytest.mark.parametrize(
    ("login", "password"), [("wren", "six herons.."), ("owl", "seven herons"), ("wr\0en", "x"), ("wren", "\ud800")]
)
def test_a_wrong_login_or_password_says_the_same(store: Store, login: str, password: str) -> None:
    hashed = hash_password("seven herons")
    with store.write() as tx:
        create_account(tx, "wren", hashed)
    with pytest.raises(Forbidden, match=r"^login or password is wrong; try again"):
        authenticate(store, login, password)


def test_a_session_ends(store: Store, clock: MovableClock) -> None:
    person_id = person(store, "wren")
    with store.write() as tx:
        old = open_session(tx, person_id, lifetime=DAY)
    clock.move(days=1)
    with store.write() as tx:
        assert session(tx, old.token) is None
        open_session(tx, person_id, lifetime=DAY)
        assert len(tx.all(select(sessions))) == 1


def test_a_new_password_ends_all_sessions(store: Store) -> None:
    first, second = hash_password("seven herons"), hash_password("eight herons")
    with store.write() as tx:
        person_id = create_account(tx, "wren", first)
        tokens = [open_session(tx, person_id, lifetime=DAY).token for _ in range(2)]
        change_password(tx, person_id, second)
        assert [session(tx, token) for token in tokens] == [None, None]
    assert authenticate(store, "wren", "eight herons") == person_id
    with pytest.raises(Forbidden):
        authenticate(store, "wren", "seven herons")


def test_no_secret_is_kept_as_it_is(store: Store) -> None:
    hashed = hash_password("seven herons")
    project_id = meadow(store)
    with store.write() as tx:
        person_id = create_account(tx, "wren", hashed)
        opened = open_session(tx, person_id, lifetime=DAY)
        token = links(tx, project_id)
        accept(tx, token, person_id)
    with store.read() as tx:
        kept = "".join(str(tx.all(select(table))) for table in (accounts, sessions, invites, events))
        assert "wren" not in str(tx.all(select(events))) + str(tx.all(select(people)))
    assert not [secret for secret in ("seven herons", opened.token, token) if secret in kept]


def test_a_login_is_taken_once(store: Store) -> None:
    person(store, "wren")
    with store.write() as tx, pytest.raises(Conflict, match="this login is taken"):
        create_account(tx, " WREN", HASH)


@pytest.mark.parametrize("login", ["", "  ", "a b", "a\0b", "x" * 101])
def test_logins_that_cannot_be(store: Store, login: str) -> None:
    with store.write() as tx, pytest.raises(InputError, match="a login has 1 to 100 characters and no spaces"):
        create_account(tx, login, HASH)


@pytest.mark.parametrize("password", ["short", "x" * 1001])
def test_passwords_that_cannot_be(password: str) -> None:
    with pytest.raises(InputError, match=f"the password has {len(password)} characters; allowed: 8 to 1000"):
        hash_password(password)


def test_an_invitation_gives_a_role_as_often_as_it_says(store: Store) -> None:
    project_id = meadow(store)
    crowd = [person(store, name) for name in ("wren", "owl", "kite")]
    with store.write() as tx:
        token = links(tx, project_id, "writer", uses=2, condition="multi", exclusive=True)
        assert invitation(tx, token).used == 0
        accept(tx, token, crowd[0])
        accept(tx, token, crowd[0])  # the same person again uses nothing up
        accept(tx, token, crowd[1])
    with store.write() as tx, pytest.raises(Expired, match="used up or its time is over"):
        accept(tx, token, crowd[2])
    with store.read() as tx:
        member = roles(tx, project_id, crowd[0])["writer"]
        assert (member.condition, member.exclusive, member.state) == ("multi", True, "active")
        assert roles(tx, project_id, crowd[2]) == {}
        assert [one.used for one in invitations_of(tx, project_id)] == [2]


def test_an_invitation_ends_by_time_or_by_hand(store: Store, clock: MovableClock) -> None:
    project_id, person_id = meadow(store), person(store, "wren")
    with store.write() as tx:
        late, revoked = links(tx, project_id), links(tx, project_id)
        revoke_invite(tx, project_id, invitation(tx, revoked).id, by=None)
    with store.write() as tx, pytest.raises(Expired):
        accept(tx, revoked, person_id)
    clock.move(days=1)
    with store.write() as tx, pytest.raises(Expired):
        accept(tx, late, person_id)
    with store.read() as tx, pytest.raises(Missing, match="there is no such invitation"):
        invitation(tx, "nothing")


def test_another_projects_invitation_is_not_there_to_revoke(store: Store) -> None:
    project_id = meadow(store)
    with store.write() as tx:
        other = create_project(tx, "river", small_protocol()).id
        invite_id = invitation(tx, links(tx, project_id)).id
    with store.write() as tx, pytest.raises(Missing):
        revoke_invite(tx, other, invite_id, by=None)


def test_an_invitation_without_a_project_makes_a_requester(store: Store) -> None:
    person_id = person(store, "wren")
    with store.write() as tx:
        accept(tx, links(tx, None, "requester"), person_id)
        found = session(tx, open_session(tx, person_id, lifetime=DAY).token)
        assert found is not None
        assert found.requester
    with store.write() as tx, pytest.raises(InputError, match="for a requester, not for a writer"):
        links(tx, None, "writer")


def test_who_makes_a_project_is_its_requester(store: Store) -> None:
    person_id = person(store, "wren")
    with store.write() as tx:
        made = create_project(tx, "river", small_protocol(), by=person_id)
        assert projects_of(tx, person_id) == [(made, ["requester"])]


def test_writers_without_a_condition_are_spread_evenly(store: Store) -> None:
    project_id = meadow(store, "single", "multi")
    with store.write() as tx:
        given = [
            add_member(tx, project_id, create_account(tx, f"p{number}", HASH), "writer", by=None).condition
            for number in range(4)
        ]
    assert sorted(given) == ["multi", "multi", "single", "single"]


def test_a_stranger_sees_no_project_and_a_member_is_told(store: Store) -> None:
    project_id = meadow(store)
    stranger, verifier = person(store, "wren"), person(store, "owl")
    with store.write() as tx:
        add_member(tx, project_id, verifier, "verifier", by=None)
        assert require_role(tx, project_id, verifier, "requester", "verifier").role == "verifier"
        with pytest.raises(Missing, match=f"there is no project {project_id}"):
            require_role(tx, project_id, stranger, "requester")
        with pytest.raises(Forbidden, match="this is for a requester or expert of the project"):
            require_role(tx, project_id, verifier, "requester", "expert")


def test_a_person_holds_several_roles_and_changes(store: Store) -> None:
    project_id, person_id = meadow(store, "single", "multi"), person(store, "wren")
    with store.write() as tx:
        add_member(tx, project_id, person_id, "writer", condition="single", by=None)
        add_member(tx, project_id, person_id, "verifier", by=None)
        changed = set_member(tx, project_id, person_id, "writer", condition="multi", exclusive=True, by=None)
        set_member(tx, project_id, person_id, "verifier", state="paused", by=None)
        held = roles(tx, project_id, person_id)
    assert changed == held["writer"] == replace(changed, condition="multi", exclusive=True, state="active")
    assert held["verifier"].state == "paused"


@pytest.mark.parametrize(
    ("role", "options", "message"),
    [
        ("boss", {}, "there is no role 'boss'; allowed: requester, writer, verifier, expert"),
        ("verifier", {"condition": "multi"}, "is for writers, not for a verifier"),
        ("verifier", {"exclusive": True}, "is for writers, not for a verifier"),
        ("writer", {"condition": "mutli"}, "there is no condition 'mutli'.*did you mean 'multi'"),
        ("writer", {"uses": 0}, "at least one use"),
    ],
)
def test_invitations_that_cannot_be(store: Store, role: str, options: dict[str, object], message: str) -> None:
    project_id = meadow(store)
    with store.write() as tx, pytest.raises(InputError, match=message):
        links(tx, project_id, role, **options)


def test_who_does_not_exist_is_refused_by_as_dear_a_hash() -> None:
    assert not passwords._HASHER.check_needs_rehash(passwords._NOBODY)
    with pytest.raises(VerifyMismatchError):  # it is computed, and not refused by its looks
        passwords._HASHER.verify(passwords._NOBODY, "a password")
