"""Word lists of English and Chinese, by which texts are tagged and negators are found: ``lexicons/*.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs.tokens import TOKENIZERS

LEXICONS = ("en", "zh")
NON_WORD = "xqzj"
"""Stands for every premise when a model is tested without it; in no language is it a word."""


@cache
def lexicon(language: str) -> dict[str, Any]:
    """Return the word lists of a language: ``words``, and ``pattern`` or ``except`` where it has them."""
    return tomllib.loads(files("goldlabel.pairs").joinpath(f"lexicons/{language}.toml").read_text(encoding="utf-8"))


def match_words(language: str, name: str, words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which words a list holds, or its pattern matches as a whole."""
    entry = lexicon(language)[name]
    listed = set(entry["words"])
    matched = np.array([word in listed for word in words], dtype=bool)
    if "pattern" in entry:
        pattern = re.compile(entry["pattern"])
        matched |= np.array([pattern.fullmatch(word) is not None for word in words], dtype=bool)
    return matched


def match_texts(language: str, name: str, texts: pl.Series) -> NDArray[np.bool_]:
    """Return in which texts a word of a list stands anywhere, outside its exceptions."""
    entry, text = lexicon(language)[name], pl.col("text")
    if entry.get("except"):
        text = text.str.replace_many(dict.fromkeys(entry["except"], " "))
    listed = text.str.contains_any(entry["words"])
    holds = listed | text.str.contains(entry["pattern"]) if "pattern" in entry else listed
    return texts.alias("text").to_frame().select(holds).to_series().to_numpy()


def find_listed(language: str, name: str, texts: pl.Series) -> NDArray[np.bool_]:
    """Return which texts hold a word of a list: as a token, or in Chinese, which no segmenter decides, anywhere."""
    if language == "zh":
        return match_texts(language, name, texts)
    tokens = TOKENIZERS.get("words")(texts)
    words = tokens.list.explode(keep_nulls=False, empty_as_null=False).unique().to_list()
    matched = [word for word, match in zip(words, match_words(language, name, words), strict=True) if match]
    holds = tokens.list.eval(pl.element().is_in(matched)).list.any()
    return holds.fill_null(False).to_numpy()
