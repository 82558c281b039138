"""Choosing pairs: by what the database knows of them, or by what was measured, for the pages that list them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

import polars as pl
from annotated_types import Interval, MaxLen
from sqlalchemy import ColumnElement, Row, Select, func, select

from goldlabel.collect.data.browsing import PAGE, Slice, slice_rows
from goldlabel.collect.data.hiding import HIDDEN
from goldlabel.collect.data.marks import Marks
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.projects import Project
from goldlabel.collect.protocols import ONLY
from goldlabel.collect.refusals import Missing
from goldlabel.collect.schema import answers, pairs, premises, pseudonyms, subsets
from goldlabel.collect.store import LARGEST, Transaction
from goldlabel.collect.work.tagging import tagged_as

Word = Annotated[str, MaxLen(200)]
Id = Annotated[int, Interval(ge=1, le=LARGEST)]
Percent = Annotated[int, Interval(ge=0, le=100)]
_OWN = ("condition", "genre", "level", "label", "writer")
_MEASURED = ("verified", "outcome", "word", "negated", "right", "overlap")


@dataclass(frozen=True)
class PairFilter:
    """What pairs to show; an empty value asks for nothing. ``none`` as genre means that there is none."""

    condition: Word = ""
    genre: Word = ""
    level: Word = ""
    label: Word = ""
    writer: Word = ""
    origin: Word = ""
    state: Word = ""
    voted: Word = ""
    voter: Word = ""
    vote: Word = ""
    first: Id | None = None
    last: Id | None = None
    verified: Word = ""
    outcome: Word = ""
    word: Word = ""
    negated: Word = ""
    right: Word = ""
    overlap: Percent | None = None
    tag: Word = ""
    quality: Word = ""

    @property
    def given(self) -> dict[str, Any]:
        """What is asked for."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}

    @property
    def needs_measuring(self) -> bool:
        """Whether it asks for something that the database does not know."""
        return any(name in self.given for name in _MEASURED)

    def link(self, **changes: Any) -> str:
        """Return the query of an address with some values changed; an empty one is left out."""
        values = {name: value for name, value in {**self.given, **changes}.items() if value not in ("", None)}
        return f"?{urlencode(values)}"


def pair_slice(
    tx: Transaction, project: Project, chosen: PairFilter, marks: Marks | None, *, before: int | None
) -> Slice:
    """Return a page of pairs."""
    if marks is None:
        return slice_rows(tx, _rows(project.id).where(*_conditions(project, chosen)), pairs.c.id, before)
    ids = _measured_ids(tx, project, chosen, marks)
    ids = ids.filter(ids < before) if before is not None else ids
    page = ids.sort(descending=True).head(PAGE + 1).to_list()
    rows = tx.all(_rows(project.id).where(pairs.c.id.in_(page)).order_by(pairs.c.id.desc()))
    return Slice(rows[:PAGE], page[PAGE - 1] if len(page) > PAGE else None)


def count_pairs(tx: Transaction, project: Project, chosen: PairFilter, marks: Marks | None) -> int:
    """Return how many pairs are chosen."""
    if marks is not None:
        return len(_measured_ids(tx, project, chosen, marks))
    tables = pairs.join(subsets, subsets.c.id == pairs.c.subset_id)
    if chosen.genre:
        tables = tables.join(premises, premises.c.id == pairs.c.premise_id)
    if chosen.writer:
        tables = tables.join(pseudonyms, known_as(pairs.c.project_id, pairs.c.writer_id))
    wanted = (pairs.c.project_id == project.id, *_conditions(project, chosen))
    return int(tx.value(select(func.count()).select_from(tables).where(*wanted)))


def pair_rows(tx: Transaction, project_id: int, ids: Sequence[int]) -> Sequence[Row[Any]]:
    """Return pairs by their ids; a pair of another project does not exist here."""
    rows = tx.all(_rows(project_id).where(pairs.c.id.in_(ids)).order_by(pairs.c.id))
    if len(rows) != len(ids):
        raise Missing("no_pair")
    return rows


def pair_votes(tx: Transaction, ids: Sequence[int], *, every: bool = False) -> dict[int, list[Row[Any]]]:
    """Return the counted votes of each pair, or every vote, also late and undone ones."""
    query = (
        select(answers, pseudonyms.c.pseudonym)
        .join(pseudonyms, known_as(answers.c.project_id, answers.c.person_id))
        .where(answers.c.pair_id.in_(ids), answers.c.kind.in_(("verify", "gold")))
        .order_by(answers.c.id)
    )
    if not every:
        query = query.where(answers.c.state == "counted")
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in tx.all(query):
        found[row.pair_id].append(row)
    return found


def by_premise(rows: Sequence[Row[Any]]) -> list[list[Row[Any]]]:
    """Return pairs in groups of one premise, in the order in which these come; within one as they were written."""
    groups: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        groups[row.premise_id].insert(0, row)
    return list(groups.values())


def siblings(tx: Transaction, row: Row[Any]) -> Sequence[Row[Any]]:
    """Return the other pairs of the same answer."""
    if row.answer_id is None:
        return []
    query = select(pairs).where(pairs.c.answer_id == row.answer_id, pairs.c.id != row.id).order_by(pairs.c.id)
    return tx.all(query)


def pairs_by_subset(tx: Transaction, project_id: int) -> dict[tuple[str, str, str], int]:
    """Return the number of counted pairs by origin, condition and genre; hidden ones are not among them."""
    shown = (pairs.c.subset_id == subsets.c.id, pairs.c.state == "counted", pairs.c.hidden.is_(None))
    size = select(func.count()).select_from(pairs).where(*shown).scalar_subquery()
    query = select(subsets.c.origin, subsets.c.condition, subsets.c.genre, size.label("n")).where(
        subsets.c.project_id == project_id
    )
    return {(row.origin, row.condition, row.genre): row.n or 0 for row in tx.all(query)}


def _rows(project_id: int) -> Select[Any]:
    return (
        select(
            pairs,
            premises.c.text.label("premise"),
            premises.c.genre,
            premises.c.source,
            subsets.c.origin,
            subsets.c.condition,
            pseudonyms.c.pseudonym.label("writer"),
            answers.c.seconds,
        )
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .outerjoin(pseudonyms, known_as(pairs.c.project_id, pairs.c.writer_id))
        .outerjoin(answers, answers.c.id == pairs.c.answer_id)
        .where(pairs.c.project_id == project_id)
    )


def _conditions(project: Project, chosen: PairFilter) -> list[ColumnElement[bool]]:
    columns = {
        "condition": subsets.c.condition,
        "genre": premises.c.genre,
        "level": pairs.c.level,
        "label": pairs.c.label,
        "writer": pseudonyms.c.pseudonym,
    }
    given = chosen.given
    wanted = [
        column == ("" if given[name] == "none" else given[name]) for name, column in columns.items() if name in given
    ]
    wanted.append(subsets.c.origin == (chosen.origin or project.kind.own))
    if chosen.state == HIDDEN:
        wanted.append(pairs.c.hidden == HIDDEN)
    else:
        wanted += [pairs.c.state == (chosen.state or "counted"), pairs.c.hidden.is_(None)]
    wanted += [pairs.c.id >= chosen.first] if chosen.first is not None else []
    wanted += [pairs.c.id <= chosen.last] if chosen.last is not None else []
    if chosen.tag or chosen.quality:
        wanted.append(tagged_as(chosen.tag, chosen.quality))
    if chosen.voted or chosen.voter or chosen.vote:
        wanted.append(pairs.c.id.in_(_voted(project.id, chosen)))
    return wanted


def _voted(project_id: int, chosen: PairFilter) -> Select[Any]:
    query = (
        select(answers.c.pair_id)
        .join(pseudonyms, known_as(answers.c.project_id, answers.c.person_id))
        .where(answers.c.project_id == project_id, answers.c.state == "counted", answers.c.pair_id.is_not(None))
    )
    if chosen.voter:
        query = query.where(pseudonyms.c.pseudonym == chosen.voter)
    return query.where(answers.c.label == chosen.vote) if chosen.vote else query


def _measured_ids(tx: Transaction, project: Project, chosen: PairFilter, marks: Marks) -> pl.Series:
    frame, given = marks.frame, chosen.given
    empty = frame["id"].clear()
    if chosen.origin not in ("", project.kind.own) or chosen.state not in ("", "counted"):
        return empty
    wanted: list[pl.Expr | pl.Series] = []
    for name in _OWN:
        if name in given:
            value = given[name]
            wanted.append(pl.col(name).is_null() if value in ("none", ONLY) else pl.col(name) == value)
    for name in ("negated", "right", "verified"):
        if name in given:
            if name not in frame.columns:
                return empty
            wanted.append(pl.col(name) if given[name] == "yes" else ~pl.col(name))
    if chosen.outcome:
        wanted.append(marks.outcomes == chosen.outcome)
    if chosen.overlap is not None:
        if "overlap" not in frame.columns:
            return empty
        low = chosen.overlap / 100
        wanted.append(pl.col("overlap").is_between(low, low + 0.1, closed="left" if low < 0.9 else "both"))
    if chosen.word:
        if "words" not in frame.columns:
            return empty
        wanted.append(pl.col("words").list.contains(chosen.word))
    wanted += [pl.col("id") >= chosen.first] if chosen.first is not None else []
    wanted += [pl.col("id") <= chosen.last] if chosen.last is not None else []
    if chosen.voted or chosen.voter or chosen.vote:
        wanted.append(pl.col("id").is_in([row.pair_id for row in tx.all(_voted(project.id, chosen))]))
    if chosen.tag or chosen.quality:
        tagged = tx.all(select(pairs.c.id).where(tagged_as(chosen.tag, chosen.quality)))
        wanted.append(pl.col("id").is_in([row.id for row in tagged]))
    return frame.filter(*wanted)["id"]
