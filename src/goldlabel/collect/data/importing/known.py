"""What a project has already, so that the same file brought twice adds nothing, and no premise comes in two splits.

Texts are known by a digest of 16 bytes. What others add meanwhile has larger ids: catching up under the project's lock
reads that alone.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, select

from goldlabel.collect.data.hiding import DELETED
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.rounds.contexts import is_used_up
from goldlabel.collect.schema import pairs, premises, subsets
from goldlabel.collect.store import Transaction
from goldlabel.messages import Message, Word


class Known:
    """Premises, or pairs, that a query has found so far: their ``id``, the premise's split, and their texts."""

    def __init__(self, query: Select[Any]) -> None:
        self._query = query
        self._last = 0
        self._splits: dict[bytes, str | None] = {}

    def catch_up(self, tx: Transaction) -> None:
        """Read what came in since the last time."""
        key = self._query.selected_columns[0]
        newer = self._query.where(key > self._last).order_by(key)
        for row in tx.connection.execute(newer, execution_options={"yield_per": 5000}):
            self._last = row[0]
            self.add(*row[2:], split=row[1])

    def add(self, *texts: str, split: str | None) -> None:
        """Take a premise, or a pair and so its premise, for known."""
        for known in {texts, texts[:1]}:
            self._splits[_digest(*known)] = split

    def refuse_other_split(self, where: Message, split: str | None, *texts: str) -> None:
        """Refuse a premise that came in another split, and pairs of it; what is there already need not name one."""
        before = self._splits.get(_digest(texts[0]), split)
        if before != split and (split is not None or texts not in self):
            raise Invalid("split_before", where=where, one=Word(split or "none"), other=Word(before or "none"))

    def __contains__(self, texts: object) -> bool:
        return _digest(*texts if isinstance(texts, tuple) else (texts,)) in self._splits


def known_premises(project_id: int) -> Known:
    """Return what knows the texts of a project's pool."""
    own = (premises.c.project_id == project_id, premises.c.number.is_not(None), _is_there(premises))
    return Known(select(premises.c.id, premises.c.split, premises.c.text).where(*own))


def known_pairs(project_id: int, origin: str) -> Known:
    """Return what knows the premise and the hypothesis of each pair that was imported for one purpose."""
    return Known(
        select(pairs.c.id, premises.c.split, premises.c.text, pairs.c.hypothesis)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .join(subsets, subsets.c.id == pairs.c.subset_id)
        .where(subsets.c.project_id == project_id, subsets.c.origin == origin, _is_there(pairs))
    )


def _is_there(table: Table) -> ColumnElement[bool]:
    """Leave out what was deleted: brought again, it is new, in whatever split; but not what a closed round showed."""
    premise_id = premises.c.id if table is premises else pairs.c.premise_id
    return table.c.hidden.is_distinct_from(DELETED) | is_used_up(premise_id)


def _digest(*texts: object) -> bytes:
    made = _HASH()
    for text in texts:
        encoded = str(text).encode("utf-8", "surrogatepass")
        made.update(len(encoded).to_bytes(8) + encoded)
    return made.digest()


_HASH = partial(blake2b, digest_size=16)
