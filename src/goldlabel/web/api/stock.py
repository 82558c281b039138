"""What people work on, by token: premises to write about, and pairs that were written elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter
from pydantic import BaseModel, Field

from goldlabel.collect.data.importing.batches import new_pairs, new_premises
from goldlabel.collect.data.importing.known import known_pairs, known_premises
from goldlabel.collect.data.importing.reports import pairs_report
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import read_premises
from goldlabel.collect.repeats import once
from goldlabel.collect.work import pool
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.web.api.bearer import Holder, Key
from goldlabel.web.security import Managed, Stored

router = APIRouter(tags=["premises and pairs"])

MOST_AT_ONCE = 2000
"""Rows of one request: they are stored together, while nobody else can store anything on SQLite."""
LONGEST_TEXT = 100_000

Name = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
FixedSplit = Literal["train", "dev", "test"]


class PremiseIn(BaseModel):
    """A sentence to write about; ``split`` is where its pairs are to be, where that is fixed."""

    text: Text
    genre: Name | None = None
    source: Name | None = None
    id: Name | None = None
    split: FixedSplit | None = None


class PremisesIn(BaseModel):
    """Sentences to write about."""

    premises: list[PremiseIn] = Field(min_length=1, max_length=MOST_AT_ONCE)


class LeftOut(BaseModel):
    """How many premises were left out for a reason."""

    reason: str
    n: int


class Added(BaseModel):
    """How many were added, and what was left out and why."""

    added: int
    left_out: list[LeftOut] = []


class PairIn(BaseModel):
    """A pair written elsewhere; ``label`` is ``-`` where it has none, ``suggestion`` what ``suggested_by`` proposes.

    ``split`` is where all pairs of its premise are to be, where that is fixed, and is for ``imported`` ones alone.
    """

    premise: Text
    hypothesis: Text
    label: Name = NO_GOLD
    genre: Name | None = None
    level: Name | None = None
    id: Name | None = None
    suggestion: Name | None = None
    suggested_by: Name | None = None
    split: FixedSplit | None = None


class PairsIn(BaseModel):
    """Pairs to be judged (``imported``), mixed in blindly (``foreign``), or with a known answer (``gold``)."""

    origin: Literal["imported", "foreign", "gold"]
    pairs: list[PairIn] = Field(min_length=1, max_length=MOST_AT_ONCE)


@router.post("/projects/{project_id}/premises", status_code=201)
def add_premises(project: Managed, sent: PremisesIn, holder: Holder, store: Stored, key: Key = None) -> Added:
    """Add sentences by the rules of the project: those it has already, or that are too short or long, are left out."""
    rows = [one.model_dump(exclude_none=True) for one in sent.premises]
    known = known_premises(project.id)
    with store.read() as tx:
        known.catch_up(tx)
    reading = read_premises(orjson.dumps(rows), "premises.json", project.protocol.premises, known=known)
    left_out = [{"reason": str(one.reason), "n": one.count} for one in reading.left_out]

    def act() -> dict[str, Any]:
        fresh = new_premises(tx, project.id, reading.premises, known)
        return {"added": pool.add_premises(tx, project.id, fresh, by=holder.person_id), "left_out": left_out}

    with store.write() as tx:
        return Added(**once(tx, holder.person_id, key, ["premises", project.id, rows], act))


@router.post("/projects/{project_id}/pairs", status_code=201)
def add_pairs(project: Managed, sent: PairsIn, holder: Holder, store: Stored, key: Key = None) -> Added:
    """Add pairs that were written elsewhere, those that are there already left out; none where one cannot be used."""
    known = known_pairs(project.id, sent.origin)
    with store.read() as tx:
        known.catch_up(tx)
    new = [
        NewPair(
            premise=one.premise,
            hypothesis=one.hypothesis,
            label=one.label,
            genre=one.genre,
            level=one.level,
            original_id=one.id,
            suggestion=one.suggestion,
            suggested_by=one.suggested_by,
            split=one.split,
        )
        for one in sent.pairs
    ]

    def act() -> dict[str, Any]:
        fresh = new_pairs(tx, project.id, new, known)
        added = import_pairs(tx, project.id, fresh, origin=sent.origin, by=holder.person_id)
        left_out = pairs_report("", sent.origin, len(new), added).left_out
        return {"added": added, "left_out": [{"reason": str(one.reason), "n": one.count} for one in left_out]}

    with store.write() as tx:
        return Added(**once(tx, holder.person_id, key, ["pairs", project.id, sent.model_dump()], act))
