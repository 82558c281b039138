"""What of a suite's sets was trained on: by the models that are judged, and by the pairs that models are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.contamination import Contamination, contaminated, refuse_seen
from goldlabel.evaluate.suite import SuitePlan, System
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs
from goldlabel.pairs.fingerprints import Fingerprints
from goldlabel.pairs.gold import take_gold
from goldlabel.registry import one_of

REPORT, DROP = "report", "drop"


def hold_against(
    plan: SuitePlan, training: Sequence[Pairs], wanted: str | None
) -> tuple[SuitePlan, dict[str, Contamination]]:
    """Hold every set that counts against the training data; with ``drop``, judge by what is not in it."""
    if wanted is None:
        return plan, {}
    one_of("contamination", wanted, (REPORT, DROP))
    if not training:
        raise InputError("contamination is held against what is trained on; say with --train what that is")
    golds = [take_gold(pairs, default="train", advice="give pairs with a train split") for pairs in training]
    trained = pl.concat([gold.frame.select("premise", "hypothesis") for gold in golds])
    named = {part.name: contaminated(part.gold, trained) for part in plan.sets}
    if wanted == REPORT:
        return plan, named
    kept = tuple(
        replace(part, gold=named[part.name].without()) if named[part.name].near.any() else part for part in plan.sets
    )
    return replace(plan, sets=kept), named


def find_trained_on(system: System, known: Fingerprints | None, plan: SuitePlan, *, force: bool) -> dict[str, Estimate]:
    """Refuse a model that has learnt from a set that it is judged by; if forced, return which share of each."""
    if known is None:
        return {}
    shares = {
        part.name: refuse_seen(system.name, known, part.gold, force=force)
        for part in plan.sets
        if system.is_judged_on(part.name)
    }
    return {name: share for name, share in shares.items() if share is not None}
