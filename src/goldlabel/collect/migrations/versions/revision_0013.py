"""Rounds of writing against models; tries say which model was drawn, and when they were decided.

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of rounds, and the columns that refer to it."""
    op.create_table(
        "rounds",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("adversaries", sa.JSON(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("pay", sa.JSON(), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("trained", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_rounds_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_rounds"),
        sa.UniqueConstraint("project_id", "number", name="uq_rounds_project_id_number"),
    )
    open_ones = sa.text("state = 'open'")
    op.create_index(
        "uq_rounds_open", "rounds", ["project_id"], unique=True, sqlite_where=open_ones, postgresql_where=open_ones
    )
    key = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    for table in ("pairs", "tries"):
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN round_id {key} CONSTRAINT fk_{table}_round_id REFERENCES rounds (id)"
        )
    for name in ("drawn", "worker", "problem"):
        op.add_column("tries", sa.Column(name, sa.Text(), nullable=True))
    for name in ("lease_until", "decided_at"):
        op.add_column("tries", sa.Column(name, sa.BigInteger(), nullable=True))
    op.execute("UPDATE tries SET drawn = model, decided_at = created_at WHERE scores IS NOT NULL")
    undecided = sa.text("decided_at IS NULL")
    op.create_index("ix_tries_undecided", "tries", ["id"], sqlite_where=undecided, postgresql_where=undecided)
