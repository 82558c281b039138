"""Rules for hypotheses: what breaks which rule, by how much, and where in the text.

The browser shows the same before a writer submits, so every measure is simple enough for a few lines of script;
``docs/collect.md`` defines them. Places are code points of the text as ``clean_text`` leaves it, which is also
what is stored.

Tokens are those of ``goldlabel.pairs.tokens``: characters in Chinese, words in English. They are compared, and
negators looked for, in folded text (``collect.folding``), where what looks alike is alike. *Overlap* is the share of
the hypothesis's tokens that are found in the premise, where each token of the premise is found once.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import polars as pl

from goldlabel.collect.messages import message
from goldlabel.collect.protocols import Condition, Protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.work.folding import fold, fold_word, lookalikes
from goldlabel.collect.work.invisible import strip_invisible
from goldlabel.messages import Message, Word
from goldlabel.pairs.tokens import locate_tokens, units_of

CONTRADICTION = "contradiction"
_OWN_SCRIPT = {"zh": r"\p{Han}", "en": r"\p{Latin}"}
FEWEST_TOKENS = 2
"""One word or one character says nothing that could be true or false: 下雨 does, and so does "It rains"."""
_BREAKS = re.compile(r"\s+")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

Span = tuple[int, int]
Slot = tuple[str, str]
Token = tuple[str, int, int]


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """What was written into one slot."""

    label: str
    level: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a page shows beside a hypothesis, whether or not a rule is broken."""

    label: str
    level: str
    text: str
    tokens: tuple[str, ...]
    places: tuple[Span, ...]
    overlap: float
    shared: tuple[Span, ...]
    negators: tuple[Span, ...]

    def words(self, spans: Sequence[Span]) -> str:
        """Return what stands at some places, neighbours together and each different piece once."""
        pieces: list[Span] = []
        for start, end in spans:
            joined = pieces and pieces[-1][1] == start
            pieces[-1 if joined else len(pieces) :] = [(pieces[-1][0] if joined else start, end)]
        return " ".join(dict.fromkeys(self.text[start:end] for start, end in pieces))

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "label": self.label,
            "level": self.level,
            "characters": len(self.text),
            "tokens": len(self.tokens),
            "overlap": self.overlap,
            "shared": [list(span) for span in self.shared],
            "negators": [list(span) for span in self.negators],
        }

    def violation(self, rule: str, spans: tuple[Span, ...] = (), **parameters: str | int) -> Violation:
        """Return that this hypothesis breaks a rule."""
        return Violation(rule=rule, label=self.label, level=self.level, spans=spans, parameters=parameters)


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A broken rule: which, in which slot, where in its text, and the figures that a message needs."""

    rule: str
    label: str
    level: str
    spans: tuple[Span, ...] = ()
    parameters: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def message(self) -> Message:
        """What to say to the writer."""
        parameters = {"label": Word(self.label), "level": Word(self.level), **self.parameters}
        return message(f"rule_{self.rule}", **parameters)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "rule": self.rule,
            "label": self.label,
            "level": self.level,
            "spans": [list(span) for span in self.spans],
            "parameters": dict(self.parameters),
            "message": str(self.message),
        }


def clean_text(text: str) -> str:
    """Return text as it is stored: NFC, one line, single spaces, without controls and what nobody sees."""
    kept = _CONTROLS.sub("", _BREAKS.sub(" ", text))
    return _BREAKS.sub(" ", unicodedata.normalize("NFC", strip_invisible(kept))).strip()


def measure_hypotheses(premise: str, hypotheses: Sequence[Hypothesis], protocol: Protocol) -> list[Measure]:
    """Return the figures of each hypothesis, in the order given."""
    texts = [clean_text(premise), *(clean_text(one.text) for one in hypotheses)]
    folded = [fold(text) for text in texts]
    given, *placed = _locate(folded, units_of(protocol.language))
    negators = _find_negators(folded[1:], placed, protocol)
    measures = []
    for one, text, tokens, negated in zip(hypotheses, texts[1:], placed, negators, strict=True):
        shared = _shared([token for token, _, _ in given], tokens)
        measures.append(
            Measure(
                label=one.label,
                level=one.level,
                text=text,
                tokens=tuple(token for token, _, _ in tokens),
                places=tuple((start, end) for _, start, end in tokens),
                overlap=len(shared) / len(tokens) if tokens else 0.0,
                shared=shared,
                negators=tuple(negated),
            )
        )
    return measures


def check_hypotheses(
    premise: str, hypotheses: Sequence[Hypothesis], protocol: Protocol, condition: str
) -> list[Violation]:
    """Return every rule that the hypotheses for one premise break, in the order of the slots."""
    rules = protocol.condition(condition)
    slots = protocol.slots(condition)
    _check_slots(hypotheses, slots, condition)
    whole, *measured = measure_hypotheses(
        premise, [Hypothesis(label="", level="", text=premise), *hypotheses], protocol
    )
    given = {(one.label, one.level): one for one in measured if one.text}
    foreign = dict(zip(given, _foreign_shares(list(given.values()), protocol.language), strict=True))
    found = []
    for slot in slots:
        if slot not in given:
            found += _missing(slot, given, rules)
            continue
        measure, earlier = given[slot], [given[other] for other in slots[: slots.index(slot)] if other in given]
        found += _broken(measure, earlier, whole, foreign[slot], protocol)
        if rules.negated_contradictions is not None and measure.label == CONTRADICTION and measure.negators:
            before = sum(bool(one.negators) for one in earlier if one.label == CONTRADICTION)
            if before >= rules.negated_contradictions:
                found.append(
                    measure.violation(
                        "negator",
                        measure.negators,
                        negators=measure.words(measure.negators),
                        allowed=rules.negated_contradictions,
                    )
                )
    return found


def meets_bonus(premise: str, hypotheses: Sequence[Hypothesis], protocol: Protocol) -> bool:
    """Say whether hypotheses meet the criteria of the encouraging condition.

    No contradiction holds a negator, and no two hypotheses of one label overlap more than a hypothesis may overlap
    its premise: the shorter's share of tokens that the other has too.
    """
    measured = [one for one in measure_hypotheses(premise, hypotheses, protocol) if one.tokens]
    if any(one.label == CONTRADICTION and one.negators for one in measured):
        return False
    return all(
        (Counter(one.tokens) & Counter(other.tokens)).total()
        <= protocol.writing.overlap * min(len(one.tokens), len(other.tokens))
        for one, other in combinations(measured, 2)
        if one.label == other.label
    )


def script_parameters(protocol: Protocol) -> dict[str, Any]:
    """Return what a page's script needs to measure in the browser what is measured here."""
    return {
        "language": protocol.language,
        "unit": units_of(protocol.language),
        "overlap": protocol.writing.overlap,
        "longest": protocol.writing.longest,
        "negators": protocol.to_dict()["negators"],
        "fewest": FEWEST_TOKENS,
        "lookalikes": lookalikes(),
    }


def _check_slots(hypotheses: Sequence[Hypothesis], slots: Sequence[Slot], condition: str) -> None:
    """Refuse what is not asked for before anything is measured."""
    filled = set()
    for one in hypotheses:
        slot = one.label, one.level
        if slot not in slots or slot in filled:
            raise Invalid(
                "slot_twice" if slot in filled else "slot_not_asked",
                label=Word(one.label),
                level=Word(one.level),
                condition=Word(condition),
                slots=[message("slot", label=Word(label), level=Word(level)) for label, level in slots],
            )
        filled.add(slot)


def _missing(slot: Slot, given: Mapping[Slot, Measure], rules: Condition) -> list[Violation]:
    """A slot may be empty if its level is optional and no later one of its label is filled."""
    label, level = slot
    later = rules.levels[rules.levels.index(level) + 1 :]
    if level in rules.optional and not any((label, other) in given for other in later):
        return []
    return [Violation(rule="missing", label=label, level=level)]


def _broken(
    measure: Measure, earlier: Sequence[Measure], premise: Measure, foreign: float, protocol: Protocol
) -> list[Violation]:
    """Return the rules that one hypothesis breaks by itself, beside its premise, and beside the earlier ones."""
    if not measure.tokens:
        return [measure.violation("empty")]
    found = []
    if len(measure.text) > protocol.writing.longest:
        found.append(measure.violation("long", characters=len(measure.text), longest=protocol.writing.longest))
    if foreign > 0.5:
        found.append(measure.violation("language", language=Word(protocol.language)))
    elif len(measure.tokens) < FEWEST_TOKENS:
        found.append(measure.violation("short"))
    twin = next((one for one in earlier if one.tokens == measure.tokens), None)
    if twin:
        found.append(measure.violation("same_as_other", other_label=Word(twin.label), other_level=Word(twin.level)))
    if measure.tokens == premise.tokens:
        found.append(measure.violation("same_as_premise"))
    elif measure.overlap > protocol.writing.overlap:
        found.append(
            measure.violation(
                "overlap",
                measure.shared,
                percent=math.ceil(100 * measure.overlap),
                allowed=round(100 * protocol.writing.overlap),
                shared=measure.words(measure.shared),
            )
        )
    return found


def _shared(premise: Sequence[str], hypothesis: Sequence[Token]) -> tuple[Span, ...]:
    """Return the places of the tokens that the premise has; from the left, each token of the premise is used once."""
    left = Counter(premise)
    places = []
    for token, start, end in hypothesis:
        if left[token]:
            left[token] -= 1
            places.append((start, end))
    return tuple(places)


def _locate(folded: Sequence[tuple[str, Sequence[int]]], unit: str) -> list[list[Token]]:
    """Return the tokens of folded texts with their places in the texts themselves.

    One character can stand for several tokens (½); what shares a character is one token, so that places never overlap.
    """
    located = []
    for tokens, (_, places) in zip(
        locate_tokens(pl.Series([text for text, _ in folded], dtype=pl.String), unit), folded, strict=True
    ):
        placed: list[Token] = []
        for token, start, end in tokens:
            first, last = places[start], places[end - 1] + 1
            if placed and first < placed[-1][2]:
                earlier, first, _ = placed.pop()
                token = earlier + token
            placed.append((token, first, last))
        located.append(placed)
    return located


def _find_negators(
    folded: Sequence[tuple[str, Sequence[int]]], placed: Sequence[Sequence[Token]], protocol: Protocol
) -> list[list[Span]]:
    """Return the places of negators: whole words, or in Chinese what stands in the text outside the exceptions."""
    lexicon = protocol.negators
    listed, excepted = ({*map(fold_word, words)} for words in (lexicon.words, lexicon.exceptions))
    if units_of(protocol.language) == "words":
        words = pl.Series([token for tokens in placed for token, _, _ in tokens], dtype=pl.String).unique()
        pattern = f"^(?:{lexicon.pattern})$" if lexicon.pattern else r"[^\s\S]"
        negators = {*words.filter(words.is_in(listed) | words.str.contains(pattern))} - excepted
        return [[(start, end) for token, start, end in tokens if token in negators] for tokens in placed]
    blanked = [(_any_of(excepted).sub(lambda word: " " * len(word[0]), text), places) for text, places in folded]
    return [
        [(places[word.start()], places[word.end() - 1] + 1) for word in _any_of(listed).finditer(text)]
        for text, places in blanked
    ]


def _any_of(words: Collection[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))) or r"(?!)")


def _foreign_shares(measures: Sequence[Measure], language: str) -> list[float]:
    """Return for each text the share of its tokens with letters that hold none of the language's own script."""
    written = [[one.text[start:end] for start, end in one.places] for one in measures]
    tokens = pl.Series(written, dtype=pl.List(pl.String))
    lettered = tokens.list.eval(pl.element().filter(pl.element().str.contains(r"\p{L}")))
    own = lettered.list.eval(pl.element().str.contains(_OWN_SCRIPT[language])).list.mean()
    return (1 - own.cast(pl.Float64)).fill_null(0.0).to_list()
