"""Hypotheses that writers may begin with.

Revision ID: 0021
Revises: 0020
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of proposals, and the column that refers to it."""
    op.create_table(
        "proposals",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("premise_id", KEY, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_proposals_project_id"),
        sa.ForeignKeyConstraint(["premise_id"], ["premises.id"], name="fk_proposals_premise_id"),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
        sa.UniqueConstraint("premise_id", "label", name="uq_proposals_premise_id_label"),
    )
    key = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(
        f"ALTER TABLE tries ADD COLUMN proposal_id {key} CONSTRAINT fk_tries_proposal_id REFERENCES proposals (id)"
    )
