"""New pairs: pairs that were written elsewhere, as a project takes them in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldlabel.collect.data.fixed_splits import refuse_two_splits
from goldlabel.collect.data.importing.known import Known
from goldlabel.collect.data.importing.tables import refuse_long
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.messages import message, words
from goldlabel.collect.projects import Project, lock_project, record_project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import pairs, premises, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Message, Word
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.tools.items import Vote

IMPORTS = ("imported", "foreign", "gold")
LONGEST_TEXT = 20_000
"""Characters of a sentence that comes with an imported pair."""


@dataclass(frozen=True, kw_only=True)
class NewPair:
    """A pair written elsewhere. ``label`` is its own gold label, ``-`` if it has none; ``votes`` are to count.

    ``suggestion`` is a label that something, ``suggested_by``, proposes; ``split`` is where the pairs of its premise
    are to be, if that is fixed.
    """

    premise: str
    hypothesis: str
    label: str = NO_GOLD
    genre: str | None = None
    level: str | None = None
    original_id: str | None = None
    meta: Mapping[str, Any] | None = None
    votes: tuple[Vote, ...] = ()
    suggestion: str | None = None
    suggested_by: str | None = None
    split: str | None = None


def place_of(one: NewPair, number: int) -> Message:
    """Say which pair of an import it is, by its number and its own id, if it has one."""
    if one.original_id:
        return message("pair_at", n=number, id=one.original_id)
    return message("pair_number", n=number)


def import_pairs(tx: Transaction, project_id: int, new: Iterable[NewPair], *, origin: str, by: int | None) -> int:
    """Add pairs written elsewhere: to be judged (``imported``), mixed in (``foreign``), or as questions (``gold``)."""
    rows = list(new)
    found = lock_project(tx, project_id)
    count = check_import(found, rows, origin)
    place_pairs(tx, project_id, rows, {}, origin=origin, by=by)
    drawing.draw_imported(tx, found, origin, by)
    tx.analyse(premises, pairs, tasks)
    return count


def check_import(found: Project, new: Iterable[NewPair], origin: str, known: Known | None = None) -> int:
    """Refuse pairs that a project cannot take for a purpose, at the first of them; return how many there are.

    ``known`` is what the project has for this purpose already, which no premise contradicts.
    """
    if origin not in IMPORTS:
        raise Invalid("origin", origin=origin, allowed=words(IMPORTS))
    if origin not in found.kind.imports:
        raise Invalid("pairs_are_written", name=found.name)
    number, splits = 0, dict[str, str | None]()
    for number, one in enumerate(new, 1):
        _check_pair(one, number, origin, found.protocol)
        refuse_two_splits(found.protocol, [Premise(text=one.premise, genre=one.genre, split=one.split)])
        premise, where = clean_text(one.premise), place_of(one, number)
        if one.split is not None and origin != "imported":
            raise Invalid("split_not_taken", where=where, split=Word(one.split))
        before = splits.setdefault(premise, one.split)
        if before != one.split:
            raise Invalid("split_twice", where=where, one=Word(one.split or "none"), other=Word(before or "none"))
        if known is not None:
            known.refuse_other_split(where, one.split, premise, clean_text(one.hypothesis))
    return number


def place_pairs(
    tx: Transaction, project_id: int, new: Sequence[NewPair], known: dict[str, int], *, origin: str, by: int | None
) -> list[int]:
    """Add pairs that were checked and return their ids.

    ``known`` are the premises of the same import that are there, and is added to.
    """
    found = lock_project(tx, project_id)
    by_genre: dict[str, list[NewPair]] = defaultdict(list)
    for one in new:
        by_genre[one.genre or ""].append(one)
    placed: dict[str, Iterator[int]] = {}
    for genre in sorted(by_genre):
        subset_id = drawing.lock_subset(tx, project_id, origin, "", genre)
        ids = _premises_of(tx, project_id, by_genre[genre], known)
        pair_ids = drawing.place(
            tx,
            subset_id,
            [
                {
                    "project_id": project_id,
                    "premise_id": premise_id,
                    "hypothesis": clean_text(one.hypothesis),
                    "label": one.label,
                    "level": one.level,
                    "original_id": one.original_id,
                    "meta": dict(one.meta) if one.meta else None,
                    "suggestion": one.suggestion,
                    "suggested_by": one.suggested_by,
                }
                for one, premise_id in zip(by_genre[genre], ids, strict=True)
            ],
        )
        placed[genre] = iter(pair_ids)
    record_project(
        tx, "pairs.imported", found, by, origin=origin, genres={genre: len(by_genre[genre]) for genre in by_genre}
    )
    return [next(placed[one.genre or ""]) for one in new]


def _check_pair(one: NewPair, number: int, origin: str, protocol: Protocol) -> None:
    where = place_of(one, number)
    for name in ("premise", "hypothesis"):
        size = len(clean_text(getattr(one, name)[: 2 * LONGEST_TEXT]))
        if not size:
            raise Invalid("pair_empty", where=where, name=Word(name))
        if size > LONGEST_TEXT:
            raise Invalid("pair_long", where=where, name=Word(name), longest=LONGEST_TEXT)
    refuse_long(one, where)
    allowed = protocol.answers if origin == "gold" else (*protocol.label_space.labels, NO_GOLD)
    if one.label not in allowed:
        raise Invalid("pair_label", where=where, label=one.label, labels=words(allowed))
    if one.suggestion is not None and one.suggestion not in protocol.answers:
        raise Invalid("pair_suggestion", where=where, label=one.suggestion, labels=words(protocol.answers))


def _premises_of(tx: Transaction, project_id: int, new: Sequence[NewPair], known: dict[str, int]) -> list[int]:
    """Return the id of each pair's premise; pairs of one import with the same premise share it."""
    texts = [clean_text(one.premise) for one in new]
    fresh = {text: one for text, one in zip(texts, new, strict=True) if text not in known}
    rows = [
        {"project_id": project_id, "text": text, "genre": one.genre or "", "split": one.split, "created_at": tx.now}
        for text, one in fresh.items()
    ]
    known.update(zip(fresh, tx.insert_returning(premises, rows), strict=True))
    return [known[text] for text in texts]
