"""Votes of models beside those of people.

Revision ID: 0022
Revises: 0021
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of votes."""
    op.create_table(
        "model_votes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("pair_id", KEY, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_model_votes_project_id"),
        sa.ForeignKeyConstraint(["pair_id"], ["pairs.id"], name="fk_model_votes_pair_id"),
        sa.PrimaryKeyConstraint("id", name="pk_model_votes"),
        sa.UniqueConstraint("pair_id", "model", name="uq_model_votes_pair_id_model"),
    )
    op.create_index("ix_model_votes_project_id", "model_votes", ["project_id"])
