"""Text as it is compared: what looks alike is alike.

Every character is lowered, taken apart by Unicode's compatibility forms (NFKD: ``ｎ``, ``𝐧`` and ``ⓝ`` are ``n``),
loses its accents, and becomes the Latin letter that it looks like (``о`` of Cyrillic is ``o``). What nobody sees is
dropped. The table of lookalikes is Unicode's own (confusables, Technical Standard 39), which ``confusable-homoglyphs``
brings; of it we take the letters that look like one Latin letter. Signs and digits stay what they are: 1 is not l.

``rules.js`` folds alike in the browser; the table goes there with the page.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from goldlabel.collect.work.invisible import strip_invisible
from goldlabel.registry import import_extra

_APOSTROPHES = "'’‘‛′´`ʼ＇"


def fold(text: str) -> tuple[str, list[int]]:
    """Return text as it is compared, and for each of its characters the place where it comes from."""
    folded, places = [], []
    for place, letter in enumerate(text):
        form = _folded(letter)
        folded.append(form)
        places += [place] * len(form)
    return "".join(folded), places


def fold_word(word: str) -> str:
    """Return a word as it is compared."""
    return fold(word)[0]


@cache
def lookalikes() -> dict[str, str]:
    """Return the letters that look like a small or capital Latin letter, each with the small one."""
    known = import_extra("confusable_homoglyphs.confusables", "collect").confusables_data
    table = {}
    for shape, letters in known.items():
        latin = _bare(shape).lower()
        if len(latin) != 1 or not latin.isascii() or not latin.isalpha():
            continue
        for entry in letters:
            letter = entry["c"]
            if len(letter) == 1 and not letter.isascii() and letter == _bare(letter) and letter.isalpha():
                table[letter] = latin
    # The table takes a capital I for an l; a letter whose small form is an i is none.
    capitals = {letter for letter in table if table[letter] == "l" and table.get(letter.lower()) == "i"}
    return dict(sorted((letter, "i" if letter in capitals else latin) for letter, latin in table.items()))


@lru_cache(maxsize=20_000)
def _folded(letter: str) -> str:
    if letter in _APOSTROPHES:
        return "'"
    if not strip_invisible(letter):
        return ""
    table = lookalikes()
    small = table.get(letter) or letter.lower()
    return "".join(table.get(part, part) for part in _bare(small)).lower()


def _bare(text: str) -> str:
    """Return text by its compatibility forms, without accents and what encloses letters."""
    return "".join(
        part for part in unicodedata.normalize("NFKD", text) if unicodedata.category(part) not in ("Mn", "Me")
    )
