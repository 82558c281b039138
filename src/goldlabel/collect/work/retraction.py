"""Retraction: an answer that counted counts no more, and what it answered goes back into the queue.

The requester sets it aside, or whoever gave it withdraws it. Who gave it is not asked the same again. Pairs that it
made are out of the data, and votes on them that nobody has begun with are not asked for any more; a vote in somebody's
hands is taken and paid. A vote that is gone leaves its pair without a verdict until somebody else has given it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, select

from goldlabel.collect.data.hiding import is_wanted
from goldlabel.collect.events import record
from goldlabel.collect.messages import message
from goldlabel.collect.money.ledger import in_units, lines, pay, reverse_line, standing_lines
from goldlabel.collect.projects import Project
from goldlabel.collect.schema import answers, assignments, pairs, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.verdicts import lock_pairs, settle
from goldlabel.messages import Message

LATE = "late"


def lock_answer(tx: Transaction, answer_id: int) -> Row[Any] | None:
    """Return an answer as it stands, with its task held until the transaction ends."""
    answer = tx.row(answers, id=answer_id)
    if answer is not None:
        tx.lock(tasks, answer.task_id)
        answer = tx.row(answers, id=answer_id)
    return answer


def retract(
    tx: Transaction,
    found: Project,
    answer: Row[Any],
    *,
    state: str,
    kind: str,
    by: int | None,
    unpaid: Message | None,
    data: Mapping[str, Any],
) -> int:
    """Take a counted answer, whose task is held, out of what counts; return the id of the event, of the given kind.

    ``state`` is what the answer and its pairs become. ``unpaid`` is why its lines are reversed; without it they stay.
    """
    tx.change(answers, answer.id, state=state)
    tx.change(assignments, answer.assignment_id, state=state)
    becomes = "open" if _is_asked_for(tx, answer) else "withdrawn"
    tx.change(tasks, answer.task_id, state=becomes)
    made = _take_out(tx, answer.id, state)
    withdrawn = _change_tasks(tx, made, "open", "withdrawn")
    earned = standing_lines(tx, found.id, answer.id) if unpaid is not None else []
    event_id = record(
        tx,
        kind,
        project_id=found.id,
        person_id=by,
        subject=f"answer {answer.id}",
        data={
            **data,
            "answer": answer.id,
            "task": answer.task_id,
            "kind": answer.kind,
            "state": state,
            "retracts": becomes,
            "pair": answer.pair_id,
            "pairs": made,
            "withdrawn": withdrawn,
            "pay": {"person": answer.person_id, "units": -sum(in_units(line.amount) for line in earned)},
        },
    )
    for line in earned:
        reverse_line(tx, found.id, line, reason=unpaid or "", event_id=event_id)
    if answer.kind == "verify":
        settle(tx, found, answer.pair_id, by)
    return event_id


def restore(
    tx: Transaction, found: Project, answer: Row[Any], *, retracted_by: int, kind: str, by: int | None, decision: int
) -> int:
    """Let a retracted answer, whose task is held, count again, and pay again what the event ``retracted_by`` took.

    What has gone to somebody else meanwhile is kept as late and is paid, too. Return the id of the event.
    """
    task = tx.row(tasks, id=answer.task_id)
    assert task is not None
    free = task.state in ("open", "withdrawn")
    state, becomes = ("counted", answer.label if answer.label == "unusable" else "answered") if free else (LATE, None)
    tx.change(answers, answer.id, state=state)
    tx.change(assignments, answer.assignment_id, state=becomes or LATE)
    if becomes is not None:
        tx.change(tasks, answer.task_id, state=becomes)
    made = _take_out(tx, answer.id, state)
    reopened = _change_tasks(tx, made, "withdrawn", "open") if free else []
    reversals = [line for line in lines(tx, found.id, answer_id=answer.id) if line.event_id == retracted_by]
    event_id = record(
        tx,
        kind,
        project_id=found.id,
        person_id=by,
        subject=f"answer {answer.id}",
        data={
            "decision": decision,
            "answer": answer.id,
            "task": answer.task_id,
            "kind": answer.kind,
            "state": state,
            "restores": becomes,
            "label": answer.label,
            "pair": answer.pair_id,
            "pairs": made,
            "reopened": reopened,
            "pay": {"person": answer.person_id, "units": -sum(in_units(line.amount) for line in reversals)},
        },
    )
    kinds = {line.id: line.kind for line in lines(tx, found.id, answer_id=answer.id)}
    for line in reversals:
        pay(
            tx,
            project_id=found.id,
            person_id=answer.person_id,
            kind=kinds[line.reverses or 0],
            units=-in_units(line.amount),
            reason=message("pay_restored"),
            key=f"restored {line.id}",
            event_id=event_id,
            answer_id=answer.id,
        )
    if answer.kind == "verify":
        settle(tx, found, answer.pair_id, by)
    elif free:
        for pair_id in made:
            drawing.fill_up(tx, found, pair_id, by)
            settle(tx, found, pair_id, by)
    return event_id


def _is_asked_for(tx: Transaction, answer: Row[Any]) -> bool:
    """Say whether a vote is still wanted: a question with a known answer is one person's, and a pair may be out."""
    if answer.kind == "gold":
        return False
    premise_id = tx.value(select(tasks.c.premise_id).where(tasks.c.id == answer.task_id))
    return is_wanted(tx, pair_id=answer.pair_id, premise_id=premise_id)


def _take_out(tx: Transaction, answer_id: int, state: str) -> list[int]:
    """Set the state of the pairs of an answer, without a verdict, and return their ids; their rows are held."""
    ids = [row.id for row in tx.all(select(pairs.c.id).where(pairs.c.answer_id == answer_id).order_by(pairs.c.id))]
    lock_pairs(tx, ids)
    for pair_id in ids:
        tx.change(pairs, pair_id, state=state, verdict=None)
    return ids


def _change_tasks(tx: Transaction, pair_ids: list[int], old: str, new: str) -> list[int]:
    """Change the votes asked for on some pairs that are in one state to another; return the ids of their tasks."""
    if not pair_ids:
        return []
    shown = select(pairs.c.id).where(pairs.c.id.in_(pair_ids), pairs.c.hidden.is_(None))
    changed = (
        tasks.update()
        .where(tasks.c.pair_id.in_(shown), tasks.c.kind == "verify", tasks.c.state == old)
        .values(state=new)
        .returning(tasks.c.id)
    )
    return sorted(row.id for row in tx.all(changed))
