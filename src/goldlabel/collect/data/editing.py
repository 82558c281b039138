"""Editing: a requester mends a premise or a pair that nobody has worked on yet.

An answer was given about a text as it stood, so a text that somebody was given stays as it is; it can be hidden, and a
better one added. The label that a pair came with is nobody's answer here and can be changed at any time.
"""

from __future__ import annotations

from sqlalchemy import select

from goldlabel.collect.data.hiding import lock_own
from goldlabel.collect.data.new_pairs import LONGEST_TEXT
from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import assignments, pairs, premises, subsets
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Word
from goldlabel.pairs.labels import NO_GOLD


def edit_premise(tx: Transaction, project_id: int, premise_id: int, *, text: str, by: int | None) -> None:
    """Change the text of a premise of the pool that nobody was given; the length rules of the project hold."""
    row = lock_own(tx, premises, project_id, premise_id)
    text = clean_text(text)
    if text == row.text:
        return
    rules = project(tx, project_id).protocol.premises
    if not rules.shortest <= len(text) <= rules.longest:
        raise Invalid("text_length", n=len(text), shortest=rules.shortest, longest=rules.longest)
    about = (assignments.c.premise_id == premise_id) | assignments.c.pair_id.in_(
        select(pairs.c.id).where(pairs.c.premise_id == premise_id)
    )
    if tx.one(select(assignments.c.id).where(assignments.c.project_id == project_id, about).limit(1)) is not None:
        raise Conflict("text_given")
    tx.change(premises, premise_id, text=text)
    data = {"old": {"text": row.text}, "new": {"text": text}}
    record(tx, "premise.edited", project_id=project_id, person_id=by, subject=f"premise {premise_id}", data=data)


def edit_pair(tx: Transaction, project_id: int, pair_id: int, *, hypothesis: str, label: str, by: int | None) -> None:
    """Change the hypothesis of a pair that nobody was given, or the label with which it came."""
    row = lock_own(tx, pairs, project_id, pair_id)
    found = project(tx, project_id)
    origin = tx.value(select(subsets.c.origin).where(subsets.c.id == row.subset_id))
    text = clean_text(hypothesis)
    changes: dict[str, str] = {}
    if text != row.hypothesis:
        if not 1 <= len(text) <= LONGEST_TEXT:
            raise Invalid("text_length", n=len(text), shortest=1, longest=LONGEST_TEXT)
        if tx.one(select(assignments.c.id).where(assignments.c.pair_id == pair_id).limit(1)) is not None:
            raise Conflict("text_given")
        changes["hypothesis"] = text
    if label != row.label:
        if row.writer_id is not None:
            raise Conflict("label_of_author")
        allowed = found.protocol.answers if origin == "gold" else (*found.protocol.label_space.labels, NO_GOLD)
        if label not in allowed:
            raise Invalid("label_unknown", label=Word(label), labels=words(allowed))
        changes["label"] = label
    if changes:
        tx.change(pairs, pair_id, **changes)
        data = {"old": {name: getattr(row, name) for name in changes}, "new": changes}
        record(tx, "pair.edited", project_id=project_id, person_id=by, subject=f"pair {pair_id}", data=data)
