"""What a closed round holds out.

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the column; rounds that were closed before hold out what is drawn when they are exported."""
    op.add_column("rounds", sa.Column("held_out", sa.JSON(), nullable=True))
