"""Feedback: what annotators are told about their own work, where the project wants it.

Only sums are told, of pairs that are decided, in tens and from twenty on, so that no single verdict can be read off the
figures. Questions with a known answer are not among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from sqlalchemy import case, select

from goldlabel.collect.projects import Project
from goldlabel.collect.schema import answers, pairs
from goldlabel.collect.store import Transaction
from goldlabel.pairs.labels import NO_GOLD

FEWEST, STEP = 20, 10


@dataclass(frozen=True)
class Feedback:
    """How far a person's judgements, and the labels they wrote, agree with what was decided; and their pace.

    A share is none while too little is decided; ``seconds`` and ``usual`` are medians per judgement, of this person
    and of all.
    """

    judged: int
    judged_agree: float | None
    written: int
    written_agree: float | None
    seconds: float | None
    usual: float | None


def feedback(tx: Transaction, found: Project, person_id: int) -> Feedback | None:
    """Return what a person may know about their own work, or nothing where the project does not tell."""
    if not found.protocol.qualification.feedback:
        return None
    decided = (pairs.c.verdict.is_not(None), pairs.c.verdict != NO_GOLD)
    votes = (
        select(case((answers.c.label == pairs.c.verdict, 1), else_=0).label("same"))
        .join(pairs, pairs.c.id == answers.c.pair_id)
        .where(
            answers.c.project_id == found.id,
            answers.c.person_id == person_id,
            answers.c.kind == "verify",
            answers.c.state == "counted",
            *decided,
        )
        .order_by(answers.c.id)
    )
    written = (
        select(case((pairs.c.label == pairs.c.verdict, 1), else_=0).label("same"))
        .where(pairs.c.project_id == found.id, pairs.c.writer_id == person_id, pairs.c.state == "counted", *decided)
        .order_by(pairs.c.id)
    )
    judged, judged_agree = _share([row.same for row in tx.all(votes)])
    wrote, written_agree = _share([row.same for row in tx.all(written)])
    return Feedback(judged, judged_agree, wrote, written_agree, _pace(tx, found, person_id), _pace(tx, found))


def _share(same: list[int]) -> tuple[int, float | None]:
    """Return a share of the first of some outcomes, a multiple of ten, and of how many."""
    told = len(same) - len(same) % STEP if len(same) >= FEWEST else 0
    return told, sum(same[:told]) / told if told else None


def _pace(tx: Transaction, found: Project, person_id: int | None = None) -> float | None:
    """Return the median of the seconds per judgement."""
    chosen = [
        answers.c.project_id == found.id,
        answers.c.kind == "verify",
        answers.c.state == "counted",
        answers.c.seconds.is_not(None),
        *([answers.c.person_id == person_id] if person_id is not None else []),
    ]
    latest = select(answers.c.seconds).where(*chosen).order_by(answers.c.id.desc()).limit(1000)
    seconds = [row.seconds for row in tx.all(latest)]
    return median(seconds) if len(seconds) >= FEWEST else None
