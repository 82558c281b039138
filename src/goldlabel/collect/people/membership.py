"""Membership: a person gets a role in a project, and with the first one a pseudonym there."""

from __future__ import annotations

from goldlabel.collect.people.pseudonyms import give_pseudonym
from goldlabel.collect.schema import members
from goldlabel.collect.store import Transaction


def give_role(
    tx: Transaction,
    project_id: int,
    person_id: int,
    role: str,
    *,
    condition: str = "",
    exclusive: bool = False,
    state: str = "active",
) -> tuple[str, bool]:
    """Give a person a role, unless they have it; return their pseudonym, and whether the role is new to them."""
    pseudonym = give_pseudonym(tx, project_id, person_id)
    added = tx.insert_new(
        members,
        project_id=project_id,
        person_id=person_id,
        role=role,
        condition=condition,
        exclusive=exclusive,
        state=state,
        attempts=1,
        joined_at=tx.now,
    )
    return pseudonym, added
