"""Elicitation (Hu et al. 2020, section 3): people write hypotheses for premises, others label a share of the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldlabel.collect.data.figures import Figures, measure
from goldlabel.collect.data.splits import VerifiedSplits
from goldlabel.collect.kinds.kind import JUDGING_SETTINGS, N_, VERIFY, WRITE, Kind
from goldlabel.collect.protocols import CONDITIONS, Protocol, base_protocol
from goldlabel.collect.work.verdicts import panel

if TYPE_CHECKING:
    from goldlabel.collect.data.snapshot import Snapshot


def _make(names: Sequence[str], language: str) -> Protocol:
    return base_protocol(ELICITATION.name, language, [CONDITIONS.get(name) for name in names])


def _figures(snapshot: Snapshot, resamples: int) -> Figures:
    return measure(snapshot, resamples, by=("condition", "level"))


def _splits(snapshot: Snapshot) -> VerifiedSplits:
    sizes = snapshot.project.protocol.splits
    return VerifiedSplits(
        dev=sizes.dev,
        test=sizes.test,
        dev_share=sizes.dev_share,
        test_share=sizes.test_share,
        exclusive=snapshot.exclusive,
    )


ELICITATION = Kind(
    name="elicitation",
    title=N_("writing and judging"),
    summary=N_("People write sentences for given ones; others judge a part of the pairs."),
    works=(WRITE, VERIFY),
    own="written",
    imports=("foreign", "gold"),
    settings=(
        "premises.shortest",
        "premises.longest",
        "writing.overlap",
        "writing.longest",
        "writing.writers_per_premise",
        "writing.batch",
        "writing.cap",
        "writing.lease_seconds",
        "writing.meter",
        "verifying.share",
        "verifying.verifiers",
        "verifying.foreign",
        *JUDGING_SETTINGS,
        "pay.pair",
        "pay.bonus",
        "pay.penalty",
        "splits.dev",
        "splits.test",
        "splits.dev_share",
        "splits.test_share",
        "splits.genres",
    ),
    judging_text="verifying",
    protocols=tuple(CONDITIONS),
    conditions={name: CONDITIONS.get(name) for name in CONDITIONS},
    about={
        "single": N_("One sentence per label: the way of MNLI."),
        "multi": N_("Up to three per label: easy, medium, hard."),
        "multi-encourage": N_("As multi; a bonus for varied sentences and contradictions without a negator."),
        "multi-constraint": N_("As multi; at most one of three contradictions may hold a negator."),
    },
    make=_make,
    policy=panel,
    figures=_figures,
    splits=_splits,
    has_conditions=True,
)
