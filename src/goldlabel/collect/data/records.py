"""Records: a project's pairs with their votes, block by block, so that no more than a block is held at a time.

A pair is *verified* when it has every vote that was asked for, and so a verdict. Only then do the verifiers' answers
stand in ``votes``; before, they wait under ``pending_votes`` in ``meta``, so that nobody takes two answers of four for
a verdict. Of a written pair the author's label is the first vote; of a pair that came from elsewhere all votes are the
verifiers', and ``label`` is the one it came with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlalchemy import ColumnElement, Row, Select, and_, select

from goldlabel.collect.data.fixed_splits import fixed_split
from goldlabel.collect.data.hiding import DELETED
from goldlabel.collect.data.importing.votes import imported_annotators
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.projects import Project
from goldlabel.collect.protocols import ONLY
from goldlabel.collect.rounds.round_splits import round_name
from goldlabel.collect.schema import answers, assignments, model_votes, pairs, premises, rounds, subsets
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.adjudication import adjudications_of
from goldlabel.collect.work.tagging import Tagging, taggings_of, union_of_tags
from goldlabel.pairs.arrow import SCHEMA
from goldlabel.pairs.record import COLUMNS
from goldlabel.pairs.rows import to_json

BLOCK = 2_000
"""How many pairs are held at a time, with what they refer to."""


@dataclass(frozen=True)
class Block:
    """Some pairs in the order of their ids.

    ``tables`` are their records by where they come from; ``verdicts`` are of the project's own pairs, and say beside id
    and label whether a requester decided it.
    """

    tables: Mapping[str, pa.Table]
    verdicts: Sequence[tuple[str, str, bool]]


def record_blocks(tx: Transaction, found: Project, *, hidden: bool) -> Iterator[Block]:
    """Yield a project's counted pairs, also hidden ones if so wished; deleted ones never."""
    query = select(pairs).where(pairs.c.project_id == found.id, pairs.c.state == "counted").order_by(pairs.c.id)
    query = query.where(pairs.c.hidden.is_distinct_from(DELETED) if hidden else pairs.c.hidden.is_(None))
    project = _Project.of(tx, found)
    for rows in tx.blocks(query, BLOCK):
        around = _Around.of(tx, project, rows[0].id, rows[-1].id)
        records: dict[str, list[dict[str, Any]]] = defaultdict(list)
        verdicts = []
        for row in rows:
            origin = project.subsets[row.subset_id].origin
            records[origin].append(_record(row, around))
            if origin == found.kind.own and row.verdict is not None:
                decided = around.adjudications.get(row.id)
                verdicts.append((str(row.id), decided.label if decided else row.verdict, decided is not None))
        yield Block({origin: _table(part) for origin, part in records.items()}, verdicts)


def _table(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    # Arrow takes lists of lists at once where Polars would take them one by one.
    return pa.table({column: [record.get(column) for record in records] for column in COLUMNS}, schema=SCHEMA)


@dataclass(frozen=True)
class _Project:
    """What all pairs of a project refer to: its people, subsets and rounds, of which there are few."""

    found: Project
    names: Mapping[int, str]
    subsets: Mapping[int, Row[Any]]
    outside: set[int]
    rounds: Mapping[int, Row[Any]]

    @classmethod
    def of(cls, tx: Transaction, found: Project) -> _Project:
        return cls(
            found=found,
            names=pseudonyms_of(tx, found.id),
            subsets=_by_id(tx, select(subsets).where(subsets.c.project_id == found.id)),
            outside=imported_annotators(tx, found.id),
            rounds=_by_id(
                tx,
                select(rounds.c.id, rounds.c.number).where(rounds.c.project_id == found.id).order_by(rounds.c.number),
            ),
        )


@dataclass(frozen=True)
class _Around:
    """What the pairs of a block refer to, read once each: a premise has up to nine pairs."""

    project: _Project
    premises: Mapping[int, Row[Any]]
    written: Mapping[int, Row[Any]]
    votes: Mapping[int, Sequence[Row[Any]]]
    adjudications: Mapping[int, Row[Any]]
    taggings: Mapping[int, Sequence[Tagging]]
    models: Mapping[int, Sequence[Row[Any]]]

    @classmethod
    def of(cls, tx: Transaction, project: _Project, first: int, last: int) -> _Around:
        project_id = project.found.id
        within = and_(pairs.c.project_id == project_id, pairs.c.id.between(first, last))
        used = select(pairs.c.premise_id).where(within)
        written = select(answers.c.id, answers.c.seconds, answers.c.timings, answers.c.responses).where(
            answers.c.id.in_(select(pairs.c.answer_id).where(within))
        )
        return cls(
            project=project,
            premises=_by_id(tx, select(premises).where(premises.c.id.in_(used))),
            written=_by_id(tx, written),
            votes=_votes(tx, project_id, answers.c.pair_id.between(first, last)),
            adjudications=adjudications_of(tx, project_id, (first, last)),
            taggings=taggings_of(tx, project_id, (first, last)),
            models=_model_votes(tx, project_id, model_votes.c.pair_id.between(first, last)),
        )


def _by_id(tx: Transaction, query: Select[Any]) -> dict[int, Row[Any]]:
    return {row.id: row for row in tx.all(query)}


def _votes(tx: Transaction, project_id: int, chosen: ColumnElement[bool]) -> Mapping[int, Sequence[Row[Any]]]:
    """Return the counted votes of each pair in the order they came."""
    cast: dict[int, list[Row[Any]]] = defaultdict(list)
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
        .where(answers.c.project_id == project_id, answers.c.kind == "verify", answers.c.state == "counted", chosen)
        .order_by(answers.c.id)
    )
    for row in tx.all(query):
        cast[row.pair_id].append(row)
    return cast


def _model_votes(tx: Transaction, project_id: int, chosen: ColumnElement[bool]) -> Mapping[int, Sequence[Row[Any]]]:
    cast: dict[int, list[Row[Any]]] = defaultdict(list)
    query = select(model_votes).where(model_votes.c.project_id == project_id, chosen).order_by(model_votes.c.id)
    for row in tx.all(query):
        cast[row.pair_id].append(row)
    return cast


def _counted_models(row: Row[Any], around: _Around) -> Sequence[Row[Any]]:
    """Return the votes of models that count towards a pair's verdict; they stand after those of people."""
    return around.models.get(row.id, ()) if around.project.found.protocol.verifying.models else ()


def _record(row: Row[Any], around: _Around) -> dict[str, Any]:
    project, premise = around.project, around.premises[row.premise_id]
    found = project.found
    writer = project.names.get(row.writer_id)
    votes = around.votes.get(row.id, ())
    complete = row.verdict is not None
    cast = [vote.label for vote in (*votes, *_counted_models(row, around))] if complete else []
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
        "round": round_name(project.rounds[row.round_id].number) if row.round_id is not None else None,
        "writer": writer,
        "condition": project.subsets[row.subset_id].condition or None,
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
    votes, writer = around.votes.get(row.id, ()), around.project.names.get(row.writer_id)
    at = row.created_at.isoformat()
    beside: dict[str, Any] = {}
    if complete:
        beside = {
            "annotators": [*([writer] if writer else []), *(around.project.names[vote.person_id] for vote in votes)],
            "seconds": [*([None] if writer else []), *(vote.seconds for vote in votes)],
            "times": [*([at] if writer else []), *(vote.created_at.isoformat() for vote in votes)],
        }
        for one in _counted_models(row, around):
            beside["annotators"].append(f"model {one.model}")
            beside["seconds"].append(None)
            beside["times"].append(one.created_at.isoformat())
        if row.suggestion is not None:
            shown = [vote.suggestion is not None for vote in votes] + [False] * len(_counted_models(row, around))
            beside["suggestion_shown"] = [False, *shown] if writer else shown
        imported = [vote.person_id in around.project.outside for vote in votes]
        imported += [False] * len(_counted_models(row, around))
        beside |= {"imported": [*([False] if writer else []), *imported]} if any(imported) else {}
    said = [*([written.responses if written else None] if writer else []), *(vote.responses for vote in votes)]
    if not complete:
        said = said[:1] if writer else []
    models = [{"model": one.model, "label": one.label, "scores": one.scores} for one in around.models.get(row.id, ())]
    return beside | {
        "model_votes": models or None,
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
