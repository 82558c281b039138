"""The human baseline (Hu et al. 2020, appendix E): fresh people label pairs of a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldlabel.collect.data.figures import Figures, measure
from goldlabel.collect.data.snapshot import verified
from goldlabel.collect.kinds.kind import N_, VERIFY, Kind
from goldlabel.collect.kinds.labelling import LABELLING_IMPORTS, LABELLING_SETTINGS, no_splits
from goldlabel.collect.protocols import Protocol, Qualification, VerifyingRules, base_protocol
from goldlabel.collect.work.verdicts import panel
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.verify import human_baseline, votes_of

if TYPE_CHECKING:
    from goldlabel.collect.data.snapshot import Snapshot


def _make(_: Sequence[str], language: str) -> Protocol:
    """Five fresh people, trained on 20 examples without a threshold, label 300 pairs each."""
    return replace(
        base_protocol(HUMAN_BASELINE.name, language),
        verifying=VerifyingRules(share=1.0, verifiers=5, abstentions=(), foreign=0, sample=300),
        qualification=Qualification(threshold=0.0, gold_rate=0.0),
    )


def _figures(snapshot: Snapshot, resamples: int) -> Figures:
    figures = measure(snapshot, resamples)
    checked = verified(snapshot.own)
    with_gold = checked.frame.select((pl.col("label") != NO_GOLD).any()).collect().item()
    return replace(figures, baseline=human_baseline(votes_of(checked))) if with_gold else figures


HUMAN_BASELINE = Kind(
    name="human-baseline",
    title=N_("human baseline"),
    summary=N_("People who have never seen the data judge pairs that you bring: the human score of a test set."),
    works=(VERIFY,),
    own="imported",
    imports=LABELLING_IMPORTS,
    settings=LABELLING_SETTINGS,
    judging_text="human-baseline",
    protocols=("human-baseline",),
    make=_make,
    policy=panel,
    figures=_figures,
    splits=no_splits,
    relabels=False,
)
