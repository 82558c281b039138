"""What models that are paid by use have cost in a round.

Revision ID: 0023
Revises: 0022
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of costs."""
    op.create_table(
        "model_costs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("round_id", KEY, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_model_costs_round_id"),
        sa.PrimaryKeyConstraint("id", name="pk_model_costs"),
    )
    op.create_index("ix_model_costs_round_id_model", "model_costs", ["round_id", "model"])
