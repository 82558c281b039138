"""The tables of work: answers wanted, in whose hands they are, what was sent, and what was said of it."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table, Text, UniqueConstraint

from goldlabel.collect.schema.columns import DATA, Moment, id_column, metadata, reference

tasks = Table(
    "tasks",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    Column("kind", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("genre", Text, nullable=False),
    reference("subset_id", "subsets", nullable=True),
    reference("premise_id", "premises", nullable=True),
    reference("pair_id", "pairs", nullable=True),
    Column("slot", Integer, nullable=False),
    reference("author_id", "people", nullable=True),
    Column("rank", Integer, nullable=False),
    Column("tie", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("lease_until", Moment),
    UniqueConstraint("premise_id", "kind", "condition", "slot"),
    UniqueConstraint("pair_id", "kind", "slot"),
)
"""One row is one answer wanted. ``rank`` is the place in the queue of its own genre, so that the lowest rank over
all genres is the genre with the least progress; ``tie`` is random."""
Index(
    "ix_tasks_queue",
    tasks.c.project_id,
    tasks.c.kind,
    tasks.c.condition,
    tasks.c.state,
    tasks.c.rank,
    tasks.c.tie,
)
Index(
    "ix_tasks_progress",
    tasks.c.project_id,
    tasks.c.kind,
    tasks.c.condition,
    tasks.c.genre,
    tasks.c.subset_id,
    tasks.c.state,
)
Index(
    "ix_tasks_leased",
    tasks.c.project_id,
    tasks.c.kind,
    tasks.c.condition,
    tasks.c.lease_until,
    sqlite_where=tasks.c.lease_until.is_not(None),
    postgresql_where=tasks.c.lease_until.is_not(None),
)

assignments = Table(
    "assignments",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    reference("task_id", "tasks", index=True),
    reference("person_id", "people"),
    Column("kind", Text, nullable=False),
    reference("premise_id", "premises", nullable=True),
    reference("pair_id", "pairs", nullable=True),
    Column("rank", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("leased_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("closed_at", Moment),
    Column("suggestion", Text),
    UniqueConstraint("person_id", "kind", "premise_id"),
    UniqueConstraint("person_id", "pair_id"),
)
"""A task in one person's hands. Nobody is given a premise to write about, or a pair to judge, twice: two unique
constraints refuse it. ``premise_id`` is set for writing only, ``pair_id`` for judging only. ``suggestion``
is the label that was shown as suggested."""
Index(
    "uq_assignments_holder",
    assignments.c.task_id,
    unique=True,
    sqlite_where=assignments.c.state == "leased",
    postgresql_where=assignments.c.state == "leased",
)
Index(
    "ix_assignments_person",
    assignments.c.project_id,
    assignments.c.person_id,
    assignments.c.kind,
    assignments.c.state,
    assignments.c.rank,
)

answers = Table(
    "answers",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    reference("assignment_id", "assignments"),
    reference("task_id", "tasks"),
    reference("person_id", "people"),
    Column("kind", Text, nullable=False),
    reference("pair_id", "pairs", nullable=True),
    Column("key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("label", Text),
    Column("note", Text),
    Column("timings", DATA),
    Column("seconds", Float),
    Column("created_at", Moment, nullable=False),
    Column("responses", DATA),
    UniqueConstraint("assignment_id", "key"),
)
"""What was sent for an assignment, under its idempotency key; a task has one counted answer at most. ``responses`` are
to the requester's own questions, by their names."""
Index(
    "uq_answers_counted",
    answers.c.task_id,
    unique=True,
    sqlite_where=answers.c.state == "counted",
    postgresql_where=answers.c.state == "counted",
)
Index("ix_answers_person", answers.c.project_id, answers.c.person_id, answers.c.id)
Index("ix_answers_pair", answers.c.pair_id)

drafts = Table(
    "drafts",
    metadata,
    reference("assignment_id", "assignments", primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("content", DATA, nullable=False),
    Column("saved_at", Moment, nullable=False),
)

taggings = Table(
    "taggings",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    reference("pair_id", "pairs"),
    reference("person_id", "people"),
    Column("quality", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("tagged_at", Moment, nullable=False),
    UniqueConstraint("pair_id", "person_id"),
)
"""What an expert says of a pair; what they said before is in the events."""

tagging_tags = Table(
    "tagging_tags",
    metadata,
    reference("tagging_id", "taggings", primary_key=True),
    Column("tag", Text, primary_key=True),
)

checks = Table(
    "checks",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    reference("answer_id", "answers", unique=True),
    Column("drawn_at", Moment, nullable=False),
    reference("checked_by", "people", nullable=True),
    Column("checked_at", Moment),
    Column("violation", Boolean),
    Column("note", Text),
)
"""Written answers drawn at random for a look by the requester."""

remarks = Table(
    "remarks",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    reference("assignment_id", "assignments", index=True),
    reference("person_id", "people"),
    Column("text", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("answer", Text),
    reference("resolved_by", "people", nullable=True),
    Column("resolved_at", Moment),
)
"""What annotators say about a task that they were given, and what a requester answers."""

adjudications = Table(
    "adjudications",
    metadata,
    reference("pair_id", "pairs", primary_key=True, autoincrement=False),
    reference("project_id", "projects", index=True),
    Column("label", Text, nullable=False),
    Column("note", Text),
    reference("decided_by", "people", nullable=True),
    Column("decided_at", Moment, nullable=False),
)
"""What a requester decided where votes gave no gold label."""

model_votes = Table(
    "model_votes",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    reference("pair_id", "pairs"),
    Column("model", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("scores", DATA, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("pair_id", "model"),
)
"""What models say of pairs that people judge: apart from people's answers, and counted only where the protocol says."""
