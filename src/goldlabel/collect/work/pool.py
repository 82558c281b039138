"""The pool: premises to write about, and their places in the writers' queues."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.data.fixed_splits import refuse_two_splits
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.projects import Project, lock_project, record_project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.rounds.contexts import is_used_up
from goldlabel.collect.schema import premises, tasks
from goldlabel.collect.store import Transaction
from goldlabel.messages import Word


def add_premises(tx: Transaction, project_id: int, new: Iterable[Premise], *, by: int | None) -> int:
    """Add premises to the pool and to the writers' queues, in random order; return how many were added."""
    rows = list(new)
    ranks = Ranks.draw(tx, lock_project(tx, project_id), [one.genre or "" for one in rows])
    added = add_batch(tx, project_id, rows, ranks, by=by)
    tx.analyse(premises, tasks)
    return added


@dataclass(frozen=True)
class Ranks:
    """The places of new premises in the writers' queues: a random order over all of them, also if they come in parts.

    ``last`` is the last place that was taken in each condition and genre; ``left`` are the places after it, from which
    each premise takes the next.
    """

    last: Mapping[tuple[str, str], int]
    sizes: Mapping[str, int]
    left: Mapping[tuple[str, str], list[int]]
    chance: random.Random

    @classmethod
    def draw(cls, tx: Transaction, found: Project, genres: Sequence[str]) -> Ranks:
        """Draw places for premises of these genres."""
        own = (tasks.c.project_id == found.id, tasks.c.kind == "write")
        highest = select(tasks.c.condition, tasks.c.genre, func.max(tasks.c.rank).label("last")).where(*own)
        last = {
            (row.condition, row.genre): row.last for row in tx.all(highest.group_by(tasks.c.condition, tasks.c.genre))
        }
        sizes = Counter(genres)
        chance = found.random("writing", sum(last.values()), len(genres))
        left = {}
        for condition in found.protocol.conditions:
            for genre, size in sizes.items():
                left[condition.name, genre] = places = list(range(1, size + 1))
                chance.shuffle(places)
        return cls(last, sizes, left, chance)

    def next(self, condition: str, genre: str, writers: int) -> list[int]:
        """Return the next place for each writer of a premise; every premise has its first before any has a second."""
        place = self.last.get((condition, genre), 0) + self.left[condition, genre].pop()
        return [place + slot * self.sizes[genre] for slot in range(writers)]


def require_writing(found: Project) -> None:
    """Refuse premises where nobody writes."""
    if not found.kind.writes:
        raise Invalid("no_premises_taken", name=found.name, kind=Word(found.kind.name))


def add_batch(tx: Transaction, project_id: int, new: Sequence[Premise], ranks: Ranks, *, by: int | None) -> int:
    """Add some premises of those that places were drawn for; return how many."""
    found = lock_project(tx, project_id)
    require_writing(found)
    refuse_two_splits(found.protocol, new)
    size = tx.value(select(func.max(premises.c.number)).where(premises.c.project_id == project_id)) or 0
    rows = [
        {
            "project_id": project_id,
            "number": number,
            "text": one.text,
            "genre": one.genre or "",
            "source": one.source,
            "original_id": one.original_id,
            "meta": one.meta or None,
            "split": one.split,
            "created_at": tx.now,
        }
        for number, one in enumerate(new, start=size + 1)
    ]
    ids = tx.insert_returning(premises, rows)
    record_project(tx, "premises.added", found, by, first=size + 1, last=size + len(rows))
    writers = found.protocol.writing.writers_per_premise
    queued = [
        _writing(found, condition.name, one.genre or "", premise_id, slot, rank, ranks.chance)
        for condition in found.protocol.conditions
        for premise_id, one in zip(ids, new, strict=True)
        for slot, rank in enumerate(ranks.next(condition.name, one.genre or "", writers))
    ]
    tx.insert_all(tasks, queued)
    return len(rows)


def open_writing(tx: Transaction, found: Project) -> None:
    """Give every premise of the pool its writing tasks, as many as the configuration wants and it does not have."""
    for condition in found.protocol.conditions:
        for slot in range(found.protocol.writing.writers_per_premise):
            has = select(tasks.c.id).where(
                tasks.c.premise_id == premises.c.id,
                tasks.c.kind == "write",
                tasks.c.condition == condition.name,
                tasks.c.slot == slot,
            )
            wanted = tx.all(
                select(premises.c.id, premises.c.genre)
                .where(premises.c.project_id == found.id, premises.c.number.is_not(None), ~has.exists())
                .where(premises.c.hidden.is_(None), ~is_used_up(premises.c.id))
                .order_by(premises.c.number)
            )
            _queue_writing(tx, found, condition.name, slot, wanted)


def _queue_writing(tx: Transaction, found: Project, condition: str, slot: int, wanted: Sequence[Row[Any]]) -> None:
    own = (tasks.c.project_id == found.id, tasks.c.kind == "write", tasks.c.condition == condition)
    taken = tx.all(select(tasks.c.genre, func.max(tasks.c.rank).label("last")).where(*own).group_by(tasks.c.genre))
    ranks = defaultdict(int, [(row.genre, row.last) for row in taken])
    rows = list(wanted)
    chance = found.random("writing", condition, slot, sum(ranks.values()))
    chance.shuffle(rows)
    queued = []
    for row in rows:
        ranks[row.genre] += 1
        queued.append(_writing(found, condition, row.genre, row.id, slot, ranks[row.genre], chance))
    tx.insert_all(tasks, queued)


def _writing(
    found: Project, condition: str, genre: str, premise_id: int, slot: int, rank: int, chance: random.Random
) -> dict[str, Any]:
    return {
        "project_id": found.id,
        "kind": "write",
        "condition": condition,
        "genre": genre,
        "premise_id": premise_id,
        "slot": slot,
        "rank": rank,
        "tie": chance.getrandbits(31),
        "state": "open",
    }
