"""The tables of people: accounts, roles in projects, invitations, consent, letters, decisions about their work."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Integer, Table, Text, UniqueConstraint

from goldlabel.collect.schema.columns import DATA, KEY, Moment, id_column, metadata, reference

people = Table(
    "people",
    metadata,
    id_column(),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    reference("person_id", "people", primary_key=True),
    Column("login", Text, nullable=False, unique=True),
    Column("password_hash", Text, nullable=False),
    Column("requester", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),
    reference("person_id", "people", index=True),
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
    reference("person_id", "people", primary_key=True),
    Column("contact", Text, nullable=False),
    Column("changed_at", Moment, nullable=False),
)
"""How people can be reached and paid; nothing but the pages of accounts and pay reads it."""

passes = Table(
    "passes",
    metadata,
    Column("token_hash", Text, primary_key=True),
    reference("person_id", "people", index=True),
    Column("purpose", Text, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

second_factors = Table(
    "second_factors",
    metadata,
    reference("person_id", "people", primary_key=True),
    Column("secret", Text, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("used", DATA, nullable=False),
)
"""``last_step`` is the half minute of the last code, ``used`` the recovery codes that are gone."""

tokens = Table(
    "tokens",
    metadata,
    id_column(),
    reference("person_id", "people", index=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("scopes", DATA, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("used_at", Moment),
    Column("withdrawn_at", Moment),
)
"""What a person's programs show in place of a session."""

repeats = Table(
    "repeats",
    metadata,
    reference("person_id", "people", primary_key=True),
    Column("key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("answer", DATA, nullable=False),
    Column("created_at", Moment, nullable=False),
)
"""What a program's request under a key of its own making was answered, so that it is done once."""

members = Table(
    "members",
    metadata,
    reference("project_id", "projects", primary_key=True),
    reference("person_id", "people", primary_key=True, index=True),
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
    reference("project_id", "projects", primary_key=True),
    reference("person_id", "people", primary_key=True, index=True),
    Column("pseudonym", Text, nullable=False),
    UniqueConstraint("project_id", "pseudonym"),
)
"""What people are called in a project. The column of that name in ``people`` is of older revisions: nobody sees it."""

invites = Table(
    "invites",
    metadata,
    id_column(),
    Column("token_hash", Text, nullable=False, unique=True),
    reference("project_id", "projects", nullable=True, index=True),
    Column("role", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("uses", Integer, nullable=False),
    reference("created_by", "people", nullable=True),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
)

invite_uses = Table(
    "invite_uses",
    metadata,
    reference("invite_id", "invites", primary_key=True),
    reference("person_id", "people", primary_key=True),
    Column("used_at", Moment, nullable=False),
)

markets = Table(
    "markets",
    metadata,
    reference("invite_id", "invites", primary_key=True),
    Column("provider", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("quota", Integer, nullable=False),
)
"""Invitations for people of a marketplace, and how many answers are asked of one visit."""

outsiders = Table(
    "outsiders",
    metadata,
    reference("person_id", "people", primary_key=True),
    reference("project_id", "projects"),
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
    id_column(),
    reference("invite_id", "invites"),
    reference("project_id", "projects"),
    reference("person_id", "people"),
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

consent_texts = Table(
    "consent_texts",
    metadata,
    reference("project_id", "projects", primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    reference("created_by", "people", nullable=True),
    Column("created_at", Moment, nullable=False),
)

consents = Table(
    "consents",
    metadata,
    reference("project_id", "projects", primary_key=True),
    reference("person_id", "people", primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("agreed_at", Moment, nullable=False),
)

training_answers = Table(
    "training_answers",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    reference("person_id", "people"),
    Column("attempt", Integer, nullable=False),
    Column("example", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("correct", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("project_id", "person_id", "attempt", "example"),
)

letters = Table(
    "letters",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    reference("sender_id", "people"),
    reference("recipient_id", "people", nullable=True),
    reference("answers", "letters", nullable=True),
    Column("text", Text, nullable=False),
    Column("sent_at", Moment, nullable=False),
)
"""A letter without a recipient is to all, or, where it answers another or itself, to the requesters."""

letter_reads = Table(
    "letter_reads",
    metadata,
    reference("letter_id", "letters", primary_key=True),
    reference("person_id", "people", primary_key=True),
    Column("read_at", Moment, nullable=False),
)

decisions = Table(
    "decisions",
    metadata,
    id_column(),
    reference("project_id", "projects", index=True),
    reference("person_id", "people"),
    Column("decision", Text, nullable=False),
    Column("paid", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("paused", DATA, nullable=False),
    reference("decided_by", "people", nullable=True),
    Column("decided_at", Moment, nullable=False),
    reference("reversed_by", "people", nullable=True),
    Column("reversed_at", Moment),
)
"""That work of a person is not to count; ``paused`` are the roles that were active before."""

decided_answers = Table(
    "decided_answers",
    metadata,
    reference("decision_id", "decisions", primary_key=True),
    reference("answer_id", "answers", primary_key=True),
    Column("set_aside_by", KEY),
    Column("restored_by", KEY),
)
"""The answers of a decision, and the events by which each was set aside and restored; 0 where nothing was to do."""
