"""Training examples of a requester's own in the place of those that come with Goldlabel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goldlabel.collect.protocols import Protocol, TrainingExample
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.texts import known_examples
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Word

NAMES = ("premise", "hypothesis", "label", "explanation")


def own_examples(protocol: Protocol, rows: Sequence[Sequence[str]]) -> Protocol:
    """Return a protocol with these examples, each a premise, a hypothesis, a label and why; all of them are asked.

    Rows without texts are left out. Without any example, those of Goldlabel are asked, as many as there are at most.
    """
    examples = []
    for number, row in enumerate(rows, 1):
        values = dict(zip(NAMES, map(clean_text, row), strict=True))
        if not values["premise"] and not values["hypothesis"]:
            continue
        empty = next((name for name in NAMES if not values[name]), None)
        if empty is not None:
            raise Invalid("example_empty", n=number, name=Word(empty))
        examples.append(TrainingExample(**values))
    asked = len(examples) or min(protocol.qualification.training, len(known_examples(protocol)))
    rules = replace(protocol.qualification, training=asked)
    return replace(protocol, examples=tuple(examples), qualification=rules)
