from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.contacts import contact_of, contacts_table, set_contact
from goldlabel.collect.people.leaving import delete_account
from goldlabel.collect.people.passes import RESET, make_pass, make_reset, person_with_pass, reset_password, use_pass
from goldlabel.collect.people.people import add_member, set_member
from goldlabel.collect.people.second_factor import (
    begin_factor,
    check_code,
    confirm_factor,
    drop_factor,
    factor_of,
    totp,
)
from goldlabel.collect.refusals import Conflict, Expired, Forbidden, Invalid, Missing
from goldlabel.collect.schema import accounts, contacts, events, passes, second_factors
from goldlabel.collect.store import Store
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.test_people import HASH, person


@pytest.mark.parametrize(
    ("at", "code"),
    [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (2000000000, "279037"), (20000000000, "353130")],
)
def test_codes_are_those_of_rfc_6238(at: int, code: str) -> None:
    """Appendix B, the column of SHA-1; eight digits there, the last six of them here."""
    secret = base64.b32encode(b"12345678901234567890").decode()
    assert totp(secret, at // 30) == code


def secret_of(store: Store, person_id: int) -> str:
    with store.read() as tx:
        factor = factor_of(tx, person_id)
        assert factor is not None
        return factor.secret


def code_at(secret: str, at: datetime) -> str:
    return totp(secret, int((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=30)))


def test_a_code_is_good_once_and_for_a_moment(store: Store, clock: MovableClock) -> None:
    wren = person(store, "wren")
    with store.write() as tx:
        with pytest.raises(Missing):
            confirm_factor(tx, wren, "123456")
        begin_factor(tx, wren)
    secret = secret_of(store, wren)
    code = code_at(secret, clock.now)
    with store.write() as tx:
        with pytest.raises(Forbidden, match="the code is wrong"):
            confirm_factor(tx, wren, "000000" if code != "000000" else "111111")
        assert factor_of(tx, wren).confirmed is False  # type: ignore[union-attr]
        confirm_factor(tx, wren, f" {code[:3]} {code[3:]} ")
        assert factor_of(tx, wren).confirmed is True  # type: ignore[union-attr]
        with pytest.raises(Forbidden):
            check_code(tx, wren, code)
        with pytest.raises(Conflict):
            begin_factor(tx, wren)
    clock.move(minutes=5)
    with store.write() as tx:
        with pytest.raises(Forbidden):
            check_code(tx, wren, code_at(secret, clock.now - timedelta(minutes=1)))
        check_code(tx, wren, code_at(secret, clock.now - timedelta(seconds=30)))
        check_code(tx, wren, code_at(secret, clock.now + timedelta(seconds=30)))
        drop_factor(tx, wren)
        assert factor_of(tx, wren) is None
        kinds = [row.kind for row in tx.all(select(events.c.kind).where(events.c.kind.like("second_factor.%")))]
    assert kinds == ["second_factor.on", "second_factor.off"]


def test_recovery_codes_stand_in_for_the_device_once_each(store: Store) -> None:
    wren = person(store, "wren")
    with store.write() as tx:
        begin_factor(tx, wren)
        factor = factor_of(tx, wren)
        assert factor is not None
        assert len({*factor.recovery_codes}) == 8
        for code in factor.recovery_codes:
            check_code(tx, wren, code.upper())
            with pytest.raises(Forbidden):
                check_code(tx, wren, code)


def test_a_link_sets_a_password_once(store: Store, clock: MovableClock) -> None:
    boss, wren = person(store, "boss"), person(store, "wren")
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol(), by=boss).id
        with pytest.raises(Missing):
            make_reset(tx, project_id, wren, by=boss)
        add_member(tx, project_id, wren, "writer", by=boss)
        old, token = (make_reset(tx, project_id, wren, by=boss) for _ in range(2))
        with pytest.raises(Expired):
            person_with_pass(tx, old, RESET)
        assert token not in str(tx.all(select(passes))) + str(tx.all(select(events)))
        assert reset_password(tx, token, "another hash") == wren
        assert tx.row(accounts, person_id=wren).password_hash == "another hash"  # type: ignore[union-attr]
        for purpose in (RESET, "code"):
            with pytest.raises(Expired, match="used before or its time is over"):
                use_pass(tx, token, purpose)
        late = make_pass(tx, wren, RESET)
        made = [row.subject for row in tx.all(select(events).where(events.c.kind == "password.link"))]
        assert made == [f"person {wren}"] * 2
    clock.move(days=1)
    with store.write() as tx, pytest.raises(Expired):
        reset_password(tx, late, "a third")


def test_a_link_gives_no_power_that_its_maker_lacks(store: Store) -> None:
    boss, rival, wren = (person(store, login) for login in ("boss", "rival", "wren"))
    with store.write() as tx:
        owner = create_account(tx, "owner", HASH, requester=True)
        mine = create_project(tx, "meadow", small_protocol(), by=boss).id
        other = create_project(tx, "marsh", small_protocol(), by=rival).id
        for person_id in (wren, owner):
            add_member(tx, mine, person_id, "writer", by=boss)
        make_reset(tx, mine, wren, by=boss)
        with pytest.raises(Forbidden, match="may make projects"):
            make_reset(tx, mine, owner, by=boss)
        add_member(tx, other, wren, "verifier", by=rival)
        with pytest.raises(Forbidden, match="a project of others"):
            make_reset(tx, mine, wren, by=boss)
        add_member(tx, other, boss, "requester", by=rival)
        make_reset(tx, mine, wren, by=boss)
        set_member(tx, other, boss, "requester", state="paused", by=rival)
        with pytest.raises(Forbidden):
            make_reset(tx, mine, wren, by=boss)


def test_contacts_are_apart_and_go_with_the_account(store: Store) -> None:
    boss, wren, owl = (person(store, login) for login in ("boss", "wren", "owl"))
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol(), by=boss).id
        add_member(tx, project_id, wren, "writer", by=boss)
        set_contact(tx, wren, " =cmd wren@example.org\u200b ")
        set_contact(tx, owl, "owl@example.org")
        assert contact_of(tx, wren) == "=cmd wren@example.org"
        table = contacts_table(tx, project_id, by=boss)
        assert "'=cmd wren@example.org" in table
        assert "owl" not in table
        assert "@example" not in str(tx.all(select(events)))
        assert tx.value(select(events.c.person_id).where(events.c.kind == "contacts.exported")) == boss
        with pytest.raises(Invalid, match="allowed: up to 300"):
            set_contact(tx, wren, "x" * 301)
        begin_factor(tx, wren)
        make_pass(tx, wren, RESET)
        delete_account(tx, wren)
        for table_left in (contacts, passes, second_factors):
            assert tx.row(table_left, person_id=wren) is None
        set_contact(tx, owl, "")
        assert tx.one(select(contacts)) is None
