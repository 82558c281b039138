"""Pairs: files of pairs as ``goldlabel.pairs`` reads them, and as a project takes them in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from goldlabel.collect.importing.uploads import without_place
from goldlabel.collect.messages import hint, message
from goldlabel.collect.projects import NewPair
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.errors import InputError
from goldlabel.files import data_suffix
from goldlabel.pairs import Pairs, read
from goldlabel.pairs.labels import LABEL_SPACES, NO_GOLD

FORMATS = (".jsonl", ".json", ".csv", ".tsv")


def read_pairs(path: Path, labels: str) -> Pairs:
    """Read a plain file of pairs; those without a label have none."""
    if data_suffix(path.name) not in FORMATS:
        raise Invalid("pair_format", file=path.name or message("upload"), allowed=FORMATS)
    if "," not in labels and labels not in LABEL_SPACES:
        raise Invalid("no_label_space", name=labels, hint=hint(labels, LABEL_SPACES))
    try:
        return read(path, labels=labels, unlabelled=True)
    except InputError as error:
        raise Invalid("pairs_unreadable", file=path.name, reason=without_place(error, path)) from error


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
