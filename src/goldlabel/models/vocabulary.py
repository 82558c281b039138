"""Words of the networks and their numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from goldlabel.pairs.tokens import UNKNOWN

SPECIALS = ("<pad>", "<other>", "<start>", "<end>", "<null>")
PAD, OTHER, START, END, NULL = range(len(SPECIALS))
"""``<other>`` stands for the sentence that a partial-input model does not see; ``<null>`` for an empty one."""


def default_tokenizer(languages: Iterable[str], characters: str = "characters") -> str:
    """Return what cuts ``characters`` where Chinese or Japanese is among the languages, else ``words``.

    Where one is not named, ``characters`` serves whatever it is: of text in other scripts it makes words.
    """
    codes = {language[:2].lower() for language in languages}
    if {"zh", "ja"} & codes:
        return characters
    return "characters" if UNKNOWN in codes else "words"


@dataclass(frozen=True)
class Vocabulary:
    """Numbered words; those outside share ``buckets`` further numbers by hash (Parikh et al. 2016 use 100)."""

    words: tuple[str, ...]
    buckets: int = 1

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.words) + self.buckets

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=len(SPECIALS))}

    def number(self, word: str) -> int:
        """Return a word's number."""
        return self._numbers.get(word) or len(self) - 1 - _hash(word) % self.buckets

    def __contains__(self, word: str) -> bool:
        return word in self._numbers


def build_vocabulary(tokens: Iterable[pl.Series], *, buckets: int = 1, at_least: int = 1) -> Vocabulary:
    """Number the words of columns of token lists, most frequent first, then by the alphabet."""
    flat = pl.concat([column.explode(empty_as_null=True).drop_nulls() for column in tokens])
    counts = flat.alias("word").to_frame().group_by("word").len()
    kept = counts.filter(pl.col("len") >= at_least).sort("len", "word", descending=[True, False])
    return Vocabulary(tuple(kept["word"]), buckets)


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
