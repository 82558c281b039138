"""The language of texts, where their script leaves no other: never a guess among languages that share a script."""

from __future__ import annotations

import polars as pl

SAMPLE = 1000
SHARE = 0.9
"""Of all letters, those in the script; the rest are names and quotations."""

_KANA = r"[\p{Hiragana}\p{Katakana}]"
_SCRIPTS = {
    "zh": r"\p{Han}",
    "ja": r"[\p{Han}\p{Hiragana}\p{Katakana}]",
    "ko": r"\p{Hangul}",
    "th": r"\p{Thai}",
    "el": r"\p{Greek}",
    "he": r"\p{Hebrew}",
    "hy": r"\p{Armenian}",
    "ka": r"\p{Georgian}",
    "km": r"\p{Khmer}",
    "lo": r"\p{Lao}",
    "ta": r"\p{Tamil}",
    "te": r"\p{Telugu}",
}
"""Scripts in which one language is written, but for rare ones; Latin, Arabic, Cyrillic and Devanagari are not."""


def detect_language(frame: pl.DataFrame) -> str | None:
    """Return the language of the first pairs, if nearly all of their letters are in a script of its own."""
    texts = pl.concat([frame["premise"].head(SAMPLE), frame["hypothesis"].head(SAMPLE).rename("premise")])
    letters = int(texts.str.count_matches(r"\p{L}").sum())
    if not letters:
        return None
    kana = int(texts.str.count_matches(_KANA).sum())
    for language, script in _SCRIPTS.items():
        if language == "zh" and kana > letters / 100:
            continue
        if int(texts.str.count_matches(script).sum()) >= SHARE * letters:
            return language
    return None
