"""What the recipes ask of a sentence: its words and where they stand, and whether it plainly asserts something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from goldlabel.evaluate.stress.recipe import UnsuitableError
from goldlabel.pairs.lexicon import lexicon
from goldlabel.pairs.tokens import import_jieba

# A word of a compound such as "two-year-old" is no word of its own.
_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w'’-])")
_QUESTION = ("?", "？")


@dataclass(frozen=True)
class Word:
    """A word and its place in the text."""

    text: str
    start: int
    end: int


def words_of(text: str, language: str) -> list[Word]:
    """Return the words of a text: English ones by their letters, Chinese ones as jieba finds them."""
    if language == "zh":
        return [Word(*token) for token in import_jieba().tokenize(text)]
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def refuse_unless_plain(text: str, language: str) -> None:
    """Refuse a sentence that denies, supposes, offers a choice or asks.

    Replacing a part of such a sentence by its contrary does not give the contrary of the whole.
    """
    if not is_plain(text, language):
        raise UnsuitableError("a negation, a condition, a choice or a question")


def is_plain(text: str, language: str) -> bool:
    """Say whether a sentence simply asserts what it says."""
    if text.rstrip().endswith(_QUESTION):
        return False
    negation = lexicon(language)["negation"]
    not_plain = lexicon(f"stress-{language}")["not_plain"]
    if language == "zh":
        for word in negation["except"]:
            text = text.replace(word, " ")
        return not any(word in text for word in (*negation["words"], *not_plain))
    words = {word.text.lower().replace("’", "'") for word in words_of(text, language)}
    denying = re.compile(negation["pattern"])
    return words.isdisjoint({*negation["words"], *not_plain}) and not any(map(denying.fullmatch, words))


@cache
def is_content(word: str, language: str) -> bool:
    """Say whether a word (in Chinese, a character) carries content: no grammar, no number, no negation."""
    function: Sequence[str] = lexicon(f"stress-{language}")["function"]
    if language == "zh":
        return word not in function
    tags = ("negation", "number", "wh_word", "pronoun", "quantifier", "modal")
    lists = (lexicon(language)[tag]["words"] for tag in tags)
    return word not in function and "'" not in word and not any(word in listed for listed in lists)


def capitalised_like(word: str, model: str) -> str:
    """Return a word with a capital first letter if the model has one."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
