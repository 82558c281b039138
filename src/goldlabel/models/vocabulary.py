"""Words of the networks: tokenising with signs and case kept, and numbering.

``words``
    Runs of letters, digits and inner hyphens, and numbers with their inner points and commas (``1,000``); English
    contractions are split as in the Penn Treebank and GloVe (``do n't``, ``it 's``); every other sign is a token.
``characters``
    As ``words``, but Chinese and Japanese characters stand alone.
``letters``
    Every letter, digit and sign stands alone.
``jieba``
    Chinese words by jieba. Needs the extra ``zh``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.tokens import CJK, NUMBER, UNKNOWN
from goldlabel.registry import suggest

TOKENIZERS = ("words", "characters", "letters", "jieba")
SPECIALS = ("<pad>", "<other>", "<start>", "<end>", "<null>")
PAD, OTHER, START, END, NULL = range(len(SPECIALS))
"""``<other>`` stands for the sentence that a partial-input model does not see; ``<null>`` for an empty one."""

_RUN = r"[\p{L}\p{M}\p{N}_]+(?:-[\p{L}\p{M}\p{N}_]+)*"
_PLAIN = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{CJK}]]+(?:-[[\p{{L}}\p{{M}}\p{{N}}_]--[{CJK}]]+)*"
_CONTRACTION = r"n't\b|'(?:s|m|re|ve|ll|d)\b"
_PATTERNS = {
    "words": rf"(?i){_CONTRACTION}|{NUMBER}|{_RUN}|\S",
    "characters": rf"(?i){_CONTRACTION}|[{CJK}]|{NUMBER}|{_PLAIN}|\S",
    "letters": r"\S",
}


def tokenize(texts: pl.Series, tokenizer: str, *, lowercase: bool) -> pl.Series:
    """Turn a column of texts into a column of lists of tokens."""
    if tokenizer not in TOKENIZERS:
        raise InputError(f"there is no tokenizer {tokenizer!r}; {suggest(tokenizer, list(TOKENIZERS))}")
    plain = (texts.str.to_lowercase() if lowercase else texts).str.replace_all("’", "'", literal=True)
    if tokenizer == "jieba":
        return _segmented(plain)
    if tokenizer == "letters":
        return plain.str.extract_all(_PATTERNS[tokenizer])
    apart = plain.str.replace_all(r"(?i)(n't)\b", " $1").str.replace_all(r"(?i)(\w)('(?:s|m|re|ve|ll|d))\b", "$1 $2")
    return apart.str.extract_all(_PATTERNS[tokenizer])


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


def _segmented(texts: pl.Series) -> pl.Series:
    from goldlabel.pairs.tokens import import_jieba

    cut = import_jieba().lcut
    cache = {text: [token for token in cut(text) if not token.isspace()] for text in texts.unique()}
    return pl.Series([cache[text] for text in texts], dtype=pl.List(pl.String))
