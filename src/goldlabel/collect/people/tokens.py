"""Tokens: what a person's programs show in place of a session.

A token is drawn at random, shown once and kept as a hash. It has an end, and scopes: what its person may do as a
requester, as an annotator, or both. It never gives more than the person has: every use asks for their role, too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.people.passwords import draw_token, hash_token
from goldlabel.collect.refusals import Forbidden, Invalid, Missing
from goldlabel.collect.schema import accounts, members, tokens
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Word

PREFIX = "goldlabel_"
"""By this programs that look for secrets in public places know one of ours."""
REQUESTER, ANNOTATOR = "requester", "annotator"
SCOPES = (REQUESTER, ANNOTATOR)
LONGEST_NAME = 100
MOST_TOKENS = 20
_USE_KEPT = timedelta(minutes=1)


@dataclass(frozen=True)
class Token:
    """A token as its person sees it."""

    id: int
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None


@dataclass(frozen=True)
class Bearer(Session):
    """Who a program asks for, and what its token is for."""

    token_id: int
    scopes: tuple[str, ...]


def allowed_scopes(tx: Transaction, person_id: int) -> tuple[str, ...]:
    """Return the scopes that a person's roles allow."""
    roles = {row.role for row in tx.all(select(members.c.role).where(members.c.person_id == person_id))}
    makes = tx.value(select(accounts.c.requester).where(accounts.c.person_id == person_id))
    return (REQUESTER,) * bool(makes or "requester" in roles) + (ANNOTATOR,) * bool(roles - {"requester"})


def make_token(
    tx: Transaction, person_id: int, *, name: str, scopes: Collection[str], lifetime: timedelta
) -> tuple[int, str]:
    """Make a token and return its id and the token itself, which is kept as a hash only."""
    name = clean_text(name)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Invalid("token_name", longest=LONGEST_NAME)
    chosen, allowed = [scope for scope in SCOPES if scope in scopes], allowed_scopes(tx, person_id)
    if not chosen or not {*scopes} <= {*allowed}:
        raise Invalid("token_scopes", allowed=words(allowed))
    if len(tokens_of(tx, person_id)) >= MOST_TOKENS:
        raise Invalid("token_most", most=MOST_TOKENS)
    token = PREFIX + draw_token()
    token_id = tx.insert(
        tokens,
        person_id=person_id,
        token_hash=hash_token(token),
        name=name,
        scopes=chosen,
        created_at=tx.now,
        expires_at=tx.now + lifetime,
    )
    _record(tx, "token.made", person_id, token_id, name=name, scopes=chosen)
    return token_id, token


def tokens_of(tx: Transaction, person_id: int) -> list[Token]:
    """Return the tokens of a person that can still be used, the newest first."""
    query = select(tokens).where(
        tokens.c.person_id == person_id, tokens.c.withdrawn_at.is_(None), tokens.c.expires_at > tx.now
    )
    return [_token(row) for row in tx.all(query.order_by(tokens.c.id.desc()))]


def withdraw_token(tx: Transaction, person_id: int, token_id: int) -> None:
    """Make a token useless from now on."""
    own = (tokens.c.id == token_id, tokens.c.person_id == person_id, tokens.c.withdrawn_at.is_(None))
    if not tx.run(tokens.update().where(*own).values(withdrawn_at=tx.now)):
        raise Missing("no_token")
    _record(tx, "token.withdrawn", person_id, token_id)


def bearer(tx: Transaction, token: str) -> Bearer | None:
    """Return who a token stands for, or ``None`` where it is unknown, withdrawn or over."""
    row = tx.one(
        select(tokens, accounts.c.login, accounts.c.requester)
        .join(accounts, accounts.c.person_id == tokens.c.person_id)
        .where(tokens.c.token_hash == hash_token(token), tokens.c.withdrawn_at.is_(None), tokens.c.expires_at > tx.now)
    )
    if row is None:
        return None
    return Bearer(
        person_id=row.person_id,
        login=row.login,
        requester=row.requester,
        csrf_secret="",
        expires_at=row.expires_at,
        token_id=row.id,
        scopes=tuple(row.scopes),
    )


def is_use_due(tx: Transaction, token_id: int) -> bool:
    """Say whether the last use that is written down is so old that this one should be."""
    used_at = tx.value(select(tokens.c.used_at).where(tokens.c.id == token_id))
    return used_at is None or tx.now - used_at >= _USE_KEPT


def note_use(tx: Transaction, token_id: int) -> None:
    """Write down when a token was used last."""
    tx.change(tokens, token_id, used_at=tx.now)


def require_scope(holder: Bearer, scope: str) -> None:
    """Refuse a token that is not for this."""
    if scope not in holder.scopes:
        raise Forbidden("needs_scope", scope=Word(scope))


def _token(row: Row[Any]) -> Token:
    return Token(row.id, row.name, tuple(row.scopes), row.created_at, row.expires_at, row.used_at)


def _record(tx: Transaction, kind: str, person_id: int, token_id: int, **data: Any) -> None:
    record(tx, kind, project_id=None, person_id=person_id, subject=f"token {token_id}", data=data)
