"""Adjudication: a requester decides a pair whose votes gave it no gold label.

It is kept apart from the votes, and counts only while these decide for nothing; agreement is measured without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select

from goldlabel.collect.data.hiding import lock_own
from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import adjudications, pairs, pseudonyms
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Word
from goldlabel.pairs.labels import NO_GOLD

LONGEST_NOTE = 1000


def adjudicate(tx: Transaction, project_id: int, pair_id: int, label: str, *, note: str = "", by: int | None) -> None:
    """Decide a pair without a gold label, otherwise than before, or not at all (``-``)."""
    row = lock_own(tx, pairs, project_id, pair_id)
    allowed = project(tx, project_id).protocol.label_space.labels
    note = clean_text(note)
    if label not in (*allowed, NO_GOLD):
        raise Invalid("label_unknown", label=Word(label), labels=words((*allowed, NO_GOLD)))
    if len(note) > LONGEST_NOTE:
        raise Invalid("text_length", n=len(note), shortest=0, longest=LONGEST_NOTE)
    if row.verdict != NO_GOLD and label != NO_GOLD:
        raise Conflict("votes_decide")
    tx.run(adjudications.delete().where(adjudications.c.pair_id == pair_id))
    if label != NO_GOLD:
        values = {"label": label, "note": note or None, "decided_by": by, "decided_at": tx.now}
        tx.run(adjudications.insert().values(pair_id=pair_id, project_id=project_id, **values))
    data = {"pair": pair_id, "label": label, "note": note}
    record(tx, "pair.adjudicated", project_id=project_id, person_id=by, subject=f"pair {pair_id}", data=data)


def adjudications_of(tx: Transaction, project_id: int, between: tuple[int, int]) -> dict[int, Row[Any]]:
    """Return the adjudications that count ``between`` two pairs: label, note, when and who (a pseudonym)."""
    query = (
        select(adjudications, pseudonyms.c.pseudonym)
        .join(pairs, pairs.c.id == adjudications.c.pair_id)
        .outerjoin(pseudonyms, known_as(adjudications.c.project_id, adjudications.c.decided_by))
        .where(adjudications.c.project_id == project_id, adjudications.c.pair_id.between(*between))
        .where(pairs.c.verdict == NO_GOLD)
    )
    return {row.pair_id: row for row in tx.all(query)}


def ties(tx: Transaction, project_id: int, *, most: int = 50) -> Sequence[int]:
    """Return the ids of pairs whose votes gave no gold label and that nobody has decided, the oldest first."""
    decided = select(adjudications.c.pair_id).where(adjudications.c.pair_id == pairs.c.id)
    query = (
        select(pairs.c.id)
        .where(pairs.c.project_id == project_id, pairs.c.verdict == NO_GOLD, pairs.c.state == "counted")
        .where(pairs.c.hidden.is_(None), ~decided.exists())
        .order_by(pairs.c.id)
        .limit(most)
    )
    return [row.id for row in tx.all(query)]
