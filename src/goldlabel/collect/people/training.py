"""Training examples of a requester's own in the place of those that come with Goldlabel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goldlabel.collect.kinds import KINDS
from goldlabel.collect.messages import words
from goldlabel.collect.protocols import Protocol, TrainingExample
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.texts import known_examples
from goldlabel.collect.work.rules import clean_text
from goldlabel.messages import Word

NAMES = ("premise", "hypothesis", "label", "explanation", "role")


def own_examples(protocol: Protocol, rows: Sequence[Sequence[str]]) -> Protocol:
    """Return a protocol with these examples, each a premise, a hypothesis, a label, why, and for whom, if not for all.

    All that are for a role are asked. Rows without texts are left out. Without any example, those of Goldlabel are
    asked, as many as there are at most.
    """
    examples, workers = list[TrainingExample](), KINDS.get(protocol.kind).workers
    for number, row in enumerate(rows, 1):
        values = dict(zip(NAMES, map(clean_text, row), strict=True))
        if not values["premise"] and not values["hypothesis"]:
            continue
        empty = next((name for name in NAMES[:-1] if not values[name]), None)
        if empty is not None:
            raise Invalid("example_empty", n=number, name=Word(empty))
        if values["role"] and values["role"] not in workers:
            raise Invalid("example_role", n=number, role=values["role"], allowed=words(workers))
        examples.append(TrainingExample(**values))
    known = [one.role for one in known_examples(protocol)]
    least = min(sum(one in (role, "") for one in known) for role in workers)
    asked = len(examples) or min(protocol.qualification.training, least)
    rules = replace(protocol.qualification, training=asked)
    return replace(protocol, examples=tuple(examples), qualification=rules)
