"""The first schema.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
APPEND_ONLY = ("events", "ledger")


def upgrade() -> None:
    """Make the tables, and make the records of what happened and what is owed append-only."""
    op.create_table(
        "people",
        sa.Column("id", KEY, nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("pseudonym", name="uq_people_pseudonym"),
    )
    op.create_table(
        "rate_buckets",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_rate_buckets"),
    )
    op.create_table(
        "accounts",
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("requester", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_accounts_person_id"),
        sa.PrimaryKeyConstraint("person_id", name="pk_accounts"),
        sa.UniqueConstraint("login", name="uq_accounts_login"),
    )
    op.create_table(
        "projects",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_projects_created_by"),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("name", name="uq_projects_name"),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("csrf_secret", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sessions_person_id"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sessions"),
    )
    op.create_index("ix_sessions_person_id", "sessions", ["person_id"])
    op.create_table(
        "events",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=True),
        sa.Column("person_id", KEY, nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_events_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_events_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_index("ix_events_project", "events", ["project_id", "id"])
    op.create_table(
        "invites",
        sa.Column("id", KEY, nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("project_id", KEY, nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("exclusive", sa.Boolean(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("created_by", KEY, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_invites_created_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_invites_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_invites"),
        sa.UniqueConstraint("token_hash", name="uq_invites_token_hash"),
    )
    op.create_index("ix_invites_project_id", "invites", ["project_id"])
    op.create_table(
        "members",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("exclusive", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_members_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_members_project_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", "role", name="pk_members"),
    )
    op.create_index("ix_members_person_id", "members", ["person_id"])
    op.create_table(
        "premises",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("genre", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("original_id", sa.Text(), nullable=True),
        sa.Column("meta", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_premises_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_premises"),
        sa.UniqueConstraint("project_id", "number", name="uq_premises_project_id_number"),
    )
    op.create_table(
        "subsets",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("genre", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_subsets_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_subsets"),
        sa.UniqueConstraint(
            "project_id", "origin", "condition", "genre", name="uq_subsets_project_id_origin_condition_genre"
        ),
    )
    op.create_table(
        "training_answers",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("example", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_training_answers_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_training_answers_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_training_answers"),
        sa.UniqueConstraint(
            "project_id",
            "person_id",
            "attempt",
            "example",
            name="uq_training_answers_project_id_person_id_attempt_example",
        ),
    )
    op.create_table(
        "invite_uses",
        sa.Column("invite_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["invite_id"], ["invites.id"], name="fk_invite_uses_invite_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_invite_uses_person_id"),
        sa.PrimaryKeyConstraint("invite_id", "person_id", name="pk_invite_uses"),
    )
    op.create_table(
        "pairs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("subset_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("draw_number", sa.Integer(), nullable=True),
        sa.Column("considered", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("premise_id", KEY, nullable=False),
        sa.Column("answer_id", KEY, nullable=True),
        sa.Column("writer_id", KEY, nullable=True),
        sa.Column("hypothesis", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=True),
        sa.Column("original_id", sa.Text(), nullable=True),
        sa.Column("meta", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_pairs_answer_id", use_alter=True),
        sa.ForeignKeyConstraint(["premise_id"], ["premises.id"], name="fk_pairs_premise_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_pairs_project_id"),
        sa.ForeignKeyConstraint(["subset_id"], ["subsets.id"], name="fk_pairs_subset_id"),
        sa.ForeignKeyConstraint(["writer_id"], ["people.id"], name="fk_pairs_writer_id"),
        sa.PrimaryKeyConstraint("id", name="pk_pairs"),
        sa.UniqueConstraint("subset_id", "draw_number", name="uq_pairs_subset_id_draw_number"),
        sa.UniqueConstraint("subset_id", "number", name="uq_pairs_subset_id_number"),
    )
    op.create_index("ix_pairs_answer_id", "pairs", ["answer_id"])
    op.create_index(
        "ix_pairs_not_considered",
        "pairs",
        ["subset_id"],
        sqlite_where=sa.text("considered IS 0"),
        postgresql_where=sa.text("considered IS false"),
    )
    op.create_index("ix_pairs_premise_id", "pairs", ["premise_id"])
    op.create_index("ix_pairs_writer", "pairs", ["project_id", "writer_id", "state"])
    op.create_table(
        "tasks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("genre", sa.Text(), nullable=False),
        sa.Column("subset_id", KEY, nullable=True),
        sa.Column("premise_id", KEY, nullable=True),
        sa.Column("pair_id", KEY, nullable=True),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("author_id", KEY, nullable=True),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("tie", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["author_id"], ["people.id"], name="fk_tasks_author_id"),
        sa.ForeignKeyConstraint(["pair_id"], ["pairs.id"], name="fk_tasks_pair_id"),
        sa.ForeignKeyConstraint(["premise_id"], ["premises.id"], name="fk_tasks_premise_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_tasks_project_id"),
        sa.ForeignKeyConstraint(["subset_id"], ["subsets.id"], name="fk_tasks_subset_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.UniqueConstraint("pair_id", "kind", "slot", name="uq_tasks_pair_id_kind_slot"),
        sa.UniqueConstraint("premise_id", "kind", "condition", "slot", name="uq_tasks_premise_id_kind_condition_slot"),
    )
    op.create_index(
        "ix_tasks_leased",
        "tasks",
        ["project_id", "kind", "condition", "lease_until"],
        sqlite_where=sa.text("lease_until IS NOT NULL"),
        postgresql_where=sa.text("lease_until IS NOT NULL"),
    )
    op.create_index("ix_tasks_progress", "tasks", ["project_id", "kind", "condition", "genre", "subset_id", "state"])
    op.create_index("ix_tasks_queue", "tasks", ["project_id", "kind", "condition", "state", "rank", "tie"])
    op.create_table(
        "assignments",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("task_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("premise_id", KEY, nullable=True),
        sa.Column("pair_id", KEY, nullable=True),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("leased_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["pair_id"], ["pairs.id"], name="fk_assignments_pair_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_assignments_person_id"),
        sa.ForeignKeyConstraint(["premise_id"], ["premises.id"], name="fk_assignments_premise_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_assignments_project_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_assignments_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
        sa.UniqueConstraint("person_id", "kind", "premise_id", name="uq_assignments_person_id_kind_premise_id"),
        sa.UniqueConstraint("person_id", "pair_id", name="uq_assignments_person_id_pair_id"),
    )
    op.create_index("ix_assignments_person", "assignments", ["project_id", "person_id", "kind", "state", "rank"])
    op.create_index("ix_assignments_task_id", "assignments", ["task_id"])
    op.create_index(
        "uq_assignments_holder",
        "assignments",
        ["task_id"],
        unique=True,
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_table(
        "answers",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("task_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("pair_id", KEY, nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("timings", sa.JSON(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name="fk_answers_assignment_id"),
        sa.ForeignKeyConstraint(["pair_id"], ["pairs.id"], name="fk_answers_pair_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_answers_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_answers_project_id"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_answers_task_id"),
        sa.PrimaryKeyConstraint("id", name="pk_answers"),
        sa.UniqueConstraint("assignment_id", "key", name="uq_answers_assignment_id_key"),
    )
    op.create_index("ix_answers_pair", "answers", ["pair_id"])
    op.create_index("ix_answers_person", "answers", ["project_id", "person_id", "id"])
    op.create_index(
        "uq_answers_counted",
        "answers",
        ["task_id"],
        unique=True,
        sqlite_where=sa.text("state = 'counted'"),
        postgresql_where=sa.text("state = 'counted'"),
    )
    op.create_table(
        "drafts",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("saved_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name="fk_drafts_assignment_id"),
        sa.PrimaryKeyConstraint("assignment_id", name="pk_drafts"),
    )
    op.create_table(
        "checks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("answer_id", KEY, nullable=False),
        sa.Column("drawn_at", sa.BigInteger(), nullable=False),
        sa.Column("checked_by", KEY, nullable=True),
        sa.Column("checked_at", sa.BigInteger(), nullable=True),
        sa.Column("violation", sa.Boolean(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_checks_answer_id"),
        sa.ForeignKeyConstraint(["checked_by"], ["people.id"], name="fk_checks_checked_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_checks_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_checks"),
        sa.UniqueConstraint("answer_id", name="uq_checks_answer_id"),
    )
    op.create_index("ix_checks_project_id", "checks", ["project_id"])
    op.create_table(
        "ledger",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("person_id", KEY, nullable=False),
        sa.Column("event_id", KEY, nullable=False),
        sa.Column("answer_id", KEY, nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("reverses", KEY, nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_ledger_answer_id"),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name="fk_ledger_event_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_ledger_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_ledger_project_id"),
        sa.ForeignKeyConstraint(["reverses"], ["ledger.id"], name="fk_ledger_reverses"),
        sa.PrimaryKeyConstraint("id", name="pk_ledger"),
        sa.UniqueConstraint("project_id", "key", name="uq_ledger_project_id_key"),
        sa.UniqueConstraint("reverses", name="uq_ledger_reverses"),
    )
    op.create_index("ix_ledger_answer_id", "ledger", ["answer_id"])
    op.create_index("ix_ledger_person", "ledger", ["project_id", "person_id"])

    if op.get_bind().dialect.name == "postgresql":  # the two tables point at each other; SQLite has it in place
        op.create_foreign_key("fk_pairs_answer_id", "pairs", "answers", ["answer_id"], ["id"])
        _guard_postgresql()
    else:
        _guard_sqlite()


def _guard_sqlite() -> None:
    for table in APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def _guard_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION goldlabel_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION goldlabel_append_only()"
        )
