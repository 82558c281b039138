"""Linguistic tags of premises and hypotheses, as in Nie et al. (2020), Appendix B.

The paper names the tags and gives a few words of each; the word lists are our own, in ``pairs/lexicons/``. English
tags are read off tokens, Chinese ones off the text, so that they do not hang on a segmenter. *Long* means more
than 20 words, in Chinese more than 30 characters. The numeral "one" and 一 are no numbers here: mostly they are
pronouns and articles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs.lexicon import LEXICONS, lexicon, match_texts, match_words

TAGS = ("negation", "and", "or", "number", "time", "wh_word", "pronoun", "quantifier", "modal", "long")
_BITS = {name: np.uint32(1 << bit) for bit, name in enumerate(TAGS)}
_LONG = _BITS["long"]
_LISTED = tuple(name for name in TAGS if name != "long")


@dataclass
class WordTagger:
    """Tags encoded tokens of one vocabulary; each word's tags are looked up once."""

    language: str
    vocabulary: list[str]
    _masks: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, dtype=np.uint32))

    def tag(self, encoded: pl.Series) -> NDArray[np.uint32]:
        """Return the tags of each text as bits."""
        if len(self._masks) < len(self.vocabulary):
            new = _tags_of_words(self.language, self.vocabulary[len(self._masks) :])
            self._masks = np.concatenate([self._masks, new])
        codes = encoded.list.explode(keep_nulls=False, empty_as_null=False).to_numpy()
        lengths = encoded.list.len().to_numpy().astype(np.int64)
        tags = np.zeros(len(lengths), dtype=np.uint32)
        some = lengths > 0  # reduceat gives an empty stretch the tags of the next text
        starts = (np.cumsum(lengths) - lengths)[some]
        if len(starts):
            tags[some] = np.bitwise_or.reduceat(self._masks[codes], starts)
        return tags | np.where(lengths > lexicon(self.language)["long"], _LONG, np.uint32(0))


def tag_text(language: str, texts: pl.Series, lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the tags of each text as bits, found by what stands in it."""
    tags = np.where(lengths > lexicon(language)["long"], _LONG, np.uint32(0))
    for name in _LISTED:
        tags |= np.where(match_texts(language, name, texts), _BITS[name], np.uint32(0))
    return tags


def words_of_tag(language: str, tag: str) -> list[str]:
    """Return the listed words of a tag, for naming them to people."""
    return list(lexicon(language)[tag]["words"]) if language in LEXICONS and tag in _LISTED else []


def carries(tags: NDArray[np.uint32], tag: str) -> NDArray[np.bool_]:
    """Return which texts carry a tag."""
    carried: NDArray[np.bool_] = (tags & _BITS[tag]) != 0
    return carried


def _tags_of_words(language: str, words: Sequence[str]) -> NDArray[np.uint32]:
    masks = np.zeros(len(words), dtype=np.uint32)
    for name in _LISTED:
        masks |= np.where(match_words(language, name, words), _BITS[name], np.uint32(0))
    return masks
