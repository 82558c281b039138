"""Adversarial rounds (Nie et al. 2020, section 2): people write what a model gets wrong, others confirm it.

A round is open for some time, with models of its own; a writer tries until a model is wrong, and two or three others
decide who was right (``collect/rounds/``: rounds, tries, fooling). The labels are worded as in the paper (section 2.2).

A campaign may have arms, to which writers are dealt at random: beside ``adversarial`` writers there are ``plain`` ones,
who see no model and send one sentence, and ``assisted`` ones, who begin with a suggestion. All arms have the same
contexts, labels, pay and verifiers, so what the adversary is worth can be measured (Kaushik et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goldlabel.collect.data.figures import measure
from goldlabel.collect.kinds.kind import JUDGING_SETTINGS, N_, VERIFY, WRITE, Kind
from goldlabel.collect.money.bonuses import follow_verdict
from goldlabel.collect.protocols import (
    ONLY,
    Condition,
    PremiseRules,
    Protocol,
    VerifyingRules,
    WritingRules,
    base_protocol,
)
from goldlabel.collect.rounds.round_splits import RoundSplits
from goldlabel.collect.work.verdicts import TwoPlusOne

if TYPE_CHECKING:
    from goldlabel.collect.data.snapshot import Snapshot


ARMS = {
    arm.name: arm
    for arm in (
        Condition(name="adversarial", levels=(ONLY,), optional=()),
        Condition(name="plain", levels=(ONLY,), optional=(), shows_model=False),
        Condition(name="assisted", levels=(ONLY,), optional=(), shows_model=False, assisted=True),
    )
}


def _make(names: Sequence[str], language: str) -> Protocol:
    """Contexts of 250 to 600 characters, a writer for each label in each arm, five tries; what fooled is verified."""
    arms = [ARMS[name] for name in names or ADVERSARIAL.protocols[:1]]
    return replace(
        base_protocol(ADVERSARIAL.name, language, arms),
        premises=PremiseRules(shortest=250, longest=600),
        writing=WritingRules(tries=5, writers_per_premise=3),
        verifying=VerifyingRules(share=1.0, verifiers=2, abstentions=("incomprehensible",), foreign=0),
    )


def _policy(_: Protocol) -> TwoPlusOne:
    return TwoPlusOne()


def _splits(snapshot: Snapshot) -> RoundSplits:
    sizes, exclusive = snapshot.project.protocol.splits, snapshot.exclusive
    return RoundSplits(dev=sizes.dev, test=sizes.test, exclusive=exclusive, closed=snapshot.held_out)


ADVERSARIAL = Kind(
    name="adversarial",
    title=N_("adversarial rounds"),
    summary=N_("People write sentences that a model labels wrong; others confirm that it is wrong."),
    works=(WRITE, VERIFY),
    own="written",
    imports=("gold",),
    settings=(
        "premises.shortest",
        "premises.longest",
        "writing.longest",
        "writing.meter",
        *JUDGING_SETTINGS,
        "pay.pair",
        "pay.bonus",
    ),
    judging_text="confirming",
    training_texts={WRITE.role: "training-fooling", VERIFY.role: "training-confirming"},
    protocols=tuple(ARMS),
    conditions=ARMS,
    about={
        "adversarial": N_("Writers see what the model says, and try until it is wrong."),
        "plain": N_("Writers see no model and send one sentence; the model is asked without their knowing."),
        "assisted": N_("As plain, but writers begin with a suggestion, which they may change."),
    },
    make=_make,
    policy=_policy,
    figures=measure,
    splits=_splits,
    decided=follow_verdict,
    has_conditions=True,
    has_rounds=True,
    words={
        "entailment": N_("definitely correct"),
        "neutral": N_("neither"),
        "contradiction": N_("definitely incorrect"),
        "pay.pair": N_("Per text, however many tries"),
        "pay.bonus": N_("Bonus per pair that others confirm"),
    },
)
