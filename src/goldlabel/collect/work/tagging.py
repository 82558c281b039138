"""Expert tags (Nie et al. 2020, section 5): which kinds of inference a pair needs, and whether its label is sound.

An expert says of a pair which of six kinds of inference it needs, one or several, whether it is ambiguous or its label
debatable, and what else there is to say. They see its label, so a pair is shown to no one who wrote it, and to no one
who may still be asked to judge it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, exists, func, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.people.people import require_role, roles
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import pairs, premises, pseudonyms, subsets, tagging_tags, taggings
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.progress import Progress
from goldlabel.metrics import Estimate, share

TAGS = ("numerical", "reference", "standard", "lexical", "tricky", "reasoning")
QUALITIES = ("sound", "ambiguous", "debatable")
LONGEST_COMMENT = 2000


@dataclass(frozen=True)
class Tagging:
    """What one expert said of a pair."""

    expert: str
    tags: tuple[str, ...]
    quality: str
    comment: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as an export tells it."""
        return {"expert": self.expert, "tags": list(self.tags), "quality": self.quality, "comment": self.comment}


@dataclass(frozen=True)
class PairToTag:
    """A pair as an expert sees it, and what they said of it before, if anything."""

    pair_id: int
    premise: str
    hypothesis: str
    label: str
    tagging: Tagging | None


@dataclass(frozen=True)
class OwnTagging:
    """What an expert said of a pair, for themselves to look at."""

    pair_id: int
    premise: str
    hypothesis: str
    tags: tuple[str, ...]
    quality: str
    comment: str
    at: datetime


@dataclass(frozen=True)
class TagLine:
    """One kind of inference: its share of the tagged pairs, and how often the votes there give the author's label."""

    tag: str
    share: Estimate
    agreement: Estimate | None


@dataclass(frozen=True)
class TagFigures:
    """What the experts of a project said: how many pairs, of which kinds, and how many of doubtful quality."""

    tagged: int
    total: int
    lines: Sequence[TagLine]
    doubts: dict[str, int]


def next_to_tag(tx: Transaction, project_id: int, person_id: int, *, skip: int | None = None) -> PairToTag | None:
    """Return a pair that no expert has tagged, of those decided by votes first; none where there is none just now.

    Experts begin at different pairs, so that two of them seldom tag the same one.
    """
    query = _visible(tx, project(tx, project_id), person_id).where(~exists().where(taggings.c.pair_id == pairs.c.id))
    if skip is not None:
        query = query.where(pairs.c.id != skip)
    place = (pairs.c.id * 7919 + person_id * 104_729) % 10_007
    row = tx.one(query.order_by(case((pairs.c.verdict.is_(None), 1), else_=0), place, pairs.c.id).limit(1))
    return None if row is None else _to_tag(tx, row, person_id)


def pair_to_tag(tx: Transaction, project_id: int, person_id: int, pair_id: int) -> PairToTag:
    """Return one pair for its expert, to tag it or to change what they said."""
    row = tx.one(_visible(tx, project(tx, project_id), person_id).where(pairs.c.id == pair_id))
    if row is None:
        raise Missing("no_pair")
    return _to_tag(tx, row, person_id)


def tag_pair(
    tx: Transaction,
    project_id: int,
    person_id: int,
    pair_id: int,
    *,
    tags: Sequence[str],
    quality: str = "sound",
    comment: str = "",
) -> None:
    """Keep what an expert says of a pair, in place of what they said before."""
    member, found = require_role(tx, project_id, person_id, "expert"), project(tx, project_id)
    if member.state != "active" or found.state != "running":
        raise Conflict("tagging_paused")
    if not tags:
        raise Invalid("tags_none", allowed=words(TAGS))
    if unknown := next((tag for tag in tags if tag not in TAGS), None):
        raise Invalid("no_tag", tag=unknown, allowed=words(TAGS))
    if quality not in QUALITIES:
        raise Invalid("no_quality", quality=quality, allowed=words(QUALITIES))
    if len(comment) > LONGEST_COMMENT:
        raise Invalid("comment_length", n=len(comment), longest=LONGEST_COMMENT)
    pair_to_tag(tx, project_id, person_id, pair_id)
    own = {"pair_id": pair_id, "person_id": person_id}
    said = {"quality": quality, "comment": comment.strip(), "tagged_at": tx.now}
    tx.insert_new(taggings, project_id=project_id, **own, **said)
    number = tx.value(select(taggings.c.id).filter_by(**own).with_for_update())
    tx.change(taggings, number, **said)
    tx.run(tagging_tags.delete().where(tagging_tags.c.tagging_id == number))
    chosen = [tag for tag in TAGS if tag in tags]
    tx.insert_all(tagging_tags, [{"tagging_id": number, "tag": tag} for tag in chosen])
    data = {"tags": chosen, "quality": quality, "comment": comment.strip()}
    record(tx, "pair.tagged", project_id=project_id, person_id=person_id, subject=f"pair {pair_id}", data=data)


def tag_progress(tx: Transaction, project_id: int, person_id: int) -> Progress:
    """Return how many of the pairs that an expert may see are tagged, by anybody."""
    visible = _visible(tx, project(tx, project_id), person_id).with_only_columns(pairs.c.id).subquery()
    total = tx.value(select(func.count()).select_from(visible))
    done = tx.value(
        select(func.count(taggings.c.pair_id.distinct())).where(taggings.c.pair_id.in_(select(visible.c.id)))
    )
    return Progress(done, total)


def last_tagged(tx: Transaction, project_id: int, person_id: int) -> int | None:
    """Return the pair that an expert tagged last, which they may want to change."""
    own = select(taggings.c.pair_id).where(taggings.c.project_id == project_id, taggings.c.person_id == person_id)
    found: int | None = tx.value(own.order_by(taggings.c.tagged_at.desc(), taggings.c.id.desc()).limit(1))
    return found


def own_taggings(tx: Transaction, project_id: int, person_id: int, *, most: int = 50) -> list[OwnTagging]:
    """Return what an expert said of pairs, the newest first."""
    rows = tx.all(
        select(taggings, premises.c.text.label("premise"), pairs.c.hypothesis)
        .join(pairs, pairs.c.id == taggings.c.pair_id)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .where(taggings.c.project_id == project_id, taggings.c.person_id == person_id, pairs.c.hidden.is_(None))
        .order_by(taggings.c.tagged_at.desc(), taggings.c.id.desc())
        .limit(most)
    )
    tags: dict[int, set[str]] = defaultdict(set)
    for row in tx.all(select(tagging_tags).where(tagging_tags.c.tagging_id.in_([one.id for one in rows]))):
        tags[row.tagging_id].add(row.tag)
    return [
        OwnTagging(
            row.pair_id,
            row.premise,
            row.hypothesis,
            tuple(tag for tag in TAGS if tag in tags[row.id]),
            row.quality,
            row.comment,
            row.tagged_at,
        )
        for row in rows
    ]


def taggings_of(tx: Transaction, project_id: int, between: tuple[int, int] | None = None) -> dict[int, list[Tagging]]:
    """Return what experts said of each pair, or of those ``between`` two, in the order in which they came."""
    query = (
        select(taggings.c.pair_id, taggings.c.id, taggings.c.quality, taggings.c.comment, pseudonyms.c.pseudonym)
        .join(pseudonyms, known_as(taggings.c.project_id, taggings.c.person_id))
        .where(taggings.c.project_id == project_id)
        .order_by(taggings.c.id)
    )
    given = select(tagging_tags).join(taggings).where(taggings.c.project_id == project_id)
    if between is not None:
        query, given = (part.where(taggings.c.pair_id.between(*between)) for part in (query, given))
    tags: dict[int, set[str]] = defaultdict(set)
    for row in tx.all(given):
        tags[row.tagging_id].add(row.tag)
    said: dict[int, list[Tagging]] = defaultdict(list)
    for row in tx.all(query):
        chosen = tuple(tag for tag in TAGS if tag in tags[row.id])
        said[row.pair_id].append(Tagging(row.pseudonym, chosen, row.quality, row.comment))
    return said


def union_of_tags(said: Sequence[Tagging]) -> list[str]:
    """Return the tags that at least one expert gave to a pair."""
    return [tag for tag in TAGS if any(tag in one.tags for one in said)]


def tag_figures(tx: Transaction, found: Project) -> TagFigures:
    """Measure what experts said: the share of each kind of inference, with an interval over premises."""
    rows = tx.all(_own(found).where(pairs.c.id.in_(select(taggings.c.pair_id))))
    said = taggings_of(tx, found.id) if rows else {}
    total = tx.value(select(func.count()).select_from(_own(found).subquery())) if rows else 0
    chosen = {row.id: union_of_tags(said[row.id]) for row in rows}
    lines = []
    for tag in TAGS if rows else ():
        with_tag = [row for row in rows if tag in chosen[row.id]]
        decided = [row for row in with_tag if row.verdict is not None and row.writer_id is not None]
        again = [row.verdict == row.label for row in decided]
        lines.append(
            TagLine(
                tag=tag,
                share=share([tag in chosen[row.id] for row in rows], units=[row.premise_id for row in rows]),
                agreement=share(again, units=[row.premise_id for row in decided]) if decided else None,
            )
        )
    qualities = [{one.quality for one in said[row.id]} for row in rows]
    doubts = {quality: sum(quality in given for given in qualities) for quality in QUALITIES[1:]}
    return TagFigures(len(rows), total, lines, doubts)


def tagged_as(tag: str = "", quality: str = "") -> ColumnElement[bool]:
    """Return the condition that some expert gave a pair a tag, or a quality."""
    query = select(taggings.c.pair_id)
    if tag:
        query = query.join(tagging_tags).where(tagging_tags.c.tag == tag)
    if quality:
        query = query.where(taggings.c.quality == quality)
    return pairs.c.id.in_(query)


def _own(found: Project) -> Select[Any]:
    return (
        select(pairs, premises.c.text.label("premise"))
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .where(pairs.c.project_id == found.id, pairs.c.state == "counted", subsets.c.origin == found.kind.own)
        .where(pairs.c.hidden.is_(None))
    )


def _visible(tx: Transaction, found: Project, person_id: int) -> Select[Any]:
    query = _own(found).where(func.coalesce(pairs.c.writer_id, 0) != person_id)
    judges = "verifier" in roles(tx, found.id, person_id)
    return query.where(pairs.c.verdict.is_not(None)) if judges else query


def _to_tag(tx: Transaction, row: Any, person_id: int) -> PairToTag:
    name = tx.value(select(pseudonyms.c.pseudonym).where(known_as(row.project_id, person_id)))
    said = taggings_of(tx, row.project_id, (row.id, row.id))[row.id]
    own = next((one for one in said if one.expert == name), None)
    label = row.label if row.verdict in (None, "-") else row.verdict
    return PairToTag(row.id, row.premise, row.hypothesis, label, own)
