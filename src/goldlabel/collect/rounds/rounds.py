"""Rounds: people write against models for a time; then the round is closed, and the next one has other models.

A round has adversaries, of which one is drawn for each try, a number of tries, and rates of pay. Contexts that were
handed out in a round are not handed out in a later one. Nothing of a round is deleted when it closes: what was written
and not verified stays, as unverified training data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Row, func, select

from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.events import record
from goldlabel.collect.projects import Project, project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.rounds.records import store_unfinished
from goldlabel.collect.rounds.round_splits import HeldOut, round_name
from goldlabel.collect.schema import assignments, pairs, projects, rounds, tasks, tries
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import give_back
from goldlabel.pairs.labels import NO_GOLD

LATER_TRIES = 10
"""Tries from the second round on, where the first had those of the protocol (Nie et al. 2020, section 2.4)."""
MOST_ADVERSARIES = 50


@dataclass(frozen=True, kw_only=True)
class Adversary:
    """A model that is written against: by what name it is known, and how it is loaded.

    ``seconds`` is how long it may take for a batch; ``fallback`` is the name of the adversary that answers where this
    one cannot. One that only ``stands_in`` for others is drawn for no try.
    """

    name: str
    reference: str
    options: Mapping[str, str]
    seconds: float = 30.0
    fallback: str | None = None
    stands_in: bool = False


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What a round pays in place of the protocol's rates: for a job, and for a verified pair that fooled the model."""

    pair: Decimal
    bonus: Decimal


@dataclass(frozen=True, kw_only=True)
class Round:
    """A round of writing against models."""

    id: int
    number: int
    state: str
    adversaries: tuple[Adversary, ...]
    tries: int
    pay: Rates | None
    opened_at: datetime
    closed_at: datetime | None
    trained: Mapping[str, Any] | None

    @property
    def drawn_from(self) -> list[Adversary]:
        """The adversaries of which one is drawn for each try."""
        return [one for one in self.adversaries if not one.stands_in]

    def adversary(self, name: str) -> Adversary:
        """Return an adversary by its name."""
        return next(one for one in self.adversaries if one.name == name)


@dataclass(frozen=True)
class OpenWork:
    """What keeps a round from being over: jobs in people's hands, tries without an answer, pairs without a verdict."""

    jobs: int
    tries: int
    unverified: int

    def __bool__(self) -> bool:
        return bool(self.jobs or self.tries or self.unverified)


def open_round(
    tx: Transaction,
    project_id: int,
    adversaries: Sequence[Adversary],
    *,
    number_of_tries: int | None = None,
    pay: Rates | None = None,
    contexts_follow: bool = False,
    by: int | None,
) -> Round:
    """Open the next round with contexts that no earlier one used; asked again for the same, it is the one open.

    It keeps the rates of the protocol as they are now, unless told its own. Where ``contexts_follow``, it may have
    none yet: those that are added belong to it.
    """
    found = _with_rounds(tx, project_id)
    names = [one.name for one in adversaries]
    none_drawn = all(one.stands_in for one in adversaries)
    if none_drawn or len(names) > MOST_ADVERSARIES or len(set(names)) != len(names):
        raise Invalid("adversaries", most=MOST_ADVERSARIES)
    strange = [one.fallback for one in adversaries if one.fallback is not None and one.fallback not in names]
    if strange:
        raise Invalid("fallback", name=strange[0])
    before = rounds_of(tx, project_id)
    is_first = not any(one.state == "closed" for one in before)
    allowed = number_of_tries or (found.protocol.writing.tries if is_first else LATER_TRIES)
    if before and before[-1].state == "open":
        same = (before[-1].adversaries, before[-1].tries) == (tuple(adversaries), allowed)
        if same and pay in (None, before[-1].pay):
            return before[-1]
        raise Conflict("round_open", n=before[-1].number)
    if not contexts_follow and not unused_contexts(tx, project_id):
        raise Conflict("no_contexts")
    number = len(before) + 1
    rates = pay or rates_of(found, None)
    tx.insert(
        rounds,
        project_id=project_id,
        number=number,
        state="open",
        adversaries=[{**asdict(one), "options": dict(one.options)} for one in adversaries],
        tries=allowed,
        pay={"pair": str(rates.pair), "bonus": str(rates.bonus)},
        opened_at=tx.now,
    )
    _record(tx, "round.opened", project_id, number, by, adversaries=names, tries=allowed)
    return rounds_of(tx, project_id)[-1]


def close_round(tx: Transaction, project_id: int, *, force: bool = False, by: int | None) -> Round:
    """Close the open round; asked again, it stays closed.

    With work still open, or without a pair that was verified, it is refused, or with ``force`` done all the same: jobs
    are taken back. Tries of jobs that nobody ended become pairs as well, unverified and flagged.
    """
    _with_rounds(tx, project_id)
    current = open_round_of(tx, project_id)
    if current is None:
        closed = rounds_of(tx, project_id)
        if not closed:
            raise Conflict("no_round")
        return closed[-1]
    work = open_work(tx, project_id, current)
    if work and not force:
        raise Conflict("round_has_work", jobs=work.jobs, tries=work.tries, pairs=work.unverified)
    if not force and not _verified(tx, current):
        raise Conflict("round_empty", n=current.number)
    held = select(assignments).where(*_held_jobs(project_id)).order_by(assignments.c.id)
    for row in tx.all(held):
        tx.lock(tasks, row.task_id)
        give_back(tx, row, "passed", by)
    ids = [row.id for row in tx.all(_unfinished_contexts(project_id))]
    if ids:
        tx.run(tasks.update().where(tasks.c.id.in_(ids)).values(state="withdrawn"))
    unfinished = store_unfinished(tx, current.id, current.number)
    held_out = _held_out(tx, project_id, current.number)
    tx.change(rounds, current.id, state="closed", closed_at=tx.now, held_out=held_out)
    _record(tx, "round.closed", project_id, current.number, by, withdraws=ids, pairs=unfinished, held_out=held_out)
    return rounds_of(tx, project_id)[-1]


def keep_trained(tx: Transaction, project_id: int, number: int, trained: Mapping[str, Any], *, by: int | None) -> None:
    """Write down what was trained on a closed round and all before it; told the same again, nothing happens."""
    found = next((one for one in rounds_of(tx, project_id) if one.number == number), None)
    if found is None or found.state != "closed":
        raise Conflict("round_not_closed", n=number)
    if found.trained == trained:
        return
    tx.change(rounds, found.id, trained=dict(trained))
    _record(tx, "round.trained", project_id, number, by, **trained)


def rounds_of(tx: Transaction, project_id: int) -> list[Round]:
    """Return the rounds of a project, the first one first."""
    query = select(rounds).where(rounds.c.project_id == project_id).order_by(rounds.c.number)
    return [_round(row) for row in tx.all(query)]


def open_round_of(tx: Transaction, project_id: int) -> Round | None:
    """Return the round that is open, if any."""
    row = tx.row(rounds, project_id=project_id, state="open")
    return None if row is None else _round(row)


def round_of(tx: Transaction, round_id: int) -> Round:
    """Return a round by its id."""
    row = tx.row(rounds, id=round_id)
    if row is None:
        raise Missing("no_round")
    return _round(row)


def rates_of(found: Project, current: Round | None) -> Rates:
    """Return what is paid in a round."""
    pay = found.protocol.pay
    return current.pay if current is not None and current.pay is not None else Rates(pair=pay.pair, bonus=pay.bonus)


def protocol_now(tx: Transaction, found: Project) -> Protocol:
    """Return a project's protocol with the tries and the rates of the round that is open, if any."""
    current = open_round_of(tx, found.id) if found.kind.has_rounds else None
    if current is None:
        return found.protocol
    rates = rates_of(found, current)
    return replace(
        found.protocol,
        writing=replace(found.protocol.writing, tries=current.tries),
        pay=replace(found.protocol.pay, pair=rates.pair, bonus=rates.bonus),
    )


def unused_contexts(tx: Transaction, project_id: int) -> int:
    """Count the contexts that nobody has been given."""
    free = select(func.count(tasks.c.premise_id.distinct())).where(
        *_writing(project_id), tasks.c.state == "open", tasks.c.premise_id.not_in(_given(project_id))
    )
    return int(tx.value(free))


def open_work(tx: Transaction, project_id: int, current: Round) -> OpenWork:
    """Return what is still to be done in a round."""
    jobs = tx.value(select(func.count()).select_from(assignments).where(*_held_jobs(project_id)))
    waiting = tx.value(select(func.count()).where(tries.c.round_id == current.id, tries.c.decided_at.is_(None)))
    drawn = (pairs.c.round_id == current.id, pairs.c.state == "counted", pairs.c.draw_number.is_not(None))
    unverified = tx.value(select(func.count()).select_from(pairs).where(*drawn, pairs.c.verdict.is_(None)))
    return OpenWork(int(jobs), int(waiting), int(unverified))


def _verified(tx: Transaction, current: Round) -> bool:
    """Say whether others gave a pair of a round a label."""
    labelled = (pairs.c.round_id == current.id, pairs.c.state == "counted", pairs.c.verdict != NO_GOLD)
    return tx.one(select(pairs.c.id).where(*labelled).limit(1)) is not None


def _with_rounds(tx: Transaction, project_id: int) -> Project:
    """Return a project that has rounds, its row held until the transaction ends."""
    tx.lock(projects, project_id)
    found = project(tx, project_id)
    if not found.kind.has_rounds:
        raise Invalid("no_rounds", name=found.name)
    return found


def _writing(project_id: int) -> tuple[ColumnElement[bool], ...]:
    return (tasks.c.project_id == project_id, tasks.c.kind == "write")


def _held_jobs(project_id: int) -> tuple[ColumnElement[bool], ...]:
    return (
        assignments.c.project_id == project_id,
        assignments.c.kind == "write",
        assignments.c.state == "leased",
    )


def _unfinished_contexts(project_id: int) -> Any:
    """Select the open tasks of contexts that somebody has been given."""
    given = tasks.c.premise_id.in_(_given(project_id))
    return select(tasks.c.id).where(*_writing(project_id), tasks.c.state == "open", given)


def _given(project_id: int) -> Any:
    """Select the premises that somebody has been given."""
    return select(assignments.c.premise_id).where(assignments.c.project_id == project_id, assignments.c.kind == "write")


def _held_out(tx: Transaction, project_id: int, number: int) -> dict[str, list[str]]:
    """Return the pairs of a round that are not for train as it closes, and who writes for test alone."""
    snapshot = take_snapshot(tx, project_id)
    frame = split_pairs(snapshot).pairs.frame.filter(pl.col("round") == round_name(number)).collect()
    return {part: [*ids] for part, ids in asdict(HeldOut.of(frame, snapshot.exclusive)).items()}


def _record(tx: Transaction, kind: str, project_id: int, number: int, by: int | None, **data: Any) -> None:
    record(tx, kind, project_id=project_id, person_id=by, subject=f"round {number}", data=data)


def _round(row: Row[Any]) -> Round:
    return Round(
        id=row.id,
        number=row.number,
        state=row.state,
        adversaries=tuple(Adversary(**one) for one in row.adversaries),
        tries=row.tries,
        pay=None if row.pay is None else Rates(pair=Decimal(row.pay["pair"]), bonus=Decimal(row.pay["bonus"])),
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        trained=row.trained,
    )
