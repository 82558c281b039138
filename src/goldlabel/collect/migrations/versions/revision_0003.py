"""Reasons of lines by their names, and no times that nobody can have taken.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

WEEK = 7 * 24 * 3600


def upgrade() -> None:
    """Give lines of the ledger a place for the message they are for; forget times above a week."""
    op.add_column("ledger", sa.Column("message", sa.JSON(), nullable=True))
    op.execute(f"UPDATE answers SET seconds = NULL WHERE seconds > {WEEK}")
