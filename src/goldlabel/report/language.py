"""The language that pages are written in: English, or what the catalogue in ``locales`` has.

``speaking`` sets it for what is made within, so that no section, table or drawing has to be told::

    with speaking("zh"):
        say("Accuracy of {model}", model="esim")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from goldlabel.catalogue import COMMAS, catalogue, templates
from goldlabel.messages import Message, Word, fill
from goldlabel.registry import one_of

LANGUAGES = ("en", "zh")
_LANGUAGE: ContextVar[str] = ContextVar("language", default="en")
_PACKAGE = "goldlabel.report"
_BETWEEN = re.compile(r"(?<=\d) to (?=[-+]?\d)")
_RANGES = {"zh": " 至 "}
"""What stands between the ends of an interval where it is not "to"."""


def N_(text: str) -> str:  # noqa: N802, the name that catalogues are made by
    """Mark a text that is said later."""
    return text


WORDS = (
    N_("entailment"),
    N_("neutral"),
    N_("contradiction"),
    N_("not_entailment"),
    N_("no gold"),
    N_("first"),
    N_("second"),
    N_("third"),
    N_("last"),
    N_("negation"),
    N_("quantifier"),
    N_("number"),
    N_("modal"),
    N_("overlap"),
    N_("length"),
    N_("position"),
    N_("bigram"),
    N_("word"),
    N_("label"),
    N_("genre"),
    N_("level"),
    N_("and"),
    N_("or"),
    N_("time"),
    N_("wh-word"),
    N_("pronoun"),
    N_("long"),
    N_("correctness"),
    N_("round"),
    N_("condition"),
    N_("tag"),
    N_("premise length"),
    N_("hypothesis length"),
    N_("without premise"),
    N_("easy: right without the premise"),
    N_("hard: wrong without the premise"),
    N_("negation in the hypothesis"),
    N_("no negation in the hypothesis"),
    N_("overlap below 25 %"),
    N_("suite"),
    N_("models"),
    N_("sets: pairs (SHA-256)"),
    N_("seeds"),
    N_("limit"),
    N_("versions"),
    N_("platform"),
    N_("commit"),
    N_("options"),
    N_("trained on: pairs (SHA-256)"),
    N_("dev: pairs (SHA-256)"),
    N_("seed"),
    N_("method"),
    N_("files: pairs (SHA-256)"),
    N_("who cast the votes is not known: Cohen's kappa and figures about annotators are undefined"),
    N_("not looked for in more than 100,000 pairs unless asked for (--near)"),
    N_("not looked for, as was asked (--no-near)"),
)
"""What other rooms call things in their results and a page has a word for; all else is shown as it is."""


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Write whatever is made within in a language."""
    token = _LANGUAGE.set(one_of("language", language, list(LANGUAGES)))
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def spoken() -> str:
    """Return the language that is written."""
    return _LANGUAGE.get()


def say(text: str, /, **parameters: object) -> str:
    """Return a text of ours in the language that is written, with its gaps filled."""
    template = catalogue(_PACKAGE, spoken()).gettext(text)
    return say_ranges(template.format(**parameters)) if parameters else template


def translate(said: Message | Word) -> str:
    """Return a message of another room, or a name in code, in the language that is written."""
    if isinstance(said, Word):
        return say(said)
    template = templates(_PACKAGE, spoken()).get(said.name, said.english)
    return say_ranges(fill(template, said.parameters, translate, comma()))


def translate_name(name: str, kind: str) -> str:
    """Return the name of a part of pairs, which begins with the kind of it: ``premise length 3 to 5``."""
    known = say(name)
    return known if known != name else say_ranges(name.replace(kind, say(kind), 1))


def comma() -> str:
    """Return what stands between the items of a list."""
    return COMMAS.get(spoken(), ", ")


def sentences(*parts: str) -> str:
    """Return sentences one after the other; between Chinese ones stands no space."""
    return ("" if spoken() == "zh" else " ").join(part for part in parts if part)


def say_ranges(text: str) -> str:
    """Return a text with its intervals in the language that is written."""
    between = _RANGES.get(spoken())
    return _BETWEEN.sub(between, text) if between else text
