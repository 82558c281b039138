"""Batches: a large import is written a little at a time, so that those who work in the project hardly wait for it.

Everything is read and checked before the first batch is written. Where writing stops in the middle, what was added is
told, and the same file brought again adds the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import select

from goldlabel.collect.data.fixed_splits import refuse_two_splits
from goldlabel.collect.data.importing.known import Known, known_pairs, known_premises
from goldlabel.collect.data.importing.tables import blocks
from goldlabel.collect.data.importing.votes import COUNT, KEEP, check_votes, count_votes
from goldlabel.collect.data.new_pairs import NewPair, check_import, place_pairs
from goldlabel.collect.data.premises import Premise, shortened
from goldlabel.collect.messages import message
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import pairs, premises, projects, subsets, tasks
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work import drawing
from goldlabel.collect.work.pool import Ranks, add_batch, require_writing
from goldlabel.collect.work.rules import clean_text
from goldlabel.errors import StorageError

T = TypeVar("T")
Told = Callable[[int], None]
"""Called with the number of rows just written, when others may write again."""

ROWS = 1000
"""Rows of the database in one batch: a few hundredths of a second on SQLite."""


def add_all_premises(
    store: Store, project_id: int, new: Sequence[Premise], *, by: int | None, told: Told | None = None
) -> int:
    """Add the premises that the pool does not have, in random order over all of them; return how many."""
    known = known_premises(project_id)
    with store.read() as tx:
        found = project(tx, project_id)
        require_writing(found)
        refuse_two_splits(found.protocol, new)
        ranks = Ranks.draw(tx, found, [one.genre or "" for one in new])
        known.catch_up(tx)
    rules = found.protocol
    size = max(1, ROWS // (1 + len(rules.conditions) * rules.writing.writers_per_premise))
    added = 0
    with _stopping(lambda: added, len(new)):
        for batch in _unhurried(new, size, told):
            with store.write() as tx:
                fresh = new_premises(tx, project_id, batch, known)
                count = add_batch(tx, project_id, fresh, ranks, by=by) if fresh else 0
            added += count
    with store.write() as tx:
        tx.analyse(premises, tasks)
    return added


def add_all_pairs(
    store: Store,
    project_id: int,
    new: Iterable[NewPair],
    *,
    origin: str,
    by: int | None,
    votes: str = KEEP,
    told: Told | None = None,
) -> tuple[int, int]:
    """Check all pairs, then add those that the project has not for this purpose; return how many were read and added.

    ``new`` is gone through twice or more. Pairs are drawn for judging when all of them are there; before, where
    ``votes`` are to count, those that bring some.
    """
    known = known_pairs(project_id, origin)
    with store.read() as tx:
        found = project(tx, project_id)
        known.catch_up(tx)
    read = check_import(found, new, origin, known)
    if votes == COUNT:
        check_votes(found, new, origin)
    added, premise_ids = 0, dict[str, int]()
    with _stopping(lambda: added, read):
        for batch in _unhurried(new, ROWS // 2 if votes == KEEP else ROWS // 20, told):
            with store.write() as tx:
                fresh = new_pairs(tx, project_id, batch, known)
                ids = dict(premise_ids)
                if fresh:
                    placed = place_pairs(tx, project_id, fresh, ids, origin=origin, by=by)
                    if votes == COUNT:
                        count_votes(tx, found, placed, fresh, by=by)
            premise_ids = ids
            added += len(fresh)
        _draw(store, project_id, origin, by)
    with store.write() as tx:
        tx.analyse(premises, pairs, tasks)
    return read, added


def new_premises(tx: Transaction, project_id: int, batch: Iterable[Premise], known: Known) -> list[Premise]:
    """Return the premises that the pool has not, each once; whoever imports the same at this moment waits."""
    tx.lock(projects, project_id)
    known.catch_up(tx)
    rows = list(batch)
    for one in rows:
        known.refuse_other_split(message("premise_at", text=shortened(one.text)), one.split, one.text)
    return [*{one.text: one for one in rows if one.text not in known}.values()]


def new_pairs(tx: Transaction, project_id: int, batch: Iterable[NewPair], known: Known) -> list[NewPair]:
    """Return the pairs that the project has not, each once; whoever imports the same at this moment waits."""
    tx.lock(projects, project_id)
    known.catch_up(tx)
    fresh: dict[tuple[str, str], NewPair] = {}
    for one in batch:
        key = clean_text(one.premise), clean_text(one.hypothesis)
        known.refuse_other_split(message("premise_at", text=shortened(key[0])), one.split, *key)
        if key not in known:
            fresh.setdefault(key, one)
    return [*fresh.values()]


def _draw(store: Store, project_id: int, origin: str, by: int | None) -> None:
    """Draw for judging what the configuration wants of the pairs that wait, in random order, a few at a time."""
    with store.read() as tx:
        found = project(tx, project_id)
        waiting = [
            row.id
            for row in tx.all(
                select(pairs.c.id)
                .join(subsets, subsets.c.id == pairs.c.subset_id)
                .where(subsets.c.project_id == project_id, subsets.c.origin == origin, pairs.c.draw_number.is_(None))
                .order_by(pairs.c.id)
            )
        ]
    found.random("draw", origin, len(waiting)).shuffle(waiting)
    waiting = waiting[: drawing.most_drawn(found, origin)]
    for batch in _unhurried(waiting, max(1, ROWS // (1 + found.policy.first)), None):
        with store.write() as tx:
            drawing.draw_imported(tx, project(tx, project_id), origin, by, among=batch)


def _unhurried(items: Iterable[T], size: int, told: Told | None) -> Iterator[list[T]]:
    """Cut into batches, and after each wait for as long as it took: another process may want to write, too."""
    for batch in blocks(items, size):
        start = time.monotonic()
        yield batch
        if told is not None:
            told(len(batch))
        if len(batch) == size:
            time.sleep(min(1.0, time.monotonic() - start))


@contextmanager
def _stopping(added: Callable[[], int], read: int) -> Iterator[None]:
    """Say how far an import came that the database stopped."""
    try:
        yield
    except StorageError as error:
        raise Invalid("import_stopped", added=added(), read=read, reason=error) from error
