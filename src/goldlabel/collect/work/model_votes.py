"""Models as judges: what a model says of pairs that people judge, kept apart from what people say.

A model is one more annotator that never counts, unless the protocol says so (``verifying.models``). It is asked outside
any transaction, about pairs that are drawn for judging and that it has not judged yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Row, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.money.budget import within_budget
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import model_votes, pairs, premises
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.verdicts import settle
from goldlabel.models import Model

STEP = 256
"""Pairs that a model is asked about at a time; what it said is kept before it is asked again."""


def unjudged(tx: Transaction, project_id: int, name: str) -> list[Row[Any]]:
    """Return the pairs that people judge and a model has not judged."""
    said = select(model_votes.c.id).where(model_votes.c.pair_id == pairs.c.id, model_votes.c.model == name)
    query = (
        select(pairs.c.id, premises.c.text.label("premise"), pairs.c.hypothesis)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .where(pairs.c.project_id == project_id, pairs.c.state == "counted", pairs.c.hidden.is_(None))
        .where(pairs.c.draw_number.is_not(None), ~said.exists())
    )
    return list(tx.all(query.order_by(pairs.c.id)))


def judge_pairs(
    store: Store, project_id: int, name: str, model: Model, *, told: Callable[[int], object] = lambda _: None
) -> int:
    """Let a model judge whatever it has not judged; return how many votes it gave. Without an answer there is none."""
    with store.read() as tx:
        space, rows = project(tx, project_id).protocol.label_space, unjudged(tx, project_id, name)
    if model.label_space != space:
        raise Invalid("judge_labels", name=name, says=words(model.label_space.labels), wanted=words(space.labels))
    given = 0
    for start in range(0, len(rows), STEP):
        part = rows[start : start + STEP]
        shares = model.predict([row.premise for row in part], [row.hypothesis for row in part])
        answers = [
            (int(row.id), dict(zip(space.labels, map(float, scores), strict=True)))
            for row, scores in zip(part, shares, strict=True)
            if not np.isnan(scores).any()
        ]
        with store.write() as tx:
            given += add_votes(tx, project_id, name, answers)
        told(len(part))
    return given


def add_votes(tx: Transaction, project_id: int, name: str, answers: Sequence[tuple[int, Mapping[str, float]]]) -> int:
    """Keep what a model says of pairs, once each, and decide anew about those; return how many votes are new."""
    found = project(tx, project_id)
    new: list[tuple[int, str]] = []
    for pair_id, scores in answers:
        label = max(scores, key=scores.__getitem__)
        values = {"pair_id": pair_id, "model": name, "label": label, "scores": dict(scores)}
        if tx.insert_new(model_votes, project_id=project_id, created_at=tx.now, **values):
            new.append((pair_id, label))
    if new:
        data = {"model": name, "votes": new}
        record(tx, "model.voted", project_id=project_id, person_id=None, subject=f"project {project_id}", data=data)
    if new and found.protocol.verifying.models:
        with within_budget(tx, project_id):
            for pair_id, _ in new:
                settle(tx, found, pair_id, None)
    return len(new)
