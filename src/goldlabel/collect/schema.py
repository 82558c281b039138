"""The tables of a collection: who did what to which pair, and what they are owed.

Nothing here counts: numbers are taken from rows. Two habits make that cheap with a hundred thousand rows. Rows of
a growing set carry dense numbers (``premises.number``, ``pairs.number``, ``pairs.draw_number``), so that the size
of the set is the largest number; and every answer wanted is a row of its own in ``tasks``, so that a unique index,
not a sum, keeps a pair from being answered too often.

``events`` and ``ledger`` are append-only: triggers refuse to change or delete their rows.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(TypeDecorator[datetime]):
    """A moment as whole microseconds since 1970, which both databases order and compare alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        """Turn an aware datetime into microseconds."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        """Turn microseconds into an aware datetime in UTC."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_KEY = BigInteger().with_variant(Integer, "sqlite")
_DATA = JSON(none_as_null=True)


def _id() -> Column[int]:
    return Column("id", _KEY, primary_key=True)


def _reference(name: str, table: str, **options: Any) -> Column[int]:
    return Column(name, _KEY, ForeignKey(f"{table}.id"), **{"nullable": False, **options})


collection = Table("collection", metadata, Column("key", Text, primary_key=True))
"""One row: what tells this collection from any other."""

people = Table(
    "people",
    metadata,
    _id(),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    _reference("person_id", "people", primary_key=True),
    Column("login", Text, nullable=False, unique=True),
    Column("password_hash", Text, nullable=False),
    Column("requester", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),
    _reference("person_id", "people", index=True),
    Column("csrf_secret", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

rate_buckets = Table(
    "rate_buckets",
    metadata,
    Column("key", Text, primary_key=True),
    Column("started_at", Moment, nullable=False),
    Column("hits", Integer, nullable=False),
)

contacts = Table(
    "contacts",
    metadata,
    _reference("person_id", "people", primary_key=True),
    Column("contact", Text, nullable=False),
    Column("changed_at", Moment, nullable=False),
)
"""How people can be reached and paid; nothing but the pages of accounts and pay reads it."""

passes = Table(
    "passes",
    metadata,
    Column("token_hash", Text, primary_key=True),
    _reference("person_id", "people", index=True),
    Column("purpose", Text, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

second_factors = Table(
    "second_factors",
    metadata,
    _reference("person_id", "people", primary_key=True),
    Column("secret", Text, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("used", _DATA, nullable=False),
)
"""``last_step`` is the half minute of the last code, ``used`` the recovery codes that are gone."""

tokens = Table(
    "tokens",
    metadata,
    _id(),
    _reference("person_id", "people", index=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("scopes", _DATA, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("used_at", Moment),
    Column("withdrawn_at", Moment),
)
"""What a person's programs show in place of a session."""

repeats = Table(
    "repeats",
    metadata,
    _reference("person_id", "people", primary_key=True),
    Column("key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("answer", _DATA, nullable=False),
    Column("created_at", Moment, nullable=False),
)
"""What a program's request under a key of its own making was answered, so that it is done once."""

projects = Table(
    "projects",
    metadata,
    _id(),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("config", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    _reference("created_by", "people", nullable=True),
    Column("created_at", Moment, nullable=False),
)

members = Table(
    "members",
    metadata,
    _reference("project_id", "projects", primary_key=True),
    _reference("person_id", "people", primary_key=True, index=True),
    Column("role", Text, primary_key=True),
    Column("condition", Text, nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("joined_at", Moment, nullable=False),
)

pseudonyms = Table(
    "pseudonyms",
    metadata,
    _reference("project_id", "projects", primary_key=True),
    _reference("person_id", "people", primary_key=True, index=True),
    Column("pseudonym", Text, nullable=False),
    UniqueConstraint("project_id", "pseudonym"),
)
"""What people are called in a project. The column of that name in ``people`` is of older revisions: nobody sees it."""

invites = Table(
    "invites",
    metadata,
    _id(),
    Column("token_hash", Text, nullable=False, unique=True),
    _reference("project_id", "projects", nullable=True, index=True),
    Column("role", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("uses", Integer, nullable=False),
    _reference("created_by", "people", nullable=True),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
)

invite_uses = Table(
    "invite_uses",
    metadata,
    _reference("invite_id", "invites", primary_key=True),
    _reference("person_id", "people", primary_key=True),
    Column("used_at", Moment, nullable=False),
)

markets = Table(
    "markets",
    metadata,
    _reference("invite_id", "invites", primary_key=True),
    Column("provider", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("quota", Integer, nullable=False),
)
"""Invitations for people of a marketplace, and how many answers are asked of one visit."""

outsiders = Table(
    "outsiders",
    metadata,
    _reference("person_id", "people", primary_key=True),
    _reference("project_id", "projects"),
    Column("provider", Text, nullable=False),
    Column("worker", Text, nullable=False),
    UniqueConstraint("project_id", "provider", "worker"),
)
"""Who somebody is in a marketplace: kept apart from what they do here, as logins are."""

PROVIDER = "import"
"""By this name of a provider imported annotators are told from people of a marketplace."""

visits = Table(
    "visits",
    metadata,
    _id(),
    _reference("invite_id", "invites"),
    _reference("project_id", "projects"),
    _reference("person_id", "people"),
    Column("study", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("submit_to", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("already", Integer, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("completed_at", Moment),
    UniqueConstraint("project_id", "person_id", "session"),
)
"""One sitting of somebody whom a marketplace sent; ``already`` is how much they had answered before."""

webhooks = Table(
    "webhooks",
    metadata,
    _id(),
    _reference("project_id", "projects", index=True),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("events", _DATA, nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("removed_at", Moment),
)
"""Where what happens is told. The secret is needed as it is, to sign with; ``finished`` is what was told last."""

deliveries = Table(
    "deliveries",
    metadata,
    _id(),
    _reference("webhook_id", "webhooks", index=True),
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

premises = Table(
    "premises",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    Column("number", Integer),
    Column("text", Text, nullable=False),
    Column("genre", Text, nullable=False),
    Column("source", Text),
    Column("original_id", Text),
    Column("meta", _DATA),
    Column("created_at", Moment, nullable=False),
    Column("hidden", Text),
    Column("split", Text),
    UniqueConstraint("project_id", "number"),
)
"""``number`` counts the pool to write from; a premise that came with an imported pair has none. ``hidden`` says that
the requester took it out: ``hidden`` or ``deleted``. ``split`` is where its pairs go, if the requester fixed that."""

subsets = Table(
    "subsets",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    Column("origin", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("genre", Text, nullable=False),
    UniqueConstraint("project_id", "origin", "condition", "genre"),
)
"""What shares are drawn from; its row is the lock under which pairs are numbered and drawn."""

rounds = Table(
    "rounds",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    Column("number", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("adversaries", _DATA, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("pay", _DATA),
    Column("opened_at", Moment, nullable=False),
    Column("closed_at", Moment),
    Column("trained", _DATA),
    Column("held_out", _DATA),
    UniqueConstraint("project_id", "number"),
)
"""Rounds of writing against models: ``open``, then ``closed``; ``trained`` is what was learnt from it and all before.
``pay`` are rates of its own. ``held_out`` are the ids of pairs that are not in train since it closed, by split, and the
pseudonyms of who wrote for test alone."""
Index(
    "uq_rounds_open",
    rounds.c.project_id,
    unique=True,
    sqlite_where=rounds.c.state == "open",
    postgresql_where=rounds.c.state == "open",
)

pairs = Table(
    "pairs",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    _reference("subset_id", "subsets"),
    Column("number", Integer),
    Column("draw_number", Integer),
    Column("considered", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    _reference("premise_id", "premises", index=True),
    Column("answer_id", _KEY, ForeignKey("answers.id", name="fk_pairs_answer_id", use_alter=True), index=True),
    _reference("writer_id", "people", nullable=True),
    Column("hypothesis", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("level", Text),
    Column("original_id", Text),
    Column("meta", _DATA),
    Column("created_at", Moment, nullable=False),
    Column("verdict", Text),
    Column("hidden", Text),
    _reference("round_id", "rounds", nullable=True),
    Column("suggestion", Text),
    Column("suggested_by", Text),
    UniqueConstraint("subset_id", "number"),
    UniqueConstraint("subset_id", "draw_number"),
)
"""``number`` counts the pairs of a subset, ``draw_number`` those drawn for verification; a late pair has neither.
``verdict`` is what the votes decided, a label or ``-``; none while votes are missing. ``hidden`` as
with premises."""
Index("ix_pairs_writer", pairs.c.project_id, pairs.c.writer_id, pairs.c.state)
Index(
    "ix_pairs_not_considered",
    pairs.c.subset_id,
    sqlite_where=pairs.c.considered.is_(False),
    postgresql_where=pairs.c.considered.is_(False),
)

tasks = Table(
    "tasks",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    Column("kind", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("genre", Text, nullable=False),
    _reference("subset_id", "subsets", nullable=True),
    _reference("premise_id", "premises", nullable=True),
    _reference("pair_id", "pairs", nullable=True),
    Column("slot", Integer, nullable=False),
    _reference("author_id", "people", nullable=True),
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
    _id(),
    _reference("project_id", "projects"),
    _reference("task_id", "tasks", index=True),
    _reference("person_id", "people"),
    Column("kind", Text, nullable=False),
    _reference("premise_id", "premises", nullable=True),
    _reference("pair_id", "pairs", nullable=True),
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
    _id(),
    _reference("project_id", "projects"),
    _reference("assignment_id", "assignments"),
    _reference("task_id", "tasks"),
    _reference("person_id", "people"),
    Column("kind", Text, nullable=False),
    _reference("pair_id", "pairs", nullable=True),
    Column("key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("label", Text),
    Column("note", Text),
    Column("timings", _DATA),
    Column("seconds", Float),
    Column("created_at", Moment, nullable=False),
    Column("responses", _DATA),
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
    _reference("assignment_id", "assignments", primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("content", _DATA, nullable=False),
    Column("saved_at", Moment, nullable=False),
)

tries = Table(
    "tries",
    metadata,
    _id(),
    _reference("assignment_id", "assignments"),
    _reference("round_id", "rounds", nullable=True),
    Column("number", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("drawn", Text),
    Column("worker", Text),
    Column("lease_until", Moment),
    Column("model", Text),
    Column("scores", _DATA),
    Column("problem", Text),
    Column("created_at", Moment, nullable=False),
    Column("decided_at", Moment),
    UniqueConstraint("assignment_id", "number"),
    UniqueConstraint("assignment_id", "key"),
)
"""What was tried within an assignment, and what a model said to it: a probability for each label.

``drawn`` is the model that was to answer, ``model`` the one that did, ``problem`` why it was another one, or none. A
try is decided when it has ``decided_at``; until then a ``worker`` may hold it."""
Index(
    "ix_tries_undecided",
    tries.c.id,
    sqlite_where=tries.c.decided_at.is_(None),
    postgresql_where=tries.c.decided_at.is_(None),
)

training_answers = Table(
    "training_answers",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    _reference("person_id", "people"),
    Column("attempt", Integer, nullable=False),
    Column("example", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("correct", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("project_id", "person_id", "attempt", "example"),
)

taggings = Table(
    "taggings",
    metadata,
    _id(),
    _reference("project_id", "projects", index=True),
    _reference("pair_id", "pairs"),
    _reference("person_id", "people"),
    Column("quality", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("tagged_at", Moment, nullable=False),
    UniqueConstraint("pair_id", "person_id"),
)
"""What an expert says of a pair; what they said before is in the events."""

tagging_tags = Table(
    "tagging_tags",
    metadata,
    _reference("tagging_id", "taggings", primary_key=True),
    Column("tag", Text, primary_key=True),
)

checks = Table(
    "checks",
    metadata,
    _id(),
    _reference("project_id", "projects", index=True),
    _reference("answer_id", "answers", unique=True),
    Column("drawn_at", Moment, nullable=False),
    _reference("checked_by", "people", nullable=True),
    Column("checked_at", Moment),
    Column("violation", Boolean),
    Column("note", Text),
)
"""Written answers drawn at random for a look by the requester."""

consent_texts = Table(
    "consent_texts",
    metadata,
    _reference("project_id", "projects", primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    _reference("created_by", "people", nullable=True),
    Column("created_at", Moment, nullable=False),
)

consents = Table(
    "consents",
    metadata,
    _reference("project_id", "projects", primary_key=True),
    _reference("person_id", "people", primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("agreed_at", Moment, nullable=False),
)

letters = Table(
    "letters",
    metadata,
    _id(),
    _reference("project_id", "projects", index=True),
    _reference("sender_id", "people"),
    _reference("recipient_id", "people", nullable=True),
    _reference("answers", "letters", nullable=True),
    Column("text", Text, nullable=False),
    Column("sent_at", Moment, nullable=False),
)
"""A letter without a recipient is to all, or, where it answers another, to the requesters."""

letter_reads = Table(
    "letter_reads",
    metadata,
    _reference("letter_id", "letters", primary_key=True),
    _reference("person_id", "people", primary_key=True),
    Column("read_at", Moment, nullable=False),
)

remarks = Table(
    "remarks",
    metadata,
    _id(),
    _reference("project_id", "projects", index=True),
    _reference("assignment_id", "assignments", index=True),
    _reference("person_id", "people"),
    Column("text", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("answer", Text),
    _reference("resolved_by", "people", nullable=True),
    Column("resolved_at", Moment),
)
"""What annotators say about a task that they were given, and what a requester answers."""

decisions = Table(
    "decisions",
    metadata,
    _id(),
    _reference("project_id", "projects", index=True),
    _reference("person_id", "people"),
    Column("decision", Text, nullable=False),
    Column("paid", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("paused", _DATA, nullable=False),
    _reference("decided_by", "people", nullable=True),
    Column("decided_at", Moment, nullable=False),
    _reference("reversed_by", "people", nullable=True),
    Column("reversed_at", Moment),
)
"""That work of a person is not to count; ``paused`` are the roles that were active before."""

decided_answers = Table(
    "decided_answers",
    metadata,
    _reference("decision_id", "decisions", primary_key=True),
    _reference("answer_id", "answers", primary_key=True),
    Column("set_aside_by", _KEY),
    Column("restored_by", _KEY),
)
"""The answers of a decision, and the events by which each was set aside and restored; 0 where nothing was to do."""

adjudications = Table(
    "adjudications",
    metadata,
    _reference("pair_id", "pairs", primary_key=True, autoincrement=False),
    _reference("project_id", "projects", index=True),
    Column("label", Text, nullable=False),
    Column("note", Text),
    _reference("decided_by", "people", nullable=True),
    Column("decided_at", Moment, nullable=False),
)
"""What a requester decided where votes gave no gold label."""

events = Table(
    "events",
    metadata,
    _id(),
    _reference("project_id", "projects", nullable=True),
    _reference("person_id", "people", nullable=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("data", _DATA, nullable=False),
    Column("at", Moment, nullable=False),
)
Index("ix_events_project", events.c.project_id, events.c.id)

ledger = Table(
    "ledger",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    _reference("person_id", "people"),
    _reference("event_id", "events"),
    _reference("answer_id", "answers", nullable=True, index=True),
    Column("kind", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("key", Text, nullable=False),
    _reference("reverses", "ledger", nullable=True, unique=True),
    Column("at", Moment, nullable=False),
    Column("message", _DATA),
    UniqueConstraint("project_id", "key"),
)
"""``amount`` is in ten-thousandths of the project's currency; ``message`` is a reason of our own by its name."""
Index("ix_ledger_person", ledger.c.project_id, ledger.c.person_id)

jobs = Table(
    "jobs",
    metadata,
    _id(),
    _reference("project_id", "projects"),
    Column("kind", Text, nullable=False),
    Column("options", _DATA, nullable=False),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("share", Float, nullable=False),
    _reference("asked_by", "people", nullable=True),
    Column("asked_at", Moment, nullable=False),
    Column("worker", Text),
    Column("lease_until", Moment),
    Column("finished_at", Moment),
    Column("problem", _DATA),
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
    _reference("job_id", "jobs", primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""What a job made, in pieces."""

measurements = Table(
    "measurements",
    metadata,
    _reference("project_id", "projects", primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("figures", Text, nullable=False),
    Column("marks", LargeBinary, nullable=False),
)
"""What was measured of a project last: its figures as JSON, and as Parquet which pair is counted in which of them."""
