"""Questions of a requester's own, asked after the main answer: with each set that is written, or with each judgement.

What people answer to them is kept with their answer, under the question's name. It changes no verdict and no pay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.messages import message, words
from goldlabel.collect.settings import require

CHOICE, TEXT, SCALE = "choice", "text", "scale"
QUESTION_KINDS = (CHOICE, SCALE, TEXT)
MOST_QUESTIONS = 10
LONGEST_NAME, LONGEST_QUESTION, LONGEST_OPTION, LONGEST_RESPONSE = 40, 500, 100, 1000
LEAST_OPTIONS, MOST_OPTIONS = 2, 9
"""Each option has a digit for its key."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question: one of the ``options`` (``choice``), a step of them in their order (``scale``), or a ``text``.

    ``asked`` is the work that it goes with, ``write`` or ``verify``.
    """

    name: str
    text: str
    kind: str = CHOICE
    options: tuple[str, ...] = ()
    asked: str = "verify"
    required: bool = False

    def __post_init__(self) -> None:
        for name, longest in (("name", LONGEST_NAME), ("text", LONGEST_QUESTION)):
            value = getattr(self, name)
            fits = value == value.strip() and 1 <= len(value) <= longest
            require(fits, name, value, message("question_text", longest=longest))
        require(self.kind in QUESTION_KINDS, "kind", self.kind, message("one_of", names=words(QUESTION_KINDS)))
        require(self.asked in WORKS, "asked", self.asked, message("one_of", names=words(WORKS)))
        require(self._fits(), "options", self.options, message("question_options", longest=LONGEST_OPTION))

    def _fits(self) -> bool:
        if self.kind == TEXT:
            return not self.options
        different = LEAST_OPTIONS <= len(set(self.options)) == len(self.options) <= MOST_OPTIONS
        return different and all(one == one.strip() and 1 <= len(one) <= LONGEST_OPTION for one in self.options)


def asked_with(questions: Iterable[Question], work: str) -> list[Question]:
    """Return the questions that go with a kind of work."""
    return [one for one in questions if one.asked == work]
