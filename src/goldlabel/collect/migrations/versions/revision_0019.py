"""Pseudonyms in each project.

Revision ID: 0019
Revises: 0018
"""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LETTERS = "bcdfghjkmnpqrstvwxz23456789"


def upgrade() -> None:
    """Make the table of pseudonyms: people keep theirs in their first project, and get others in their others."""
    table = op.create_table(
        "pseudonyms",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_pseudonyms_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_pseudonyms_person_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_pseudonyms"),
        sa.UniqueConstraint("project_id", "pseudonym", name="uq_pseudonyms_project_id_pseudonym"),
    )
    op.create_index("ix_pseudonyms_person_id", "pseudonyms", ["person_id"])
    connection = op.get_bind()
    taken = set(connection.execute(sa.text("SELECT pseudonym FROM people")).scalars())
    appear = " UNION ".join(
        f"SELECT project_id, person_id FROM {name}" for name in ("members", "assignments", "ledger")
    )
    query = f"SELECT project_id, id, pseudonym FROM people JOIN ({appear}) AS appear ON person_id = id"
    named: set[int] = set()
    rows, changed = [], set()
    for project_id, person_id, own in connection.execute(sa.text(f"{query} ORDER BY project_id, id")):
        pseudonym = own
        while person_id in named and pseudonym in taken:
            pseudonym = "".join(secrets.choice(LETTERS) for _ in range(6))
            changed.add(project_id)
        named.add(person_id)
        taken.add(pseudonym)
        rows.append({"project_id": project_id, "person_id": person_id, "pseudonym": pseudonym})
    op.bulk_insert(table, rows)
    for project_id in sorted(changed):  # its figures speak of people by the names they had
        connection.execute(sa.text("DELETE FROM measurements WHERE project_id = :id"), {"id": project_id})
