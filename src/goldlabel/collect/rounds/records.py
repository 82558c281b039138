"""Records of tries: what was tried, what a model said to it, and the pair that each try becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, case, select

from goldlabel.collect.protocols import ONLY
from goldlabel.collect.rounds.proposals import told_of
from goldlabel.collect.schema import answers, assignments, pairs, tasks, tries
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing


@dataclass(frozen=True)
class Try:
    """One try; ``drawn`` is the model that was to answer, ``model`` the one that did; ``scores`` is what it said.

    ``problem`` is why another than the drawn one answered, or, where there are no scores, none could.
    """

    round_id: int
    number: int
    key: str
    target: str
    text: str
    drawn: str | None
    model: str | None
    scores: Mapping[str, float] | None
    problem: str | None
    created_at: datetime
    decided_at: datetime | None
    proposal_id: int | None

    @property
    def failed(self) -> bool:
        """Whether no model could answer."""
        return self.decided_at is not None and self.scores is None

    @property
    def fooled(self) -> bool | None:
        """Whether the model said something else than the target; ``None`` while it has not answered."""
        return None if self.scores is None else max(self.scores, key=self.scores.__getitem__) != self.target


def all_tries(tx: Transaction, assignment_id: int) -> list[Try]:
    """Return the tries of an assignment in their order."""
    return [read_try(row) for row in tx.all(_TRIES, assignment_id=assignment_id)]


_TRIES = select(tries).where(tries.c.assignment_id == bindparam("assignment_id")).order_by(tries.c.number)


def read_try(row: Row[Any]) -> Try:
    """Return the try of a row."""
    names = (
        "round_id",
        "number",
        "key",
        "target",
        "text",
        "drawn",
        "model",
        "scores",
        "problem",
        "created_at",
        "decided_at",
        "proposal_id",
    )
    return Try(**{name: getattr(row, name) for name in names})


def store_pairs(
    tx: Transaction,
    job: Row[Any],
    made: Sequence[Try],
    about: Mapping[str, Any],
    answer: Row[Any] | None,
    round_id: int,
    *,
    all_judged: bool = False,
    reasons: Mapping[str, str] | None = None,
) -> list[int]:
    """Store the tries of a job as pairs: those that are to be verified behind those that are not; return their ids.

    What fooled the model is, or with ``all_judged`` everything: that is the last one, or none. ``about`` is what is
    told of all of them, ``reasons`` of the last. A job without an ``answer`` was not ended, and nothing of it is
    verified.
    """
    if not made:
        return []
    task = tx.row(tasks, id=job.task_id)
    assert task is not None
    by_origin: dict[str, list[dict[str, Any]]] = {"tried": [], "written": []}
    for one in made:
        why = {"reasons": dict(reasons)} if reasons and one is made[-1] else {}
        new = {
            "project_id": job.project_id,
            "premise_id": job.premise_id,
            "answer_id": None if answer is None else answer.id,
            "writer_id": job.person_id,
            "hypothesis": one.text,
            "label": one.target,
            "level": ONLY,
            "meta": told(one) | told_of(tx, one.proposal_id, one.text) | dict(about) | why,
            "round_id": round_id,
        }
        by_origin["written" if (one.fooled or all_judged) and answer is not None else "tried"].append(new)
    stored: list[int] = []
    for origin, rows in by_origin.items():
        if not rows:
            continue
        subset_id = drawing.lock_subset(tx, job.project_id, origin, task.condition, task.genre)
        if answer is None or answer.state == "counted":
            stored += drawing.place(tx, subset_id, rows)
        else:
            late = {"subset_id": subset_id, "considered": True, "state": "late", "created_at": tx.now}
            stored += tx.insert_returning(pairs, [new | late for new in rows])
    became = {one.number: pair_id for one, pair_id in zip(made, stored, strict=True)}
    own = (tries.c.assignment_id == job.id, tries.c.number.in_(became))
    tx.run(tries.update().where(*own).values(pair_id=case(became, value=tries.c.number)))
    return stored


def told(one: Try) -> dict[str, Any]:
    """Return what a pair tells of the try that it was."""
    return {"try": one.number, "model": one.model, "scores": one.scores, "fooled": one.fooled}


def store_unfinished(tx: Transaction, round_id: int, number: int) -> list[list[Any]]:
    """Store the tries of jobs that were never ended as pairs, flagged; return the id and the label of each.

    A try that no model could answer is left out, as in a job that was ended.
    """
    ended = select(answers.c.id).where(answers.c.assignment_id == assignments.c.id)
    tried = select(tries.c.assignment_id).where(tries.c.round_id == round_id)
    jobs = tx.all(select(assignments).where(assignments.c.id.in_(tried), ~ended.exists()).order_by(assignments.c.id))
    stored: list[list[Any]] = []
    for job in jobs:
        made = [one for one in all_tries(tx, job.id) if not one.failed]
        ids = store_pairs(tx, job, made, {"round": number, "unfinished": True}, None, round_id)
        stored += [[pair_id, one.target] for pair_id, one in zip(ids, made, strict=True)]
    return stored
