"""Messages in the visitor's language: the template of the catalogue under the message's name, with its gaps filled."""

from __future__ import annotations

import goldlabel.catalogue
from goldlabel.catalogue import COMMAS
from goldlabel.messages import Message, Word, fill
from goldlabel.web.language import catalogue
from goldlabel.web.words import word

_STOPS = {"zh": "。"}
_ENDS = (".", "!", "?", "…", "。", "！", "？")


def translate(said: str | Message | Word, language: str) -> str:
    """Return a message or a word in a language; any other text is somebody's own and stays as it is."""
    if isinstance(said, Message):
        template = templates(language).get(said.name, said.english)
        return fill(template, said.parameters, lambda part: translate(part, language), COMMAS.get(language, ", "))
    return word(said, catalogue(language)) if isinstance(said, Word) else said


def as_sentence(message: Message, language: str) -> str:
    """Return a message as a sentence; one that begins with a parameter keeps it as it is."""
    said = translate(message, language)
    if templates(language).get(message.name, message.english)[0].islower():
        said = said[0].upper() + said[1:]
    return said if said.endswith(_ENDS) else said + _STOPS.get(language, ".")


def templates(language: str) -> dict[str, str]:
    """Return the templates of the collection's messages in a language, by name; English is what the source says."""
    return goldlabel.catalogue.templates("goldlabel.web", language)
