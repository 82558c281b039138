"""Consent in versions, and letters from requesters with who read them.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of texts, consents, letters and reads."""
    op.create_table(
        "consent_texts",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_consent_texts_project_id"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_consent_texts_created_by"),
        sa.PrimaryKeyConstraint("project_id", "version", name="pk_consent_texts"),
    )
    op.create_table(
        "consents",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("agreed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_consents_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_consents_person_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", "version", name="pk_consents"),
    )
    op.create_table(
        "letters",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("sender_id", KEY, nullable=False),
        sa.Column("recipient_id", KEY, nullable=True),
        sa.Column("answers", KEY, nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_letters_project_id"),
        sa.ForeignKeyConstraint(["sender_id"], ["people.id"], name="fk_letters_sender_id"),
        sa.ForeignKeyConstraint(["recipient_id"], ["people.id"], name="fk_letters_recipient_id"),
        sa.ForeignKeyConstraint(["answers"], ["letters.id"], name="fk_letters_answers"),
        sa.PrimaryKeyConstraint("id", name="pk_letters"),
    )
    op.create_index("ix_letters_project_id", "letters", ["project_id"])
    op.create_table(
        "letter_reads",
        sa.Column("letter_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["letter_id"], ["letters.id"], name="fk_letter_reads_letter_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_letter_reads_person_id"),
        sa.PrimaryKeyConstraint("letter_id", "person_id", name="pk_letter_reads"),
    )
