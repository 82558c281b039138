"""Pairs of ``goldlabel.pairs`` as a project takes them in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from goldlabel.collect.projects import NewPair
from goldlabel.collect.protocols import Protocol
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NO_GOLD


@dataclass(frozen=True)
class NewPairs:
    """Pairs of a dataset to bring into a project for a purpose; they can be gone through more than once.

    Votes are kept beside. A judged pair's label of another kind is not an answer in the project; it is kept beside,
    too.
    """

    pairs: Pairs
    protocol: Protocol
    origin: str

    def __iter__(self) -> Iterator[NewPair]:
        alike = self.pairs.card.label_space.labels == self.protocol.label_space.labels or self.origin != "imported"
        for block in self.pairs.blocks():
            for row in block.iter_rows(named=True):
                meta = json.loads(row["meta"] or "{}") | ({} if alike else {"label": row["label"]})
                yield NewPair(
                    premise=row["premise"],
                    hypothesis=row["hypothesis"],
                    label=row["label"] if alike else NO_GOLD,
                    genre=row["genre"],
                    level=row["level"],
                    original_id=row["id"],
                    meta=meta | ({"votes": row["votes"]} if row["votes"] else {}),
                )
