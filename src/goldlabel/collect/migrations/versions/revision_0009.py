"""Contacts apart from everything else, passes for one door, and second factors.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "contacts",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_contacts_person_id"),
        sa.PrimaryKeyConstraint("person_id", name="pk_contacts"),
    )
    op.create_table(
        "passes",
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_passes_person_id"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_passes"),
    )
    op.create_index("ix_passes_person_id", "passes", ["person_id"])
    op.create_table(
        "second_factors",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_second_factors_person_id"),
        sa.PrimaryKeyConstraint("person_id", name="pk_second_factors"),
    )
