"""Proposals: hypotheses that somebody or something else wrote, with which a writer of an assisted arm begins.

They are made before they are needed, one for each context and label, and each tells its source. What became of one is
kept with the pair: the text that was shown, and how far the writer's is from it (Levenshtein, in characters).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.projects import Project
from goldlabel.collect.schema import events, premises, proposals
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text
from goldlabel.registry import import_extra

PERSON, PROPOSED, EDITED = "person", "proposal", "person, from a proposal"
"""Where a text comes from."""
ADDED = "proposals.added"


@dataclass(frozen=True)
class Place:
    """A context and a label for which there is no proposal yet."""

    premise_id: int
    premise: str
    label: str


@dataclass(frozen=True)
class Proposal:
    """What a writer may begin with."""

    id: int
    text: str
    source: str


def empty_places(tx: Transaction, found: Project) -> list[Place]:
    """Return the contexts and labels of a project for which there is no proposal yet; none without an assisted arm."""
    if not any(one.assisted for one in found.protocol.conditions):
        return []
    taken = {
        (row.premise_id, row.label)
        for row in tx.all(select(proposals.c.premise_id, proposals.c.label).where(proposals.c.project_id == found.id))
    }
    pool = (premises.c.project_id == found.id, premises.c.number.is_not(None), premises.c.hidden.is_(None))
    rows = tx.all(select(premises.c.id, premises.c.text).where(*pool).order_by(premises.c.number))
    return [
        Place(row.id, row.text, label)
        for row in rows
        for label in found.protocol.ordered_labels
        if (row.id, label) not in taken
    ]


def add_proposals(
    tx: Transaction,
    project_id: int,
    places: Sequence[Place],
    texts: Sequence[str],
    source: str,
    *,
    cost: float = 0.0,
    by: int | None,
) -> int:
    """Keep a proposal for each place where there is none; an empty text is none. Return how many were kept.

    ``cost`` is what the source was paid for them, by its own prices; it is written down and is not the project's money.
    """
    added = 0
    for place, text in zip(places, map(clean_text, texts), strict=True):
        if text:
            values = {"premise_id": place.premise_id, "label": place.label, "text": text, "source": source}
            added += tx.insert_new(proposals, project_id=project_id, created_at=tx.now, **values)
    data = {"n": added, "by": source} | ({"cost": cost} if cost else {})
    record(tx, ADDED, project_id=project_id, person_id=by, subject=f"project {project_id}", data=data)
    return added


def cost_before(tx: Transaction, project_id: int, source: str) -> float:
    """Return what a source was paid for the proposals of a project, by its own prices."""
    told = tx.all(select(events.c.data).where(events.c.project_id == project_id, events.c.kind == ADDED))
    return float(sum(row.data.get("cost", 0.0) for row in told if row.data["by"] == source))


def proposal_for(tx: Transaction, premise_id: int, label: str) -> Proposal | None:
    """Return what a writer about a context may begin with."""
    row = tx.row(proposals, premise_id=premise_id, label=label)
    return None if row is None else Proposal(row.id, row.text, row.source)


def told_of(tx: Transaction, proposal_id: int | None, text: str) -> dict[str, Any]:
    """Return what a pair tells of where its text comes from, and of the proposal that its writer began with."""
    row = None if proposal_id is None else tx.row(proposals, id=proposal_id)
    if row is None:
        return {"text_from": PERSON}
    distance = int(import_extra("rapidfuzz.distance", "collect").Levenshtein.distance(row.text, text))
    shown = {"text": row.text, "source": row.source, "distance": distance}
    shown["similarity"] = round(1 - distance / max(len(row.text), len(text)), 4)
    return {"text_from": EDITED if distance else PROPOSED, "proposal": shown}
