"""The budget: what a project may cost, kept by pausing it before a task is given out that might go beyond.

What people earned counts, and what tasks in their hands may still earn at most: what every sentence of it pays, the
bonus where it may be won, or what the floor under an hour's pay makes of the time for which it is lent. The bonus of a
round comes later, with the verdict: it counts with the job, and then with the pair for as long as that has no verdict.
So whatever is in hand can be taken and paid. Whatever else may cost more is refused where it would go beyond: an answer
that is undone, so that its pair may win the bonus after all, and what a requester does by themselves (a bonus by hand,
rejected work taken back in, higher rates while tasks are out, a lower budget, models that judge, too). A rejected vote
leaves its pair's bonus to be won again: then nothing is given out until there is room for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Float, Row, Text, and_, case, cast, func, literal, null, or_, select, union_all

from goldlabel.collect.events import record
from goldlabel.collect.money.hours import lease_time, work_time
from goldlabel.collect.money.ledger import PAYOUT, in_currency, in_units, kind_of
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.schema import assignments, events, ledger, pairs, projects, rounds, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.webhooks import BUDGET_REACHED, announce

CENT = 100
OVER, USED_UP = "over_budget", "budget_used_up"
"""What is said to a requester, and to who works and is not to know the budget."""
_STATES = (BUDGET_REACHED, "project.running", "project.paused", "project.archived", "project.restored")
"""The events that say why a project stands still or does not."""


@dataclass(frozen=True)
class Standing:
    """Where a project stands: what people earned, with what is missing to the floor; what tasks in hand may add."""

    budget: Decimal
    earned: Decimal
    in_hand: Decimal
    reached: bool

    @property
    def left(self) -> Decimal:
        """What is neither earned nor in people's hands."""
        return self.budget - self.earned - self.in_hand


class Rate(NamedTuple):
    """What a round pays for a job, and for a pair of it that is confirmed, as the database keeps it."""

    pair: int
    bonus: int


def hold_budget(tx: Transaction, project_id: int) -> Project:
    """Return a project; where it has a budget, its row is held, so that tasks are given out one after another."""
    found = project(tx, project_id)
    if not found.protocol.pay.budget:
        return found
    tx.lock(projects, project_id)
    return project(tx, project_id)


def has_room(tx: Transaction, found: Project, task: Row[Any], *, again: bool = True) -> bool:
    """Say whether a task may be given out; ``again`` says that it is counted where it lies in other hands already."""
    if not found.protocol.pay.budget:
        return True
    earned, in_hand = _sums(tx, found, without=task.id if again else 0)
    more = _most(found, _rates(tx, found))(task.kind, task.condition)
    return earned + in_hand + more <= in_units(found.protocol.pay.budget)


def require_room(tx: Transaction, found: Project, units: int, refusal: str = OVER) -> None:
    """Refuse what earns more than is left."""
    if found.protocol.pay.budget and (cost := sum(_sums(tx, found)) + units) > in_units(found.protocol.pay.budget):
        raise _refused(found, cost, refusal)


@contextmanager
def within_budget(tx: Transaction, project_id: int, refusal: str = OVER) -> Iterator[None]:
    """Hold a project's budget while a block runs; refuse it where it may cost more than is left, at once or later."""
    before = hold_budget(tx, project_id)
    had = sum(_sums(tx, before)) if before.protocol.pay.budget else 0
    yield
    after = project(tx, project_id)
    budget = in_units(after.protocol.pay.budget)
    cost = sum(_sums(tx, after)) if budget else 0
    if cost > budget and (cost > had or budget < in_units(before.protocol.pay.budget)):
        raise _refused(after, cost, refusal)


def _refused(found: Project, cost: int, refusal: str) -> Conflict:
    if refusal != OVER:
        return Conflict(refusal)
    pay = found.protocol.pay
    return Conflict(OVER, cost=in_currency(cost), budget=pay.budget, currency=pay.currency)


def pause_for_budget(tx: Transaction, found: Project) -> None:
    """Pause a project whose next task might cost more than is left, and tell who wants to know it."""
    told = standing(tx, found)
    sums = {"budget": str(told.budget), "earned": str(told.earned), "in_hand": str(told.in_hand)}
    tx.change(projects, found.id, state="paused")
    record(tx, BUDGET_REACHED, project_id=found.id, person_id=None, subject=f"project {found.id}", data=sums)
    announce(tx, found.id, BUDGET_REACHED, currency=found.protocol.pay.currency, **sums)


def is_reached(tx: Transaction, found: Project) -> bool:
    """Say whether a project stands still because of its budget."""
    if found.state != "paused":
        return False
    last = select(events.c.kind).where(events.c.project_id == found.id, events.c.kind.in_(_STATES))
    return bool(tx.value(last.order_by(events.c.id.desc()).limit(1)) == BUDGET_REACHED)


def standing(tx: Transaction, found: Project) -> Standing:
    """Return where a project stands, beside its budget."""
    earned, in_hand = _sums(tx, found)
    reached = is_reached(tx, found)
    return Standing(found.protocol.pay.budget, in_currency(earned), in_currency(in_hand), reached)


def wanted_by_floor(found: Project, seconds: int) -> int:
    """Return what so much work is to earn at least, to the cent."""
    return int((Decimal(seconds) / 3600 * in_units(found.protocol.pay.floor)).quantize(Decimal(CENT), ROUND_HALF_UP))


def _sums(tx: Transaction, found: Project, *, without: int = 0) -> tuple[int, int]:
    """Return what was earned and what tasks in hand may add.

    One statement reads both: between two, an answer could be sent and be in neither.
    """
    rates = _rates(tx, found)
    most = _most(found, rates)
    earned: Counter[int] = Counter()
    seconds: Counter[int] = Counter()
    in_hand = 0
    for row in tx.all(_counting(found, without, rates)):
        if row.what == "task":
            in_hand += int(row.number) * most(row.kind, row.condition)
        elif row.what == "bonus":
            in_hand += int(row.number)
        elif row.what == "line":
            earned[row.person_id] += int(row.number)
        else:
            seconds[row.person_id] += row.number
    missing = sum(max(0, wanted_by_floor(found, int(time)) - earned[person]) for person, time in seconds.items())
    return sum(earned.values()) + missing, in_hand


def _counting(found: Project, without: int, rates: Mapping[int, Rate]) -> Any:
    """Select the tasks that may be answered without being given out again, the lines, and the hours if they matter.

    Of rounds, the bonuses, too, of pairs that wait for a verdict; of hidden ones, if somebody has a vote in hand.

    Who had a task before may still answer it while it is free, and is paid.
    """
    had = select(assignments.c.id).where(assignments.c.task_id == tasks.c.id, assignments.c.state == "passed")
    nobody, nothing = cast(null(), BigInteger), cast(literal(""), Text)
    in_hand = (
        select(
            cast(literal("task"), Text).label("what"),
            tasks.c.kind.label("kind"),
            tasks.c.condition.label("condition"),
            nobody.label("person_id"),
            cast(func.count(), Float).label("number"),
        )
        .where(tasks.c.project_id == found.id, tasks.c.id != without)
        .where(or_(tasks.c.state == "leased", and_(tasks.c.state == "open", had.exists())))
        .group_by(tasks.c.kind, tasks.c.condition)
    )
    reversed_line, kind = kind_of()
    lines = (
        select(literal("line"), nothing, nothing, ledger.c.person_id, cast(func.sum(ledger.c.amount), Float))
        .outerjoin(reversed_line, reversed_line.c.id == ledger.c.reverses)
        .where(ledger.c.project_id == found.id, kind != PAYOUT)
        .group_by(ledger.c.person_id)
    )
    parts = [in_hand, lines]
    if rates:
        judged = select(tasks.c.pair_id).where(tasks.c.project_id == found.id, tasks.c.kind == "verify")
        judged = judged.where(tasks.c.state == "leased")
        bonus = case({round_id: rate.bonus for round_id, rate in rates.items()}, value=pairs.c.round_id, else_=0)
        parts.append(
            select(literal("bonus"), nothing, nothing, nobody, cast(func.coalesce(func.sum(bonus), 0), Float))
            .where(pairs.c.project_id == found.id, pairs.c.round_id.is_not(None), pairs.c.draw_number.is_not(None))
            .where(pairs.c.state == "counted", pairs.c.verdict.is_(None))
            .where(or_(pairs.c.hidden.is_(None), pairs.c.id.in_(judged)))
        )
    if found.protocol.pay.floor:
        time = work_time(found).subquery()
        parts.append(select(literal("time"), nothing, nothing, time.c.person_id, cast(time.c.seconds, Float)))
    return union_all(*parts)


def _rates(tx: Transaction, found: Project) -> dict[int, Rate]:
    """Return what each round of a project pays."""
    if not found.kind.has_rounds:
        return {}
    own = found.protocol.pay
    rows = tx.all(select(rounds.c.id, rounds.c.pay).where(rounds.c.project_id == found.id))
    return {
        row.id: Rate(in_units(own.pair), in_units(own.bonus))
        if row.pay is None
        else Rate(in_units(Decimal(row.pay["pair"])), in_units(Decimal(row.pay["bonus"])))
        for row in rows
    }


def _most(found: Project, rates: Mapping[int, Rate]) -> Callable[[str, str], int]:
    """Return what says how much a task of a kind and condition may cost at most."""
    pay, protocol = found.protocol.pay, found.protocol
    pair = max([in_units(pay.pair), *(rate.pair for rate in rates.values())])
    later = max((rate.bonus for rate in rates.values()), default=0)

    def most(kind: str, condition: str) -> int:
        earned = in_units(pay.label)
        if kind == "write":
            sentences = 1 if found.kind.has_rounds else len(protocol.slots(condition))
            bonus = in_units(pay.bonus) if protocol.condition(condition).bonus else 0
            earned = sentences * (pair + bonus)
        if pay.floor:
            # A person's time is cut to whole seconds and its worth rounded to a cent: one of each may come on top.
            seconds = int(lease_time(found, kind).total_seconds()) + 1
            earned = max(earned, wanted_by_floor(found, seconds) + CENT)
        return earned + (later if kind == "write" else 0)

    return most
