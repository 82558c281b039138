"""The table of money."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text, UniqueConstraint

from goldlabel.collect.schema.columns import DATA, Moment, id_column, metadata, reference

ledger = Table(
    "ledger",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    reference("person_id", "people"),
    reference("event_id", "events"),
    reference("answer_id", "answers", nullable=True, index=True),
    Column("kind", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("key", Text, nullable=False),
    reference("reverses", "ledger", nullable=True, unique=True),
    Column("at", Moment, nullable=False),
    Column("message", DATA),
    UniqueConstraint("project_id", "key"),
)
"""``amount`` is in ten-thousandths of the project's currency; ``message`` is a reason of our own by its name."""
Index("ix_ledger_person", ledger.c.project_id, ledger.c.person_id)
