"""Characters that nobody sees: taken out of what people write, but for those that make a visible sign.

Unicode calls them *default ignorable*: joiners, marks of direction, tags, fillers, selectors. Between the letters of a
word they would hide it from every comparison. Four uses change what is seen and stay: a joiner or a selector within an
emoji, a joiner within the scripts that need one (Arabic, Indic, Burmese, Khmer), the enclosed digit of a key, and the
tags that make a black flag that of England, Scotland or Wales (Unicode Technical Standard 51).

``rules.js`` does the same in the browser.
"""

from __future__ import annotations

import re
from unicodedata import category

_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_RUN = re.compile(f"[{_IGNORABLE}]+")
_KEYCAP, _BLACK_FLAG = "\u20e3", "\U0001f3f4"
_NEEDS_JOINERS = re.compile("[\u0600-\u0dff\u1000-\u109f\u1780-\u17ff]")
_COUNTRIES = {
    "".join(chr(0xE0000 + ord(letter)) for letter in country) + "\U000e007f" for country in ("gbeng", "gbsct", "gbwls")
}


def strip_invisible(text: str) -> str:
    """Return text without the characters that nobody sees."""
    return _RUN.sub(_kept, text)


def _kept(run: re.Match[str]) -> str:
    """Return what stays of a run of ignorable characters, for the characters before and after it."""
    before, after = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    sign = before != "" and category(before) in ("So", "Sm", "Sk")
    match run[0]:
        case "\u200c" | "\u200d" if _NEEDS_JOINERS.match(before):
            return run[0]
        case "\u200d" | "\ufe0f\u200d" if sign and after and category(after) in ("So", "Sm"):
            return run[0]
        case "\ufe0e" | "\ufe0f" if (
            sign or before in ("‼", "⁉") or (after == _KEYCAP and before and before in "0123456789#*")
        ):
            return run[0]
        case tags if before == _BLACK_FLAG and tags in _COUNTRIES:
            return tags
    return ""
