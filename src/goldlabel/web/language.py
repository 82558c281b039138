"""The language of the pages: Babel catalogues, read from their .po files at start, and which of them a visitor wants.

A cookie set by the switch on every page wins over what the browser asks for.
"""

from __future__ import annotations

import io
import re
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from fastapi import Request

LANGUAGES = {"zh": "中文", "en": "EN"}
DEFAULT = "en"
COOKIE = "goldlabel_language"


def language_of(request: Request) -> str:
    """Return the language of a visitor: their choice, or the first one of their browser's that we speak."""
    chosen = request.cookies.get(COOKIE)
    return chosen if chosen in LANGUAGES else _preferred(request.headers.get("accept-language", ""))


def translator(request: Request) -> NullTranslations:
    """Return the catalogue of a visitor's language, with ``gettext`` and ``ngettext``."""
    return catalogue(language_of(request))


@cache
def catalogue(language: str) -> NullTranslations:
    """Return the messages of a language, compiled from all of its .po files; English is what the source says."""
    found = NullTranslations()
    folder = files(__package__).joinpath("locales", language, "LC_MESSAGES")
    if not folder.is_dir():
        return found
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".po"):
            compiled = io.BytesIO()
            write_mo(compiled, read_po(io.BytesIO(file.read_bytes()), locale=language))
            compiled.seek(0)
            messages = GNUTranslations(compiled)
            messages.add_fallback(found)
            found = messages
    return found


def _preferred(header: str) -> str:
    wishes = []
    for wish in header[:1000].split(","):
        name, _, weight = wish.strip().partition(";")
        share = re.fullmatch(r"\s*q=(\d(?:\.\d+)?)\s*", weight)
        wishes.append((-float(share[1]) if share else -1.0, name.partition("-")[0].lower()))
    return next(
        (name for weight, name in sorted(wishes, key=lambda one: one[0]) if weight and name in LANGUAGES), DEFAULT
    )
