"""Examples: pairs to look at for a finding, and what to mark in their texts.

An audit keeps no text, so an example is an id and stretches of the two texts by their first place and the place behind
their last, in code points. What a finding is about decides which: the word, the two neighbours, the word at its place,
the listed words of a tag, Roman letters in other scripts, or the tokens that both texts share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from goldlabel.audit.features import PLACES
from goldlabel.audit.tags import TAGS
from goldlabel.pairs.lexicon import LEXICONS, lexicon, match_words
from goldlabel.pairs.tokens import locate_tokens, tokenizer_of, units_of

Span = tuple[int, int]
Spans = tuple[Span, ...]
Token = tuple[str, int, int]


@dataclass(frozen=True)
class Example:
    """A pair to look at, and the stretches of its texts to mark."""

    id: str
    premise: Spans = ()
    hypothesis: Spans = ()

    def marks(self) -> dict[str, list[list[int]]]:
        """Return the stretches as JSON has them."""
        return {
            "premise": [list(span) for span in self.premise],
            "hypothesis": [list(span) for span in self.hypothesis],
        }


def mark_pair(
    kind: str, feature: str, premise: str, hypothesis: str, *, language: str, tokenizer: str | None = None
) -> tuple[Spans, Spans]:
    """Return what to mark in the premise and in the hypothesis of a pair that carries a feature of a kind.

    ``language`` is "" where it is not known, ``tokenizer`` the one the audit was made with, if it was not the default.
    """
    if kind in ("overlap", "overlap_rule"):
        return _shared(premise, hypothesis, units_of(language))
    if kind == "foreign_text":
        return _roman(premise), _roman(hypothesis)
    if kind in TAGS and language in LEXICONS:
        return (), _listed(hypothesis, language, kind)
    if kind in ("word", "position", "bigram"):
        return (), _words(hypothesis, kind, feature, tokenizer_of(language, tokenizer))
    return (), ()


def _shared(premise: str, hypothesis: str, unit: str) -> tuple[Spans, Spans]:
    first, second = locate_tokens(pl.Series([premise, hypothesis]), unit)
    both = {token for token, *_ in first} & {token for token, *_ in second}
    return _spans(first, both), _spans(second, both)


def _spans(tokens: Iterable[Token], wanted: set[str]) -> Spans:
    return tuple((start, end) for token, start, end in tokens if token in wanted)


def _roman(text: str) -> Spans:
    return tuple(match.span() for match in re.finditer(r"[A-Za-z]+(?:[ '’.-]*[A-Za-z]+)*", text))


def _listed(text: str, language: str, tag: str) -> Spans:
    """Find the words of a tag as tags are told: in English among tokens, in Chinese anywhere outside the exceptions."""
    if language != "zh":
        (tokens,) = locate_tokens(pl.Series([text]), "words")
        words = [token for token, *_ in tokens]
        return _spans(tokens, {word for word, hit in zip(words, match_words(language, tag, words), strict=True) if hit})
    entry = lexicon(language)[tag]
    for word in sorted(entry.get("except", ()), key=len, reverse=True):
        text = text.replace(word, " " * len(word))
    pattern = _any_of(entry["words"])
    if "pattern" in entry:
        pattern = f"{pattern}|{entry['pattern']}"
    return tuple(match.span() for match in re.finditer(pattern, text))


def _words(text: str, kind: str, feature: str, tokenizer: str) -> Spans:
    word, place = feature, ""
    if kind == "position":
        word, _, place = feature.removesuffix(")").rpartition(" (")
    words = word.split(" ") if kind == "bigram" else [word]
    segmented = tokenizer.startswith("jieba")
    tokens = _find(text, words) if segmented else locate_tokens(pl.Series([text]), tokenizer)[0]
    if kind == "bigram":
        beside = pairwise(tokens)
        return tuple((first[1], second[2]) for first, second in beside if [first[0], second[0]] == words)
    if place == PLACES[-1]:
        tokens = tokens[-1:]
    elif place:
        number = 0 if segmented else PLACES.index(place)
        tokens = tokens[number : number + 1]
    return _spans(tokens, {word})


def _find(text: str, words: list[str]) -> list[Token]:
    """Find words where they stand: jieba tells no places, and its words for search overlap."""
    return [(match[0].lower(), *match.span()) for match in re.finditer(_any_of(words), text, re.IGNORECASE)]


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))
