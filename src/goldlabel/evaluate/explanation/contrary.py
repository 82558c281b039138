"""The contrary of a sentence, where it is certain.

``negate`` makes it. Of a singular subject it is exact: "the man is …" becomes "the man is not …", "a man is …" becomes
"no man is …", "there is a …" becomes "there is no …". ("A man" must be one in particular: what is said of men in
general has another contrary, so that a verb in -ing, a place or "was" must follow.) A sentence with another operator (a
negation, a quantifier, a modal, a conjunction, a clause of its own) is left alone, since there "not" might deny a part
only, and so is a plural, of which neither all nor none may be true. In Chinese, 并非 before a single clause denies the
whole of it.

``affirm`` is the way back: it takes the negator out of a sentence that ``negate`` could have made, and in Chinese also
不 before 是, 会, 能 and 在.
"""

from __future__ import annotations

import re
from functools import cache

from goldlabel.evaluate.stress.sentences import is_plain, words_of
from goldlabel.pairs.lexicon import lexicon


def negate(text: str, language: str) -> str | None:
    """Return the contrary of a sentence, or None where no certain one can be made."""
    if not is_plain(text, language):
        return None
    return _negate_zh(text) if language == "zh" else _negate_en(text)


def affirm(text: str, language: str) -> str | None:
    """Return the sentence of which this one is the contrary, or None where that is not certain."""
    return _affirm_zh(text) if language == "zh" else _affirm_en(text)


_BE = ("is", "was")
_MOST_BEFORE = 6
"""The most words of a subject; a longer one may hide a clause."""
_ARTICLE = re.compile(r"(a)n?\s+", re.IGNORECASE)
_THERE = re.compile(r"(there\s+(?:is|was)\s+)an?\s+", re.IGNORECASE)
_SENTENCE_SIGNS = frozenset('.;:!?"“”')


def _negate_en(text: str) -> str | None:
    words = words_of(text, "en")
    lowered = [word.text.lower().replace("’", "'") for word in words]
    verbs = [number for number, word in enumerate(lowered) if word in _BE]
    if len(verbs) != 1 or not 0 < verbs[0] <= min(_MOST_BEFORE, len(words) - 2):
        return None
    before, after = lowered[: verbs[0]], lowered[verbs[0] + 1 :]
    end = words[verbs[0]].end
    # In "it likely was …" the adverb is not denied by a "not" behind it.
    doubtful = any(word.endswith("ly") for word in before) or any("'" in word for word in lowered)
    clauses = "," in text[:end] or not _SENTENCE_SIGNS.isdisjoint(text.rstrip().rstrip(".!"))
    if doubtful or clauses or not _operators_en().isdisjoint([*before, *after]):
        return None
    if there := _THERE.match(text):
        return f"{there.group(1)}no {text[there.end() :]}"
    if article := _ARTICLE.match(text):
        particular = lowered[verbs[0]] == "was" or after[0].endswith("ing") or after[0] in _prepositions()
        no = "No" if article.group(1) == "A" else "no"
        return f"{no} {text[article.end() :]}" if particular else None
    return f"{text[:end]} not{text[end:]}" if before[0] in lexicon("contrary-en")["definite"] else None


def _affirm_en(text: str) -> str | None:
    denied = re.sub(r"\b(is|was)n['’]t\b", r"\1 not", text)
    if no := re.match(r"(no)\s+(?=\w)", denied, re.IGNORECASE):
        first = denied[no.end()].lower()
        if first in "uhoe":  # before these letters the article hangs on the sound
            return None
        article = "an" if first in "ai" else "a"
        positive = f"{article.capitalize() if no.group(1) == 'No' else article} {denied[no.end() :]}"
    else:
        positive = re.sub(r"\b(is|was)\s+not\b", r"\1", denied, count=1)
    return positive if negate(positive, "en") == denied else None


@cache
def _operators_en() -> frozenset[str]:
    tags = ("quantifier", "wh_word", "modal", "and", "or")
    return frozenset(lexicon("contrary-en")["operators"]).union(*(lexicon("en")[tag]["words"] for tag in tags))


@cache
def _prepositions() -> frozenset[str]:
    """Return the words that can begin a place."""
    return frozenset(lexicon("stress-en")["function"]) - {"a", "an", "the", "one"}


_CLAUSE = re.compile(r"[^，。；：、！？,;:!?“”\"\s]+[。.]?")
_NOT = re.compile(r"不(是|会|能|在)")


def _negate_zh(text: str) -> str | None:
    return f"并非{text}" if _CLAUSE.fullmatch(text) else None


def _affirm_zh(text: str) -> str | None:
    if not _CLAUSE.fullmatch(text):
        return None
    if text.startswith("并非"):
        positive = text.removeprefix("并非")
    else:
        denial = _NOT.search(text)
        if denial is None or any(word in text for word in lexicon("contrary-zh")["operators"]):
            return None
        before, verb = text[: denial.start()], denial.group(1)
        if before.endswith((verb, "从", "并")):  # 是不是 asks; 从不, 并不 are words of their own
            return None
        positive = before + text[denial.end() - len(verb) :]
    return positive if is_plain(positive, "zh") else None
