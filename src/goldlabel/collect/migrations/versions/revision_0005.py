"""Measurements are kept in the database, and what takes long is a job that a worker does.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "jobs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("asked_by", KEY, nullable=True),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_jobs_project_id"),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_jobs_asked_by"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    unfinished = sa.text("finished_at IS NULL")
    measuring = sa.text("kind = 'measure' AND finished_at IS NULL")
    op.create_index("ix_jobs_project", "jobs", ["project_id", "kind", "id"])
    op.create_index("ix_jobs_waiting", "jobs", ["id"], sqlite_where=unfinished, postgresql_where=unfinished)
    op.create_index(
        "uq_jobs_measuring", "jobs", ["project_id"], unique=True, sqlite_where=measuring, postgresql_where=measuring
    )
    op.create_table(
        "job_files",
        sa.Column("job_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_files_job_id"),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_job_files"),
    )
    op.create_table(
        "measurements",
        sa.Column("project_id", KEY, nullable=False, autoincrement=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("figures", sa.Text(), nullable=False),
        sa.Column("marks", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_measurements_project_id"),
        sa.PrimaryKeyConstraint("project_id", name="pk_measurements"),
    )
