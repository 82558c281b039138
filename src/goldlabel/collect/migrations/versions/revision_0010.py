"""What experts say of pairs.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of taggings and of their tags."""
    op.create_table(
        "taggings",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("pair_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("quality", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("tagged_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_taggings_project_id"),
        sa.ForeignKeyConstraint(["pair_id"], ["pairs.id"], name="fk_taggings_pair_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_taggings_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_taggings"),
        sa.UniqueConstraint("pair_id", "person_id", name="uq_taggings_pair_id_person_id"),
    )
    op.create_index("ix_taggings_project_id", "taggings", ["project_id"])
    op.create_table(
        "tagging_tags",
        sa.Column("tagging_id", KEY, nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["tagging_id"], ["taggings.id"], name="fk_tagging_tags_tagging_id"),
        sa.PrimaryKeyConstraint("tagging_id", "tag", name="pk_tagging_tags"),
    )
