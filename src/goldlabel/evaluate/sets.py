"""Which pairs of a dataset models are judged by, and which are there to stop and to tune on."""

from __future__ import annotations

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.suite import EvaluationSet
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import splits_of
from goldlabel.pairs.splits import apply_plan
from goldlabel.sources import SOURCES

ALSO = ("genre", "level", "round", "writer", "tags", "votes", "meta")
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

    Labels of a scale are brought to three before, so that models which know three can be judged.
    """
    rule = SOURCES.get(source).evaluation
    if rule is None:
        raise InputError(f"{source}: its card has no rule by which it is evaluated on")
    splits = splits_of(pairs)
    # Files of one split, or of none at all, are what a user may have of a corpus that comes in three.
    used = pairs.only(split=[*rule.of]) if splits & set(rule.of) else pairs
    used = used.map_labels("nli3") if used.card.label_space.name == "ordinal5" else used
    halves = apply_plan(Pairs(used.frame.filter(pl.col("label") != "-"), used.card), rule.plan, seed=seed).pairs
    return evaluation_set(halves, name or source, split="test", limit=limit, dev=halves.only(split="dev"))
