"""``PairCard``: a pair to look at, with its label, the words that both texts share, and what models answered.

``render_part("pair", PairCard(…))`` or ``Section(pairs=[…])`` shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

import polars as pl

from goldlabel.pairs.tokens import UNKNOWN, locate_tokens, units_of

SHAPES = {"entailment": "▲", "neutral": "◆", "contradiction": "▼", "not_entailment": "▼"}
"""What stands before a label, so that it is told by more than its colour."""


@dataclass(frozen=True, kw_only=True)
class PairCard:
    """A premise, a hypothesis and a label."""

    premise: str
    hypothesis: str
    label: str
    id: str = ""
    anchor: str = ""
    """Where links to the card lead."""
    link: str = ""
    """Where a page leads from the id: to the card, or to where the pair is shown first."""
    note: str = ""
    language: str | None = None
    words: Collection[str] = ()
    """Words of the hypothesis that are pointed at, in lower case, such as those that give a label away."""
    stretches: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    """What else is pointed at, for ``premise`` and ``hypothesis``: the first place and the one behind the last."""
    shared: bool = True
    """Whether the words that both texts share are marked."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """What each model said."""

    @property
    def shape(self) -> str:
        """The shape of the label."""
        return shape_of(self.label)

    @property
    def judged(self) -> list[tuple[str, str, str, bool]]:
        """Every model with its answer, the shape of that, and whether it is the label."""
        return [(name, answer, shape_of(answer), answer == self.label) for name, answer in self.answers.items()]

    def marked(self, side: str) -> Iterator[tuple[str, str]]:
        """Yield the text of a side in pieces, each with its mark: ``word``, ``shared`` or nothing."""
        unit = units_of((self.language or UNKNOWN).lower().split("-")[0])
        sides = locate_tokens(pl.Series([self.premise, self.hypothesis]), unit)
        shared = {token for token, *_ in sides[0]} & {token for token, *_ in sides[1]} if self.shared else set()
        text, tokens = (self.premise, sides[0]) if side == "premise" else (self.hypothesis, sides[1])
        places = [""] * len(text)
        for token, start, end in tokens:
            is_word = side != "premise" and token in self.words
            places[start:end] = ["word" if is_word else "shared" if token in shared else ""] * (end - start)
        for start, end in self.stretches.get(side, ()):
            places[start:end] = ["word"] * (end - start)
        for mark, signs in groupby(zip(text, places, strict=True), key=itemgetter(1)):
            yield "".join(sign for sign, _ in signs), mark


def shape_of(label: str) -> str:
    """Return what stands before a label."""
    return SHAPES.get(label, "●")
