"""Webhooks and what they are told; people from marketplaces and their visits.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the five tables."""
    op.create_table(
        "webhooks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("finished", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_webhooks_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_project_id", "webhooks", ["project_id"])
    op.create_table(
        "deliveries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("webhook_id", KEY, nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="fk_deliveries_webhook_id"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_webhook_id", "deliveries", ["webhook_id"])
    op.create_index("ix_deliveries_due", "deliveries", ["state", "due_at"])
    op.create_table(
        "markets",
        sa.Column("invite_id", KEY, nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["invite_id"], ["invites.id"], name="fk_markets_invite_id"),
        sa.PrimaryKeyConstraint("invite_id", name="pk_markets"),
    )
    op.create_table(
        "outsiders",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_outsiders_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_outsiders_project_id"),
        sa.PrimaryKeyConstraint("person_id", name="pk_outsiders"),
        sa.UniqueConstraint("project_id", "provider", "worker", name="uq_outsiders_project_id_provider_worker"),
    )
    op.create_table(
        "visits",
        sa.Column("id", KEY, nullable=False),
        sa.Column("invite_id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("study", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("submit_to", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("already", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["invite_id"], ["invites.id"], name="fk_visits_invite_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_visits_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_visits_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_visits"),
        sa.UniqueConstraint("project_id", "person_id", "session", name="uq_visits_project_id_person_id_session"),
    )
