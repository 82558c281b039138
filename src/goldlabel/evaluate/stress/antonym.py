"""Antonym: a sentence beside itself with one word replaced by its antonym is a contradiction (Naik et al. 2018, 3.1).

As in the paper, both sentences of a base pair are taken, each for itself: the premise with its changed form as the
hypothesis, and the hypothesis with its changed form as the premise. Hu et al. (2021) do so with Chinese premises.

Where we differ: the paper looks words up in WordNet in the sense that the Lesk algorithm guesses, which gives many
antonyms that contradict nothing. Ours come from a short list of words whose antonym hardly depends on the sense, or
from a file of the user's. Names are left alone, articles are made to agree ("an early" to "a late"), and no sentence is
taken that denies, supposes or asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from goldlabel.errors import InputError
from goldlabel.evaluate.stress.recipe import BasePair, Draw, UnsuitableError, Variant
from goldlabel.evaluate.stress.sentences import capitalised_like, is_plain, refuse_unless_plain, words_of
from goldlabel.pairs.lexicon import lexicon

_ARTICLE = re.compile(r"\b([Aa])n?(\s+)$")


@dataclass(frozen=True)
class Antonym:
    """The recipe; with ``antonyms`` (word to antonym, in lower case) in place of the lists that come along."""

    antonyms: Mapping[str, str] | None = None
    name: str = "antonym"
    languages: tuple[str, ...] = ("en", "zh")

    def vary(self, pair: BasePair, draw: Draw) -> list[Variant]:
        """Return a contradiction for each word with an antonym, on either side."""
        antonyms = self.antonyms if self.antonyms is not None else lexicon(f"stress-{pair.language}")["antonyms"]
        sentences = {"of the premise": pair.premise, "of the hypothesis": pair.hypothesis}
        plain = {kind: text for kind, text in sentences.items() if is_plain(text, pair.language)}
        if not plain:
            refuse_unless_plain(pair.premise, pair.language)
        variants = [
            Variant(text, changed, "contradiction", kind)
            if text is pair.premise
            else Variant(changed, text, "contradiction", kind)
            for kind, text in plain.items()
            for changed in _changed(text, pair.language, antonyms)
        ]
        if not variants:
            raise UnsuitableError("no word with a known antonym")
        return variants


def read_antonyms(path: Path | str) -> dict[str, str]:
    """Read a word and its antonym from each line of a file, a tab between them."""
    antonyms: dict[str, str] = {}
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error}); give a file of antonyms") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, tab, antonym = line.partition("\t")
        if not tab or not word.strip() or not antonym.strip() or "\t" in antonym.strip():
            raise InputError(f"{path} line {number}: is not a word, a tab and its antonym")
        antonyms[word.strip().lower()] = antonym.strip()
    if not antonyms:
        raise InputError(f"{path}: holds no antonyms; give a word, a tab and its antonym on each line")
    return antonyms


def _changed(text: str, language: str, antonyms: Mapping[str, str]) -> Iterator[str]:
    words = words_of(text, language)
    lowered = [word.text.lower() for word in words]
    for place, (word, plain) in enumerate(zip(words, lowered, strict=True)):
        antonym = antonyms.get(plain)
        # A word that stands twice, or beside its antonym ("young and old"), is denied by no single replacement.
        if antonym is None or lowered.count(plain) > 1 or antonym.lower() in lowered:
            continue
        if word.text[:1].isupper():
            follower = words[place + 1].text if place + 1 < len(words) else ""
            if place > 0 or follower[:1].isupper():  # a name, such as New York
                continue
            antonym = capitalised_like(antonym, word.text)
        before = text[: word.start]
        if language == "en":
            article = "n" if antonym[0] in "aeiou" else ""
            before = _ARTICLE.sub(lambda match, n=article: match.group(1) + n + match.group(2), before)  # type: ignore[misc]
        yield before + antonym + text[word.end :]


ANTONYM = Antonym()
