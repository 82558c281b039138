"""Remarks: what annotators say about a pair or a premise that they were given, until the requester is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, func, select

from goldlabel.collect.events import record
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import assignments, pairs, premises, pseudonyms, remarks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import own_assignment
from goldlabel.collect.work.rules import clean_text

LONGEST_REMARK = 1000


def make_remark(tx: Transaction, project_id: int, assignment_id: int, person_id: int, text: str) -> int:
    """Keep what a person says about a task that they were given at any time; return the remark's id."""
    row = own_assignment(tx, assignment_id, person_id)
    if row.project_id != project_id:
        raise Missing("no_task", id=assignment_id)
    text = clean_text(text)
    if not 1 <= len(text) <= LONGEST_REMARK:
        raise Invalid("remark_length", n=len(text), longest=LONGEST_REMARK)
    remark_id = tx.insert(
        remarks,
        project_id=project_id,
        assignment_id=assignment_id,
        person_id=person_id,
        text=text,
        created_at=tx.now,
    )
    subject = f"pair {row.pair_id}" if row.pair_id is not None else f"premise {row.premise_id}"
    data = {"remark": remark_id, "text": text}
    record(tx, "remark.made", project_id=project_id, person_id=person_id, subject=subject, data=data)
    return remark_id


def resolve_remark(tx: Transaction, project_id: int, remark_id: int, *, answer: str, by: int | None) -> None:
    """Be done with a remark; what is answered, if anything, its author reads."""
    row = tx.row(remarks, id=remark_id, project_id=project_id)
    if row is None:
        raise Missing("no_remark")
    tx.lock(remarks, remark_id)
    row = tx.row(remarks, id=remark_id)
    if row is not None and row.resolved_at is not None:
        raise Conflict("remark_resolved")
    answer = clean_text(answer)
    if len(answer) > LONGEST_REMARK:
        raise Invalid("remark_length", n=len(answer), longest=LONGEST_REMARK)
    tx.change(remarks, remark_id, answer=answer or None, resolved_by=by, resolved_at=tx.now)
    data = {"answer": answer}
    record(tx, "remark.resolved", project_id=project_id, person_id=by, subject=f"remark {remark_id}", data=data)


def remarks_of(tx: Transaction, project_id: int, *, most: int = 200) -> Sequence[Row[Any]]:
    """Return the latest remarks in a project with what they are about, those that wait first."""
    query = _remarks().where(remarks.c.project_id == project_id)
    return tx.all(query.order_by(remarks.c.resolved_at.is_not(None), remarks.c.id.desc()).limit(most))


def remarks_on(tx: Transaction, pair_id: int) -> Sequence[Row[Any]]:
    """Return the remarks on a pair, the oldest first."""
    return tx.all(_remarks().where(assignments.c.pair_id == pair_id).order_by(remarks.c.id))


def own_remarks(tx: Transaction, project_id: int, person_id: int, *, most: int = 50) -> Sequence[Row[Any]]:
    """Return the latest remarks that a person made, the newest first."""
    own = (remarks.c.project_id == project_id, remarks.c.person_id == person_id)
    return tx.all(_remarks().where(*own).order_by(remarks.c.id.desc()).limit(most))


def waiting_remarks(tx: Transaction, project_id: int) -> int:
    """Return how many remarks nobody is done with."""
    waiting = (remarks.c.project_id == project_id, remarks.c.resolved_at.is_(None))
    return int(tx.value(select(func.count()).select_from(remarks).where(*waiting)))


def in_hand(tx: Transaction, project_id: int, person_id: int) -> Sequence[Row[Any]]:
    """Return what a person has in hand, with its texts."""
    return tx.all(
        select(assignments.c.id, premises.c.text.label("premise"), pairs.c.hypothesis)
        .outerjoin(pairs, pairs.c.id == assignments.c.pair_id)
        .join(premises, premises.c.id == func.coalesce(assignments.c.premise_id, pairs.c.premise_id))
        .where(
            assignments.c.project_id == project_id,
            assignments.c.person_id == person_id,
            assignments.c.state == "leased",
        )
        .order_by(assignments.c.id)
    )


def _remarks() -> Select[Any]:
    return (
        select(
            remarks,
            pseudonyms.c.pseudonym,
            assignments.c.pair_id,
            premises.c.text.label("premise"),
            pairs.c.hypothesis,
        )
        .join(pseudonyms, known_as(remarks.c.project_id, remarks.c.person_id))
        .join(assignments, assignments.c.id == remarks.c.assignment_id)
        .outerjoin(pairs, pairs.c.id == assignments.c.pair_id)
        .join(premises, premises.c.id == func.coalesce(assignments.c.premise_id, pairs.c.premise_id))
    )
