"""Bonuses: a writer earns one for a pair that fooled the model when others give it the writer's label.

In an arm without a model to be seen every pair is put to others, and each that they give the writer's label earns it.

Nie et al. (2020, section 2.2) pay it on top of the job. It follows the verdict: where that changes, or is gone, the
line is reversed. Where a requester sets the whole job aside, its bonus goes or stays with its other pay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.messages import message
from goldlabel.collect.money.ledger import Line, in_units, lines, pay, reverse_line, standing_lines
from goldlabel.collect.rounds.rounds import rates_of, round_of
from goldlabel.collect.schema import pairs, subsets
from goldlabel.collect.store import Transaction

if TYPE_CHECKING:
    from goldlabel.collect.projects import Project


def follow_verdict(tx: Transaction, project: Project, pair_id: int, by: int | None) -> None:
    """Pay the bonus for a pair, whose row is held, that has its writer's label as verdict, or take it back."""
    row = tx.row(pairs, id=pair_id)
    assert row is not None
    if row.round_id is None:
        return
    paid = {line.id: line for line in lines(tx, project.id, answer_id=row.answer_id)}
    given = [line for line in paid.values() if _is_bonus(line, paid)]
    standing = [line for line in standing_lines(tx, project.id, row.answer_id) if line in given]
    rates = rates_of(project, round_of(tx, row.round_id))
    confirmed = row.verdict == row.label
    arm = project.protocol.condition(tx.value(select(subsets.c.condition).where(subsets.c.id == row.subset_id)))
    if confirmed and not standing:
        units = in_units(rates.bonus)
        event_id = _record(tx, project, "pay.bonus", row.writer_id, pair_id, units, by)
        pay(
            tx,
            project_id=project.id,
            person_id=row.writer_id,
            kind="bonus",
            units=units,
            reason=message(
                "pay_fooled" if arm.shows_model else "pay_confirmed",
                rate=str(rates.bonus),
                currency=project.protocol.pay.currency,
            ),
            key=f"{_KEY}{pair_id} {len(given) + 1}",
            event_id=event_id,
            answer_id=row.answer_id,
        )
    for line in standing if not confirmed else ():
        event_id = _record(tx, project, "pay.reversal", row.writer_id, pair_id, -in_units(line.amount), by)
        reverse_line(tx, project.id, line, reason=message("pay_not_fooled"), event_id=event_id)


_KEY = "fooled "


def _is_bonus(line: Line, paid: Mapping[int, Line]) -> bool:
    """Say whether a line is such a bonus, or pays one again that was taken with a whole job."""
    if line.key.startswith("restored "):
        reversal = paid[int(line.key.removeprefix("restored "))]
        return _is_bonus(paid[reversal.reverses or 0], paid)
    return line.key.startswith(_KEY)


def _record(
    tx: Transaction, project: Project, kind: str, person_id: int, pair_id: int, units: int, by: int | None
) -> int:
    data = {"pay": {"person": person_id, "units": units}, "pair": pair_id}
    return record(tx, kind, project_id=project.id, person_id=by, subject=f"pair {pair_id}", data=data)
