"""What the requester's tables show: premises, the queue and lines of the ledger, page by page.

Pages follow ids, not positions, so that a table stays in its place while people work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, exists, func, select

from goldlabel.collect.data.hiding import HIDDEN
from goldlabel.collect.money.ledger import in_currency
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.refusals import Missing
from goldlabel.collect.schema import assignments, ledger, pairs, premises, pseudonyms, tasks
from goldlabel.collect.store import Transaction

PAGE = 50


@dataclass(frozen=True)
class Slice:
    """One page of rows, and the id from which the next page goes on."""

    rows: Sequence[Row[Any]]
    older: int | None


def slice_rows(
    tx: Transaction, query: Select[Any], key: ColumnElement[int], before: int | None, *, rises: bool = False
) -> Slice:
    """Return a page of a query, the newest first, of the rows before an id; or the oldest first, of those after it."""
    if before is not None:
        query = query.where(key > before if rises else key < before)
    rows = tx.all(query.order_by(key if rises else key.desc()).limit(PAGE + 1))
    return Slice(rows[:PAGE], rows[PAGE - 1].id if len(rows) > PAGE else None)


def ledger_slice(
    tx: Transaction, project_id: int, *, person_id: int | None = None, kind: str = "", before: int | None = None
) -> Slice:
    """Return lines of the ledger, and by which line each has been reversed."""
    reversals = ledger.alias("reversals")
    reversed_by = select(reversals.c.id).where(reversals.c.reverses == ledger.c.id).scalar_subquery()
    query = (
        select(ledger, pseudonyms.c.pseudonym, reversed_by.label("reversed_by"))
        .join(pseudonyms, known_as(ledger.c.project_id, ledger.c.person_id))
        .where(ledger.c.project_id == project_id)
    )
    if person_id is not None:
        query = query.where(ledger.c.person_id == person_id)
    if kind:
        query = query.where(ledger.c.kind == kind)
    return slice_rows(tx, query, ledger.c.id, before)


def owed(tx: Transaction, project_id: int, person_id: int | None = None) -> Decimal:
    """Return what one person, or everybody together, is owed in a project."""
    query = select(func.sum(ledger.c.amount)).where(ledger.c.project_id == project_id)
    if person_id is not None:
        query = query.where(ledger.c.person_id == person_id)
    return in_currency(int(tx.value(query) or 0))


def ledger_kinds(tx: Transaction, project_id: int) -> dict[str, tuple[Decimal, int]]:
    """Return the sum and the number of each kind of line."""
    query = (
        select(ledger.c.kind, func.sum(ledger.c.amount).label("units"), func.count().label("lines"))
        .where(ledger.c.project_id == project_id)
        .group_by(ledger.c.kind)
    )
    return {row.kind: (in_currency(int(row.units)), row.lines) for row in tx.all(query)}


def premise_slice(
    tx: Transaction, project_id: int, *, before: int | None = None, state: str = "", rises: bool = False
) -> Slice:
    """Return premises of the pool with how often each was written about, and notes of who found it unusable."""
    own = and_(tasks.c.premise_id == premises.c.id, tasks.c.kind == "write")
    counts = {
        name: select(func.count()).where(own, tasks.c.state == name).scalar_subquery().label(name)
        for name in ("answered", "unusable")
    }
    wanted = select(func.count()).where(own).scalar_subquery().label("wanted")
    query = select(premises, wanted, *counts.values()).where(
        premises.c.project_id == project_id, premises.c.number.is_not(None)
    )
    query = query.where(premises.c.hidden.is_not_distinct_from(HIDDEN if state == HIDDEN else None))
    if state not in ("", HIDDEN):
        query = query.where(exists(select(tasks.c.id).where(own, tasks.c.state == state)))
    return slice_rows(tx, query, premises.c.id, before, rises=rises)


def premise_row(tx: Transaction, project_id: int, premise_id: int) -> Row[Any]:
    """Return a premise, of the pool or of an imported pair, and whether anybody was ever given it."""
    given = exists(select(assignments.c.id).where(assignments.c.premise_id == premises.c.id)) | exists(
        select(assignments.c.id)
        .join(pairs, pairs.c.id == assignments.c.pair_id)
        .where(pairs.c.premise_id == premises.c.id)
    )
    own = (premises.c.id == premise_id, premises.c.project_id == project_id)
    row = tx.one(select(premises, given.label("given")).where(*own))
    if row is None:
        raise Missing("no_premise")
    return row


def premise_states(tx: Transaction, project_id: int) -> dict[str, int]:
    """Return how many premises the pool holds, hidden ones apart, and how many have a task in each state."""
    shown = (premises.c.project_id == project_id, premises.c.number.is_not(None), premises.c.hidden.is_(None))
    size = tx.value(select(func.count()).select_from(premises).where(*shown))
    query = (
        select(tasks.c.state, func.count(tasks.c.premise_id.distinct()).label("premises"))
        .join(premises, premises.c.id == tasks.c.premise_id)
        .where(tasks.c.project_id == project_id, tasks.c.kind == "write", premises.c.hidden.is_(None))
        .group_by(tasks.c.state)
    )
    out = select(func.count()).where(premises.c.project_id == project_id, premises.c.hidden == HIDDEN)
    return {"all": size, "unusable": 0, **{row.state: row.premises for row in tx.all(query)}, HIDDEN: tx.value(out)}


QUEUES = ("waiting", "leased", "lapsed")


def queue_slice(
    tx: Transaction,
    project_id: int,
    state: str,
    *,
    kind: str,
    condition: str | None = None,
    genre: str | None = None,
    before: int | None = None,
) -> Slice:
    """Return tasks that wait, are in somebody's hands, or whose time ran out; with who holds or held them."""
    lapsed = tasks.c.lease_until <= tx.now
    chosen = {
        "waiting": tasks.c.state == "open",
        "leased": and_(tasks.c.state == "leased", ~lapsed),
        "lapsed": and_(tasks.c.state == "leased", lapsed),
    }[state]
    holding = and_(assignments.c.task_id == tasks.c.id, assignments.c.state == "leased")
    of_pair = premises.alias("of_pair")
    query = (
        select(
            tasks,
            func.coalesce(premises.c.text, of_pair.c.text).label("premise"),
            pairs.c.hypothesis,
            pseudonyms.c.pseudonym,
            assignments.c.person_id,
            assignments.c.leased_at,
            assignments.c.expires_at,
        )
        .outerjoin(premises, premises.c.id == tasks.c.premise_id)
        .outerjoin(pairs, pairs.c.id == tasks.c.pair_id)
        .outerjoin(of_pair, of_pair.c.id == pairs.c.premise_id)
        .outerjoin(assignments, holding)
        .outerjoin(pseudonyms, known_as(assignments.c.project_id, assignments.c.person_id))
        .where(tasks.c.project_id == project_id, tasks.c.kind == kind, chosen)
    )
    if condition is not None:
        query = query.where(tasks.c.condition == condition)
    if genre is not None:
        query = query.where(tasks.c.genre == genre)
    return slice_rows(tx, query, tasks.c.id, before)
