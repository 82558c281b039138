"""A collection has a key of its own, which tells it from any other that is served at the same address.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from uuid import uuid4

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table and its one row."""
    table = op.create_table(
        "collection",
        sa.Column("key", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_collection"),
    )
    op.bulk_insert(table, [{"key": uuid4().hex}])
