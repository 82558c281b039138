"""Tokenisers: from texts to lists of tokens, a column at a time.

``words``
    Lower case; a token is a run of letters, marks and digits, with inner apostrophes (``don't`` is one token), or
    a number with its inner points and commas (``1,000``). Signs are dropped.
``characters``
    As ``words``, but Chinese and Japanese characters stand alone.
``jieba``, ``jieba-search``
    Chinese words by jieba's default mode, or by its mode for search engines, which also gives the shorter words
    inside long ones. Tokens without a letter or digit are dropped. Needs the extra ``zh``.

Every text is taken in the tokeniser of its language, so a dataset may mix languages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl

from goldlabel.errors import GoldlabelError
from goldlabel.registry import Registry, import_extra

Tokenizer = Callable[[pl.Series], pl.Series]
"""Turns a column of texts into a column of lists of tokens."""

TOKENIZERS: Registry[Tokenizer] = Registry("tokenizer")

CJK = r"\p{Han}\p{Hiragana}\p{Katakana}"
NUMBER = r"\p{N}+(?:[.,]\p{N}+)+"
_WORD = r"[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*"
_TOKEN = rf"{NUMBER}|{_WORD}"
# Without look-around, a run that is no CJK is spelled out class by class.
_PLAIN = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{CJK}]]"
_CHARACTER = rf"[{CJK}]|{NUMBER}|{_PLAIN}+(?:'{_PLAIN}+)*"
_PATTERNS = {"words": _TOKEN, "characters": _CHARACTER}
_SEVERAL_PROCESSES = 40_000


def words(texts: pl.Series) -> pl.Series:
    """Split at everything that is no letter, mark or digit."""
    return _plain(texts).str.extract_all(_TOKEN)


def characters(texts: pl.Series) -> pl.Series:
    """Split as ``words``, and Chinese and Japanese character by character."""
    return _plain(texts).str.extract_all(_CHARACTER)


def jieba_words(texts: pl.Series) -> pl.Series:
    """Segment Chinese into words."""
    return _segment(texts, "cut")


def jieba_search(texts: pl.Series) -> pl.Series:
    """Segment Chinese into words and the shorter words inside them."""
    return _segment(texts, "cut_for_search")


TOKENIZERS.add("words", words)
TOKENIZERS.add("characters", characters)
TOKENIZERS.add("jieba", jieba_words)
TOKENIZERS.add("jieba-search", jieba_search)

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


def locate_tokens(texts: pl.Series, unit: str) -> list[list[tuple[str, int, int]]]:
    """Return the tokens of ``words`` or ``characters`` with their start and end in the text, in code points."""
    plain = texts.str.replace_all("’", "'", literal=True)
    cased = plain.str.extract_all(_PATTERNS[unit])
    tokens = TOKENIZERS.get(unit)(texts)
    found = []
    for text, held, lowered in zip(plain.to_list(), cased.to_list(), tokens.to_list(), strict=True):
        placed, place = [], 0
        for word, token in zip(held, lowered, strict=True):
            # Between two tokens there is no letter or digit, so that the next occurrence is the token itself.
            start = text.index(word, place)
            place = start + len(word)
            placed.append((token, start, place))
        found.append(placed)
    return found


def _plain(texts: pl.Series) -> pl.Series:
    return texts.str.to_lowercase().str.replace_all("’", "'", literal=True)


def _segment(texts: pl.Series, mode: str) -> pl.Series:
    """Segment each different text once, in several processes where there are many."""
    import_jieba()
    unique = texts.unique(maintain_order=True)
    # One text per line goes to the other processes.
    lines = unique.str.replace_all(r"[\r\n\t\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ").to_list()
    workers = min(os.cpu_count() or 1, len(lines) // _SEVERAL_PROCESSES + 1)
    if workers == 1:
        segmented = _segment_here(lines, mode)
    else:
        size = -(-len(lines) // workers)
        parts = [lines[start : start + size] for start in range(0, len(lines), size)]
        with ThreadPoolExecutor(workers) as pool:
            segmented = [line for part in pool.map(lambda part: _segment_elsewhere(part, mode), parts) for line in part]
    table = pl.DataFrame({"text": unique, "tokens": pl.Series(segmented, dtype=pl.String)}).with_columns(
        pl.when(pl.col("tokens") == "")
        .then(pl.lit([], pl.List(pl.String)))
        .otherwise(pl.col("tokens").str.split("\t"))
        .alias("tokens")
    )
    return pl.DataFrame({"text": texts}).join(table, on="text", how="left", maintain_order="left")["tokens"]


def _segment_here(lines: list[str], mode: str) -> list[str]:
    cut = getattr(import_jieba(), mode)
    held = re.compile(r"\w")
    return ["\t".join(token.strip().lower() for token in cut(line) if held.search(token)) for line in lines]


def _segment_elsewhere(lines: list[str], mode: str) -> list[str]:
    """Segment in a process of its own.

    A plain child process, as multiprocessing would run the user's script once more.
    """
    command = f"from goldlabel.pairs.tokens import _serve_segments; _serve_segments({mode!r})"
    run = subprocess.run(
        [sys.executable, "-c", command], input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=False
    )
    segmented = run.stdout.decode().split("\n")
    if run.returncode or len(segmented) != len(lines):
        raise GoldlabelError(f"a process that segmented Chinese ended early (exit code {run.returncode}); run again")
    return segmented


def _serve_segments(mode: str) -> None:
    lines = sys.stdin.buffer.read().decode().split("\n")
    sys.stdout.buffer.write("\n".join(_segment_here(lines, mode)).encode())


def import_jieba() -> Any:
    """Import jieba without what it says about its own age, and without its progress on stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*")
        jieba = import_extra("jieba", "zh")
    jieba.setLogLevel("WARNING")
    return jieba
