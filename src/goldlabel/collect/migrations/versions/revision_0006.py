"""Decisions of requesters that work of a person is not to count.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of decisions and of what they are about."""
    op.create_table(
        "decisions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("paid", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("paused", sa.JSON(), nullable=False),
        sa.Column("decided_by", KEY, nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("reversed_by", KEY, nullable=True),
        sa.Column("reversed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_decisions_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_decisions_person_id"),
        sa.ForeignKeyConstraint(["decided_by"], ["people.id"], name="fk_decisions_decided_by"),
        sa.ForeignKeyConstraint(["reversed_by"], ["people.id"], name="fk_decisions_reversed_by"),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
    )
    op.create_index("ix_decisions_project_id", "decisions", ["project_id"])
    op.create_table(
        "decided_answers",
        sa.Column("decision_id", KEY, nullable=False),
        sa.Column("answer_id", KEY, nullable=False),
        sa.Column("set_aside_by", KEY, nullable=True),
        sa.Column("restored_by", KEY, nullable=True),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name="fk_decided_answers_decision_id"),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_decided_answers_answer_id"),
        sa.PrimaryKeyConstraint("decision_id", "answer_id", name="pk_decided_answers"),
    )
