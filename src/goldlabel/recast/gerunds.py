"""English word forms that templates need: -ing from a lemma or from a form in a text, case and number.

Verbs are inflected by ``lemminflect``, which has them from the SPECIALIST lexicon of the National Library of Medicine
and guesses others by their spelling. Where spellings differ, a final l is doubled (*travelling*), as in the published
collections.
"""

from __future__ import annotations

import re
from functools import cache

_SPELT = {"mimic": "mimicking", "parallel": "paralleling", "program": "programming"}
"""What the lexicon lacks, or what would be doubled against everybody's usage."""
_NOMINATIVE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
_ACCUSATIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_PLURAL = frozenset(
    ["both", "children", "few", "many", "men", "people", "these", "they", "those", "we", "women", "you"]
)
_AFTER_HEAD = re.compile(r"\s(?:of|in|on|at|for|from|with|to|about|by|who|which|that|,)\s")


@cache
def gerund(lemma: str) -> str:
    """Return the -ing form of a lemma, in lower case; of words joined by a hyphen the last is inflected."""
    from lemminflect import getInflection

    first, hyphen, word = lemma.lower().rpartition("-")
    spellings = getInflection(word, "VBG") if word.isalpha() else ()
    doubled = f"{word}ling"
    form = _SPELT.get(word) or (doubled if doubled in spellings else next(iter(spellings), f"{word}ing"))
    return f"{first}{hyphen}{form}"


@cache
def lemma_of_form(form: str) -> str:
    """Return the lemma of a verb found in a text; of several, the most frequent."""
    from lemminflect import getLemma

    word = form.lower()
    return next(iter(getLemma(word, "VERB")), word) if word.isalpha() else word


def gerund_of_form(form: str) -> str:
    """Return the -ing form of a verb found in a text: ``drove`` and ``driving`` both give ``driving``."""
    return gerund(lemma_of_form(form))


@cache
def forms(lemma: str) -> frozenset[str]:
    """Return the forms of a verb: lemma, third person, past, participle, -ing."""
    from lemminflect import getAllInflections, getAllInflectionsOOV

    word = lemma.lower()
    known = (getAllInflections(word, "VERB") or getAllInflectionsOOV(word, "VERB")) if word.isalpha() else {}
    return frozenset([word, gerund(word), *(form for spellings in known.values() for form in spellings)])


def nominative(phrase: str) -> str:
    """Return a pronoun as a subject; other phrases stay."""
    return _NOMINATIVE.get(phrase.lower(), phrase)


def accusative(phrase: str) -> str:
    """Return a pronoun as an object; other phrases stay."""
    return _ACCUSATIVE.get(phrase.lower(), phrase)


def is_plural(phrase: str) -> bool:
    """Guess from a noun phrase's head, or from two heads, whether its verb is plural."""
    words = nominative(phrase).lower()
    head = _AFTER_HEAD.split(words, maxsplit=1)[0].split(" ")[-1]
    return head in _PLURAL or " and " in words or bool(re.search(r"[^sui]s$", head))
