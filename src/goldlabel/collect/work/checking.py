"""Checking by hand: a random sample of what was written under a constraint, and what a violation costs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from goldlabel.collect.events import record
from goldlabel.collect.money.by_hand import give
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, checks, pairs, premises, pseudonyms
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text


@dataclass(frozen=True)
class CheckedPair:
    """One hypothesis of an answer that is looked at."""

    id: int
    label: str
    level: str | None
    hypothesis: str


@dataclass(frozen=True)
class Check:
    """An answer drawn for a look; ``violation`` is ``None`` until someone looked."""

    id: int
    answer_id: int
    writer: str
    premise: str
    pairs: list[CheckedPair]
    drawn_at: datetime
    checked_at: datetime | None
    violation: bool | None
    note: str | None


def draw_check(tx: Transaction, found: Project, condition: str, answer_id: int) -> None:
    """Draw an answer for a look with the chance that its condition sets."""
    if found.random("check", answer_id).random() < found.protocol.condition(condition).checked_share:
        tx.insert(checks, project_id=found.id, answer_id=answer_id, drawn_at=tx.now)
        record(tx, "check.drawn", project_id=found.id, person_id=None, subject=f"answer {answer_id}")


def checks_of(tx: Transaction, project_id: int, *, pending: bool = False) -> list[Check]:
    """Return the answers of a project that were drawn for a look, or those nobody has looked at yet."""
    query = (
        select(checks, pseudonyms.c.pseudonym)
        .join(answers, answers.c.id == checks.c.answer_id)
        .join(pseudonyms, known_as(answers.c.project_id, answers.c.person_id))
        .where(checks.c.project_id == project_id)
        .order_by(checks.c.id)
    )
    rows = tx.all(query.where(checks.c.checked_at.is_(None)) if pending else query)
    written: dict[int, list[CheckedPair]] = {}
    texts: dict[int, str] = {}
    for pair in tx.all(
        select(pairs, premises.c.text)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .where(pairs.c.answer_id.in_(select(checks.c.answer_id).where(checks.c.project_id == project_id)))
        .order_by(pairs.c.id)
    ):
        texts[pair.answer_id] = pair.text
        written.setdefault(pair.answer_id, []).append(CheckedPair(pair.id, pair.label, pair.level, pair.hypothesis))
    return [
        Check(
            row.id,
            row.answer_id,
            row.pseudonym,
            texts[row.answer_id],
            written[row.answer_id],
            row.drawn_at,
            row.checked_at,
            row.violation,
            row.note,
        )
        for row in rows
    ]


def pending_checks(tx: Transaction, project_id: int) -> int:
    """Return how many of the answers drawn for a look nobody has looked at yet."""
    count: int = tx.value(select(func.count()).where(checks.c.project_id == project_id, checks.c.checked_at.is_(None)))
    return count


def record_check(
    tx: Transaction, project_id: int, check_id: int, *, broken: Collection[int], note: str, by: int | None
) -> None:
    """Write down a look: which pairs break the rule (none: all is well); each costs the penalty of the protocol."""
    row = tx.one(
        select(checks, answers.c.person_id)
        .join(answers, answers.c.id == checks.c.answer_id)
        .where(checks.c.project_id == project_id, checks.c.id == check_id)
        .with_for_update(of=checks, key_share=True)
    )
    if row is None:
        raise Missing("no_check", id=check_id)
    if row.checked_at is not None:
        raise Conflict("checked_before")
    own = {pair.id for pair in tx.all(select(pairs.c.id).where(pairs.c.answer_id == row.answer_id))}
    if not {*broken} <= own:
        raise Invalid("foreign_pairs", ids=sorted({*broken} - own), allowed=sorted(own))
    note = clean_text(note)
    if broken and not note:
        raise Invalid("note_missing")
    values = {"checked_by": by, "checked_at": tx.now, "violation": bool(broken), "note": note or None}
    tx.run(checks.update().where(checks.c.id == check_id).values(**values))
    record(
        tx,
        "check.done",
        project_id=project_id,
        person_id=by,
        subject=f"answer {row.answer_id}",
        data={"check": check_id, "broken": sorted({*broken}), "note": note},
    )
    penalty = project(tx, project_id).protocol.pay.penalty
    if broken and penalty:
        give(
            tx,
            project_id,
            row.person_id,
            kind="penalty",
            amount=penalty * len({*broken}),
            reason=note,
            key=f"penalty {row.answer_id}",
            by=by,
            answer_id=row.answer_id,
        )
