"""History: what a person sent, and changing or withdrawing it while nothing is decided on it.

A vote may be changed until its pair has a verdict. A text may be changed until somebody has begun to judge it, so that
no vote is about words that its voter never saw; one that was tried against a model stays as it was. What stood there
before is kept in the events, and pay follows.

A question with a known answer has no verdict, and must not be told apart by that: it is as fixed as the vote that its
sender gave last before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import VERIFY, WRITE
from goldlabel.collect.messages import message, words
from goldlabel.collect.money.budget import USED_UP, hold_budget, require_room
from goldlabel.collect.money.ledger import Line, in_currency, in_units, pay, reverse_line, standing_lines
from goldlabel.collect.people.qualification import suspend_untrusted
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import BrokenRules, Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, checks, ledger, pairs, premises, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.leases import lock_person
from goldlabel.collect.work.responses import checked_responses
from goldlabel.collect.work.retraction import lock_answer, retract
from goldlabel.collect.work.rules import Hypothesis, check_hypotheses, clean_text, meets_bonus
from goldlabel.collect.work.verdicts import lock_pairs, settle
from goldlabel.collect.work.writing import UNUSABLE

PAGE = 20
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class SentPair:
    """One hypothesis that a person wrote; ``open`` says that it can still be changed."""

    id: int
    label: str
    level: str | None
    hypothesis: str
    open: bool


@dataclass(frozen=True)
class Sent:
    """What a person sent, and what it earned; ``open`` says that it can still be changed or withdrawn."""

    answer_id: int
    assignment_id: int
    writes: bool
    premise: str
    hypothesis: str | None
    label: str | None
    note: str | None
    pairs: list[SentPair]
    responses: Mapping[str, str]
    state: str
    at: datetime
    earned: Decimal
    open: bool


def sent(
    tx: Transaction, project_id: int, person_id: int, *, before: int | None = None
) -> tuple[list[Sent], int | None]:
    """Return what a person sent, the newest first, and the id from which older answers go on."""
    mine = select(answers).where(answers.c.project_id == project_id, answers.c.person_id == person_id)
    if before is not None:
        mine = mine.where(answers.c.id < before)
    rows = tx.all(mine.order_by(answers.c.id.desc()).limit(PAGE + 1))
    older = rows[PAGE - 1].id if len(rows) > PAGE else None
    rows = rows[:PAGE]
    judged = _by(tx, pairs.c.id.in_([row.pair_id for row in rows if row.pair_id is not None]), "id")
    written = _by(tx, pairs.c.answer_id.in_([row.id for row in rows if row.kind == "write"]), "answer_id")
    subjects = _premises(tx, rows)
    begun = _begun(tx, [pair.id for of_one in written.values() for pair in of_one])
    looked_at = {row.answer_id for row in tx.all(_looked_at([row.id for row in rows]))}
    sums = _earned(tx, [row.id for row in rows])
    shown = []
    for row in rows:
        own, subject = written.get(row.id, []), judged.get(row.pair_id, [])
        decided = _is_fixed(tx, row) if row.kind == "gold" else any(pair.verdict for pair in own or subject)
        free = row.state == "counted" and row.id not in looked_at and not decided
        shown.append(
            Sent(
                answer_id=row.id,
                assignment_id=row.assignment_id,
                writes=row.kind == "write",
                premise=subjects[row.id],
                hypothesis=subject[0].hypothesis if subject else None,
                label=row.label,
                note=row.note,
                pairs=[
                    SentPair(
                        id=pair.id,
                        label=pair.label,
                        level=pair.level,
                        hypothesis=pair.hypothesis,
                        open=free and pair.id not in begun and not _is_tried(pair),
                    )
                    for pair in own
                ],
                responses=row.responses or {},
                state=row.state,
                at=row.created_at,
                earned=in_currency(sums.get(row.id, 0)),
                open=free,
            )
        )
    return shown, older


def change_vote(tx: Transaction, project_id: int, answer_id: int, person_id: int, label: str) -> None:
    """Change a vote that its pair's verdict does not hang on yet."""
    found, answer = _own(tx, project_id, answer_id, person_id)
    if answer.kind not in VERIFY.tasks:
        raise Missing("no_such_answer")
    if label not in found.protocol.answers:
        raise Invalid("answer", answer=label, answers=words(found.protocol.answers))
    tx.lock(pairs, answer.pair_id)
    if _is_fixed(tx, answer):
        raise Conflict("answer_fixed")
    if label == answer.label:
        return
    tx.change(answers, answer.id, label=label)
    data = {"pair": answer.pair_id, "label": label, "before": answer.label}
    _record(tx, found, answer, person_id, **data)
    if answer.kind == "gold":
        suspend_untrusted(tx, found, person_id)
    else:
        settle(tx, found, answer.pair_id, person_id)


def change_text(tx: Transaction, project_id: int, answer_id: int, person_id: int, pair_id: int, text: str) -> None:
    """Change a hypothesis that nobody has begun to judge; it is held against the rules like a new one."""
    hold_budget(tx, project_id)
    found, answer = _own(tx, project_id, answer_id, person_id)
    # Tasks that wait are held, so that nobody is given one with the old text meanwhile.
    lock_pairs(tx, [pair_id])
    written = _pairs_of(tx, answer.id)
    pair = next((one for one in written if one.id == pair_id), None)
    if pair is None:
        raise Missing("no_pair")
    if _begun(tx, [pair_id]) or tx.one(_looked_at([answer.id])) is not None or _is_tried(pair):
        raise Conflict("answer_fixed")
    text = clean_text(text)
    if text == pair.hypothesis:
        return
    premise, task = tx.row(premises, id=pair.premise_id), tx.row(tasks, id=answer.task_id)
    assert premise is not None
    assert task is not None
    new = [
        Hypothesis(label=one.label, level=one.level or "", text=text if one.id == pair_id else one.hypothesis)
        for one in written
    ]
    broken = check_hypotheses(premise.text, new, found.protocol, task.condition)
    if broken:
        raise BrokenRules(broken)
    tx.change(pairs, pair_id, hypothesis=text)
    bonus = found.protocol.condition(task.condition).bonus and meets_bonus(premise.text, new, found.protocol)
    _follow(tx, found, answer, person_id, bonus, len(new), pair=pair_id, text=text, before=pair.hypothesis)


def change_responses(
    tx: Transaction, project_id: int, answer_id: int, person_id: int, responses: Mapping[str, str]
) -> None:
    """Answer the requester's own questions otherwise, while what they were asked with can still be changed."""
    found, answer = _own(tx, project_id, answer_id, person_id)
    if answer.label == UNUSABLE:
        raise Missing("no_such_answer")
    _hold_undecided(tx, answer)
    work = VERIFY.name if answer.kind in VERIFY.tasks else WRITE.name
    said = checked_responses(found.protocol.questions, work, responses)
    if said != answer.responses:
        tx.change(answers, answer.id, responses=said)
        _record(tx, found, answer, person_id, responses=said or {}, before=answer.responses or {})


def withdraw(tx: Transaction, project_id: int, answer_id: int, person_id: int) -> None:
    """Take an answer back on which nothing is decided yet; others are asked, and its pay is reversed."""
    found, answer = _own(tx, project_id, answer_id, person_id)
    _hold_undecided(tx, answer)
    retract(
        tx,
        found,
        answer,
        state=WITHDRAWN,
        kind="answer.withdrawn",
        by=person_id,
        unpaid=message("pay_withdrawn"),
        data={},
    )


def _own(tx: Transaction, project_id: int, answer_id: int, person_id: int) -> tuple[Project, Row[Any]]:
    """Return a person's own counted answer, its task held; to anybody else it does not exist."""
    lock_person(tx, person_id)
    answer = lock_answer(tx, answer_id)
    if answer is None or answer.person_id != person_id or answer.project_id != project_id:
        raise Missing("no_such_answer")
    if answer.state != "counted":
        raise Conflict("answer_not_counted")
    return project(tx, answer.project_id), answer


def _hold_undecided(tx: Transaction, answer: Row[Any]) -> None:
    """Hold the pairs of an answer until the transaction ends; refuse one on which something is decided."""
    if answer.pair_id is not None:
        tx.lock(pairs, answer.pair_id)
    else:
        lock_pairs(tx, [pair.id for pair in _pairs_of(tx, answer.id)])
    decided = any(pair.verdict for pair in _pairs_of(tx, answer.id))
    if decided or tx.one(_looked_at([answer.id])) is not None or (answer.pair_id and _is_fixed(tx, answer)):
        raise Conflict("answer_fixed")


def _is_fixed(tx: Transaction, answer: Row[Any]) -> bool:
    """Say whether a vote can be changed no more: its pair has a verdict, or its neighbour's, where it has none."""
    pair_id = answer.pair_id
    if answer.kind == "gold":
        neighbour = (
            select(answers.c.pair_id)
            .where(
                answers.c.project_id == answer.project_id,
                answers.c.person_id == answer.person_id,
                answers.c.kind == "verify",
            )
            .order_by((answers.c.id > answer.id), func.abs(answers.c.id - answer.id))
            .limit(1)
        )
        pair_id = tx.value(neighbour)
    return tx.value(select(pairs.c.verdict).where(pairs.c.id == pair_id)) is not None


def _follow(
    tx: Transaction, found: Project, answer: Row[Any], person_id: int, bonus: bool, count: int, **data: Any
) -> None:
    """Write down a changed text, and let the bonus follow it."""
    had: list[Line] = [line for line in standing_lines(tx, found.id, answer.id) if line.kind == "bonus"]
    rates, lost, won = found.protocol.pay, had if not bonus else [], bonus and not had
    units = count * in_units(rates.bonus) if won else -sum(in_units(line.amount) for line in lost)
    event_id = _record(tx, found, answer, person_id, pay={"person": person_id, "units": units}, **data)
    for line in lost:
        reverse_line(tx, found.id, line, reason=message("pay_changed"), event_id=event_id)
    if won:
        require_room(tx, found, units, USED_UP)
        pay(
            tx,
            project_id=found.id,
            person_id=person_id,
            kind="bonus",
            units=units,
            reason=message("pay_bonus", n=count, rate=str(rates.bonus), currency=rates.currency),
            key=f"bonus {answer.id} {event_id}",
            event_id=event_id,
            answer_id=answer.id,
        )


def _record(tx: Transaction, found: Project, answer: Row[Any], person_id: int, **data: Any) -> int:
    data = {"answer": answer.id, "kind": answer.kind, **data}
    subject = f"answer {answer.id}"
    return record(tx, "answer.changed", project_id=found.id, person_id=person_id, subject=subject, data=data)


def _pairs_of(tx: Transaction, answer_id: int) -> Sequence[Row[Any]]:
    return tx.all(select(pairs).where(pairs.c.answer_id == answer_id).order_by(pairs.c.id))


def _by(tx: Transaction, chosen: Any, key: str) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = {}
    for row in tx.all(select(pairs).where(chosen).order_by(pairs.c.id)):
        found.setdefault(getattr(row, key), []).append(row)
    return found


def _premises(tx: Transaction, rows: Sequence[Row[Any]]) -> dict[int, str]:
    """Return what each answer was about."""
    about = func.coalesce(tasks.c.premise_id, pairs.c.premise_id)
    query = (
        select(answers.c.id, premises.c.text)
        .join(tasks, tasks.c.id == answers.c.task_id)
        .outerjoin(pairs, pairs.c.id == tasks.c.pair_id)
        .join(premises, premises.c.id == about)
        .where(answers.c.id.in_([row.id for row in rows]))
    )
    return {row.id: row.text for row in tx.all(query)}


def _begun(tx: Transaction, pair_ids: Sequence[int]) -> set[int]:
    """Return the pairs of some that somebody has judged or has in hand."""
    begun = select(tasks.c.pair_id).where(tasks.c.pair_id.in_(pair_ids), tasks.c.state.in_(("leased", "answered")))
    return {row.pair_id for row in tx.all(begun)}


def _is_tried(pair: Row[Any]) -> bool:
    """Say whether a model has answered to a pair: what it answered to is this text and no other."""
    return pair.round_id is not None


def _looked_at(answer_ids: Sequence[int]) -> Any:
    return select(checks.c.answer_id).where(checks.c.answer_id.in_(answer_ids), checks.c.checked_at.is_not(None))


def _earned(tx: Transaction, answer_ids: Sequence[int]) -> dict[int, int]:
    query = select(ledger.c.answer_id, func.sum(ledger.c.amount).label("units"))
    query = query.where(ledger.c.answer_id.in_(answer_ids)).group_by(ledger.c.answer_id)
    return {row.answer_id: int(row.units) for row in tx.all(query)}
