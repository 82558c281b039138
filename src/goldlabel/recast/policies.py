"""Person and questions: the policies of Poliak et al. (2018), appendix A.

Person. *Conservative* leaves out premises that are not in the third person. *Observer* tells hypotheses as the
one who was addressed would: what the premise's speaker calls "you" is "I", and their "I" is "you". *Speaker* keeps
the perspective of the one who uttered the premise.

Questions are kept, or left out: whether one states anything is unclear.
"""

from __future__ import annotations

import re

from goldlabel.recast.perspective import OTHER_PERSON, QUOTED, observed
from goldlabel.recast.recaster import Options

__all__ = ["COSTS", "is_question", "not_third_person", "observed", "refusal"]

PERSON = "not in the third person (person: conservative)"
QUESTION = "a question (questions: remove)"
COSTS = ("person=conservative", "person=observer", "person=speaker", "questions=keep", "questions=remove")
"""Every policy, as it is reported: only two of them can cost pairs."""

_QUESTION = re.compile(r"\?[\s\"'”’)\]]*$")


def not_third_person(premise: str) -> bool:
    """Say whether somebody speaks of themselves or to somebody, outside quotation."""
    return OTHER_PERSON.search(_unquoted(premise)) is not None


def is_question(premise: str) -> bool:
    """Say whether the text ends as a question does."""
    return _QUESTION.search(_unquoted(premise)) is not None


def refusal(options: Options, *, person: bool, question: bool) -> str | None:
    """Return why the policies leave a premise out, if they do."""
    if person and options.person == "conservative":
        return PERSON
    if question and options.questions == "remove":
        return QUESTION
    return None


def _unquoted(premise: str) -> str:
    rest = QUOTED.sub(" ", premise)
    return rest if any(map(str.isalnum, rest)) else premise
