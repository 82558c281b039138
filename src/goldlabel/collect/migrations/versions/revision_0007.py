"""Remarks of annotators on what they were given.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of remarks."""
    op.create_table(
        "remarks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("resolved_by", KEY, nullable=True),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_remarks_project_id"),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name="fk_remarks_assignment_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_remarks_person_id"),
        sa.ForeignKeyConstraint(["resolved_by"], ["people.id"], name="fk_remarks_resolved_by"),
        sa.PrimaryKeyConstraint("id", name="pk_remarks"),
    )
    op.create_index("ix_remarks_project_id", "remarks", ["project_id"])
    op.create_index("ix_remarks_assignment_id", "remarks", ["assignment_id"])
