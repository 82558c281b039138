"""What is decided about a pair is kept with it; and a writer may try several times within one assignment.

Until now a pair's verdict was worked out from its votes whenever somebody asked. Those that are reached are filled in
here by the rule that held: the answer of more than half of the author, where there is one, and the verifiers.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

from collections import Counter, defaultdict

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ABSTENTIONS = ("unrelated", "incomprehensible", "unknown")
REACHED = """
SELECT pairs.id, pairs.label, pairs.writer_id, answers.label AS vote
FROM pairs
JOIN answers ON answers.pair_id = pairs.id AND answers.kind = 'verify' AND answers.state = 'counted'
WHERE NOT EXISTS (
    SELECT 1 FROM tasks WHERE tasks.pair_id = pairs.id AND tasks.kind = 'verify' AND tasks.state <> 'answered'
)
"""


def upgrade() -> None:
    """Add the column and the table, and fill in the verdicts that are reached."""
    op.add_column("pairs", sa.Column("verdict", sa.Text(), nullable=True))
    op.create_table(
        "tries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("scores", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name="fk_tries_assignment_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tries"),
        sa.UniqueConstraint("assignment_id", "number", name="uq_tries_assignment_id_number"),
        sa.UniqueConstraint("assignment_id", "key", name="uq_tries_assignment_id_key"),
    )
    connection = op.get_bind()
    cast: dict[int, list[str]] = defaultdict(list)
    authors: dict[int, str] = {}
    for row in connection.execute(sa.text(REACHED)):
        cast[row.id].append(row.vote)
        if row.writer_id is not None:
            authors[row.id] = row.label
    verdicts = []
    for pair_id, votes in cast.items():
        voices = [*votes, *([authors[pair_id]] if pair_id in authors else [])]
        answer, count = Counter(voices).most_common(1)[0]
        decided = 2 * count > len(voices) and answer not in ABSTENTIONS
        verdicts.append({"pair_id": pair_id, "verdict": answer if decided else "-"})
    if verdicts:
        connection.execute(sa.text("UPDATE pairs SET verdict = :verdict WHERE id = :pair_id"), verdicts)
