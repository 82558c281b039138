"""Word lists of English and Chinese, by which texts are tagged and negators are found: ``lexicons/*.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

LEXICONS = ("en", "zh")


@cache
def lexicon(language: str) -> dict[str, Any]:
    """Return the word lists of a language: ``words``, and ``pattern`` or ``except`` where it has them."""
    return tomllib.loads(files("goldlabel.pairs").joinpath(f"lexicons/{language}.toml").read_text(encoding="utf-8"))
