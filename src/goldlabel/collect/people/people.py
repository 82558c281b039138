"""People in projects: invitations, roles, the condition that a writer works in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, func, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import message, words
from goldlabel.collect.people.accounts import make_requester
from goldlabel.collect.people.membership import give_role
from goldlabel.collect.people.passwords import draw_token, hash_token
from goldlabel.collect.projects import project, require_open
from goldlabel.collect.refusals import Conflict, Expired, Forbidden, Invalid, Missing
from goldlabel.collect.schema import invite_uses, invites, members, projects
from goldlabel.collect.store import Transaction
from goldlabel.collect.webhooks import PERSON_JOINED, announce
from goldlabel.messages import Message, Word

ROLES = ("requester", "writer", "verifier", "expert")
MEMBER_STATES = ("active", "paused")
GONE = ("removed", "left")
"""States of a role that a person has no more: a requester took it, or they went themselves."""


@dataclass(frozen=True)
class Member:
    """A person's role in a project."""

    project_id: int
    person_id: int
    role: str
    condition: str
    exclusive: bool
    state: str
    attempts: int
    joined_at: datetime


@dataclass(frozen=True)
class Invitation:
    """What a link offers; ``project_id`` is ``None`` for the right to make projects."""

    id: int
    project_id: int | None
    role: str
    condition: str
    exclusive: bool
    uses: int
    used: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


def invite(
    tx: Transaction,
    *,
    project_id: int | None,
    role: str,
    condition: str = "",
    exclusive: bool = False,
    uses: int = 1,
    lifetime: timedelta,
    by: int | None,
) -> str:
    """Make an invitation and return its token, which is kept as a hash only.

    Without a project it gives the right to make projects. A writer invited without a condition gets the one with
    the fewest writers.
    """
    if project_id is None and role != "requester":
        raise Invalid("invite_for_requesters", role=Word(role))
    if project_id is not None:
        _check_role(tx, project_id, role, condition, exclusive)
    if uses < 1 or lifetime <= timedelta(0):
        raise Invalid("invite_bounds")
    token = draw_token()
    invite_id = tx.insert(
        invites,
        token_hash=hash_token(token),
        project_id=project_id,
        role=role,
        condition=condition,
        exclusive=exclusive,
        uses=uses,
        created_by=by,
        created_at=tx.now,
        expires_at=tx.now + lifetime,
    )
    record(
        tx,
        "invite.made",
        project_id=project_id,
        person_id=by,
        subject=f"invite {invite_id}",
        data={"role": role, "condition": condition, "uses": uses},
    )
    return token


def find_invitation(tx: Transaction, token: str) -> Invitation:
    """Return what a link offers or offered."""
    offered = _invitations(tx, invites.c.token_hash == hash_token(token))
    if not offered:
        raise Missing("invite_unknown")
    return offered[0]


def invitation(tx: Transaction, token: str) -> Invitation:
    """Return what a link offers, or say why it offers nothing any more."""
    one = find_invitation(tx, token)
    if one.revoked_at is not None or one.expires_at <= tx.now or one.used >= one.uses:
        raise Expired("invite_over")
    return one


def accept(tx: Transaction, token: str, person_id: int) -> Invitation:
    """Give a person what a link offers; who has it already uses nothing up."""
    tx.one(select(invites.c.id).where(invites.c.token_hash == hash_token(token)).with_for_update(key_share=True))
    mine = tx.one(
        select(invites.c.id)
        .join(invite_uses, invite_uses.c.invite_id == invites.c.id)
        .where(invites.c.token_hash == hash_token(token), invite_uses.c.person_id == person_id)
    )
    if mine is not None:
        return _invitations(tx, invites.c.id == mine.id)[0]
    one = invitation(tx, token)
    tx.insert(invite_uses, invite_id=one.id, person_id=person_id, used_at=tx.now)
    if one.project_id is None:
        make_requester(tx, person_id)
    else:
        add_member(
            tx,
            one.project_id,
            person_id,
            one.role,
            condition=one.condition,
            exclusive=one.exclusive,
            by=person_id,
        )
    return one


def revoke_invite(tx: Transaction, project_id: int | None, invite_id: int, *, by: int | None) -> None:
    """Make a link useless from now on."""
    own = invites.c.project_id == project_id if project_id is not None else invites.c.project_id.is_(None)
    if not tx.run(invites.update().where(invites.c.id == invite_id, own).values(revoked_at=tx.now)):
        raise Missing("no_invite")
    record(tx, "invite.revoked", project_id=project_id, person_id=by, subject=f"invite {invite_id}")


def invitations_of(tx: Transaction, project_id: int) -> list[Invitation]:
    """Return a project's invitations, the newest first."""
    return _invitations(tx, invites.c.project_id == project_id)


def add_member(
    tx: Transaction,
    project_id: int,
    person_id: int,
    role: str,
    *,
    condition: str = "",
    exclusive: bool = False,
    by: int | None,
) -> Member:
    """Give a person a role in a project; who has it keeps it as it is, who left has it again.

    Who was removed from the project stays out until a requester lets them in.
    """
    held = roles(tx, project_id, person_id)
    if any(member.state == "removed" for member in held.values()):
        raise Forbidden("member_removed")
    _check_role(tx, project_id, role, condition, exclusive)
    if role == "writer" and not condition:
        condition = _least_written(tx, project_id)
    pseudonym, added = give_role(tx, project_id, person_id, role, condition=condition, exclusive=exclusive)
    if added:
        data = {"role": role, "condition": condition, "exclusive": exclusive}
        _record(tx, "member.joined", project_id, person_id, by, **data)
        announce(tx, project_id, PERSON_JOINED, person=pseudonym, **data)
    elif role in held and held[role].state == "left":
        change_state(tx, held[role], "active", by=by)
    return roles(tx, project_id, person_id)[role]


def set_member(
    tx: Transaction,
    project_id: int,
    person_id: int,
    role: str,
    *,
    by: int | None,
    state: str | None = None,
    condition: str | None = None,
    exclusive: bool | None = None,
) -> Member:
    """Change how a person works in a project: paused or active, another condition, exclusive to test."""
    given = {"state": state, "condition": condition, "exclusive": exclusive}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    member = roles(tx, project_id, person_id).get(role)
    if member is None:
        raise Missing("no_member", role=Word(role))
    if state is not None and state not in MEMBER_STATES:
        raise Invalid("member_state", state=state, allowed=words(MEMBER_STATES))
    _check_role(tx, project_id, role, condition or "", bool(exclusive))
    if any(getattr(member, name) != value for name, value in changes.items()):
        if state is not None:
            _keep_a_requester(tx, member, state)
        tx.run(members.update().where(*_row_of(member)).values(**changes))
        _record(tx, "member.changed", project_id, person_id, by, role=role, **changes)
    return roles(tx, project_id, person_id)[role]


def change_state(tx: Transaction, member: Member, state: str, *, by: int | None) -> None:
    """Change the state of a role, and nothing else: what follows from it is ``leaving``'s."""
    _keep_a_requester(tx, member, state)
    tx.run(members.update().where(*_row_of(member)).values(state=state))
    _record(tx, "member.changed", member.project_id, member.person_id, by, role=member.role, state=state)


def _keep_a_requester(tx: Transaction, member: Member, state: str) -> None:
    """Refuse to take the power from the last who has it in a project; two who try at once wait for each other."""
    if member.role != "requester" or state == "active":
        return
    tx.lock(projects, member.project_id)
    others = select(members.c.person_id).where(
        members.c.project_id == member.project_id,
        members.c.role == "requester",
        members.c.state == "active",
        members.c.person_id != member.person_id,
    )
    if tx.one(others) is None:
        raise Conflict("last_requester", name=project(tx, member.project_id).name)


def _row_of(member: Member) -> tuple[ColumnElement[bool], ...]:
    return (
        members.c.project_id == member.project_id,
        members.c.person_id == member.person_id,
        members.c.role == member.role,
    )


def roles(tx: Transaction, project_id: int, person_id: int) -> dict[str, Member]:
    """Return a person's roles in a project by name, also those they have no more; none for a stranger."""
    held = tx.all(_ROLES, project_id=project_id, person_id=person_id)
    return {row.role: Member(**row._mapping) for row in held}


_ROLES = select(members).where(
    members.c.project_id == bindparam("project_id"), members.c.person_id == bindparam("person_id")
)


def require_role(tx: Transaction, project_id: int, person_id: int, *allowed: str) -> Member:
    """Return the first of the allowed roles that a person has; to a stranger the project does not exist.

    A paused requester has no power: whatever asks for the role refuses them.
    """
    held = {role: one for role, one in roles(tx, project_id, person_id).items() if one.state not in GONE}
    if not held:
        raise Missing("no_project", name=project_id)
    member = next((held[role] for role in allowed if role in held), None)
    if member is None:
        raise Forbidden("needs_role", role=_either(words(allowed)))
    if member.role == "requester" and member.state == "paused":
        raise Forbidden("requester_paused")
    return member


def require_any_role(tx: Transaction, project_id: int, person_id: int) -> None:
    """Refuse a project to who never had a role in it; who left or was removed may still look after their pay."""
    if not roles(tx, project_id, person_id):
        raise Missing("no_project", name=project_id)


def _either(roles: Sequence[Word]) -> Message | Word:
    *others, last = roles
    return message("either", one=_either(others), other=last) if others else last


def _check_role(tx: Transaction, project_id: int, role: str, condition: str, exclusive: bool) -> None:
    found = project(tx, project_id)
    require_open(found)
    if role not in ROLES:
        raise Invalid("no_role", role=role, allowed=words(ROLES))
    if role not in found.kind.roles:
        raise Invalid("nobody_writes", kind=Word(found.kind.name))
    if role != "writer" and (condition or exclusive):
        raise Invalid("writers_only", role=Word(role))
    if condition:
        found.protocol.condition(condition)


def _least_written(tx: Transaction, project_id: int) -> str:
    """Return the condition with the fewest writers; of several with as few, one is drawn.

    So as many writers come to each condition, and the order in which they come says nothing of where they go
    (permuted blocks, a writer for each condition in a block).
    """
    held = Counter(
        row.condition
        for row in tx.all(
            select(members.c.condition).where(
                members.c.project_id == project_id, members.c.role == "writer", members.c.state.not_in(GONE)
            )
        )
    )
    found = project(tx, project_id)
    names = [one.name for one in found.protocol.conditions]
    fewest = min(held[name] for name in names)
    return found.random("condition", held.total()).choice([name for name in names if held[name] == fewest])


def _invitations(tx: Transaction, chosen: Any) -> list[Invitation]:
    used = select(func.count()).where(invite_uses.c.invite_id == invites.c.id).scalar_subquery()
    rows = tx.all(select(invites, used.label("used")).where(chosen).order_by(invites.c.id.desc()))
    return [_invitation(row) for row in rows]


def _invitation(row: Row[Any]) -> Invitation:
    return Invitation(
        row.id,
        row.project_id,
        row.role,
        row.condition,
        row.exclusive,
        row.uses,
        row.used,
        row.created_at,
        row.expires_at,
        row.revoked_at,
    )


def _record(tx: Transaction, kind: str, project_id: int, person_id: int, by: int | None, **data: Any) -> None:
    record(tx, kind, project_id=project_id, person_id=by, subject=f"person {person_id}", data=data)
