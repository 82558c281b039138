"""The first schema of a leaderboard.

Revision ID: board_0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "board_0001"
down_revision = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make all tables; the trail can only grow."""
    op.create_table(
        "rate_buckets",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_rate_buckets"),
    )
    op.create_table(
        "submitters",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_submitters"),
        sa.UniqueConstraint("name", name="uq_submitters_name"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("submitter_id", KEY, nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["submitter_id"], ["submitters.id"], name="fk_tokens_submitter_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_tokens_token_hash"),
    )
    op.create_index("ix_tokens_submitter_id", "tokens", ["submitter_id"])
    op.create_table(
        "submissions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("submitter_id", KEY, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("about", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["submitter_id"], ["submitters.id"], name="fk_submissions_submitter_id"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("submitter_id", "digest", name="uq_submissions_submitter_id_digest"),
    )
    op.create_index("ix_submissions_submitter", "submissions", ["submitter_id", "received_at"])
    op.create_index("ix_submissions_state", "submissions", ["state", "id"])
    op.create_table(
        "uploads",
        sa.Column("submission_id", KEY, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_uploads_submission_id"),
        sa.PrimaryKeyConstraint("submission_id", "number", name="pk_uploads"),
    )
    op.create_table(
        "scores",
        sa.Column("submission_id", KEY, autoincrement=False, nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("hits", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_scores_submission_id"),
        sa.PrimaryKeyConstraint("submission_id", name="pk_scores"),
    )
    op.create_table(
        "standings",
        sa.Column("id", KEY, nullable=False),
        sa.Column("entries", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_standings"),
        sa.UniqueConstraint("entries", name="uq_standings_entries"),
    )
    op.create_table(
        "trail",
        sa.Column("id", KEY, nullable=False),
        sa.Column("submitter_id", KEY, nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["submitter_id"], ["submitters.id"], name="fk_trail_submitter_id"),
        sa.PrimaryKeyConstraint("id", name="pk_trail"),
    )
    op.create_index("ix_trail_submitter", "trail", ["submitter_id", "id"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION leaderboard_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
        )
        op.execute(
            "CREATE TRIGGER trail_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON trail "
            "FOR EACH STATEMENT EXECUTE FUNCTION leaderboard_append_only()"
        )
    else:
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER trail_no_{action.lower()} BEFORE {action} ON trail "
                "BEGIN SELECT RAISE(ABORT, 'trail is append-only'); END"
            )
