"""The words that the models without a network see: lower case, signs kept, Chinese and Japanese by character."""

from __future__ import annotations

import re

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_CHARACTER = re.compile(rf"[{_CJK}]")

OTHER = "other"
"""Stands for the sentence that a partial-input model does not see: one token, never an empty text."""


def split_tokens(text: str) -> list[str]:
    """Return the runs of letters and digits, every sign, and every Chinese or Japanese character by itself."""
    return _TOKEN.findall(text.lower())


def space_characters(text: str) -> str:
    """Set Chinese and Japanese characters apart by spaces, for what takes words to be what spaces separate."""
    return _CHARACTER.sub(r" \g<0> ", text)
