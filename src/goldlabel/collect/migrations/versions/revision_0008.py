"""Premises and pairs that a requester hid or deleted, and pairs that one decided.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Give premises and pairs a place for it, and make the table of adjudications."""
    op.add_column("premises", sa.Column("hidden", sa.Text(), nullable=True))
    op.add_column("pairs", sa.Column("hidden", sa.Text(), nullable=True))
    op.create_table(
        "adjudications",
        sa.Column("pair_id", KEY, autoincrement=False, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("decided_by", KEY, nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["pairs.id"], name="fk_adjudications_pair_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_adjudications_project_id"),
        sa.ForeignKeyConstraint(["decided_by"], ["people.id"], name="fk_adjudications_decided_by"),
        sa.PrimaryKeyConstraint("pair_id", name="pk_adjudications"),
    )
    op.create_index("ix_adjudications_project_id", "adjudications", ["project_id"])
