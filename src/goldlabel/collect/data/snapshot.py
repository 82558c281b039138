"""A snapshot: a project's pairs with their votes, as one transaction sees them, in the record of ``goldlabel.pairs``.

A pair is *verified* when it has every vote that was asked for, and so a verdict. Only then do the verifiers' answers
stand in ``votes``; before, they wait under ``pending_votes`` in ``meta``, so that nobody takes two answers of four for
a verdict. Of a written pair the author's label is the first vote; of a pair that came from elsewhere all votes are the
verifiers', and ``label`` is the one it came with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl
import pyarrow as pa
from sqlalchemy import Row, Select, select

from goldlabel.collect.data.fixed_splits import fixed_split
from goldlabel.collect.data.hiding import DELETED
from goldlabel.collect.data.importing.votes import imported_annotators
from goldlabel.collect.people.pseudonyms import known_as, pseudonyms_of
from goldlabel.collect.projects import Project, project
from goldlabel.collect.protocols import ONLY
from goldlabel.collect.rounds.round_splits import HeldOut, round_name
from goldlabel.collect.schema import answers, assignments, members, pairs, premises, pseudonyms, rounds, subsets
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.adjudication import adjudications_of
from goldlabel.collect.work.tagging import Tagging, taggings_of, union_of_tags
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.record import COLUMNS, SCHEMA
from goldlabel.pairs.rows import to_json


@dataclass(frozen=True)
class Snapshot:
    """A project at one moment: its own pairs, written or imported, and the foreign ones mixed in.

    ``verdicts`` tell what was decided of own pairs (``id``, ``verdict``), by votes or, where these gave no label, by a
    requester (``adjudicated`` of them). ``exclusive`` are the pseudonyms of writers whose pairs are for test alone,
    ``held_out`` what rounds that are closed hold out, by their names.
    """

    project: Project
    at: datetime
    own: Pairs
    foreign: Pairs
    verdicts: pl.DataFrame
    exclusive: tuple[str, ...]
    adjudicated: int = 0
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)


def take_snapshot(tx: Transaction, project_id: int, *, hidden: bool = False) -> Snapshot:
    """Read a project's pairs and counted votes, also hidden pairs if so wished; deleted ones never."""
    found = project(tx, project_id)
    around = _Around.of(tx, project_id)
    query = select(pairs).where(pairs.c.project_id == project_id, pairs.c.state == "counted").order_by(pairs.c.id)
    query = query.where(pairs.c.hidden.is_distinct_from(DELETED) if hidden else pairs.c.hidden.is_(None))
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    verdicts = []
    for row in tx.all(query):
        origin = around.subsets[row.subset_id].origin
        rows[origin].append(_record(row, found, around))
        if origin == found.kind.own and row.verdict is not None:
            decided = around.adjudications.get(row.id)
            verdicts.append((str(row.id), decided.label if decided else row.verdict))
    return Snapshot(
        project=found,
        at=tx.now,
        own=_pairs(
            [*rows[found.kind.own], *rows["tried"]], found, found.name, "first" if found.kind.writes else "none"
        ),
        foreign=_pairs(rows["foreign"], found, f"{found.name}, foreign pairs", "none"),
        verdicts=pl.DataFrame(verdicts, schema={"id": pl.String, "verdict": pl.String}, orient="row"),
        exclusive=_exclusive(tx, project_id),
        adjudicated=len(around.adjudications),
        held_out={
            round_name(row.number): HeldOut(**row.held_out)
            for row in around.rounds.values()
            if row.held_out is not None
        },
    )


def verified(chosen: Pairs) -> Pairs:
    """Keep the pairs that have every vote that was asked for."""
    least = 2 if chosen.frame.select(pl.col("writer").is_not_null().any()).collect().item() else 1
    return Pairs(chosen.frame.filter(pl.col("votes").list.len() >= least), chosen.card)


@dataclass(frozen=True)
class _Around:
    """What pairs refer to, read once each: a premise has up to nine pairs, and a writer thousands."""

    names: Mapping[int, str]
    premises: Mapping[int, Row[Any]]
    subsets: Mapping[int, Row[Any]]
    written: Mapping[int, Row[Any]]
    votes: Mapping[int, Sequence[Row[Any]]]
    adjudications: Mapping[int, Row[Any]]
    taggings: Mapping[int, Sequence[Tagging]]
    outside: set[int]
    rounds: Mapping[int, Row[Any]]

    @classmethod
    def of(cls, tx: Transaction, project_id: int) -> _Around:
        written = select(answers.c.id, answers.c.seconds, answers.c.timings, answers.c.responses).where(
            answers.c.project_id == project_id, answers.c.kind == "write"
        )
        return cls(
            names=pseudonyms_of(tx, project_id),
            premises=_by_id(tx, select(premises).where(premises.c.project_id == project_id)),
            subsets=_by_id(tx, select(subsets).where(subsets.c.project_id == project_id)),
            written=_by_id(tx, written),
            votes=_votes(tx, project_id),
            adjudications=adjudications_of(tx, project_id),
            taggings=taggings_of(tx, project_id),
            outside=imported_annotators(tx, project_id),
            rounds=_by_id(tx, select(rounds).where(rounds.c.project_id == project_id).order_by(rounds.c.number)),
        )


def _by_id(tx: Transaction, query: Select[Any]) -> dict[int, Row[Any]]:
    return {row.id: row for row in tx.all(query)}


def _votes(tx: Transaction, project_id: int) -> Mapping[int, Sequence[Row[Any]]]:
    """Return the counted votes of each pair in the order they came."""
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    query = (
        select(
            answers.c.pair_id,
            answers.c.label,
            answers.c.seconds,
            answers.c.created_at,
            answers.c.person_id,
            answers.c.responses,
            assignments.c.suggestion,
        )
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .where(answers.c.project_id == project_id, answers.c.kind == "verify", answers.c.state == "counted")
        .order_by(answers.c.id)
    )
    for row in tx.all(query):
        found[row.pair_id].append(row)
    return found


def _exclusive(tx: Transaction, project_id: int) -> tuple[str, ...]:
    query = (
        select(pseudonyms.c.pseudonym)
        .join(members, known_as(members.c.project_id, members.c.person_id))
        .where(members.c.project_id == project_id, members.c.role == "writer", members.c.exclusive)
        .order_by(pseudonyms.c.pseudonym)
    )
    return tuple(row.pseudonym for row in tx.all(query))


def _record(row: Row[Any], found: Project, around: _Around) -> dict[str, Any]:
    premise = around.premises[row.premise_id]
    writer = around.names.get(row.writer_id)
    votes = around.votes.get(row.id, ())
    complete = row.verdict is not None
    cast = [vote.label for vote in votes] if complete else []
    return {
        "id": str(row.id),
        "premise": premise.text,
        "hypothesis": row.hypothesis,
        "label": row.label,
        "votes": [row.label, *cast] if writer else cast,
        "split": _fixed_split(premise, found) or "none",
        "dataset": found.name,
        "language": found.protocol.language,
        "genre": premise.genre or None,
        "level": None if row.level == ONLY else row.level,
        "round": round_name(around.rounds[row.round_id].number) if row.round_id is not None else None,
        "writer": writer,
        "condition": around.subsets[row.subset_id].condition or None,
        "tags": union_of_tags(around.taggings.get(row.id, ())),
        "group": f"premise-{row.premise_id}",
        "meta": to_json({name: value for name, value in _meta(row, around, complete).items() if value is not None}),
    }


def _fixed_split(premise: Row[Any], found: Project) -> str | None:
    """Return where a requester wants the pairs of a premise; rounds hold out whole contexts of their own."""
    rules = found.protocol.splits
    return None if found.kind.has_rounds else fixed_split(rules.genres, premise.split, premise.genre)


def _meta(row: Row[Any], around: _Around, complete: bool) -> dict[str, Any]:
    """Return what the record has no column for; the lists stand beside the votes."""
    premise, written = around.premises[row.premise_id], around.written.get(row.answer_id)
    votes, writer = around.votes.get(row.id, ()), around.names.get(row.writer_id)
    at = row.created_at.isoformat()
    beside: dict[str, Any] = {}
    if complete:
        beside = {
            "annotators": [*([writer] if writer else []), *(around.names[vote.person_id] for vote in votes)],
            "seconds": [*([None] if writer else []), *(vote.seconds for vote in votes)],
            "times": [*([at] if writer else []), *(vote.created_at.isoformat() for vote in votes)],
        }
        if row.suggestion is not None:
            shown = [vote.suggestion is not None for vote in votes]
            beside["suggestion_shown"] = [False, *shown] if writer else shown
        imported = [vote.person_id in around.outside for vote in votes]
        beside |= {"imported": [*([False] if writer else []), *imported]} if any(imported) else {}
    said = [*([written.responses if written else None] if writer else []), *(vote.responses for vote in votes)]
    if not complete:
        said = said[:1] if writer else []
    return beside | {
        "questions": said if any(said) else None,
        "pending_votes": [vote.label for vote in votes] if votes and not complete else None,
        "verified": complete if row.round_id is not None else None,
        "author_label": row.label if writer else None,
        "written_at": at if writer else None,
        "writing_seconds": written.seconds if written else None,
        "timings": written.timings if written else None,
        "source": premise.source,
        "original_id": row.original_id,
        "expert_tags": [one.to_dict() for one in around.taggings.get(row.id, ())] or None,
        "premise_original_id": premise.original_id,
        "premise_meta": premise.meta,
        "pair_meta": row.meta,
        "suggestion": row.suggestion,
        "suggested_by": row.suggested_by,
        "hidden": True if row.hidden else None,
        "adjudication": _adjudication(around.adjudications.get(row.id)),
    }


def _adjudication(row: Row[Any] | None) -> dict[str, Any] | None:
    """Return what a requester decided of a pair without a majority, by whom and why; it is not among the votes."""
    if row is None:
        return None
    return {"label": row.label, "by": row.pseudonym, "at": row.decided_at.isoformat(), "note": row.note}


def _pairs(rows: Sequence[Mapping[str, Any]], found: Project, name: str, author: str) -> Pairs:
    # Arrow takes lists of lists at once where Polars would take them one by one.
    table = pa.table({column: [row.get(column) for row in rows] for column in COLUMNS}, schema=SCHEMA)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    protocol = found.protocol
    card = Card(name=name, label_space=protocol.label_space, languages=(protocol.language,), author=author)
    return Pairs(frame.lazy(), card)
