"""Hiding: premises and pairs that a requester takes out of the work and out of the data, for a while or for good.

What is hidden is not given to anybody any more; a task in somebody's hands is taken and paid. Answers about it stay as
they are. What is deleted does not come back: the pages show it no more and no export holds it, but events and answers
still say what was there. A premise takes its pairs along.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.rounds.contexts import is_used_up
from goldlabel.collect.schema import pairs, premises, projects, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.verdicts import lock_pairs, settle

HIDDEN, DELETED, SHOWN = "hidden", "deleted", "shown"
STATES = (SHOWN, HIDDEN, DELETED)


def hide_pair(tx: Transaction, project_id: int, pair_id: int, state: str, *, by: int | None) -> None:
    """Hide a pair, delete it, or show it again."""
    found = _locked(tx, project_id)
    lock_pairs(tx, [pair_id])
    row = lock_own(tx, pairs, project_id, pair_id)
    if _changes(row, state):
        _set(tx, found, "pair", row, [pair_id], state, by)


def hide_premise(tx: Transaction, project_id: int, premise_id: int, state: str, *, by: int | None) -> None:
    """Hide a premise and the pairs about it, delete them, or show them again."""
    found = _locked(tx, project_id)
    row = lock_own(tx, premises, project_id, premise_id)
    if _changes(row, state):
        about = pairs.c.premise_id == premise_id
        kept = about & pairs.c.hidden.is_distinct_from(DELETED)
        ids = [pair.id for pair in tx.all(select(pairs.c.id).where(kept).order_by(pairs.c.id))]
        lock_pairs(tx, ids)
        _set(tx, found, "premise", row, ids, state, by)


def is_wanted(tx: Transaction, *, pair_id: int | None, premise_id: int | None) -> bool:
    """Say whether a pair to judge, or a premise to write about, is in the data, not hidden and not of an old round."""
    if pair_id is not None:
        shown = select(pairs.c.id).where(pairs.c.id == pair_id, pairs.c.state == "counted", pairs.c.hidden.is_(None))
    else:
        shown = select(premises.c.id).where(premises.c.id == premise_id, premises.c.hidden.is_(None))
        shown = shown.where(~is_used_up(premises.c.id))
    return tx.one(shown) is not None


def lock_own(tx: Transaction, table: Table, project_id: int, row_id: int) -> Row[Any]:
    """Return a premise or a pair of a project as it stands, held until the transaction ends."""
    tx.lock(table, row_id)
    row = tx.row(table, id=row_id, project_id=project_id)
    if row is None:
        raise Missing("no_pair" if table is pairs else "no_premise")
    return row


def _locked(tx: Transaction, project_id: int) -> Project:
    tx.lock(projects, project_id)
    return project(tx, project_id)


def _changes(row: Row[Any], state: str) -> bool:
    if state not in STATES:
        raise Invalid("visibility", state=state, allowed=words(STATES))
    if row.hidden == DELETED and state != DELETED:
        raise Conflict("deleted_for_good")
    return (row.hidden or SHOWN) != state


def _set(
    tx: Transaction, found: Project, what: str, row: Row[Any], pair_ids: Sequence[int], state: str, by: int | None
) -> None:
    value = None if state == SHOWN else state
    if what == "premise":
        tx.change(premises, row.id, hidden=value)
    for pair_id in pair_ids:
        tx.change(pairs, pair_id, hidden=value)
    own = tasks.c.pair_id.in_(pair_ids) & (tasks.c.kind == "verify")
    if what == "premise":
        own |= (tasks.c.premise_id == row.id) & (tasks.c.kind == "write")
    data: dict[str, Any] = {"state": state, "pairs": list(pair_ids)}
    if value is None:
        data["reopened"] = _change_tasks(tx, own, "withdrawn", "open", asked=_asked_for(pair_ids, row.id, what))
    else:
        data["withdrawn"] = _change_tasks(tx, own, "open", "withdrawn")
    record(tx, f"{what}.{state}", project_id=found.id, person_id=by, subject=f"{what} {row.id}", data=data)
    if value is None:
        for pair_id in pair_ids:
            drawing.fill_up(tx, found, pair_id, by)
            settle(tx, found, pair_id, by)


def _asked_for(pair_ids: Sequence[int], row_id: int, what: str) -> ColumnElement[bool]:
    """Leave withdrawn votes on pairs that are out of the data for another reason, and contexts of closed rounds."""
    counted = select(pairs.c.id).where(pairs.c.id.in_(pair_ids), pairs.c.state == "counted")
    premise = (tasks.c.premise_id == (row_id if what == "premise" else -1)) & ~is_used_up(tasks.c.premise_id)
    return tasks.c.pair_id.in_(counted) | premise


def _change_tasks(
    tx: Transaction, own: ColumnElement[bool], old: str, new: str, asked: ColumnElement[bool] | None = None
) -> list[int]:
    chosen = own & (tasks.c.state == old) if asked is None else own & asked & (tasks.c.state == old)
    return sorted(row.id for row in tx.all(tasks.update().where(chosen).values(state=new).returning(tasks.c.id)))
