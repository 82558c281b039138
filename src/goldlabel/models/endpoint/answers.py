"""From a reply to probabilities over the labels, or to the reason why there are none.

Only what is a label word, and nothing but it, is an answer: prose that mentions one ("this is not a contradiction")
never becomes a guess.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goldlabel.models.endpoint.replies import Reply

REASONS = {
    "prose": "the reply is no label word",
    "empty": "the reply is empty",
    "language": "the reply is a label word of another language",
    "truncated": "the reply was cut off before a label word was complete",
    "refused": "the endpoint would not answer",
    "error": "the call failed",
    "budget": "the budget was used up",
}
"""Why a pair has no answer."""

_WRAPPING = " \t\r\n\"'`*_#.,;:!()[]{}<>“”‘’「」『』《》【】（）。，；：！、"
_LEAD = re.compile(r"(?:answer|label|答案|回答|标签)\s*[:：]", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_SURE = 2
"""Letters by which a token of a European language is taken for the beginning of a label word."""


@dataclass(frozen=True)
class Words:
    """The plain forms of the words that a prompt asks for, one for each label, and those of other languages."""

    own: tuple[str, ...]
    others: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Answer:
    """Probabilities over the labels, or the reason why there are none."""

    probabilities: NDArray[np.float64] | None
    reason: str = ""
    graded: bool = False
    """Whether the probabilities come from log-probabilities."""


def plain(text: str) -> str:
    """Return a word without case, signs around it, and differences between space, hyphen and underscore."""
    folded = unicodedata.normalize("NFKC", text).casefold().strip(_WRAPPING)
    return re.sub(r"[\s_-]+", " ", folded)


def read_answer(reply: Reply, words: Words) -> Answer:
    """Read what a reply says about the labels."""
    if reply.refusal or reply.finish == "content_filter":
        return Answer(None, "refused")
    column = _find_word(reply, words)
    if column is None:
        return Answer(None, _why_not(reply, words))
    masses = label_masses(reply, words, column)
    if masses is not None:
        return Answer(masses / masses.sum(), graded=True)
    probabilities = np.zeros(len(words.own))
    probabilities[column] = 1.0
    return Answer(probabilities)


def _find_word(reply: Reply, words: Words) -> int | None:
    for reading in _readings(reply.text):
        word = plain(reading)
        if word in words.own:
            if reply.finish == "length" and word == plain(reply.text) and _goes_on(word, words):
                return None
            return words.own.index(word)
    return None


def _goes_on(word: str, words: Words) -> bool:
    """Whether a word that was cut off could have become another."""
    return any(other.startswith(word) and other != word for other in words.own)


def _why_not(reply: Reply, words: Words) -> str:
    if any(plain(reading) in words.others for reading in _readings(reply.text)):
        return "language"
    if reply.finish == "length":
        return "truncated"
    return "prose" if reply.text.strip() else "empty"


def _readings(text: str) -> Iterator[str]:
    """Yield what of a reply may be its label word: all of it, a JSON value, its first line."""
    text = _THOUGHT.sub("", text).strip()
    if fence := _FENCE.fullmatch(text):
        text = fence[1]
    if lead := _LEAD.match(text):
        text = text[lead.end() :].strip()
    yield text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        if not text.startswith(("{", "[")):
            yield text.partition("\n")[0]
        return
    if isinstance(document, dict) and len(document) == 1:
        yield str(next(iter(document.values())))


def label_masses(reply: Reply, words: Words, column: int) -> NDArray[np.float64] | None:
    """Add up the probabilities of the tokens that begin each label word.

    None where the tokens do not spell the label that the text has.

    Alternatives are known for each token along the reply. Where the token that was written leaves several labels open
    (a space, a quotation mark, the shared beginning of two words), the next one decides, with the probability of the
    path so far; open alternatives beside the path cannot be followed and are left out.
    """
    masses = np.zeros(len(words.own))
    path, weight = "", 1.0
    for token in reply.tokens:
        if not all(math.isfinite(logprob) and logprob <= 1e-3 for logprob in (token.logprob, *token.others.values())):
            return None
        for text, logprob in (token.others | {token.text: token.logprob}).items():
            columns, sure = _begun(path + text, words)
            if sure and len(columns) == 1:
                masses[columns[0]] += weight * math.exp(logprob)
        columns, sure = _begun(path + token.text, words)
        if sure and len(columns) == 1:
            return masses if columns == [column] else None
        if not columns:
            return None
        path += token.text
        weight *= math.exp(token.logprob)
    return None


def _begun(text: str, words: Words) -> tuple[list[int], bool]:
    """Return the labels whose word a text begins or has, and whether it is long enough to be sure."""
    start = plain(text)
    columns = []
    for column, word in enumerate(words.own):
        rest = start.removeprefix(word)
        if word.startswith(start) or (rest != start and not rest[:1].isalnum()):
            columns.append(column)
    sure = len(start) >= _SURE or start in words.own or not start.isascii()
    return columns, sure and bool(start)
