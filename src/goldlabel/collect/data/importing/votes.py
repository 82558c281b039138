"""Votes that pairs bring along become votes of the project, where the requester says that they count.

Whoever gave them elsewhere is a person here with a pseudonym, whose own name is kept apart, and who has left: nobody
logs in as them, and nothing is paid. Their answers count in verdicts like any other, and can be set aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import select

from goldlabel.collect.data.new_pairs import NewPair, place_of
from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.people.accounts import new_person
from goldlabel.collect.people.membership import give_role
from goldlabel.collect.projects import Project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import PROVIDER, answers, assignments, outsiders, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.answering import MOST_SECONDS
from goldlabel.collect.work.verdicts import settle

KEEP, COUNT = "keep", "count"
USES = (KEEP, COUNT)
"""Votes stand beside the pairs in ``meta``, or count."""


def check_votes(found: Project, new: Iterable[NewPair], origin: str) -> None:
    """Refuse votes that cannot count: for questions, of other labels, or two of one person on a pair."""
    if origin == "gold":
        raise Invalid("votes_gold")
    for number, one in enumerate(new, 1):
        where = place_of(one, number)
        for vote in one.votes:
            if vote.label not in found.protocol.answers:
                raise Invalid("pair_label", where=where, label=vote.label, labels=words(found.protocol.answers))
        names = [vote.annotator for vote in one.votes]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise Invalid("votes_twice", where=where, name=twice)


def count_votes(
    tx: Transaction, found: Project, pair_ids: Sequence[int], new: Sequence[NewPair], *, by: int | None
) -> None:
    """Let the votes of pairs that were just placed count; these pairs are drawn, and ask for what is missing."""
    voted = [(pair_id, one) for pair_id, one in zip(pair_ids, new, strict=True) if one.votes]
    drawing.draw_these(tx, found, [pair_id for pair_id, _ in voted], by)
    known: dict[str, int] = {}
    for pair_id, one in voted:
        if len(one.votes) > found.policy.first:
            drawing.ask(tx, found, pair_id, len(one.votes), by)
        own = (tasks.c.pair_id == pair_id, tasks.c.kind == "verify")
        waiting = tx.all(select(tasks.c.id, tasks.c.rank).where(*own).order_by(tasks.c.slot))
        for vote, task in zip(one.votes, waiting, strict=False):
            if vote.annotator not in known:
                known[vote.annotator] = _person(tx, found, vote.annotator)
            person_id = known[vote.annotator]
            common = {"project_id": found.id, "task_id": task.id, "person_id": person_id, "kind": "verify"}
            assignment_id = tx.insert(
                assignments,
                **common,
                pair_id=pair_id,
                rank=task.rank,
                state="answered",
                leased_at=tx.now,
                expires_at=tx.now,
                closed_at=tx.now,
            )
            within = vote.seconds is not None and 0 <= vote.seconds <= MOST_SECONDS
            answer_id = tx.insert(
                answers,
                **common,
                assignment_id=assignment_id,
                pair_id=pair_id,
                key=PROVIDER,
                state="counted",
                label=vote.label,
                seconds=vote.seconds if within else None,
                created_at=tx.now,
            )
            tx.change(tasks, task.id, state="answered")
            data = {"task": task.id, "answer": answer_id, "pair": pair_id, "label": vote.label, "person": person_id}
            record(tx, "answer.imported", project_id=found.id, person_id=by, subject=f"pair {pair_id}", data=data)
        settle(tx, found, pair_id, by)


def imported_annotators(tx: Transaction, project_id: int) -> set[int]:
    """Return who gave votes of a project elsewhere."""
    own = (outsiders.c.project_id == project_id, outsiders.c.provider == PROVIDER)
    return {row.person_id for row in tx.all(select(outsiders.c.person_id).where(*own))}


def _person(tx: Transaction, found: Project, annotator: str) -> int:
    """Return who an annotator of another tool is here; the same name is the same person within a project."""
    name = {"project_id": found.id, "provider": PROVIDER, "worker": annotator}
    known = tx.row(outsiders, **name)
    if known is not None:
        return int(known.person_id)
    person_id = new_person(tx)
    tx.insert(outsiders, person_id=person_id, **name)
    give_role(tx, found.id, person_id, "verifier", state="left")
    return person_id
