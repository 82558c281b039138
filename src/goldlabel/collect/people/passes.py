"""Passes: links and cookies that open one door once and for a short time.

``reset``: a link, which a requester hands to somebody who forgot their password. ``code``: who gave the right password
and still owes the code of the second factor.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.people.accounts import change_password
from goldlabel.collect.people.passwords import draw_token, hash_token
from goldlabel.collect.people.people import GONE
from goldlabel.collect.refusals import Expired, Forbidden, Missing
from goldlabel.collect.schema import accounts, members, passes
from goldlabel.collect.store import Transaction

RESET, CODE = "reset", "code"
LIFETIMES = {RESET: timedelta(days=1), CODE: timedelta(minutes=10)}


def make_pass(tx: Transaction, person_id: int, purpose: str) -> str:
    """Make a pass and return its token, which is kept as a hash only; an earlier one for the same ends."""
    tx.run(passes.delete().where(passes.c.expires_at <= tx.now))
    tx.run(passes.delete().where(passes.c.person_id == person_id, passes.c.purpose == purpose))
    token = draw_token()
    tx.insert(
        passes,
        token_hash=hash_token(token),
        person_id=person_id,
        purpose=purpose,
        expires_at=tx.now + LIFETIMES[purpose],
    )
    return token


def person_with_pass(tx: Transaction, token: str, purpose: str) -> int:
    """Return whom a pass is for; one that was used, replaced or is too old is none."""
    row = tx.row(passes, token_hash=hash_token(token), purpose=purpose)
    if row is None or row.expires_at <= tx.now:
        raise Expired("pass_over")
    return int(row.person_id)


def use_pass(tx: Transaction, token: str, purpose: str) -> int:
    """Take a pass away and return whom it was for; of two who use it at once, one is told that it is over."""
    person_id = person_with_pass(tx, token, purpose)
    if not tx.run(passes.delete().where(passes.c.token_hash == hash_token(token))):
        raise Expired("pass_over")
    return person_id


def make_reset(tx: Transaction, project_id: int, person_id: int, *, by: int) -> str:
    """Make a link by which a person of a project sets a new password.

    Whoever holds the link can become that person. So a requester gets one only for people who have no more to lose than
    the requester has power over: no project of others, and no right to make projects.
    """
    if (
        tx.row(accounts, person_id=person_id) is None
        or tx.row(members, project_id=project_id, person_id=person_id) is None
    ):
        raise Missing("no_person")
    mine = select(members.c.project_id).where(
        members.c.person_id == by, members.c.role == "requester", members.c.state == "active"
    )
    elsewhere = select(members.c.project_id).where(
        members.c.person_id == person_id, members.c.state.not_in(GONE), members.c.project_id.not_in(mine)
    )
    if tx.row(accounts, person_id=person_id, requester=True) is not None or tx.one(elsewhere) is not None:
        raise Forbidden("reset_elsewhere")
    record(tx, "password.link", project_id=project_id, person_id=by, subject=f"person {person_id}")
    return make_pass(tx, person_id, RESET)


def reset_password(tx: Transaction, token: str, password_hash: str) -> int:
    """Set a new password by a link, which is used up; return whose it is. All their sessions end."""
    person_id = use_pass(tx, token, RESET)
    change_password(tx, person_id, password_hash)
    return person_id
