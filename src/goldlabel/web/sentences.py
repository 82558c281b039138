"""Sentences of ``collect`` in the visitor's language.

``collect`` says why it refuses in one English line with figures in it. The catalogue of refusals holds the pattern of
each line (``there is a project {name} already; ...``); a line that fits a pattern is said anew from its translation,
and what stands in its gaps is translated too where it fits a pattern itself.
"""

from __future__ import annotations

import io
import re
from functools import cache
from importlib.resources import files

from babel.messages.pofile import read_po

from goldlabel.collect.rules import MESSAGES, Violation
from goldlabel.web.language import catalogue
from goldlabel.web.words import WORDS, word

_GAP = re.compile(r"\{(\w+)\}")


def translate_line(line: str, language: str) -> str:
    """Return a line of ``collect`` in a language; one that fits no pattern stays as it is."""
    named = _name(line, language)
    if named is not None:
        return named
    for pattern, names, translation in _patterns(language):
        found = pattern.fullmatch(line)
        if found:
            gaps = {name: translate_line(text, language) for name, text in zip(names, found.groups(), strict=True)}
            return translation.format_map(gaps)
    return line


def _name(text: str, language: str) -> str | None:
    """Return the word for a name in code, in quotes or not, or for a list of such names."""
    messages, bare = catalogue(language), text[1:-1] if text[:1] == text[-1:] == "'" else text
    names = bare.split(", ")
    if not all(name in WORDS for name in names):
        return None
    return ("、" if language == "zh" else ", ").join(word(name, messages) for name in names)


def translate_violation(violation: Violation, language: str) -> str:
    """Return what a broken rule says, in a language."""
    messages = catalogue(language)
    gaps = {"label": violation.label, "level": violation.level, **violation.parameters}
    spoken = {name: word(str(value), messages) for name, value in gaps.items()}
    template = translations(language).get(MESSAGES[violation.rule], MESSAGES[violation.rule])
    return template.format(**spoken)


@cache
def translations(language: str) -> dict[str, str]:
    """Return the patterns of lines and their translations into a language."""
    file = files(__package__).joinpath("locales", language, "refusals.po")
    if not file.is_file():
        return {}
    catalog = read_po(io.BytesIO(file.read_bytes()), locale=language)
    return {str(message.id): str(message.string) for message in catalog if message.id and message.string}


@cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], list[str], str]]:
    """Return the patterns, those with the most text of their own first."""
    found = []
    for source, translation in translations(language).items():
        pieces = _GAP.split(source)
        pattern = "".join("(.*?)" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
        found.append((sum(map(len, pieces[::2])), re.compile(pattern, re.DOTALL), pieces[1::2], translation))
    found.sort(key=lambda one: -one[0])
    return [(pattern, names, translation) for _, pattern, names, translation in found]
