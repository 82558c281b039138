"""What a phenomenon is made of: sentence forms in two languages with one logical form, and a table of labels.

A ``Form`` is a sentence with slots, worded in each language, and the logical form both wordings share. A
``Frame`` names the slots and says, in a table, which label a premise form gives a hypothesis form::

    all > some:E1 none:C2 some[ab]:N1

reads: *all* entails *some* with weight 1, contradicts *none* with weight 2, and is neutral towards *some* with
the slots a and b exchanged. The weights make every hypothesis form, and as far as logic allows every premise
form, appear equally often under each label; ``tests`` hold the table to that, and hold each label to the
verdict of the reference semantics, which knows nothing of this table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

LABELS = {"E": "entailment", "N": "neutral", "C": "contradiction"}
LANGUAGES = ("en", "zh")

_SLOT = re.compile(r"\{([a-z])((?:[+-][a-z])*)(?:\.(\w+))?\}")
_CELL = re.compile(r"(\w+)(?:\[([a-z,]+)\])?:([ENC])(\d+)")
_PREMISE = re.compile(r"(\w+)(?:\[([a-z,]+)\])?")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


@dataclass(frozen=True)
class Form:
    """A sentence with slots: its logical form and its wording in each language.

    ``given`` is what the sentence takes for granted, such as that there are students at all in *all the students*.
    """

    logic: str
    en: str
    zh: str
    given: str = ""

    def wording(self, language: str) -> str:
        """Return the sentence's template in a language."""
        return self.en if language == "en" else self.zh


@dataclass(frozen=True)
class Slot:
    """A place to be filled: from a lexicon, or by a whole number between two bounds."""

    name: str
    lexicon: str | None
    low: int = 0
    high: int = 0


@dataclass(frozen=True)
class Use:
    """A slot as a template mentions it: ``{v.past}`` or, for numbers, ``{n+d}``."""

    slot: str
    plus: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    form: str = "self"

    @property
    def slots(self) -> tuple[str, ...]:
        """All slots that have a part in it."""
        return (self.slot, *self.plus, *self.minus)


Piece = str | Use


@dataclass(frozen=True)
class Bound:
    """A form of a frame with some of its slots exchanged."""

    name: str
    form: Form
    exchange: Mapping[str, str]

    def pieces(self, template: str) -> tuple[Piece, ...]:
        """Take one of the form's templates apart into text and slots."""
        return tuple(piece if isinstance(piece, str) else self._exchanged(piece) for piece in _pieces(template))

    def _exchanged(self, use: Use) -> Use:
        slot, plus, minus = (
            tuple(self.exchange.get(name, name) for name in names) for names in (use.slot, use.plus, use.minus)
        )
        return Use(slot[0], plus, minus, use.form)


@cache
def _pieces(template: str) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    end = 0
    for match in _SLOT.finditer(template):
        if match.start() > end:
            pieces.append(template[end : match.start()])
        terms = re.findall(r"([+-])([a-z])", match[2])
        plus, minus = (tuple(slot for sign, slot in terms if sign == wanted) for wanted in "+-")
        pieces.append(Use(match[1], plus, minus, match[3] or "self"))
        end = match.end()
    return (*pieces, template[end:]) if end < len(template) else tuple(pieces)


@dataclass(frozen=True)
class Rule:
    """One entry of a frame's table: this premise gives this hypothesis this label, this often."""

    premise: Bound
    hypothesis: Bound
    label: str
    weight: int


@dataclass(frozen=True)
class Frame:
    """Forms over the same slots, and the table of their labels."""

    slots: str
    forms: Mapping[str, Form]
    table: str

    @cached_property
    def slot_list(self) -> tuple[Slot, ...]:
        """The slots in order: ``a b:person n:2..9`` names two persons and a number."""
        slots = []
        waiting: list[str] = []
        for word in self.slots.split():
            name, colon, kind = word.partition(":")
            waiting.append(name)
            if not colon:
                continue
            bounds = _RANGE.fullmatch(kind)
            low, high = (int(bounds[1]), int(bounds[2])) if bounds else (0, 0)
            slots += [Slot(slot, None if bounds else kind, low, high) for slot in waiting]
            waiting = []
        return tuple(slots)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The table, read."""
        rules = []
        for line in self.table.strip().splitlines():
            left, _, right = line.partition(">")
            premise = _PREMISE.fullmatch(left.strip())
            if premise is None:
                raise ValueError(f"{line!r} does not begin with a premise form")
            for entry in right.split():
                cell = _CELL.fullmatch(entry)
                if cell is None:
                    raise ValueError(f"{entry!r} in {line!r} is not FORM:LABEL and a weight")
                rules.append(
                    Rule(
                        self._bind(premise[1], premise[2]),
                        self._bind(cell[1], cell[2]),
                        LABELS[cell[3]],
                        int(cell[4]),
                    )
                )
        return tuple(rules)

    def _bind(self, name: str, exchanges: str | None) -> Bound:
        exchange: dict[str, str] = {}
        for pair in exchanges.split(",") if exchanges else ():
            exchange |= {pair[0]: pair[1], pair[1]: pair[0]}
        return Bound(name, self.forms[name], exchange)


@dataclass(frozen=True)
class Phenomenon:
    """A phenomenon: its name, which becomes the tag, and its frames."""

    name: str
    frames: tuple[Frame, ...]
