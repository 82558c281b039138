"""Submitters: known by tokens that whoever runs the leaderboard hands out. A token is kept as a hash only."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from goldlabel.collect.people.passwords import draw_token, hash_token
from goldlabel.collect.people.tokens import PREFIX
from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text
from goldlabel.leaderboard.schema import submitters, tokens
from goldlabel.leaderboard.trail import record

LONGEST_NAME = 100


@dataclass(frozen=True)
class Submitter:
    """A person or a group that submits; what they may do in a day or a week counts for all of their tokens."""

    id: int
    name: str


def make_token(tx: Transaction, name: str) -> str:
    """Make a token for a submitter, who is new or known by the name; return it, as it is shown only once."""
    name = clean_name(name)
    tx.insert_new(submitters, name=name, created_at=tx.now)
    submitter_id = int(tx.value(select(submitters.c.id).where(submitters.c.name == name)))
    token = PREFIX + draw_token()
    token_id = tx.insert(tokens, submitter_id=submitter_id, token_hash=hash_token(token), created_at=tx.now)
    record(tx, "token.made", f"token {token_id}", submitter_id=submitter_id)
    return token


def withdraw_tokens(tx: Transaction, name: str) -> int:
    """Make all tokens of a submitter useless, and return how many there were; their entries stay."""
    submitter_id = tx.value(select(submitters.c.id).where(submitters.c.name == clean_name(name)))
    if submitter_id is None:
        raise Missing("no_submitter", name=name)
    own = (tokens.c.submitter_id == submitter_id, tokens.c.withdrawn_at.is_(None))
    withdrawn = tx.run(tokens.update().where(*own).values(withdrawn_at=tx.now))
    record(tx, "tokens.withdrawn", f"submitter {submitter_id}", submitter_id=submitter_id, n=withdrawn)
    return withdrawn


def bearer(tx: Transaction, token: str) -> Submitter | None:
    """Return whose token it is, or ``None`` where it is unknown or withdrawn."""
    row = tx.one(
        select(submitters.c.id, submitters.c.name)
        .join(tokens, tokens.c.submitter_id == submitters.c.id)
        .where(tokens.c.token_hash == hash_token(token), tokens.c.withdrawn_at.is_(None))
    )
    return None if row is None else Submitter(row.id, row.name)


def clean_name(name: str) -> str:
    """Return the name of a submitter or a model as it is kept: one line, nothing invisible; any sign may be in it."""
    cleaned = clean_text(name)
    if not 1 <= len(cleaned) <= LONGEST_NAME:
        raise Invalid("board_name", longest=LONGEST_NAME)
    return cleaned
