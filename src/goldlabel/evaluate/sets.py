"""Which pairs of a dataset models are judged by, and which are there to stop and to tune on."""

from __future__ import annotations

from dataclasses import replace

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.suite import EvaluationSet
from goldlabel.pairs import Pairs
from goldlabel.sources import SOURCES

ALSO = ("genre", "level", "round", "condition", "writer", "tags", "votes", "meta")
"""What sets keep of the record beside texts and labels, for slices and tables."""


def evaluation_set(
    pairs: Pairs,
    name: str | None = None,
    *,
    split: str | None = None,
    limit: int | None = None,
    dev: Pairs | None = None,
    counts: bool = True,
) -> EvaluationSet:
    """Return the set of a split; without one, of test or of the only split."""
    gold = judged_pairs(pairs, split, limit=limit, also=ALSO)
    return EvaluationSet(name=name or pairs.card.name, gold=gold, dev=dev, counts=counts)


def set_by_rule(
    source: str, pairs: Pairs, *, name: str | None = None, seed: int = 0, limit: int | None = None
) -> EvaluationSet:
    """Return a source's set by the rule of its card (``Source.evaluation``): a half to stop on, a half to judge by.

    Labels of a scale are brought to three, so that models which know three can be judged.
    """
    rule = SOURCES.get(source).evaluation
    if rule is None:
        raise InputError(f"{source}: its card has no rule by which it is evaluated on")
    split = rule.apply(pairs, seed).pairs
    halves = split.map_labels("nli3") if split.card.label_space.name == "ordinal5" else split
    # Every system that is trained stops on the same dev half: it is read once, and called as the set is.
    halves = Pairs(halves.frame.collect().lazy(), replace(halves.card, name=name or source))
    return evaluation_set(halves, split="test", limit=limit, dev=halves.only(split="dev"))
