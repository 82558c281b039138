"""Person and questions: the policies of Poliak et al. (2018), appendix A.

Person. *Conservative* leaves out premises that are not in the third person. *Observer* tells hypotheses as the
one who was addressed would: what the premise's speaker calls "you" is "I", and their "I" is "you". *Speaker* keeps
the perspective of the one who uttered the premise.

Questions are kept, or left out: whether one states anything is unclear.
"""

from __future__ import annotations

import re

from goldlabel.recast.recaster import Options

PERSON = "not in the third person (person: conservative)"
QUESTION = "a question (questions: remove)"
COSTS = ("person=conservative", "person=observer", "person=speaker", "questions=keep", "questions=remove")
"""Every policy, as it is reported: only two of them can cost pairs."""

_WORDS = "i|me|my|mine|myself|we|us|our|ours|ourselves|you|your|yours|yourself|yourselves"
_OTHER_PERSON = re.compile(rf"(?<![\w.-])(?!(?-i:US)\b)(?:{_WORDS})(?![\w-]|\.\w)", re.IGNORECASE)
# What somebody is quoted to say is in their person, and the premise that quotes them is in the third.
_QUOTED = re.compile(
    r"(?<=[,:] )([\"']).*\1(?=\s?[.!?]?\s*$)|\"[^\"]*\"|“[^”]*”|``.*?''",
    re.DOTALL,
)
_QUESTION = re.compile(r"\?[\s\"'”’)\]]*$")

_SWAPPED = {
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "we": "you",
    "us": "you",
    "our": "your",
    "ours": "yours",
    "ourselves": "yourselves",
    "i": "you",
    "me": "you",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "yourselves": "ourselves",
}
_VERBS = {
    ("i", "am"): "are",
    ("i", "'m"): "'re",
    ("i", "was"): "were",
    ("i", "wasn't"): "weren't",
    ("you", "are"): "am",
    ("you", "'re"): "'m",
    ("you", "were"): "was",
    ("you", "weren't"): "wasn't",
    ("you", "aren't"): "am not",
}
_PRONOUN = re.compile(
    rf"(?P<before>(?:^|\S+)\s*)??(?<![\w.-])(?!(?-i:US)\b)(?P<word>{_WORDS})(?![\w-]|\.\w)"
    r"(?P<gap>\s?)(?P<verb>(?:am|are|aren't|was|wasn't|were|weren't)\b|'m\b|'re\b)?",
    re.IGNORECASE,
)
_CLAUSE_START = re.compile(r"(?:^|[.!?;:,\"“])\s*$")
_AFTER_PREPOSITION = re.compile(
    r"\b(?:to|for|with|of|from|by|at|on|in|about|like|near|behind|without)\s+$", re.IGNORECASE
)
_BEFORE_OBJECT_END = re.compile(
    r"\s*(?:$|[^\w\s'’]|(?:a|an|the|that|this|to|for|with|of|from|by|at|on|in|about|and|or|but|my|our)\b)",
    re.IGNORECASE,
)


def not_third_person(premise: str) -> bool:
    """Say whether somebody speaks of themselves or to somebody, outside quotation."""
    return _OTHER_PERSON.search(_unquoted(premise)) is not None


def is_question(premise: str) -> bool:
    """Say whether the text ends as a question does."""
    return _QUESTION.search(_unquoted(premise)) is not None


def observed(hypothesis: str) -> str:
    """Exchange the first and the second person, as the one addressed would say it."""

    def exchange(match: re.Match[str]) -> str:
        word, verb = match["word"].lower(), match["verb"] or ""
        place = match.start("word")
        if word == "you":
            new = "I" if verb or _is_subject(hypothesis, place, match.end("word")) else "me"
        else:
            new = _SWAPPED[word]
        new_verb = _VERBS.get((word, verb.lower()), verb)
        if place == 0:
            new = new[0].upper() + new[1:]
        return f"{match['before'] or ''}{new}{match['gap']}{new_verb}"

    return _PRONOUN.sub(exchange, hypothesis)


def refusal(options: Options, *, person: bool, question: bool) -> str | None:
    """Return why the policies leave a premise out, if they do."""
    if person and options.person == "conservative":
        return PERSON
    if question and options.questions == "remove":
        return QUESTION
    return None


def _unquoted(premise: str) -> str:
    rest = _QUOTED.sub(" ", premise)
    return rest if any(map(str.isalnum, rest)) else premise


def _is_subject(text: str, start: int, end: int) -> bool:
    """Guess whether "you" is a subject: an object follows a preposition, or has no verb after it."""
    if _CLAUSE_START.search(text[:start]):
        return True
    return not (_AFTER_PREPOSITION.search(text[:start]) or _BEFORE_OBJECT_END.match(text[end:]))
