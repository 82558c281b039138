"""The tables of data: premises, pairs, and what was measured of them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, LargeBinary, Table, Text, UniqueConstraint

from goldlabel.collect.schema.columns import DATA, KEY, Moment, id_column, metadata, reference

premises = Table(
    "premises",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    Column("number", Integer),
    Column("text", Text, nullable=False),
    Column("genre", Text, nullable=False),
    Column("source", Text),
    Column("original_id", Text),
    Column("meta", DATA),
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
    id_column(),
    reference("project_id", "projects"),
    Column("origin", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("genre", Text, nullable=False),
    UniqueConstraint("project_id", "origin", "condition", "genre"),
)
"""What shares are drawn from; its row is the lock under which pairs are numbered and drawn."""

pairs = Table(
    "pairs",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    reference("subset_id", "subsets"),
    Column("number", Integer),
    Column("draw_number", Integer),
    Column("considered", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    reference("premise_id", "premises", index=True),
    Column("answer_id", KEY, ForeignKey("answers.id", name="fk_pairs_answer_id", use_alter=True), index=True),
    reference("writer_id", "people", nullable=True),
    Column("hypothesis", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("level", Text),
    Column("original_id", Text),
    Column("meta", DATA),
    Column("created_at", Moment, nullable=False),
    Column("verdict", Text),
    Column("hidden", Text),
    reference("round_id", "rounds", nullable=True),
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

measurements = Table(
    "measurements",
    metadata,
    reference("project_id", "projects", primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("figures", Text, nullable=False),
    Column("marks", LargeBinary, nullable=False),
)
"""What was measured of a project last: its figures as JSON, and as Parquet which pair is counted in which of them."""
