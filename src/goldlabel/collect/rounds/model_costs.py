"""What models that are paid by use cost a round, by their own prices; it is not the project's money."""

from __future__ import annotations

from sqlalchemy import func, select

from goldlabel.collect.schema import model_costs
from goldlabel.collect.store import Transaction


def add_cost(tx: Transaction, round_id: int, model: str, cost: float) -> None:
    """Keep what a model was paid for answers in a round."""
    tx.insert(model_costs, round_id=round_id, model=model, cost=cost, created_at=tx.now)


def cost_of(tx: Transaction, round_id: int, model: str) -> float:
    """Return what a model has cost in a round, whoever asked it."""
    same = (model_costs.c.round_id == round_id, model_costs.c.model == model)
    return float(tx.value(select(func.sum(model_costs.c.cost)).where(*same)) or 0.0)
