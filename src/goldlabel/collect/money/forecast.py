"""The forecast: how much is left of a project in tasks, hours, days and money.

Before anybody has worked it is made of the settings: the tasks that wait, the judgements that what is to be written
will want, the rates, and seconds per task that are assumed. Once people work, it goes by what they did: seconds, pairs
and pay per task so far, and how much was done in the last fortnight.

What is still unknown then is what kind of people will go on. So people are drawn, with all that they did: once as many
as worked, which is how far the figures so far may be off by chance, and once as many as the rest will take, which is
how far the rest may be off from what is usual. The figure times the ratio of the second to the first spreads as the
truth does around the figure (prediction by bootstrap; Davison and Hinkley 1997, chapter 6). The interval says nothing
of what may change: other people, other sentences, other rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import case, func, select

from goldlabel.collect.kinds.kind import VERIFY, WORKS, WRITE
from goldlabel.collect.money.hours import work_time
from goldlabel.collect.money.ledger import PAYOUT, UNITS, in_units, kind_of
from goldlabel.collect.projects import Project, project
from goldlabel.collect.schema import answers, ledger, members, pairs, subsets, tasks
from goldlabel.collect.store import Transaction
from goldlabel.metrics import Estimate
from goldlabel.metrics.bootstrap import percentile_interval
from goldlabel.seeds import random_state

SECONDS_PER_SENTENCE, SECONDS_PER_JUDGEMENT = 45.0, 15.0
"""What a task is assumed to take before anybody has done one."""
FORTNIGHT, DAY, HOUR = timedelta(days=14), timedelta(days=1), 3600
LEVEL, RESAMPLES = 0.95, 1000
SETTINGS, PACE = "settings", "pace"
BY_RULES = "least and most that the rules pay"
BY_PEOPLE = "bootstrap over people, those who worked and those who will"
FIGURES = ("tasks_left", "hours_left", "days_left", "cost_left")
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Forecast:
    """What is left, and what all will have cost; ``seconds`` a task of each work takes, ``assumed`` for some works.

    ``basis`` is ``settings`` or ``pace``; there are no days before somebody has worked.
    """

    basis: str
    currency: str
    seconds: Mapping[str, float]
    assumed: tuple[str, ...]
    tasks_left: Estimate
    hours_left: Estimate
    days_left: Estimate | None
    cost_left: Estimate
    cost_total: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        told: dict[str, Any] = {"basis": self.basis, "currency": self.currency}
        told |= {"seconds": dict(self.seconds), "assumed": list(self.assumed)}
        for name in (*FIGURES, "cost_total"):
            figure: Estimate | None = getattr(self, name)
            told[name] = None if figure is None else figure.to_dict()
        return told


@dataclass(frozen=True)
class Usual:
    """What a task of a work takes and earns, in units of money."""

    seconds: float
    units: float


@dataclass(frozen=True)
class Left:
    """What waits to be written and judged, and how many judgements each sentence to be written will want.

    ``questions`` with a known answer come on top of each judgement.
    """

    writing: int
    judging: int
    per_pair: float
    questions: float


@dataclass(frozen=True)
class Done:
    """What each person did of each work: answers, those of which the time is known, seconds, pay, and answers lately.

    ``pairs`` is what they wrote; ``days`` how long ``lately`` is.
    """

    answers: Mapping[str, Numbers]
    timed: Mapping[str, Numbers]
    seconds: Mapping[str, Numbers]
    units: Mapping[str, Numbers]
    lately: Mapping[str, Numbers]
    pairs: Numbers
    days: float

    @property
    def sizes(self) -> Numbers:
        """How many answers each person gave."""
        return sum(self.answers.values(), np.zeros_like(self.pairs))


def forecast_project(tx: Transaction, project_id: int) -> Forecast:
    """Forecast a project as one transaction sees it."""
    found = project(tx, project_id)
    left, sentences = _left(tx, found)
    done = _done(tx, found)
    earned = _earned(tx, project_id)
    usual = _usual(found, left, sentences)
    worked = [name for name in WORKS if done.answers[name].sum()]
    if worked:
        figures = predict(done, left, usual, sentences["asked"] / max(1, left.writing))
    else:
        figures = _by_rules(found, left, sentences)
    timed = [name for name in WORKS if done.timed[name].sum()]
    seconds = {
        work.name: float(done.seconds[work.name].sum() / done.timed[work.name].sum())
        if work.name in timed
        else usual[work.name].seconds
        for work in found.kind.works
    }
    return Forecast(
        basis=PACE if worked else SETTINGS,
        currency=found.protocol.pay.currency,
        seconds=seconds,
        assumed=tuple(name for name in seconds if name not in timed),
        tasks_left=figures["tasks_left"],
        hours_left=figures["hours_left"],
        days_left=figures.get("days_left"),
        cost_left=_in_currency(figures["cost_left"]),
        cost_total=_in_currency(figures["cost_left"], earned),
    )


def predict(
    done: Done, left: Left, usual: Mapping[str, Usual], pairs_each: float, *, seed: int = 0
) -> dict[str, Estimate]:
    """Return the figures of what is left by what people did, with intervals; no days where nobody worked lately."""
    people = len(done.pairs)
    whole = figures_of(np.ones((1, people)), done, left, usual, pairs_each)
    chance, even = random_state(seed), np.full(people, 1 / people)
    left_share = float(whole["tasks_left"][0]) / float(done.sizes.sum())
    coming = min(max(1, round(people * left_share)), 10**6)
    past = figures_of(chance.multinomial(people, even, RESAMPLES), done, left, usual, pairs_each)
    future = figures_of(chance.multinomial(coming, even, RESAMPLES) * (people / coming), done, left, usual, pairs_each)
    estimates: dict[str, Estimate] = {}
    for name in FIGURES:
        value = float(whole[name][0])
        if not np.isfinite(value):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = value * future[name] / past[name]
        low, high = percentile_interval(drawn, done.sizes, LEVEL) or (None, None)
        estimates[name] = Estimate(value, low, high, LEVEL, int(done.sizes.sum()), people, BY_PEOPLE)
    return estimates


def figures_of(
    weights: NDArray[Any], done: Done, left: Left, usual: Mapping[str, Usual], pairs_each: float
) -> dict[str, Numbers]:
    """Return what is left if each person counts so often: a row of weights, and a figure, for each resample."""

    def ratio(above: Numbers, below: Numbers, otherwise: float) -> Numbers:
        sums = weights @ below
        otherwise = float(above.sum() / below.sum()) if below.sum() else otherwise
        return np.where(sums > 0, weights @ above / np.where(sums > 0, sums, 1.0), otherwise)

    seconds = {name: ratio(done.seconds[name], done.timed[name], usual[name].seconds) for name in WORKS}
    units = {name: ratio(done.units[name], done.answers[name], usual[name].units) for name in WORKS}
    written = ratio(done.pairs, done.answers[WRITE.name], pairs_each)
    count = {
        WRITE.name: np.full(len(weights), float(left.writing)),
        VERIFY.name: (left.judging + left.writing * written * left.per_pair) * (1 + left.questions),
    }
    hours = sum((count[name] * seconds[name] for name in WORKS), np.zeros(len(weights))) / HOUR
    lately = sum((weights @ done.lately[name] * seconds[name] for name in WORKS), np.zeros(len(weights))) / HOUR
    with np.errstate(divide="ignore", invalid="ignore"):
        days = np.where(lately > 0, hours / lately * done.days, np.nan)
    return {
        "tasks_left": sum(count.values(), np.zeros(len(weights))),
        "hours_left": hours,
        "days_left": days,
        "cost_left": sum((count[name] * units[name] for name in WORKS), np.zeros(len(weights))),
    }


def _by_rules(found: Project, left: Left, sentences: Mapping[str, int]) -> dict[str, Estimate]:
    """Return the figures that follow from the settings: every sentence that is asked for, without a bonus.

    The least is without the sentences that writers may leave out, the most with the bonus.
    """
    pay = found.protocol.pay

    def figures(written: str, paid: str, bonus: int) -> tuple[float, float, float]:
        judged = (left.judging + sentences[written] * left.per_pair) * (1 + left.questions)
        hours = (sentences[written] * SECONDS_PER_SENTENCE + judged * SECONDS_PER_JUDGEMENT) / HOUR
        cost = sentences[paid] * in_units(pay.pair) + judged * in_units(pay.label)
        return left.writing + judged, hours, cost + bonus * in_units(pay.bonus)

    usual, least = figures("asked", "paid", 0), figures("needed", "paid at least", 0)
    most = figures("asked", "paid", sentences["bonus"])
    names = ("tasks_left", "hours_left", "cost_left")
    return {
        name: Estimate(value, low, high, 1.0, 0, 0, BY_RULES)
        for name, value, low, high in zip(names, usual, least, most, strict=True)
    }


def _left(tx: Transaction, found: Project) -> tuple[Left, Counter[str]]:
    """Return what is left, and how many sentences are to be written: asked for, needed, paid, with a bonus."""
    rules, rate = found.protocol.verifying, found.protocol.qualification.gold_rate
    own = (tasks.c.project_id == found.id, tasks.c.state.in_(("open", "leased")))
    query = select(tasks.c.kind, tasks.c.condition, func.count().label("n")).where(*own)
    waiting, sentences, labels = Counter[str](), Counter[str](), len(found.protocol.ordered_labels)
    for row in tx.all(query.group_by(tasks.c.kind, tasks.c.condition)):
        waiting[row.kind] += row.n
        if row.kind == WRITE.name:
            condition = found.protocol.condition(row.condition)
            asked, spared = labels * len(condition.levels), labels * len(condition.optional)
            sentences["asked"] += row.n * asked
            sentences["needed"] += row.n * (asked - spared)
            sentences["paid"] += row.n * (1 if found.kind.has_rounds else asked)
            sentences["paid at least"] += row.n * (1 if found.kind.has_rounds else asked - spared)
            sentences["bonus"] += row.n * asked if condition.bonus else 0
    more, undecided = _further_votes(tx, found)
    waiting[VERIFY.name] += round(more * undecided)
    per_pair = rules.share * (rules.verifiers + more) if found.kind.writes else 0.0
    judged = waiting[VERIFY.name] + sentences["asked"] * per_pair
    questions = 0.0
    if judged and rate < 1:
        gold = select(func.count()).select_from(pairs).join(subsets, subsets.c.id == pairs.c.subset_id)
        known = tx.value(gold.where(subsets.c.project_id == found.id, subsets.c.origin == "gold"))
        verifiers = (members.c.project_id == found.id, members.c.role == VERIFY.role)
        people = tx.value(select(func.count()).select_from(members).where(*verifiers))
        # Nobody is asked the same question twice.
        questions = min(rate / (1 - rate), known * max(1, people) / judged)
    return Left(waiting[WRITE.name], waiting[VERIFY.name], per_pair, questions), sentences


def _further_votes(tx: Transaction, found: Project) -> tuple[float, int]:
    """Return how many votes beyond the first a decided pair took so far, where more may be asked for, and how many
    pairs wait for their first votes; before a pair is decided, nobody knows how often the first ones differ.
    """
    if found.policy.first == found.policy.last:
        return 0.0, 0
    asked = (
        select(pairs.c.id, pairs.c.verdict, func.count(tasks.c.id).label("n"))
        .join(tasks, (tasks.c.pair_id == pairs.c.id) & (tasks.c.kind == VERIFY.name))
        .where(pairs.c.project_id == found.id, pairs.c.state == "counted", pairs.c.hidden.is_(None))
        .group_by(pairs.c.id, pairs.c.verdict)
        .subquery()
    )
    decided = asked.c.verdict.is_not(None)
    row = tx.one(
        select(
            func.sum(case((decided, 1), else_=0)).label("decided"),
            func.sum(case((decided, asked.c.n - found.policy.first), else_=0)).label("more"),
            func.sum(case((~decided & (asked.c.n <= found.policy.first), 1), else_=0)).label("undecided"),
        )
    )
    if row is None or not row.decided:
        return 0.0, 0
    return float(row.more) / row.decided, int(row.undecided)


def _usual(found: Project, left: Left, sentences: Mapping[str, int]) -> dict[str, Usual]:
    """Return what tasks are assumed to take, and what they earn by the settings."""
    pay, writing = found.protocol.pay, max(1, left.writing)
    written = Usual(
        sentences["asked"] / writing * SECONDS_PER_SENTENCE, sentences["paid"] / writing * in_units(pay.pair)
    )
    return {WRITE.name: written, VERIFY.name: Usual(SECONDS_PER_JUDGEMENT, float(in_units(pay.label)))}


def _done(tx: Transaction, found: Project) -> Done:
    paid = select(ledger.c.answer_id, func.sum(ledger.c.amount).label("units"))
    paid_lines = paid.where(ledger.c.project_id == found.id).group_by(ledger.c.answer_id).subquery()
    counted = (answers.c.project_id == found.id, answers.c.state == "counted")
    first = tx.value(select(func.min(answers.c.created_at)).where(*counted))
    since = max(first, tx.now - FORTNIGHT) if first is not None else tx.now
    given = tx.all(
        select(
            answers.c.person_id,
            answers.c.kind,
            func.count().label("n"),
            func.coalesce(func.sum(paid_lines.c.units), 0).label("units"),
            func.sum(case((answers.c.created_at >= since, 1), else_=0)).label("lately"),
        )
        .outerjoin(paid_lines, paid_lines.c.answer_id == answers.c.id)
        .where(*counted)
        .group_by(answers.c.person_id, answers.c.kind)
    )
    written = tx.all(
        select(pairs.c.writer_id, func.count().label("n"))
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .where(pairs.c.project_id == found.id, pairs.c.state == "counted", subsets.c.origin == "written")
        .group_by(pairs.c.writer_id)
    )
    place = {person: number for number, person in enumerate(sorted({row.person_id for row in given}))}
    columns = {
        name: {work: np.zeros(len(place)) for work in WORKS}
        for name in ("answers", "timed", "seconds", "units", "lately")
    }
    for row in given:
        for name, value in (("answers", row.n), ("units", row.units), ("lately", row.lately)):
            columns[name][_work(row.kind)][place[row.person_id]] += float(value)
    for row in tx.all(work_time(found)):
        if row.person_id in place:
            columns["timed"][_work(row.kind)][place[row.person_id]] += row.n
            columns["seconds"][_work(row.kind)][place[row.person_id]] += row.seconds
    made = np.zeros(len(place))
    for row in written:
        if row.writer_id in place:
            made[place[row.writer_id]] = row.n
    return Done(**columns, pairs=made, days=max(tx.now - since, DAY) / DAY)


def _work(kind: str) -> str:
    """Return the work that a kind of task belongs to."""
    return next(work.name for work in WORKS.values() if kind in work.tasks)


def _earned(tx: Transaction, project_id: int) -> int:
    reversed_line, kind = kind_of()
    query = select(func.sum(ledger.c.amount)).outerjoin(reversed_line, reversed_line.c.id == ledger.c.reverses)
    return int(tx.value(query.where(ledger.c.project_id == project_id, kind != PAYOUT)) or 0)


def _in_currency(units: Estimate, more: int = 0) -> Estimate:
    """Return a figure of money in the project's currency, with what is certain added to it."""
    value, low, high = (
        None if end is None else round((end + more) / UNITS, 2) for end in (units.value, units.low, units.high)
    )
    return replace(units, value=value, low=low, high=high)
