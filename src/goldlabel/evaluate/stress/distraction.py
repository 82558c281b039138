"""The three distraction tests: a tautology is added, which changes no label (Naik et al. 2018, section 3.2).

Word overlap appends "and true is true" to the hypothesis, which makes it less like the premise; negation appends "and
false is not true", a negator that denies nothing; length mismatch appends the first tautology five times to the
premise. Where a text ends in a full stop, the tautology stands before it. The released script cuts a hypothesis of
several sentences after the first; here it stays whole.

In Chinese, Hu et al. (2021, section 3.2) add a clause with 而且 to either side in the same way. They draw it from a
hundred true statements, which are theirs; ours are the two tautologies above in Chinese, so that the tests of both
languages mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldlabel.evaluate.stress.recipe import BasePair, Draw, Variant

_END = re.compile(r"\s*([.!?。．！？]+)\s*$")
_TRUE = {"en": " and true is true", "zh": "，而且真的就是真的"}
_FALSE = {"en": " and false is not true", "zh": "，而且假的不是真的"}


@dataclass(frozen=True)
class Distraction:
    """Appends a clause to one side, a number of times."""

    name: str
    side: str
    clause: Mapping[str, str]
    times: int = 1

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it is made for."""
        return tuple(self.clause)

    def vary(self, pair: BasePair, draw: Draw) -> list[Variant]:
        """Return the pair with the tautology."""
        clause = self.clause[pair.language] * self.times
        if self.side == "premise":
            return [Variant(append_clause(pair.premise, clause), pair.hypothesis)]
        return [Variant(pair.premise, append_clause(pair.hypothesis, clause))]


def append_clause(text: str, clause: str) -> str:
    """Put a clause at the end of a text, before the signs that end its last sentence."""
    end = _END.search(text)
    return text[: end.start()] + clause + end.group(1) if end else text.rstrip() + clause


WORD_OVERLAP = Distraction("word_overlap", "hypothesis", _TRUE)
NEGATION = Distraction("negation", "hypothesis", _FALSE)
LENGTH_MISMATCH = Distraction("length_mismatch", "premise", _TRUE, times=5)
