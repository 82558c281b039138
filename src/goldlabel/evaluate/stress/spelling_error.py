"""Spelling error: one content word of the hypothesis is misspelt, which changes no label (Naik et al. 2018, 3.3).

The paper has two kinds, and chance takes one of them for each hypothesis: two adjacent letters of the word change
places (``swap``), or a letter becomes its neighbour on the row of the keyboard (``keyboard``). Function words and
numbers are left alone, since an error there may change what the sentence says.

In Chinese (Hu et al. 2021) a character becomes another that is pronounced alike but for the tone (``homophone``), which
is how people who type Pinyin err.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from goldlabel.evaluate.stress.recipe import BasePair, Draw, UnsuitableError, Variant
from goldlabel.evaluate.stress.sentences import Word, is_content, words_of
from goldlabel.pairs.lexicon import lexicon

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    row[place]: row[max(0, place - 1) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place in range(len(row))
}
_SHORTEST = 3


@dataclass(frozen=True)
class SpellingError:
    """The recipe."""

    name: str = "spelling_error"
    languages: tuple[str, ...] = ("en", "zh")

    def vary(self, pair: BasePair, draw: Draw) -> list[Variant]:
        """Return the pair with one error in its hypothesis."""
        random = draw(pair.hypothesis)
        misspell = _misspell_chinese if pair.language == "zh" else _misspell_english
        hypothesis, kind = misspell(pair.hypothesis, random)
        return [Variant(pair.premise, hypothesis, kind=kind)]


def _misspell_english(text: str, random: np.random.RandomState) -> tuple[str, str]:
    words = [word for word in words_of(text, "en") if _can_be_misspelt(word)]
    if not words:
        raise UnsuitableError("no content word in the hypothesis")
    word = words[random.randint(len(words))]
    kind, misspell = (("swap", _swap), ("keyboard", _press_neighbour))[random.randint(2)]
    return text[: word.start] + misspell(word.text, random) + text[word.end :], kind


def _can_be_misspelt(word: Word) -> bool:
    plain = word.text.lower()
    letters = re.fullmatch(r"[a-z]+", plain) and len(set(plain)) > 1
    return bool(letters) and len(plain) >= _SHORTEST and is_content(plain, "en")


def _swap(word: str, random: np.random.RandomState) -> str:
    plain = word.lower()
    places = [place for place in range(len(plain) - 1) if plain[place] != plain[place + 1]]
    place = places[random.randint(len(places))]
    swapped = plain[:place] + plain[place + 1] + plain[place] + plain[place + 2 :]
    return _cased_like(swapped, word)


def _press_neighbour(word: str, random: np.random.RandomState) -> str:
    place = random.randint(len(word))
    neighbours = _NEIGHBOURS[word[place].lower()]
    pressed = word[:place] + neighbours[random.randint(len(neighbours))] + word[place + 1 :]
    return _cased_like(pressed, word)


def _cased_like(word: str, model: str) -> str:
    """Return a word with capital letters where the model has them."""
    return "".join(letter.upper() if like.isupper() else letter for letter, like in zip(word, model, strict=True))


def _misspell_chinese(text: str, random: np.random.RandomState) -> tuple[str, str]:
    places = [place for place, sign in enumerate(text) if sign in _homophones() and is_content(sign, "zh")]
    if not places:
        raise UnsuitableError("no character with a homophone in the hypothesis")
    place = places[random.randint(len(places))]
    others = _homophones()[text[place]]
    return text[:place] + others[random.randint(len(others))] + text[place + 1 :], "homophone"


@cache
def _homophones() -> dict[str, str]:
    groups: list[str] = list(lexicon("stress-zh")["homophones"].values())
    return {sign: group.replace(sign, "") for group in groups for sign in group}


SPELLING_ERROR = SpellingError()
