"""Drawing: pairs come in, are numbered within their subset, and a share of each subset is drawn for verification.

A subset is what was written in one condition about one genre. After ``n`` pairs, ``floor(share * n + u)`` of them
are drawn, where ``u`` is uniform on [0, 1) and fixed per subset (systematic sampling; Madow and Madow 1944): the
count is exact but for rounding at every moment, and, as the new ones are drawn at random among the pairs that came
in together, every pair has the same chance whenever it was written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from math import floor
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, bindparam, func, select

from goldlabel.collect.events import record
from goldlabel.collect.schema import pairs, subsets, tasks
from goldlabel.collect.store import Transaction

if TYPE_CHECKING:
    from goldlabel.collect.projects import Project


def lock_subset(tx: Transaction, project_id: int, origin: str, condition: str, genre: str) -> int:
    """Return a subset's id, made if need be; its row is held until the transaction ends, so numbers stay dense."""
    names = {"project_id": project_id, "origin": origin, "condition": condition, "genre": genre}
    found = tx.row(subsets, **names)
    if found is None:
        tx.insert_new(subsets, **names)
        found = tx.row(subsets, **names)
    assert found is not None
    tx.lock(subsets, found.id)
    return int(found.id)


def place(tx: Transaction, subset_id: int, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Store pairs with the next numbers of a locked subset and return their ids."""
    size = _largest(tx, pairs.c.number, pairs.c.subset_id == subset_id)
    common = {"subset_id": subset_id, "considered": False, "state": "counted", "created_at": tx.now}
    return tx.insert_returning(
        pairs, [{**row, **common, "number": number} for number, row in enumerate(rows, start=size + 1)]
    )


def draw_subset(
    tx: Transaction, project: Project, subset_id: int, by: int | None, among: Collection[int] | None = None
) -> int:
    """Draw what the share still wants from a locked subset; return how many pairs were drawn.

    Pairs that came in together may be considered in parts, if these are random: then ``among`` are those of one part.
    """
    subset = tx.row(subsets, id=subset_id)
    assert subset is not None
    own = pairs.c.subset_id == subset_id
    waiting = (own, pairs.c.considered.is_(False))
    new = waiting if among is None else (*waiting, pairs.c.id.in_(among))
    fresh = _ids(tx, *new)
    if fresh:
        tx.run(pairs.update().where(*new).values(considered=True))
    size = _largest(tx, pairs.c.number, own) - tx.value(select(func.count()).select_from(pairs).where(*waiting))
    offset = project.random("offset", subset.origin, subset.condition, subset.genre).random()
    share = Decimal(str(project.protocol.verifying.share))
    wanted = floor(share * size + Decimal(offset)) - _largest(tx, pairs.c.draw_number, own)
    chance = project.random("draw", subset_id, size, wanted)
    chosen = chance.sample(fresh, max(0, min(wanted, len(fresh))))
    if wanted > len(chosen):  # the share was raised since: from those passed over before
        passed = _ids(tx, own, pairs.c.considered, pairs.c.draw_number.is_(None))
        rest = [pair_id for pair_id in passed if pair_id not in {*chosen}]
        chosen += chance.sample(rest, min(wanted - len(chosen), len(rest)))
    _queue(tx, project, subset_id, chosen, by)
    return len(chosen)


def draw_imported(
    tx: Transaction, project: Project, origin: str, by: int | None, among: Collection[int] | None = None
) -> int:
    """Draw from pairs written elsewhere as many as the configuration wants; gold questions are not drawn.

    Of many pairs a random part may be drawn from at a time: ``among`` are its pairs.
    """
    limit = most_drawn(project, origin)
    ids = _subset_ids(tx, project, origin)
    if limit is None:
        return sum(draw_subset(tx, project, subset_id, by, among) for subset_id in ids)
    wanted = max(0, limit - sum(_largest(tx, pairs.c.draw_number, pairs.c.subset_id == one) for one in ids))
    if not wanted:
        return 0
    undrawn = select(pairs.c.id, pairs.c.subset_id).where(pairs.c.subset_id.in_(ids), pairs.c.draw_number.is_(None))
    undrawn = undrawn.where(pairs.c.hidden.is_(None))
    free = tx.all((undrawn if among is None else undrawn.where(pairs.c.id.in_(among))).order_by(pairs.c.id))
    chosen: dict[int, list[int]] = defaultdict(list)
    for row in project.random("draw", origin, len(free), wanted).sample(free, min(wanted, len(free))):
        chosen[row.subset_id].append(row.id)
    for subset_id in sorted(chosen):
        _queue(tx, project, subset_id, chosen[subset_id], by)
    return sum(map(len, chosen.values()))


def draw_these(tx: Transaction, project: Project, pair_ids: Sequence[int], by: int | None) -> None:
    """Draw some pairs, whose subsets are locked, whatever the share says."""
    chosen: dict[int, list[int]] = defaultdict(list)
    query = select(pairs.c.id, pairs.c.subset_id).where(pairs.c.id.in_(pair_ids), pairs.c.draw_number.is_(None))
    for row in tx.all(query.order_by(pairs.c.id)):
        chosen[row.subset_id].append(row.id)
    for subset_id in sorted(chosen):
        tx.run(pairs.update().where(pairs.c.id.in_(chosen[subset_id])).values(considered=True))
        _queue(tx, project, subset_id, chosen[subset_id], by)


def most_drawn(project: Project, origin: str) -> int | None:
    """Return how many pairs of an origin are drawn at most; none where it is a share of them."""
    rules = project.protocol.verifying
    return {"foreign": rules.foreign, "imported": rules.sample, "gold": 0}[origin]


def draw_all(tx: Transaction, project: Project, by: int | None) -> int:
    """Bring every subset up to its share, and every drawn pair up to its number of verifiers."""
    drawn = sum(draw_subset(tx, project, subset_id, by) for subset_id in _subset_ids(tx, project, "written"))
    drawn += sum(draw_imported(tx, project, origin, by) for origin in ("imported", "foreign"))
    _widen(tx, project, by)
    return drawn


def _subset_ids(tx: Transaction, project: Project, origin: str) -> list[int]:
    """Return the ids of the subsets of one origin, whose rows are held from now on, always in the same order."""
    query = (
        select(subsets.c.id)
        .where(subsets.c.project_id == project.id, subsets.c.origin == origin)
        .order_by(subsets.c.id)
        .with_for_update(key_share=True)
    )
    return [row.id for row in tx.all(query)]


def _queue(tx: Transaction, project: Project, subset_id: int, chosen: Sequence[int], by: int | None) -> None:
    """Mark pairs as drawn and make a task for each vote that they want."""
    if not chosen:
        return
    last = _largest(tx, pairs.c.draw_number, pairs.c.subset_id == subset_id)
    tx.connection.execute(
        pairs.update().where(pairs.c.id == bindparam("pair")).values(draw_number=bindparam("number_drawn")),
        [{"pair": pair_id, "number_drawn": number} for number, pair_id in enumerate(chosen, start=last + 1)],
    )
    wanted = project.policy.first
    _add_slots(tx, project, (pairs.c.subset_id == subset_id) & (pairs.c.draw_number > last), wanted)
    _record(tx, "verification.drawn", project, by, subset_id, chosen, wanted)


def ask(tx: Transaction, project: Project, pair_id: int, wanted: int, by: int | None) -> None:
    """Ask for so many votes on a drawn pair, whose row is held, instead of fewer."""
    _add_slots(tx, project, pairs.c.id == pair_id, wanted)
    _record(tx, "verification.widened", project, by, 0, [pair_id], wanted)


def fill_up(tx: Transaction, project: Project, pair_id: int, by: int | None) -> None:
    """Ask for the votes that a drawn pair, whose row is held, wants and has not been given while it was out."""
    has = int(tx.value(select(func.count()).where(tasks.c.pair_id == pair_id, tasks.c.kind == "verify")))
    if 0 < has < project.policy.first:
        ask(tx, project, pair_id, project.policy.first, by)


def _widen(tx: Transaction, project: Project, by: int | None) -> None:
    """Add the votes that drawn pairs want since the number of verifiers was raised.

    The pairs are held before their tasks are made, in the order in which a vote holds them.
    """
    wanted = project.policy.first
    short = (
        select(tasks.c.pair_id)
        .join(pairs, pairs.c.id == tasks.c.pair_id)
        .where(tasks.c.project_id == project.id, tasks.c.kind == "verify", pairs.c.state == "counted")
        .where(pairs.c.hidden.is_(None))
        .group_by(tasks.c.pair_id)
        .having(func.count() < wanted)
    )
    ids = [row.pair_id for row in tx.all(short.order_by(tasks.c.pair_id))]
    if ids:
        tx.run(pairs.update().where(pairs.c.id.in_(short)).values(verdict=None))
        _add_slots(tx, project, pairs.c.id.in_(short), wanted)
        _record(tx, "verification.widened", project, by, 0, ids, wanted)


def _add_slots(tx: Transaction, project: Project, which: ColumnElement[bool], wanted: int) -> None:
    has = select(func.count()).where(tasks.c.pair_id == pairs.c.id, tasks.c.kind == "verify").scalar_subquery()
    rows = tx.all(
        select(pairs.c.id, pairs.c.subset_id, pairs.c.writer_id, pairs.c.draw_number, subsets.c.genre, has.label("has"))
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .where(which)
        .order_by(pairs.c.id)
    )
    chance = project.random("tie", rows[0].id)
    ties = {row.id: chance.getrandbits(31) for row in rows}
    tx.insert_all(
        tasks,
        [
            {
                "project_id": project.id,
                "kind": "verify",
                "condition": "",
                "genre": row.genre,
                "subset_id": row.subset_id,
                "pair_id": row.id,
                "slot": slot,
                "author_id": row.writer_id,
                "rank": row.draw_number,
                "tie": ties[row.id],
                "state": "open",
            }
            for row in rows
            for slot in range(row.has, wanted)
        ],
    )


def _record(
    tx: Transaction, kind: str, project: Project, by: int | None, subset_id: int, ids: Sequence[int], wanted: int
) -> None:
    record(
        tx,
        kind,
        project_id=project.id,
        person_id=by,
        subject=f"subset {subset_id}",
        data={"pairs": list(ids), "wanted": wanted},
    )


def _largest(tx: Transaction, column: ColumnElement[Any], own: ColumnElement[bool]) -> int:
    return tx.value(select(func.max(column)).where(own)) or 0


def _ids(tx: Transaction, *conditions: ColumnElement[bool]) -> list[int]:
    shown = (pairs.c.state == "counted", pairs.c.hidden.is_(None))
    return [row.id for row in tx.all(select(pairs.c.id).where(*conditions, *shown).order_by(pairs.c.id))]
