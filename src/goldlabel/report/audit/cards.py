"""Pairs to look at, read from the user's own data when the page is made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from goldlabel.audit import Audit
from goldlabel.audit.examples import Example
from goldlabel.messages import Word
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.report.language import comma, say, translate
from goldlabel.report.pair_card import PairCard, shape_of

_SHOWN = ("id", "premise", "hypothesis", "label", "votes", "split", "language")


@dataclass(frozen=True)
class PairTexts:
    """The pairs that a page shows, by their ids; where one is shown first, links to it lead."""

    rows: dict[str, dict[str, Any]]
    _places: dict[str, str] = field(default_factory=dict)
    """The anchors of the pairs that were shown; an id may hold anything, so they are numbered."""

    @classmethod
    def read(cls, audit: Audit, ids: Collection[str]) -> PairTexts:
        """Read some pairs of the audited data."""
        chosen = audit.pairs.frame.filter(pl.col("id").is_in(list(ids)))
        frame = chosen.select(_SHOWN).collect(engine="streaming")
        return cls({row["id"]: row for row in frame.iter_rows(named=True)})

    def place(self, key: str) -> tuple[str, str]:
        """Return where the link from a pair's id leads, and if the pair is shown now for the first time, the anchor."""
        is_first = key not in self._places
        anchor = self._places.setdefault(key, f"pair-{len(self._places) + 1}")
        return f"#{anchor}", anchor if is_first else ""

    def card(self, example: Example, *, shared: bool = False) -> PairCard:
        """Return a pair as a card, with what is to be marked in it."""
        row, (link, anchor) = self.rows[example.id], self.place(example.id)
        about = [*([row["split"]] if row["split"] != "none" else []), *([votes] if (votes := votes_of(row)) else [])]
        return PairCard(
            id=example.id,
            link=link,
            anchor=anchor,
            premise=row["premise"],
            hypothesis=row["hypothesis"],
            label="no gold" if row["label"] == NO_GOLD else row["label"],
            language=row["language"],
            note=", ".join(about),
            shared=shared,
            stretches={} if shared else {"premise": example.premise, "hypothesis": example.hypothesis},
        )

    def cards(self, ids: Sequence[str]) -> list[PairCard]:
        """Return pairs as cards, without a mark."""
        return [self.card(Example(key)) for key in ids]


def label_of(label: str) -> str:
    """Return a label as pages have it."""
    return translate(Word("no gold" if label == NO_GOLD else label))


def shaped(label: str) -> str:
    """Return a label with its shape before it, as pages have it."""
    return f"{shape_of(label)}\u00a0{label_of(label)}"


def votes_of(row: dict[str, Any]) -> str:
    """Return the votes of a pair, such as ``votes: 3 neutral, 2 entailment``; nothing where it has none."""
    counts = {vote: row["votes"].count(vote) for vote in row["votes"] or ()}
    ranked = sorted(counts.items(), key=lambda own: (-own[1], own[0]))
    votes = comma().join(f"{count} {label_of(vote)}" for vote, count in ranked)
    return say("votes: {votes}", votes=votes) if counts else ""
