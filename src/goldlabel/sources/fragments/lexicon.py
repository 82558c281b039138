"""The words: for each language, named lists of entries, an entry being its forms by name.

Both languages have the same lists, so that one logical form serves both; the entries need not translate each
other. What the words mean beyond their place in a sentence is in ``knowledge``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

Entry = Mapping[str, str]
Lexicons = Mapping[str, tuple[Entry, ...]]


@cache
def lexicons(language: str) -> Lexicons:
    """Return the lists of a language; read when first asked for."""
    if language == "en":
        from goldlabel.sources.fragments.lexicon_en import ENGLISH

        return ENGLISH
    from goldlabel.sources.fragments.lexicon_zh import CHINESE

    return CHINESE


def entries(text: str, *forms: str) -> tuple[Entry, ...]:
    """Read entries joined by commas or line ends, their forms joined by slashes."""
    read = []
    for item in text.replace("\n", ",").split(","):
        if item.strip():
            parts = [part.strip() for part in item.split("/")]
            read.append(dict(zip(forms or ("self",), parts, strict=True)))
    return tuple(read)


def with_kinds(kinds: Iterable[tuple[Entry, tuple[Entry, ...]]]) -> Lexicons:
    """Return three lists: kinds, nouns with their kind, and nouns with each other noun of their kind."""
    pairs = [(_prefixed("kind_", kind), nouns) for kind, nouns in kinds]
    return {
        "kind": tuple(kind for kind, _ in pairs),
        "noun": tuple({**noun, **kind} for kind, nouns in pairs for noun in nouns),
        "siblings": tuple(
            {**noun, **kind, **_prefixed("sib_", sibling)}
            for kind, nouns in pairs
            for noun in nouns
            for sibling in nouns
            if sibling is not noun
        ),
    }


def _prefixed(prefix: str, entry: Entry) -> dict[str, str]:
    return {prefix + name: text for name, text in entry.items()}
