"""Cells: a rule of a phenomenon in one language, as a numbered space of pairs.

The pairs of a cell are numbered from 0 to ``size - 1``; a number, written in the mixed radix of the slots'
choices, says how each slot is filled. Equal numbers are equal pairs and different numbers different pairs,
so that pairs can be drawn without remembering which ones were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from goldlabel.pairs.rows import to_json
from goldlabel.sources.fragments.grammar import Bound, Phenomenon, Piece, Rule, Slot, Use
from goldlabel.sources.fragments.lexicon import lexicons
from goldlabel.sources.fragments.phenomena import PHENOMENA

Indices = NDArray[np.int64]
Texts = NDArray[np.object_]
Filling = dict[str, Indices]


@dataclass(frozen=True)
class Cell:
    """One rule of a phenomenon in one language."""

    language: str
    phenomenon: str
    number: int
    frame: int
    slots: tuple[Slot, ...]
    rule: Rule

    @property
    def label(self) -> str:
        """The label of all its pairs."""
        return self.rule.label

    @property
    def weight(self) -> int:
        """How often it is drawn, against the other cells of its phenomenon and label."""
        return self.rule.weight

    @cached_property
    def premise(self) -> tuple[Piece, ...]:
        """The premise's text and slots."""
        return self.rule.premise.pieces(self.rule.premise.form.wording(self.language))

    @cached_property
    def hypothesis(self) -> tuple[Piece, ...]:
        """The hypothesis's text and slots."""
        return self.rule.hypothesis.pieces(self.rule.hypothesis.form.wording(self.language))

    @cached_property
    def used(self) -> tuple[Slot, ...]:
        """The slots that premise or hypothesis mention."""
        mentioned = {
            slot for piece in (*self.premise, *self.hypothesis) if isinstance(piece, Use) for slot in piece.slots
        }
        return tuple(slot for slot in self.slots if slot.name in mentioned)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of choices of each slot in use, given the earlier ones: one lexicon fills no two alike."""
        sizes = []
        for place, slot in enumerate(self.used):
            if slot.lexicon is None:
                sizes.append(slot.high - slot.low + 1)
            else:
                before = sum(other.lexicon == slot.lexicon for other in self.used[:place])
                sizes.append(len(lexicons(self.language)[slot.lexicon]) - before)
        return tuple(sizes)

    @cached_property
    def size(self) -> int:
        """The number of different pairs."""
        return prod(self.radices)

    @cached_property
    def meta(self) -> str:
        """What the record's ``meta`` says of these pairs."""
        return to_json(
            {"frame": self.frame, "premise_form": self.rule.premise.name, "hypothesis_form": self.rule.hypothesis.name}
        )

    def fill(self, numbers: Indices) -> Filling:
        """Say how each slot is filled in the pairs of these numbers."""
        rest = numbers
        filling: Filling = {}
        for slot, radix in zip(self.used, self.radices, strict=True):
            rest, choice = np.divmod(rest, radix)
            if slot.lexicon is None:
                filling[slot.name] = choice + slot.low
                continue
            taken = [
                filling[other.name] for other in self.used if other.lexicon == slot.lexicon and other.name in filling
            ]
            for earlier in np.sort(np.stack(taken), axis=0) if taken else ():
                choice = choice + (choice >= earlier)
            filling[slot.name] = choice
        return filling

    def write(self, pieces: Sequence[Piece], filling: Filling, count: int) -> Texts:
        """Write the sentences of these fillings."""
        text: Texts | str = ""
        for piece in pieces:
            if isinstance(piece, str):
                text = text + piece
            else:
                words = _words(
                    self.language, self._lexicon(piece), piece.form, capital=isinstance(text, str) and not text
                )
                text = text + words[_value(piece, filling)]
        return text if not isinstance(text, str) else np.full(count, text, dtype=object)

    def logic(self, bound: Bound, template: str, filling: Filling, row: int) -> str:
        """Return a logical form with the keys of the words that fill its slots."""
        parts = []
        for piece in bound.pieces(template):
            if isinstance(piece, str):
                parts.append(piece)
                continue
            value = int(_value(piece, filling)[row])
            lexicon = self._lexicon(piece)
            if lexicon == "number":
                parts.append(str(value))
            elif piece.form == "self":
                parts.append(f"{lexicon}{value}")
            else:
                parts.append(lexicons(self.language)[lexicon][value][piece.form])
        return "".join(parts)

    def _lexicon(self, use: Use) -> str:
        return next(slot.lexicon or "number" for slot in self.slots if slot.name == use.slot)


def _value(use: Use, filling: Filling) -> Indices:
    value = filling[use.slot]
    for slot in use.plus:
        value = value + filling[slot]
    for slot in use.minus:
        value = value - filling[slot]
    return value


@cache
def _words(language: str, lexicon: str, form: str, *, capital: bool) -> Texts:
    words = [entry[form] for entry in lexicons(language)[lexicon]]
    return np.array([word[:1].upper() + word[1:] for word in words] if capital else words, dtype=object)


@cache
def cells(language: str, phenomenon: str) -> tuple[Cell, ...]:
    """Return the cells of a phenomenon in a language."""
    spec: Phenomenon = PHENOMENA[phenomenon]
    rules = [(number, frame, rule) for number, frame in enumerate(spec.frames) for rule in frame.rules]
    return tuple(
        Cell(language, phenomenon, number, frame_number, frame.slot_list, rule)
        for number, (frame_number, frame, rule) in enumerate(rules)
    )
