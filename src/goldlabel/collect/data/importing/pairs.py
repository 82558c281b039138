"""Pairs: files of pairs as ``goldlabel.pairs`` reads them, and as a project takes them in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.collect.data.importing.tables import LONGEST_WORD
from goldlabel.collect.data.importing.uploads import fault_of
from goldlabel.collect.data.importing.votes import COUNT, KEEP
from goldlabel.collect.data.new_pairs import NewPair
from goldlabel.collect.data.premises import FIXED_SPLITS
from goldlabel.collect.messages import hint, message, words
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.errors import InputError
from goldlabel.files import data_suffix
from goldlabel.pairs import Pairs, read
from goldlabel.pairs.labels import LABEL_SPACES, NO_GOLD, label_space
from goldlabel.pairs.record import ColumnError, RowError
from goldlabel.pairs.tools.items import Vote

FORMATS = (".jsonl", ".json", ".csv", ".tsv")


def read_pairs(path: Path, labels: str) -> Pairs:
    """Read a plain file of pairs; those without a label have none."""
    if data_suffix(path.name) not in FORMATS:
        raise Invalid("pair_format", file=path.name or message("upload"), allowed=FORMATS)
    if "," not in labels and labels not in LABEL_SPACES:
        raise Invalid("no_label_space", name=labels, hint=hint(labels, LABEL_SPACES))
    try:
        return read(path, labels=labels, unlabelled=True)
    except ColumnError as error:
        raise Invalid("pairs_column", file=path.name, column=error.column) from error
    except RowError as error:
        row, column = error.problem.line, error.problem.column
        if column in ("premise", "hypothesis"):
            raise Invalid("pairs_empty", file=path.name, line=row, column=column) from error
        if column not in ("label", "votes"):
            raise Invalid("pairs_row", file=path.name, line=row) from error
        raise Invalid("pairs_label", file=path.name, line=row, labels=words(label_space(labels).labels)) from error
    except InputError as error:
        raise Invalid("pairs_unreadable", file=path.name, reason=fault_of(error, [path])) from error


@contextmanager
def naming_file(name: str) -> Iterator[None]:
    """Say in which file the pair is that cannot be taken."""
    try:
        yield
    except Invalid as error:
        raise Invalid("in_file", file=name, problem=error.message) from error


@dataclass(frozen=True)
class NewPairs:
    """Pairs of a dataset to bring into a project for a purpose; they can be gone through more than once.

    Votes are kept beside, or are to count; then the names of those who gave them are not kept with the pair, and a vote
    without a name is that of whoever stands at its place. The author's own label is no vote. A judged pair's label of
    another kind is not an answer in the project; it is kept beside, too.
    """

    pairs: Pairs
    protocol: Protocol
    origin: str
    votes: str = KEEP

    def __iter__(self) -> Iterator[NewPair]:
        alike = self.pairs.card.label_space.labels == self.protocol.label_space.labels or self.origin != "imported"
        for block in self.pairs.blocks():
            for row in block.iter_rows(named=True):
                meta = json.loads(row["meta"] or "{}") | ({} if alike else {"label": row["label"]})
                votes = _votes(row["votes"] or [], meta, self.pairs.card.author) if self.votes == COUNT else ()
                suggestion, suggested_by = _suggestion(meta)
                if self.votes == KEEP and row["votes"]:
                    meta["votes"] = row["votes"]
                yield NewPair(
                    premise=row["premise"],
                    hypothesis=row["hypothesis"],
                    label=row["label"] if alike else NO_GOLD,
                    genre=row["genre"],
                    level=row["level"],
                    original_id=row["id"],
                    meta=meta,
                    votes=votes,
                    suggestion=suggestion,
                    suggested_by=suggested_by,
                    split=row["split"] if row["split"] in FIXED_SPLITS and self.origin == "imported" else None,
                )


def _suggestion(meta: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the suggested label and where it comes from: of columns, which go out of ``meta``, or a tool's first."""
    label, source = meta.pop("suggestion", None), meta.pop("suggested_by", None)
    if label is None and meta.get("suggestions"):
        first = meta["suggestions"][0]
        label, source = first.get("label"), first.get("source")
    return (str(label), str(source) if source else None) if label else (None, None)


def _votes(labels: Sequence[str], meta: dict[str, Any], author: str | None) -> tuple[Vote, ...]:
    """Return votes with who gave them, whose names go out of ``meta``."""
    annotators, seconds = (meta.pop(name, None) or [None] * len(labels) for name in ("annotators", "seconds"))
    if len(annotators) != len(labels) or len(seconds) != len(labels):
        annotators = seconds = [None] * len(labels)
    votes = [
        Vote(annotator=str(name or f"#{place}")[:LONGEST_WORD], label=label, seconds=spent)
        for place, (label, name, spent) in enumerate(zip(labels, annotators, seconds, strict=True), 1)
    ]
    return tuple(votes[1:] if author == "first" else votes)
