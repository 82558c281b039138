"""A try says which pair it became.

Revision ID: 0020
Revises: 0019
"""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Make the column of pairs."""
    key = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(f"ALTER TABLE tries ADD COLUMN pair_id {key} CONSTRAINT fk_tries_pair_id REFERENCES pairs (id)")
