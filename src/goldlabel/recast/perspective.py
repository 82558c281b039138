"""Whose words a text is in: the first and the second person, found and exchanged.

The one addressed tells of "you" as "I" and of "I" as "you". Of English verbs only *be* then changes, whether it
follows its subject (*you are*, *you really were*) or comes first (*Are you sure?*). "You" is "I" as a subject and "me"
otherwise, which its neighbours tell: what governs it, and whether a verb follows that can agree with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COUNTED = "".join(f"(?<!(?-i:{head}) )" for head in ("War", "Part", "Chapter", "Volume", "Act", "Type"))
_PRONOUN = (
    rf"(?<![\w.-])(?:{_COUNTED}i|me|my|mine|myself|we|(?!(?-i:US)\b)us|our|ours|ourselves|"
    r"you|your|yours|yourself|yourselves)(?![\w-]|\.\w)"
)
OTHER_PERSON = re.compile(_PRONOUN, re.IGNORECASE)
"""Pronouns of the first and the second person; the US is a country, and World War I is counted."""
# What somebody is quoted to say is in their person.
QUOTED = re.compile(
    r"(?<=[,:] )([\"']).*\1(?=\s?[.!?]?\s*$)|\"[^\"]*\"|“[^”]*”|``.*?''",
    re.DOTALL,
)

_SWAPPED = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "we": "you",
    "us": "you",
    "our": "your",
    "ours": "yours",
    "ourselves": "yourselves",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "yourselves": "ourselves",
}
_TO_YOU = {"am": "are", "'m": "'re", "was": "were", "wasn't": "weren't"}
_TO_ME = {"are": "am", "'re": "'m", "were": "was", "aren't": "am not", "weren't": "wasn't"}
_TO_ME_INVERTED = _TO_ME | {"aren't": "aren't"}
_AUXILIARIES = _words(
    "am are was were do did have had will would can could shall should may might must 'm 're 've 'll 'd"
)
_ADVERBS = _words("all also always ever just never not now often once only still then")
_RARELY_VERBS = _words("back best better even home long well")
_SEVERAL = _words("all both two three four")
_DETERMINERS = _words("a an the this that these those his her its their my your our every each some any no")
_PREPOSITIONS = _words(
    "about above against around at behind below beside between by for from in into near of on onto over through to "
    "toward towards under upon with without"
)
_CLAUSE_OPENERS = _words(
    "after although and as because before but how if nor or since so than that though unless until what whatever when "
    "where whether which while who whom why"
)
_SAYING = _words(
    "admit agree argue assume believe bet claim deny doubt dream explain fear feel forget guess hope imagine know "
    "learn mean mention notice promise prove realise realize remember say suggest suppose suspect swear think "
    "understand wish wonder worry"
)
"""Verbs after which "you" begins a clause: *they think you left*, not *they gave you water*."""
_PERCEIVING = _words("hear see")
"""Verbs after which it may: *they heard you left*, *they heard you leave*."""
_TOKEN = re.compile(rf"{_PRONOUN}|\w*n['’]t\b|['’]\w+|\w[\w.-]*\w|\w|[^\w\s]", re.IGNORECASE)
_BREAK = re.compile(r"[^\w\s'’]+")


def observed(text: str) -> str:
    """Exchange the first and the second person, as the one addressed would say it; quotations stay."""
    start, parts = 0, []
    for quotation in [*QUOTED.finditer(text), None]:
        end = quotation.start() if quotation else len(text)
        parts += [_exchanged(text[start:end]), quotation[0] if quotation else ""]
        start = quotation.end() if quotation else end
    return "".join(parts)


def _exchanged(text: str) -> str:
    tokens = list(_TOKEN.finditer(text))
    words = [token[0].lower().replace("’", "'") for token in tokens]
    new = [token[0] for token in tokens]
    for place, word in enumerate(words):
        if not OTHER_PERSON.fullmatch(text, *tokens[place].span()) or _both(words, place):
            continue
        if word == "you":
            _exchange_you(words, new, place)
        else:
            new[place] = _SWAPPED[word]
            if word == "i":
                _agree(words, new, place, _TO_YOU, _TO_YOU)
        if place == 0 or words[place - 1] in (".", "!", "?"):
            new[place] = _capital(new[place])
    parts, end = [], 0
    for token, word in zip(tokens, new, strict=True):
        parts += [text[end : token.start()], word]
        end = token.end()
    return "".join(parts) + text[end:]


def _exchange_you(words: Sequence[str], new: list[str], place: int) -> None:
    several = _at(words, place + 1) in _SEVERAL
    if not _is_subject(words, place, place + 1 + several):
        new[place] = "us" if several else "me"
    elif several or _is_joined(words, place):
        new[place] = "we" if several else "I"
    else:
        new[place] = "I"
        _agree(words, new, place, _TO_ME, _TO_ME_INVERTED)


def _agree(words: Sequence[str], new: list[str], place: int, after: dict[str, str], before: dict[str, str]) -> None:
    """Make *be* agree with a subject's new person, before it in a question or after it and its adverbs."""
    if _is_inverted(words, place):
        verb, table = place - 1 - (_at(words, place - 1) == "n't"), before
    else:
        verb, table = _after_adverbs(words, place + 1), after
    if _at(words, verb) not in table:
        return
    agreed = table[words[verb]]
    if agreed == "am" and _at(words, verb + 1) == "n't":  # cut apart as in the Treebank
        agreed, new[verb + 1] = ("am", "not") if table is after else (words[verb], "n't")
    new[verb] = agreed.upper() if new[verb].isupper() else _capital(agreed) if new[verb][0].isupper() else agreed


def _is_subject(words: Sequence[str], place: int, following: int) -> bool:
    """Tell whether "you" at a place is a subject, from the word before it and the one after."""
    before, verb = _at(words, place - 1), _at(words, _after_adverbs(words, following))
    if _starts_clause(words, place):
        return place == 0 or not _BREAK.fullmatch(verb or ".") or before in ("!", "?", ".")
    if before in _PREPOSITIONS:
        return False
    if _is_inverted(words, place):
        return True
    if verb in _AUXILIARIES - _TO_YOU.keys() or verb.endswith("n't"):
        return True
    if not _is_finite(verb) or verb in _RARELY_VERBS:
        return False
    if before in _CLAUSE_OPENERS:
        return True
    lemmas = _verb_lemmas(before) if _at(words, place - 2) not in _DETERMINERS else frozenset()
    if lemmas & _PERCEIVING:
        return verb not in _verb_lemmas(verb)
    return not lemmas or bool(lemmas & _SAYING)


def _is_inverted(words: Sequence[str], place: int) -> bool:
    """Tell whether a subject comes after its verb: in a question, after *nor* or *so*."""
    verb = place - 1 - (_at(words, place - 1) == "n't")
    if _at(words, verb).removesuffix("n't") not in {*_AUXILIARIES, "ca", "wo"}:
        return False
    opener = _at(words, verb - 1)
    return _starts_clause(words, verb) or opener in _CLAUSE_OPENERS or "?" in words[place:]


def _starts_clause(words: Sequence[str], place: int) -> bool:
    return place == 0 or bool(_BREAK.fullmatch(words[place - 1]))


def _is_joined(words: Sequence[str], place: int) -> bool:
    """Tell "the crew and you" from "the crew left and you": there is no verb before *and*."""
    if _at(words, place + 1) == "and":
        return True
    if _at(words, place - 1) != "and" or place < 2:
        return False
    start = max((n + 1 for n in range(place - 1) if _BREAK.fullmatch(words[n])), default=0)
    return not any(_verb_lemmas(word) or word in _AUXILIARIES for word in words[start : place - 1])


def _both(words: Sequence[str], place: int) -> bool:
    """Tell whether a pronoun is one of "you and I", who stay the same two."""
    pairs = ({"you", "i"}, {"you", "me"})
    return any(
        _at(words, middle) == "and" and {_at(words, middle - 1), _at(words, middle + 1)} in pairs
        for middle in (place - 1, place + 1)
    )


def _after_adverbs(words: Sequence[str], place: int) -> int:
    while _at(words, place) in _ADVERBS or re.fullmatch(r"\w{3,}ly", _at(words, place)):
        place += 1
    return place


def _at(words: Sequence[str], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""


@cache
def _verb_lemmas(word: str) -> frozenset[str]:
    from lemminflect import getAllLemmas

    return frozenset(getAllLemmas(word, "VERB").get("VERB", ())) if word.isalpha() else frozenset()


@cache
def _is_finite(word: str) -> bool:
    """Tell whether a word can be a verb as it is after "you": a lemma or a past form."""
    from lemminflect import getInflection

    lemmas = _verb_lemmas(word)
    return word in lemmas or any(word in getInflection(lemma, "VBD") for lemma in lemmas)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
