"""Numerical reasoning: numbers are changed or compared, and the label follows from them (Naik et al. 2018, 3.1).

From a sentence with the number n come three pairs:

- entailment: n becomes "less than m" with m > n, or "more than m" with m < n;
- contradiction: n becomes another number, or "less than n" or "more than n";
- neutral: the entailment the other way round.

m is n with another first digit, as in the paper; a spelled number becomes another spelled one. Chinese, as Hu et al.
(2021) do it, has 不到 and 超过.

Where we differ: the papers take the sentences of word problems, ours are the premises of any NLI set, so numbers that
are no bare counts have to be told apart: years, times, decimals, sums of money, ordinals, numbers in names or after a
definite article, and numbers that are compared or rounded already. What is in doubt is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from goldlabel.evaluate.stress.recipe import BasePair, Draw, UnsuitableError, Variant
from goldlabel.evaluate.stress.sentences import capitalised_like, refuse_unless_plain
from goldlabel.pairs.lexicon import lexicon

_YEARS = range(1000, 3000)
_LESS = {"en": "less than ", "zh": "不到"}
_MORE = {"en": "more than ", "zh": "超过"}
_SMALLEST = 2  # "one" and 一 are mostly no numbers, and nouns agree with them


@dataclass(frozen=True)
class Quantity:
    """A number that counts something, and where it stands."""

    text: str
    value: int
    start: int
    end: int


@dataclass(frozen=True)
class NumericalReasoning:
    """The recipe."""

    name: str = "numerical_reasoning"
    languages: tuple[str, ...] = ("en", "zh")

    def vary(self, pair: BasePair, draw: Draw) -> list[Variant]:
        """Return an entailment, a contradiction and a neutral pair about the first count of the premise."""
        sentence, language = pair.premise, pair.language
        refuse_unless_plain(sentence, language)
        quantity = next(quantities(sentence, language), None)
        if quantity is None:
            raise UnsuitableError("no number in the premise that counts something")
        random = draw(sentence)
        entailed = _compared(sentence, quantity, _another(quantity, language, random), language)
        if random.randint(2):
            kind, denial = "changed", _replaced(sentence, quantity, _another(quantity, language, random).text)
        else:
            comparison = (_LESS if random.randint(2) else _MORE)[language]
            kind, denial = "compared", _replaced(sentence, quantity, comparison + quantity.text.lower())
        return [
            Variant(sentence, entailed, "entailment", "compared"),
            Variant(sentence, denial, "contradiction", kind),
            Variant(entailed, sentence, "neutral", "reversed"),
        ]


def quantities(text: str, language: str) -> Iterator[Quantity]:
    """Yield the numbers of a text that count something."""
    words = lexicon(f"stress-{language}")
    for match in _pattern(language).finditer(text):
        number = match.group("number")
        value = _value(number, language)
        if value < _SMALLEST or value in _YEARS:
            continue
        before, after = text[: match.start("number")], text[match.end("number") :]
        if language == "zh":
            if before.endswith(tuple(words["not_before_number"])):
                continue
        else:
            if before.strip() and number[:1].isupper():  # a name: Chapter Two
                continue
            previous, following = re.search(r"(\w+)\W*$", before), re.match(r" (\w+)", after)
            if previous and previous.group(1).lower() in words["not_before_number"]:
                continue
            if following is None or following.group(1) in words["not_after_number"] or not following.group(1).islower():
                continue
        yield Quantity(number, value, match.start("number"), match.end("number"))


@cache
def _pattern(language: str) -> re.Pattern[str]:
    words = lexicon(f"stress-{language}")
    numerals = "|".join(words["numerals"])
    if language == "zh":
        measures = "|".join(sorted(words["measures"], key=len, reverse=True))
        inside = "0-9０-９.．,，:：/零一二两三四五六七八九十百千万亿几数"
        return re.compile(rf"(?<![{inside}])(?P<number>[1-9][0-9]{{0,5}}|{numerals})(?=(?:{measures})(?![多余来几]))")
    return re.compile(
        rf"(?<![\w.,:/$£€#%'’(-])(?P<number>[1-9][0-9]{{0,5}}|{numerals})(?![\w%°'’\"-]|[.,:/]\d)", re.IGNORECASE
    )


def _value(number: str, language: str) -> int:
    if number.isdecimal():
        return int(number)
    numerals: list[str] = lexicon(f"stress-{language}")["numerals"]
    return numerals.index(number.lower()) + _SMALLEST


def _another(quantity: Quantity, language: str, random: np.random.RandomState) -> Quantity:
    """Return another number of the same form: with another first digit, or another numeral."""
    if quantity.text.isdecimal():
        forms = [f"{digit}{quantity.text[1:]}" for digit in range(1, 10)]
    else:
        forms = lexicon(f"stress-{language}")["numerals"]
    others = [form for form in forms if form != quantity.text.lower() and _value(form, language) >= _SMALLEST]
    text = others[random.randint(len(others))]
    return Quantity(text, _value(text, language), quantity.start, quantity.end)


def _compared(sentence: str, quantity: Quantity, other: Quantity, language: str) -> str:
    comparison = (_LESS if other.value > quantity.value else _MORE)[language]
    return _replaced(sentence, quantity, comparison + other.text)


def _replaced(sentence: str, quantity: Quantity, text: str) -> str:
    begins = not sentence[: quantity.start].strip()
    text = capitalised_like(text, "A") if begins else text
    return sentence[: quantity.start] + text + sentence[quantity.end :]


NUMERICAL_REASONING = NumericalReasoning()
