"""Pairs may bring a suggested label; what of it was shown is kept with what was given out.

Revision ID: 0018
Revises: 0017
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Make the columns of suggestions."""
    op.add_column("pairs", sa.Column("suggestion", sa.Text(), nullable=True))
    op.add_column("pairs", sa.Column("suggested_by", sa.Text(), nullable=True))
    op.add_column("assignments", sa.Column("suggestion", sa.Text(), nullable=True))
