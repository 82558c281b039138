"""The language of the pages: their catalogue, and which language a visitor wants.

A cookie set by the switch on every page wins over what the browser asks for.
"""

from __future__ import annotations

import re
from gettext import NullTranslations

from fastapi import Request

import goldlabel.catalogue

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


def catalogue(language: str) -> NullTranslations:
    """Return the texts of the pages in a language."""
    return goldlabel.catalogue.catalogue("goldlabel.web", language)


def _preferred(header: str) -> str:
    wishes = []
    for wish in header[:1000].split(","):
        name, _, weight = wish.strip().partition(";")
        share = re.fullmatch(r"\s*q=(\d(?:\.\d+)?)\s*", weight)
        wishes.append((-float(share[1]) if share else -1.0, name.partition("-")[0].lower()))
    return next(
        (name for weight, name in sorted(wishes, key=lambda one: one[0]) if weight and name in LANGUAGES), DEFAULT
    )
