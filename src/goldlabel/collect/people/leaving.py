"""Leaving: a person removed from a project, one who goes by themselves, and the end of an account.

What somebody did stays, under their pseudonym, and so does what they are owed. Tasks in their hands go back into the
queue. Of a deleted account nothing is left that tells who it was: events have never held a name.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.people.people import GONE, Member, change_state, roles, set_member
from goldlabel.collect.refusals import Missing
from goldlabel.collect.schema import (
    accounts,
    assignments,
    contacts,
    drafts,
    members,
    outsiders,
    passes,
    second_factors,
    sessions,
    tokens,
    visits,
)
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.assignment import skip
from goldlabel.collect.work.leases import lock_person
from goldlabel.messages import Word


def remove_member(tx: Transaction, project_id: int, person_id: int, role: str, *, by: int | None) -> None:
    """Take a role from a person; only a requester can give it back."""
    member = roles(tx, project_id, person_id).get(role)
    if member is None:
        raise Missing("no_member", role=Word(role))
    _end(tx, member, "removed", by=by)


def change_member(
    tx: Transaction, project_id: int, person_id: int, role: str, *, by: int | None, state: str | None, **changes: Any
) -> Member:
    """Change how a person works in a project as ``set_member`` does, or remove them."""
    if state == "removed":
        remove_member(tx, project_id, person_id, role, by=by)
        state = None
    return set_member(tx, project_id, person_id, role, by=by, state=state, **changes)


def leave_project(tx: Transaction, project_id: int, person_id: int) -> None:
    """Let a person go out of a project with all their roles; an invitation lets them in again."""
    held = [member for member in roles(tx, project_id, person_id).values() if member.state not in GONE]
    if not held:
        raise Missing("no_project", name=project_id)
    for member in held:
        _end(tx, member, "left", by=person_id)


def delete_account(tx: Transaction, person_id: int) -> None:
    """Delete an account: name, contact and credentials go; what the person did stays under the pseudonym."""
    for project_id in sorted({row.project_id for row in tx.all(_PROJECTS.where(members.c.person_id == person_id))}):
        leave_project(tx, project_id, person_id)
    for table in (sessions, tokens, contacts, passes, second_factors, outsiders, visits):
        tx.run(table.delete().where(table.c.person_id == person_id))
    if not tx.run(accounts.delete().where(accounts.c.person_id == person_id)):
        raise Missing("no_account")
    record(tx, "account.deleted", project_id=None, person_id=person_id, subject=f"person {person_id}")


_PROJECTS = select(members.c.project_id).where(members.c.state.not_in(GONE))


def _end(tx: Transaction, member: Member, state: str, *, by: int | None) -> None:
    """Give back what a person holds in a role, and end the role."""
    if member.state == state:
        return
    lock_person(tx, member.person_id)
    kinds = [task for work in WORKS.values() if work.role == member.role for task in work.tasks]
    for row in tx.all(
        select(assignments.c.id)
        .where(
            assignments.c.project_id == member.project_id,
            assignments.c.person_id == member.person_id,
            assignments.c.kind.in_(kinds),
            assignments.c.state == "leased",
        )
        .order_by(assignments.c.task_id)
    ):
        skip(tx, row.id, member.person_id)
        tx.run(drafts.delete().where(drafts.c.assignment_id == row.id))
    change_state(tx, member, state, by=by)
