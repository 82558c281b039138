"""The tables of adversarial rounds and of what was tried in them."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, Table, Text, UniqueConstraint

from goldlabel.collect.schema.columns import DATA, Moment, id_column, metadata, reference

rounds = Table(
    "rounds",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    Column("number", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("adversaries", DATA, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("pay", DATA),
    Column("opened_at", Moment, nullable=False),
    Column("closed_at", Moment),
    Column("trained", DATA),
    Column("held_out", DATA),
    UniqueConstraint("project_id", "number"),
)
"""Rounds of writing against models: ``open``, then ``closed``; ``trained`` is what was learnt from it and all before.
``pay`` are its rates. ``held_out`` are the ids of pairs that are not in train since it closed, by split, and the
pseudonyms of who wrote for test alone."""
Index(
    "uq_rounds_open",
    rounds.c.project_id,
    unique=True,
    sqlite_where=rounds.c.state == "open",
    postgresql_where=rounds.c.state == "open",
)

model_costs = Table(
    "model_costs",
    metadata,
    id_column(),
    reference("round_id", "rounds"),
    Column("model", Text, nullable=False),
    Column("cost", Double, nullable=False),
    Column("created_at", Moment, nullable=False),
)
"""What a model that is paid by use cost for answers that it was asked for together, by its own prices."""
Index(None, model_costs.c.round_id, model_costs.c.model)

proposals = Table(
    "proposals",
    metadata,
    id_column(),
    reference("project_id", "projects"),
    reference("premise_id", "premises"),
    Column("label", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("premise_id", "label"),
)
"""Hypotheses that a writer may begin with, each from a ``source``: a generator, or a dataset."""

tries = Table(
    "tries",
    metadata,
    id_column(),
    reference("assignment_id", "assignments"),
    reference("round_id", "rounds", nullable=True),
    Column("number", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("drawn", Text),
    Column("worker", Text),
    Column("lease_until", Moment),
    Column("model", Text),
    Column("scores", DATA),
    Column("problem", Text),
    Column("created_at", Moment, nullable=False),
    Column("decided_at", Moment),
    reference("pair_id", "pairs", nullable=True),
    reference("proposal_id", "proposals", nullable=True),
    UniqueConstraint("assignment_id", "number"),
    UniqueConstraint("assignment_id", "key"),
)
"""What was tried within an assignment, and what a model said to it: a probability for each label.

``drawn`` is the model that was to answer, ``model`` the one that did, ``problem`` why it was another one, or none. A
try is decided when it has ``decided_at``; until then a ``worker`` may hold it. ``pair_id`` is the pair it became,
``proposal_id`` what its writer began with."""
Index(
    "ix_tries_undecided",
    tries.c.id,
    sqlite_where=tries.c.decided_at.is_(None),
    postgresql_where=tries.c.decided_at.is_(None),
)
