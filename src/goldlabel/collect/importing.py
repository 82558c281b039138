"""Importing: uploads become premises, and the record of ``goldlabel.pairs`` becomes pairs of a project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from sqlalchemy import select

from goldlabel.collect.premises import Premise
from goldlabel.collect.projects import NewPair, add_premises
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.schema import projects
from goldlabel.collect.snapshot import pool_texts
from goldlabel.collect.store import Transaction
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NO_GOLD


def add_new_premises(tx: Transaction, project_id: int, new: Iterable[Premise], *, by: int | None) -> int:
    """Add the premises that the pool does not have, also where the same upload is sent twice at once."""
    tx.one(select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))
    known = pool_texts(tx, project_id)
    return add_premises(tx, project_id, [one for one in new if one.text not in known], by=by)


def new_pairs(pairs: Pairs, protocol: Protocol, origin: str) -> Iterator[NewPair]:
    """Yield pairs as a project takes them in; their votes are kept beside.

    A judged pair's label of another kind is not an answer in the project; it is kept beside, too.
    """
    alike = pairs.card.label_space.labels == protocol.label_space.labels or origin != "imported"
    for block in pairs.blocks():
        for row in block.iter_rows(named=True):
            meta = json.loads(row["meta"] or "{}") | ({} if alike else {"label": row["label"]})
            yield NewPair(
                premise=row["premise"],
                hypothesis=row["hypothesis"],
                label=row["label"] if alike else NO_GOLD,
                genre=row["genre"],
                level=row["level"],
                original_id=row["id"],
                meta=meta | ({"votes": row["votes"]} if row["votes"] else {}),
            )
