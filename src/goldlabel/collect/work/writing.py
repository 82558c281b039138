"""Writing: hypotheses for a premise become pairs, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import message
from goldlabel.collect.money.ledger import in_units
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import BrokenRules, Invalid
from goldlabel.collect.schema import pairs, premises, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.answering import Receipt, begin_answer, checked_timings, receipt, store_answer, told
from goldlabel.collect.work.checking import draw_check
from goldlabel.collect.work.drafts import forget_draft
from goldlabel.collect.work.earning import Earning, record_answer
from goldlabel.collect.work.responses import checked_responses
from goldlabel.collect.work.review import Review, review
from goldlabel.collect.work.rules import Hypothesis, clean_text

UNUSABLE = "unusable"
LONGEST_NOTE = 1000


def submit(
    tx: Transaction,
    assignment_id: int,
    person_id: int,
    *,
    key: str,
    hypotheses: Sequence[Hypothesis],
    timings: Mapping[str, float] | None = None,
    responses: Mapping[str, str] | None = None,
    reviewed: Review | None = None,
) -> Receipt:
    """Store the hypotheses written for a premise, with their pay, and draw some of them for verification.

    ``timings`` are seconds under names of the page's choice; ``total`` is the time for the whole premise. ``responses``
    are to the requester's own questions. ``reviewed`` is what the rules said before this transaction began.
    """
    row, earlier = begin_answer(tx, assignment_id, person_id, ("write",), key)
    if earlier is not None:
        return earlier
    found = project(tx, row.project_id)
    times = checked_timings(timings or {})
    said = checked_responses(found.protocol.questions, "write", responses or {})
    premise, task = _subject(tx, row)
    subject = (premise.text, task.condition, found.protocol, tuple(hypotheses))
    if reviewed is None or reviewed.subject != subject:
        reviewed = review(*subject)
    if reviewed.violations:
        raise BrokenRules(reviewed.violations)
    written = reviewed.written
    answer = store_answer(tx, row, key, timings=times, seconds=times.get("total"), responses=said)
    forget_draft(tx, row.id)
    subset_id = drawing.lock_subset(tx, found.id, "written", task.condition, task.genre)
    stored = _store_pairs(tx, subset_id, row, answer, written)
    data = {"pairs": [[pair_id, one.label] for pair_id, one in zip(stored, written, strict=True)]}
    units = record_answer(tx, answer, "answer.written", f"premise {row.premise_id}", data, _earned(found, reviewed))
    if answer.state == "counted":
        drawing.draw_subset(tx, found, subset_id, person_id)
        draw_check(tx, found, task.condition, answer.id)
    return receipt(tx, answer, units)


def mark_unusable(tx: Transaction, assignment_id: int, person_id: int, *, key: str, note: str) -> Receipt:
    """Store that a premise cannot be written about, and why; the last premise of its genre's queue takes its place."""
    row, earlier = begin_answer(tx, assignment_id, person_id, ("write",), key)
    if earlier is not None:
        return earlier
    note = clean_text(note)
    if not 1 <= len(note) <= LONGEST_NOTE:
        raise Invalid("note_length", n=len(note), longest=LONGEST_NOTE)
    answer = store_answer(tx, row, key, label=UNUSABLE, note=note, closes=UNUSABLE)
    forget_draft(tx, row.id)
    record(
        tx,
        "answer.unusable",
        project_id=row.project_id,
        person_id=person_id,
        subject=f"premise {row.premise_id}",
        data={**told(answer, UNUSABLE), "note": note},
    )
    if answer.state == "counted":
        _fill_place(tx, _subject(tx, row)[1])
    return receipt(tx, answer, 0)


def _subject(tx: Transaction, row: Row[Any]) -> tuple[Row[Any], Row[Any]]:
    """Return the premise and the task of an assignment."""
    premise = tx.row(premises, id=row.premise_id)
    task = tx.row(tasks, id=row.task_id)
    assert premise is not None
    assert task is not None
    return premise, task


def _store_pairs(
    tx: Transaction, subset_id: int, row: Row[Any], answer: Row[Any], written: Sequence[Hypothesis]
) -> list[int]:
    new = [
        {
            "project_id": row.project_id,
            "premise_id": row.premise_id,
            "answer_id": answer.id,
            "writer_id": row.person_id,
            "hypothesis": one.text,
            "label": one.label,
            "level": one.level,
        }
        for one in written
    ]
    if answer.state == "counted":
        return drawing.place(tx, subset_id, new)
    late = {"subset_id": subset_id, "considered": True, "state": "late", "created_at": tx.now}
    return tx.insert_returning(pairs, [one | late for one in new])


def _earned(found: Project, reviewed: Review) -> list[Earning]:
    """Return what hypotheses earn."""
    rates, written = found.protocol.pay, reviewed.written
    earned = [("base", rates.pair, "pay_written")]
    if reviewed.earns_bonus:
        earned.append(("bonus", rates.bonus, "pay_bonus"))
    return [
        Earning(
            kind, len(written) * in_units(rate), message(name, n=len(written), rate=str(rate), currency=rates.currency)
        )
        for kind, rate, name in earned
    ]


def _fill_place(tx: Transaction, task: Row[Any]) -> None:
    """Move the last waiting premise of a genre to the place of one that cannot be used.

    Ranks stay dense over the premises that can be used, so the lowest is still the genre with the least progress.
    """
    last = tx.one(
        select(tasks.c.id)
        .where(
            tasks.c.project_id == task.project_id,
            tasks.c.kind == task.kind,
            tasks.c.condition == task.condition,
            tasks.c.state == "open",
            tasks.c.rank > task.rank,
            tasks.c.genre == task.genre,
        )
        .order_by(tasks.c.rank.desc())
        .limit(1)
        .with_for_update(of=tasks, key_share=True, skip_locked=True)
    )
    if last is not None:
        tx.change(tasks, last.id, rank=task.rank, tie=task.tie)
