"""A requester may fix in which split the pairs of a premise are.

Revision ID: 0017
Revises: 0016
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Make the column of splits."""
    op.add_column("premises", sa.Column("split", sa.Text(), nullable=True))
