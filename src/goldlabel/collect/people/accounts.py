"""Accounts: who may log in, kept apart from the pseudonyms that everything else knows people by.

Tokens and passwords are kept as hashes only.
"""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select

from goldlabel.collect.events import record
from goldlabel.collect.people.passwords import LETTERS, draw_token, hash_token, is_password, normal
from goldlabel.collect.refusals import Conflict, Forbidden, Invalid, Missing
from goldlabel.collect.schema import accounts, people, sessions
from goldlabel.collect.store import Store, Transaction

LONGEST_LOGIN = 100
NO_PASSWORD = "none"
"""No hash is like this, so no password leads in: what the accounts have of people whom a marketplace sent."""


@dataclass(frozen=True)
class Session:
    """Who is logged in."""

    person_id: int
    login: str
    requester: bool
    csrf_secret: str
    expires_at: datetime


@dataclass(frozen=True)
class NewSession:
    """A session just opened; the token is shown once and never kept."""

    token: str
    csrf_secret: str
    person_id: int
    expires_at: datetime


def create_account(tx: Transaction, login: str, password_hash: str, *, requester: bool = False) -> int:
    """Make an account and, apart from it, a person with a random pseudonym; return the person's id."""
    login = _login(login)
    if tx.one(select(accounts.c.person_id).where(accounts.c.login == login)) is not None:
        raise Conflict("login_taken")
    person_id = new_person(tx)
    made = tx.insert_new(
        accounts,
        person_id=person_id,
        login=login,
        password_hash=password_hash,
        requester=requester,
        created_at=tx.now,
    )
    if not made:
        raise Conflict("login_taken")
    _record(tx, "account.created", person_id, requester=requester)
    return person_id


def authenticate(store: Store, login: str, password: str) -> int:
    """Return the id of the person whose login and password these are; hashes outside any transaction."""
    with store.read() as tx:
        row = tx.one(select(accounts).where(accounts.c.login == fold_login(login)))
    if not is_password(password, row.password_hash if row is not None else None) or row is None:
        raise Forbidden("wrong_login")
    return int(row.person_id)


def has_password(tx: Transaction, person_id: int) -> bool:
    """Say whether a password leads to a person's account."""
    return bool(tx.value(select(accounts.c.password_hash).where(accounts.c.person_id == person_id)) != NO_PASSWORD)


def make_requester(tx: Transaction, person_id: int) -> None:
    """Let a person make projects."""
    if not tx.run(accounts.update().where(accounts.c.person_id == person_id).values(requester=True)):
        raise Missing("no_account")
    _record(tx, "account.requester", person_id)


def open_session(tx: Transaction, person_id: int, *, lifetime: timedelta) -> NewSession:
    """Open a session for a person who proved who they are; sessions that are over are cleared away."""
    tx.run(sessions.delete().where(sessions.c.expires_at <= tx.now))
    token, csrf_secret, expires_at = draw_token(), draw_token(), tx.now + lifetime
    tx.insert(
        sessions,
        token_hash=hash_token(token),
        person_id=person_id,
        csrf_secret=csrf_secret,
        created_at=tx.now,
        expires_at=expires_at,
    )
    _record(tx, "session.opened", person_id)
    return NewSession(token, csrf_secret, person_id, expires_at)


def session(tx: Transaction, token: str) -> Session | None:
    """Return the session behind a token, or ``None`` if there is none or it is over."""
    row = tx.one(_SESSION, token_hash=hash_token(token), now=tx.now)
    if row is None:
        return None
    return Session(row.person_id, row.login, row.requester, row.csrf_secret, row.expires_at)


_SESSION = (
    select(sessions, accounts.c.login, accounts.c.requester)
    .join(accounts, accounts.c.person_id == sessions.c.person_id)
    .where(sessions.c.token_hash == bindparam("token_hash"), sessions.c.expires_at > bindparam("now"))
)


def close_session(tx: Transaction, token: str) -> None:
    """Log out; a token that is unknown by now is fine."""
    row = tx.one(select(sessions.c.person_id).where(sessions.c.token_hash == hash_token(token)))
    if row is not None:
        tx.run(sessions.delete().where(sessions.c.token_hash == hash_token(token)))
        _record(tx, "session.closed", row.person_id)


def change_password(tx: Transaction, person_id: int, password_hash: str) -> None:
    """Set a new password and end all of the person's sessions; check the old password before."""
    if not tx.run(accounts.update().where(accounts.c.person_id == person_id).values(password_hash=password_hash)):
        raise Missing("no_account")
    tx.run(sessions.delete().where(sessions.c.person_id == person_id))
    _record(tx, "password.changed", person_id)


def person_of(tx: Transaction, login: str) -> int:
    """Return the id of the person behind a login."""
    row = tx.one(select(accounts.c.person_id).where(accounts.c.login == fold_login(login)))
    if row is None:
        raise Missing("no_login", login=login)
    return int(row.person_id)


def new_person(tx: Transaction) -> int:
    """Make a person with a random pseudonym and return their id."""
    while True:
        pseudonym = "".join(secrets.choice(LETTERS) for _ in range(6))
        if tx.insert_new(people, pseudonym=pseudonym, created_at=tx.now):
            return int(tx.value(select(people.c.id).where(people.c.pseudonym == pseudonym)))


def fold_login(login: str) -> str:
    """Return a login as it is kept, looked up and counted, however it was typed: case, width, spaces around it."""
    return normal(login).strip().casefold()


def _login(login: str) -> str:
    folded = fold_login(login)
    if not 1 <= len(folded) <= LONGEST_LOGIN or any(
        unicodedata.category(one)[0] in "CZ" or one == "\ufffd" for one in folded
    ):
        raise Invalid("login_form", longest=LONGEST_LOGIN)
    return folded


def _record(tx: Transaction, kind: str, person_id: int, **data: Any) -> None:
    record(tx, kind, project_id=None, person_id=person_id, subject=f"person {person_id}", data=data)
