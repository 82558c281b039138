"""What the arms of a campaign cost, context by context: writing, bonuses and the judgements of what was written."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import func, select

from goldlabel.collect.money.ledger import UNITS
from goldlabel.collect.schema import answers, ledger, pairs, subsets, tasks
from goldlabel.collect.store import Transaction

Costs = defaultdict[tuple[str, int], float]
"""In the project's currency, by condition and premise."""


def costs_of(tx: Transaction, project_id: int) -> Costs:
    """Sum the lines of a project's answers."""
    amount = func.sum(ledger.c.amount).label("units")
    lines = select(amount).join(answers, answers.c.id == ledger.c.answer_id).where(ledger.c.project_id == project_id)
    written = lines.join(tasks, tasks.c.id == answers.c.task_id).where(answers.c.kind == "write")
    written = written.add_columns(tasks.c.condition, tasks.c.premise_id)
    judged = lines.join(pairs, pairs.c.id == answers.c.pair_id).join(subsets, subsets.c.id == pairs.c.subset_id)
    judged = judged.where(answers.c.kind == "verify").add_columns(subsets.c.condition, pairs.c.premise_id)
    costs: Costs = defaultdict(float)
    for query in (
        written.group_by(tasks.c.condition, tasks.c.premise_id),
        judged.group_by(subsets.c.condition, pairs.c.premise_id),
    ):
        for row in tx.all(query):
            costs[row.condition, row.premise_id] += int(row.units) / UNITS
    return costs
