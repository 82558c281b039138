"""The tables of a leaderboard: who submitted what, how it scored, and everything that happened.

``trail`` is append-only: triggers refuse to change or delete its rows.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from goldlabel.collect.schema import Moment
from goldlabel.collect.schema import metadata as collection
from goldlabel.collect.schema import rate_buckets as buckets_of_collection

metadata = MetaData(naming_convention=collection.naming_convention)

_KEY = BigInteger().with_variant(Integer, "sqlite")

rate_buckets = buckets_of_collection.to_metadata(metadata)
"""The same table as a collection has, for the same functions (``collect.limits``)."""

submitters = Table(
    "submitters",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("submitter_id", _KEY, ForeignKey("submitters.id"), nullable=False, index=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("withdrawn_at", Moment),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("submitter_id", _KEY, ForeignKey("submitters.id"), nullable=False),
    Column("digest", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("about", JSON, nullable=False),
    Column("suite", Text),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("worker", Text),
    Column("lease_until", Moment),
    Column("problem", Text),
    Column("received_at", Moment, nullable=False),
    Column("finished_at", Moment),
    Column("withdrawn_at", Moment),
    UniqueConstraint("submitter_id", "digest"),
)
"""What somebody sent once, whoever asks how often: ``digest`` is the hash of all of it.

``suite`` is nothing where a leaderboard had one only when it was sent.
"""
Index("ix_submissions_submitter", submissions.c.submitter_id, submissions.c.received_at)
Index("ix_submissions_state", submissions.c.state, submissions.c.id)

uploads = Table(
    "uploads",
    metadata,
    Column("submission_id", _KEY, ForeignKey("submissions.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""The file of a submission that is not scored yet, in pieces."""

scores = Table(
    "scores",
    metadata,
    Column("submission_id", _KEY, ForeignKey("submissions.id"), primary_key=True, autoincrement=False),
    Column("figures", JSON, nullable=False),
    Column("card", JSON, nullable=False),
    Column("hits", LargeBinary, nullable=False),
)
"""A submission's figures, what it says of its model, and a bit for each pair of all sets, in their order."""

standings = Table(
    "standings",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("suite", Text, nullable=False),
    Column("entries", Text, nullable=False),
    Column("document", JSON, nullable=False),
    Column("at", Moment, nullable=False),
    UniqueConstraint("suite", "entries"),
)
"""Who stands where in a suite; ``entries`` are the submissions that were held against each other."""

trail = Table(
    "trail",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("submitter_id", _KEY, ForeignKey("submitters.id")),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("data", JSON, nullable=False),
    Column("at", Moment, nullable=False),
)
Index("ix_trail_submitter", trail.c.submitter_id, trail.c.id)
