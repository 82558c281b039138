"""The tables of a collection: who did what to which pair, and what they are owed.

Nothing here counts: numbers are taken from rows. Two habits make that cheap with a hundred thousand rows. Rows of
a growing set carry dense numbers (``premises.number``, ``pairs.number``, ``pairs.draw_number``), so that the size
of the set is the largest number; and every answer wanted is a row of its own in ``tasks``, so that a unique index,
not a sum, keeps a pair from being answered too often.

``events`` and ``ledger`` are append-only: triggers refuse to change or delete their rows.
"""

from goldlabel.collect.schema.columns import Moment, metadata
from goldlabel.collect.schema.data_tables import measurements, pairs, premises, subsets
from goldlabel.collect.schema.money_tables import ledger
from goldlabel.collect.schema.people_tables import (
    PROVIDER,
    accounts,
    consent_texts,
    consents,
    contacts,
    decided_answers,
    decisions,
    invite_uses,
    invites,
    letter_reads,
    letters,
    markets,
    members,
    outsiders,
    passes,
    people,
    pseudonyms,
    rate_buckets,
    repeats,
    second_factors,
    sessions,
    tokens,
    training_answers,
    visits,
)
from goldlabel.collect.schema.project_tables import collection, deliveries, events, job_files, jobs, projects, webhooks
from goldlabel.collect.schema.round_tables import model_costs, proposals, rounds, tries
from goldlabel.collect.schema.work_tables import (
    adjudications,
    answers,
    assignments,
    checks,
    drafts,
    model_votes,
    remarks,
    tagging_tags,
    taggings,
    tasks,
)

__all__ = [
    "PROVIDER",
    "Moment",
    "accounts",
    "adjudications",
    "answers",
    "assignments",
    "checks",
    "collection",
    "consent_texts",
    "consents",
    "contacts",
    "decided_answers",
    "decisions",
    "deliveries",
    "drafts",
    "events",
    "invite_uses",
    "invites",
    "job_files",
    "jobs",
    "ledger",
    "letter_reads",
    "letters",
    "markets",
    "measurements",
    "members",
    "metadata",
    "model_costs",
    "model_votes",
    "outsiders",
    "pairs",
    "passes",
    "people",
    "premises",
    "projects",
    "proposals",
    "pseudonyms",
    "rate_buckets",
    "remarks",
    "repeats",
    "rounds",
    "second_factors",
    "sessions",
    "subsets",
    "tagging_tags",
    "taggings",
    "tasks",
    "tokens",
    "training_answers",
    "tries",
    "visits",
    "webhooks",
]
