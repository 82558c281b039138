"""The tokenisation of the Penn Treebank, after MacIntyre's ``tokenizer.sed`` (1995), and the way back to text.

The published collections hold text cut up by these rules, one of which (the full stop) looks only at the end:
a text of two sentences keeps the stop of the first on its word, in the release as here. Two single quotes stay
closing quotes wherever they stand, as in the script; NLTK, since 3.4, opens with them after a space.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r'^"', "``"),
        (r"(``)", r" \1 "),
        (r'([ (\[{<])"', r"\1 `` "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.\.\.", " ... "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"([^.])(\.)([\])}>\"']*)\s*$", r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", " -- "),
        (r"\A|\Z", " "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"([^' ])('[sSmMdD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
)

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_CLOSING = frozenset(
    [*",;:.?!%)]}", "...", "''", "n't", "N'T", "'s", "'S", "'m", "'M", "'d", "'D", "'ll", "'LL", "'re", "'RE", "'ve"]
)
_OPENING = frozenset(["(", "[", "{", "$", "``", "`"])
_SPLIT_WORDS = frozenset(["can not", "gon na", "got ta", "wan na", "gim me", "lem me"])


def tokenise(text: str) -> list[str]:
    """Cut text into the tokens of the Penn Treebank."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.split()


def join(tokens: Sequence[str]) -> str:
    """Put tokens together as people write them: no space before a comma, none inside quotes and brackets."""
    parts: list[str] = []
    quoting: dict[str, bool] = {}
    last, glued = "", True
    for raw in tokens:
        token = _BRACKETS.get(raw, raw)
        opens = token in _OPENING
        closes = token in _CLOSING
        if token in ('"', "'"):
            possessive = token == "'" and not quoting.get(token) and last.endswith("s")
            opens = not possessive and not quoting.get(token, False)
            closes = not opens
            quoting[token] = opens
        if not (glued or closes or f"{last.lower()} {token.lower()}" in _SPLIT_WORDS):
            parts.append(" ")
        parts.append({"``": '"', "''": '"', "`": "'"}.get(token, token))
        last, glued = token, opens
    return "".join(parts)
