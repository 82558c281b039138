"""The tables of the collection and its projects: what happened in them, who is told, and what takes time."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text

from goldlabel.collect.schema.columns import DATA, Moment, id_column, metadata, reference

collection = Table("collection", metadata, Column("key", Text, primary_key=True))
"""One row: what tells this collection from any other."""

projects = Table(
    "projects",
    metadata,
    id_column(),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("config", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    reference("created_by", "people", nullable=True),
    Column("created_at", Moment, nullable=False),
)

events = Table(
    "events",
    metadata,
    id_column(),
    reference("project_id", "projects", nullable=True),
    reference("person_id", "people", nullable=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("data", DATA, nullable=False),
    Column("at", Moment, nullable=False),
)
Index("ix_events_project", events.c.project_id, events.c.id)

webhooks = Table(
    "webhooks",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("events", DATA, nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("removed_at", Moment),
)
"""Where what happens is told. The secret is needed as it is, to sign with; ``finished`` is what was told last."""

deliveries = Table(
    "deliveries",
    metadata,
    id_column(),
    reference("webhook_id", "webhooks", index=True),
    Column("event", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Moment, nullable=False),
    Column("status", Integer),
    Column("problem", Text),
    Column("created_at", Moment, nullable=False),
    Column("ended_at", Moment),
)
Index("ix_deliveries_due", deliveries.c.state, deliveries.c.due_at)

jobs = Table(
    "jobs",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    Column("kind", Text, nullable=False),
    Column("options", DATA, nullable=False),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("share", Float, nullable=False),
    reference("asked_by", "people", nullable=True),
    Column("asked_at", Moment, nullable=False),
    Column("worker", Text),
    Column("lease_until", Moment),
    Column("finished_at", Moment),
    Column("problem", DATA),
)
"""What takes longer than a page may; ``worker`` does it, or did. A project is measured by one job at a time."""
Index("ix_jobs_project", jobs.c.project_id, jobs.c.kind, jobs.c.id)
Index(
    "ix_jobs_waiting",
    jobs.c.id,
    sqlite_where=jobs.c.finished_at.is_(None),
    postgresql_where=jobs.c.finished_at.is_(None),
)
Index(
    "uq_jobs_measuring",
    jobs.c.project_id,
    unique=True,
    sqlite_where=(jobs.c.kind == "measure") & jobs.c.finished_at.is_(None),
    postgresql_where=(jobs.c.kind == "measure") & jobs.c.finished_at.is_(None),
)

job_files = Table(
    "job_files",
    metadata,
    reference("job_id", "jobs", primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""What a job made, in pieces."""
