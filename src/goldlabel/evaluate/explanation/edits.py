"""Edits of pairs, and what the gold label must be after them.

Only edits whose outcome holds by construction are made; where a text does not allow one, it is left alone.

*negate* makes the hypothesis its own contrary, and *drop the negator* takes one back (``contrary.py`` says where that
is certain). If the premise entails the hypothesis, it contradicts the contrary. If it leaves the hypothesis open, it
leaves the contrary open. If it contradicts the hypothesis, it cannot contradict the contrary as well; whether it
entails it hangs on whether both speak of the same things, so that entailment and neutral both pass.

*swap* lets premise and hypothesis change places. That two sentences cannot both be true is symmetric: a contradiction
stays one, and nothing else becomes one.

*drop* takes the content words out of one side. What is left says next to nothing, so no label must follow from it; it
tells how much an answer hangs on what that side says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from goldlabel.evaluate.explanation.contrary import affirm, negate
from goldlabel.evaluate.stress.sentences import is_content, words_of
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.lexicon import LEXICONS

Texts = tuple[str, str]
Change = Callable[[str, str, str], Texts | None]
"""Takes premise, hypothesis and language; gives both as they are after the edit, or None where it cannot be made."""

_CONTRARY = {"entailment": {"contradiction"}, "neutral": {"neutral"}, "contradiction": {"entailment", "neutral"}}
_SYMMETRIC = {
    "entailment": {"entailment", "neutral"},
    "neutral": {"entailment", "neutral"},
    "contradiction": {"contradiction"},
}
_TWO_WAY = {"entailment": {"not_entailment"}}
"""What the contrary of an entailed hypothesis must be in ``nli2``; of the others nothing follows there."""


@dataclass(frozen=True)
class Edit:
    """A change of pairs, and the labels that may follow from each gold label."""

    name: str
    change: Change
    three_way: Mapping[str, set[str]]
    two_way: Mapping[str, set[str]]

    def allowed(self, label: str, space: LabelSpace) -> frozenset[str]:
        """Return the labels one of which must follow; none where nothing is certain."""
        rules = self.three_way if "contradiction" in space and "neutral" in space else self.two_way
        labels = rules.get(label, set())
        return frozenset(labels) if all(word in space for word in labels) else frozenset()


def drop_content(text: str, language: str) -> str | None:
    """Return a text without its content words, or None where nothing or everything would go."""
    if language == "zh":
        left = "".join(sign for sign in text if not sign.isalnum() or not is_content(sign, "zh"))
    else:
        left, end = "", 0
        for word in words_of(text, language):
            if is_content(word.text.lower().replace("’", "'"), language):
                left, end = left + text[end : word.start], word.end
        left = re.sub(r"\s+", " ", left + text[end:]).strip()
    return left if left != text and any(sign.isalnum() for sign in left) else None


def _of(side: str, change: Callable[[str, str], str | None]) -> Change:
    """Return the edit that changes one side, in the languages that have word lists."""

    def edit(premise: str, hypothesis: str, language: str) -> Texts | None:
        changed = change(premise if side == "premise" else hypothesis, language) if language in LEXICONS else None
        if changed is None:
            return None
        return (changed, hypothesis) if side == "premise" else (premise, changed)

    return edit


def _swapped(premise: str, hypothesis: str, _: str) -> Texts:
    return hypothesis, premise


EDITS = (
    Edit("negate the hypothesis", _of("hypothesis", negate), _CONTRARY, _TWO_WAY),
    Edit("drop the hypothesis's negator", _of("hypothesis", affirm), _CONTRARY, _TWO_WAY),
    Edit("swap premise and hypothesis", _swapped, _SYMMETRIC, {}),
    Edit("drop the premise's content words", _of("premise", drop_content), {}, {}),
    Edit("drop the hypothesis's content words", _of("hypothesis", drop_content), {}, {}),
)
