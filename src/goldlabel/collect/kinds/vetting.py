"""Vetting: pairs made elsewhere are judged on the five-step scale of Zhang et al. (2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goldlabel.collect.data.figures import measure
from goldlabel.collect.kinds.kind import N_, VERIFY, Kind
from goldlabel.collect.kinds.labelling import LABELLING_IMPORTS, LABELLING_SETTINGS, no_splits
from goldlabel.collect.protocols import Protocol, Qualification, VerifyingRules, base_protocol
from goldlabel.collect.work.verdicts import panel


def _make(_: Sequence[str], language: str) -> Protocol:
    """Every recast pair is judged by three."""
    return replace(
        base_protocol(VETTING.name, language),
        labels="ordinal5",
        verifying=VerifyingRules(share=1.0, verifiers=3, abstentions=("incomprehensible",), foreign=0),
        qualification=Qualification(training=10, threshold=0.0, gold_rate=0.0),
    )


VETTING = Kind(
    name="vetting",
    title=N_("vetting"),
    summary=N_("People judge pairs that you bring on a scale of five steps, from very likely to impossible."),
    works=(VERIFY,),
    own="imported",
    imports=LABELLING_IMPORTS,
    settings=LABELLING_SETTINGS,
    judging_text="vetting",
    protocols=("vetting",),
    make=_make,
    policy=panel,
    figures=measure,
    splits=no_splits,
)
