"""What others wrote about a context, for a writer whose own job about it is ended: labels and sentences, no names.

Nobody is given a context twice, so what is read then helps with no job. Only writers of the same arm are told of, as
the arms are not to learn from each other; and a job of another is told of when nothing of it waits for judgement any
more, as a writer may be a verifier, too, and is not to know the label of what they judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from goldlabel.collect.schema import answers, pairs, subsets
from goldlabel.collect.store import Transaction


@dataclass(frozen=True)
class Sentence:
    """A sentence of another's job; ``verdict`` is what others decided on it, none where nobody was asked."""

    text: str
    verdict: str | None


@dataclass(frozen=True)
class OtherJob:
    """What another writer was to write, and what they tried, in order."""

    label: str
    sentences: tuple[Sentence, ...]


def others_beside(tx: Transaction, person_id: int, answer_ids: Sequence[int]) -> dict[int, list[OtherJob]]:
    """Return, for those of some answers with which this person ended a job, what others wrote about its context."""
    mine = (
        select(pairs.c.answer_id, pairs.c.premise_id, subsets.c.condition)
        .join(answers, answers.c.id == pairs.c.answer_id)
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .where(answers.c.id.in_(answer_ids), answers.c.person_id == person_id, pairs.c.round_id.is_not(None))
    )
    places = {row.answer_id: (row.premise_id, row.condition) for row in tx.all(mine)}
    if not places:
        return {}
    written = (
        select(pairs, subsets.c.condition, subsets.c.origin)
        .join(answers, answers.c.id == pairs.c.answer_id)
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .where(
            pairs.c.premise_id.in_({premise_id for premise_id, _ in places.values()}),
            pairs.c.state == "counted",
            pairs.c.hidden.is_(None),
            answers.c.state == "counted",
            answers.c.person_id != person_id,
        )
        .order_by(pairs.c.id)
    )
    jobs: dict[tuple[int, str], dict[int, list[Sentence]]] = {}
    labels, waiting = {}, set()
    for row in tx.all(written):
        job = jobs.setdefault((row.premise_id, row.condition), {})
        job.setdefault(row.answer_id, []).append(Sentence(row.hypothesis, row.verdict))
        labels[row.answer_id] = row.label
        if row.origin == "written" and row.verdict is None:
            waiting.add(row.answer_id)
    return {
        answer_id: [
            OtherJob(labels[other], tuple(sentences))
            for other, sentences in jobs.get(place, {}).items()
            if other not in waiting
        ]
        for answer_id, place in places.items()
    }
