"""The tokeniser: from texts to lists of tokens, a column at a time, by one of five rules.

``words``
    A token is a run of letters, marks and digits, or a number with its inner points and commas (``1,000``).
``characters``
    As ``words``, but Chinese and Japanese characters stand alone.
``letters``
    Every letter and digit stands alone.
``jieba``, ``jieba-search``
    Chinese words by jieba's default mode, or by its mode for search engines, which also gives the shorter words
    inside long ones. Needs the extra ``zh``.

Figures are counted over words: signs are dropped, and words keep their inner apostrophes (``don't`` is one token).
Models read texts with their ``signs``: every other sign is a token, words keep their inner hyphens, and English
contractions are split as in the Penn Treebank and GloVe (``do n't``, ``it 's``).

Every text is taken by the rule for its language, so a dataset may mix languages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import polars as pl

from goldlabel.errors import GoldlabelError
from goldlabel.registry import Registry, import_extra

CJK = r"\p{Han}\p{Hiragana}\p{Katakana}"
_NUMBER = r"\p{N}+(?:[.,]\p{N}+)+"
_LETTER = r"\p{L}\p{M}\p{N}"
# Without look-around, a run that is no CJK is spelled out class by class.
_PLAIN = rf"[[{_LETTER}]--[{CJK}]]"
_RUN, _PLAIN_RUN = rf"[{_LETTER}_]+", rf"[[{_LETTER}_]--[{CJK}]]+"
_CONTRACTION = r"n't\b|'(?:s|m|re|ve|ll|d)\b"
_WORDS = {
    "words": rf"{_NUMBER}|[{_LETTER}]+(?:'[\p{{L}}\p{{M}}]+)*",
    "characters": rf"[{CJK}]|{_NUMBER}|{_PLAIN}+(?:'{_PLAIN}+)*",
    "letters": rf"[{_LETTER}]",
}
_WITH_SIGNS = {
    "words": rf"(?i){_CONTRACTION}|{_NUMBER}|{_RUN}(?:-{_RUN})*|\S",
    "characters": rf"(?i){_CONTRACTION}|[{CJK}]|{_NUMBER}|{_PLAIN_RUN}(?:-{_PLAIN_RUN})*|\S",
    "letters": r"\S",
}
_JIEBA = {"jieba": "cut", "jieba-search": "cut_for_search"}
_SEVERAL_PROCESSES = 40_000


class Tokenizer(Protocol):
    """Turns a column of texts into a column of lists of tokens."""

    def __call__(self, texts: pl.Series, *, signs: bool = False, lowercase: bool = True) -> pl.Series:
        """Return the tokens of each text."""
        ...


TOKENIZERS: Registry[Tokenizer] = Registry("tokenizer")


def _tokenize(texts: pl.Series, rule: str, *, signs: bool = False, lowercase: bool = True) -> pl.Series:
    plain = _plain(texts, lowercase=lowercase)
    if signs and rule != "letters":
        plain = plain.str.replace_all(r"(?i)(n't)\b", " $1").str.replace_all(
            r"(?i)(\w)('(?:s|m|re|ve|ll|d))\b", "$1 $2"
        )
    return plain.str.extract_all((_WITH_SIGNS if signs else _WORDS)[rule])


def _segment(texts: pl.Series, rule: str, *, signs: bool = False, lowercase: bool = True) -> pl.Series:
    """Segment each different text once, in several processes where there are many."""
    import_jieba()
    unique = texts.unique(maintain_order=True)
    # One text per line goes to the other processes.
    lines = unique.str.replace_all(r"[\r\n\t\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ").to_list()
    workers = min(os.cpu_count() or 1, len(lines) // _SEVERAL_PROCESSES + 1)
    form = _JIEBA[rule], signs, lowercase
    if workers == 1:
        segmented = _segment_here(lines, *form)
    else:
        size = -(-len(lines) // workers)
        parts = [lines[start : start + size] for start in range(0, len(lines), size)]
        with ThreadPoolExecutor(workers) as pool:
            results = pool.map(lambda part: _segment_elsewhere(part, form), parts)
            segmented = [line for part in results for line in part]
    table = pl.DataFrame({"text": unique, "tokens": pl.Series(segmented, dtype=pl.String)}).with_columns(
        pl.when(pl.col("tokens") == "")
        .then(pl.lit([], pl.List(pl.String)))
        .otherwise(pl.col("tokens").str.split("\t"))
        .alias("tokens")
    )
    return pl.DataFrame({"text": texts}).join(table, on="text", how="left", maintain_order="left")["tokens"]


for _rule in _WORDS:
    TOKENIZERS.add(_rule, partial(_tokenize, rule=_rule))
for _rule in _JIEBA:
    TOKENIZERS.add(_rule, partial(_segment, rule=_rule))

UNKNOWN = ""
"""Stands for a language that nobody named, where a language is asked for."""

_BY_LANGUAGE = {"zh": "jieba-search", "ja": "characters", UNKNOWN: "characters"}
_UNITS = {"zh": "characters", "ja": "characters", UNKNOWN: "characters"}


def language_of(frame: pl.DataFrame) -> pl.Series:
    """Return each pair's language without its region, null where none is given: none is guessed."""
    return frame.select(pl.col("language").str.to_lowercase().str.extract(r"^([a-z]+)")).to_series()


def tokenizer_of(language: str, wanted: str | None = None) -> str:
    """Return the name of the tokeniser for a language; one made for Chinese is not taken for another language."""
    if wanted is not None:
        TOKENIZERS.get(wanted)
    if wanted is None or (wanted.startswith("jieba") and language not in ("zh", UNKNOWN)):
        return _BY_LANGUAGE.get(language, "words")
    return wanted


def units_of(language: str) -> str:
    """Return the tokeniser whose tokens lengths and overlap are counted in: words, and characters for Chinese."""
    return _UNITS.get(language, "words")


def tokenize_units(frame: pl.DataFrame, column: str) -> pl.Series:
    """Tokenise one column of pairs, each in the units of its language."""
    languages = language_of(frame).fill_null(UNKNOWN)
    rows, parts = [], []
    for language in languages.unique(maintain_order=True):
        places = (languages == language).arg_true()
        rows.append(places)
        parts.append(TOKENIZERS.get(units_of(language))(frame[column].gather(places)))
    if len(parts) == 1:
        return parts[0]
    return pl.concat(parts).gather(pl.concat(rows).arg_sort())


def split_texts(texts: Sequence[str]) -> list[list[str]]:
    """Return the tokens of texts as the models without a network read them: signs and every character, lower case."""
    lists: list[list[str]] = TOKENIZERS.get("characters")(pl.Series(texts, dtype=pl.String), signs=True).to_list()
    return lists


def space_characters(texts: Sequence[str]) -> list[str]:
    """Set Chinese and Japanese characters apart by spaces, for what takes words to be what spaces separate."""
    return pl.Series(texts, dtype=pl.String).str.replace_all(rf"([{CJK}])", " $1 ").to_list()


def locate_tokens(texts: pl.Series, unit: str) -> list[list[tuple[str, int, int]]]:
    """Return the tokens of ``words`` or ``characters`` with their start and end in the text, in code points."""
    plain, tokenize = _plain(texts, lowercase=False), TOKENIZERS.get(unit)
    cased, tokens = tokenize(texts, lowercase=False), tokenize(texts)
    located = []
    for text, words, lowered in zip(plain.to_list(), cased.to_list(), tokens.to_list(), strict=True):
        spans, place = [], 0
        for word, token in zip(words, lowered, strict=True):
            # Between two tokens there is no letter or digit, so that the next occurrence is the token itself.
            start = text.index(word, place)
            place = start + len(word)
            spans.append((token, start, place))
        located.append(spans)
    return located


def _plain(texts: pl.Series, *, lowercase: bool = True) -> pl.Series:
    return (texts.str.to_lowercase() if lowercase else texts).str.replace_all("’", "'", literal=True)


def _segment_here(lines: list[str], mode: str, signs: bool, lowercase: bool) -> list[str]:
    cut = getattr(import_jieba(), mode)
    real = re.compile(r"\S" if signs else r"\w")
    segmented = ("\t".join(token.strip() for token in cut(line) if real.search(token)) for line in lines)
    return [line.lower() if lowercase else line for line in segmented]


def _segment_elsewhere(lines: list[str], form: tuple[str, bool, bool]) -> list[str]:
    """Segment in a process of its own.

    A plain child process, as multiprocessing would run the user's script once more.
    """
    command = f"from goldlabel.pairs.tokens import _serve_segments; _serve_segments(*{form!r})"
    run = subprocess.run(
        [sys.executable, "-c", command], input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=False
    )
    segmented = run.stdout.decode().split("\n")
    if run.returncode or len(segmented) != len(lines):
        raise GoldlabelError(f"a process that segmented Chinese ended early (exit code {run.returncode}); run again")
    return segmented


def _serve_segments(mode: str, signs: bool, lowercase: bool) -> None:
    lines = sys.stdin.buffer.read().decode().split("\n")
    sys.stdout.buffer.write("\n".join(_segment_here(lines, mode, signs, lowercase)).encode())


def import_jieba() -> Any:
    """Import jieba without what it says about its own age, and without its progress on stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*")
        jieba = import_extra("jieba", "zh")
    jieba.setLogLevel("WARNING")
    return jieba
