"""Several suites on a leaderboard: what a submission answers, and a standing for each.

Revision ID: board_0002
Revises: board_0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "board_0002"
down_revision = "board_0001"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Tell the suite; standings are made anew by the worker, so that none has to be carried over."""
    op.add_column("submissions", sa.Column("suite", sa.Text(), nullable=True))
    op.drop_table("standings")
    op.create_table(
        "standings",
        sa.Column("id", KEY, nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("entries", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_standings"),
        sa.UniqueConstraint("suite", "entries", name="uq_standings_suite_entries"),
    )
