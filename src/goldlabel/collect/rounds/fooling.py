"""The end of a job against models: the tries become pairs, and the one that fooled the model is to be verified.

A job may end when a try has fooled the model and the writer has said why their label is right and why the model was
wrong, or when all tries are used up. Tries that the model got right become pairs, too, which nobody verifies. In an arm
without a model to be seen a job ends with its one sentence, which is verified whatever a model says.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from goldlabel.collect.messages import message
from goldlabel.collect.money.ledger import in_units
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.rounds.records import store_pairs
from goldlabel.collect.rounds.rounds import rates_of, round_of
from goldlabel.collect.rounds.tries import counted_tries, job_of, tries_left
from goldlabel.collect.schema import pairs
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.answering import Receipt, begin_answer, checked_timings, receipt, store_answer
from goldlabel.collect.work.earning import Earning, record_answer
from goldlabel.collect.work.rules import clean_text

LONGEST_REASON = 1000
REASONS = ("label", "model")
"""What a writer says of the pair that fooled the model: why its label is right, and why the model was wrong."""


def finish(
    tx: Transaction,
    assignment_id: int,
    person_id: int,
    *,
    key: str,
    reasons: Mapping[str, str],
    timings: Mapping[str, float] | None = None,
) -> Receipt:
    """End a job: store its tries as pairs, with the pay for the job, and ask for verification of the last one."""
    row, earlier = begin_answer(tx, assignment_id, person_id, ("write",), key)
    if earlier is not None:
        return earlier
    job = job_of(tx, row)
    arm, made = job.arm, counted_tries(job.arm, job.tries)
    if not made:
        raise Conflict("no_try")
    fought = round_of(tx, made[0].round_id)
    said: dict[str, str] = {}
    if arm.shows_model:
        if made[-1].fooled is None:
            raise Conflict("try_waits")
        if not made[-1].fooled and tries_left(arm, fought, made):
            raise Conflict("tries_left", n=tries_left(arm, fought, made))
        said = _checked_reasons(reasons) if made[-1].fooled else {}
    times = checked_timings(timings or {})
    answer = store_answer(tx, row, key, timings=times, seconds=times.get("total"))
    hidden = not arm.shows_model
    about = {"round": fought.number}
    stored = store_pairs(tx, row, made, about, answer, fought.id, all_judged=hidden, reasons=said)
    rate = rates_of(job.project, fought).pair
    reason = message("pay_job", rate=str(rate), currency=job.project.protocol.pay.currency)
    written = [[pair_id, one.target] for pair_id, one in zip(stored, made, strict=True)]
    earned = [Earning("base", in_units(rate), reason)]
    units = record_answer(tx, answer, "answer.written", f"premise {row.premise_id}", {"pairs": written}, earned)
    if answer.state == "counted" and (made[-1].fooled or hidden):
        subset_id = tx.value(select(pairs.c.subset_id).where(pairs.c.id == stored[-1]))  # held since it was stored
        drawing.draw_subset(tx, job.project, subset_id, person_id)
    return receipt(tx, answer, units)


def _checked_reasons(reasons: Mapping[str, str]) -> dict[str, str]:
    cleaned = {name: clean_text(reasons.get(name, "")) for name in REASONS}
    for text in cleaned.values():
        if not 1 <= len(text) <= LONGEST_REASON:
            raise Invalid("reasons", most=LONGEST_REASON)
    return cleaned
