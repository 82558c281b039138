"""Catalogues: what a room says, in other languages, read by Babel from the ``locales`` folder of its package.

``LC_MESSAGES/*.po`` have texts under their English (``catalogue``), ``messages.po`` has templates of messages under
their names (``templates``). English is what the source says and has no files.
"""

from __future__ import annotations

import io
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

COMMAS = {"zh": "、"}
"""What stands between the items of a list; elsewhere a comma and a space."""


@cache
def catalogue(package: str, language: str) -> NullTranslations:
    """Return the texts of a package in a language, compiled from all of its .po files."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    texts = NullTranslations()
    folder = files(package).joinpath("locales", language, "LC_MESSAGES")
    if not folder.is_dir():
        return texts
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".po"):
            compiled = io.BytesIO()
            write_mo(compiled, read_po(io.BytesIO(file.read_bytes()), locale=language))
            compiled.seek(0)
            messages = GNUTranslations(compiled)
            messages.add_fallback(texts)
            texts = messages
    return texts


@cache
def templates(package: str, language: str) -> dict[str, str]:
    """Return the templates of a package's messages in a language, by name."""
    file = files(package).joinpath("locales", language, "messages.po")
    if not file.is_file():
        return {}
    from babel.messages.pofile import read_po

    catalog = read_po(io.BytesIO(file.read_bytes()), locale=language)
    return {str(message.id): str(message.string) for message in catalog if message.id}
