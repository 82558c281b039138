"""What people answer to a requester's own questions is kept with their answer.

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Make the column of responses."""
    op.add_column("answers", sa.Column("responses", sa.JSON(), nullable=True))
