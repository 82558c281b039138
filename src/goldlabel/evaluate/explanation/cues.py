"""Does a model follow the artifacts of its training set?

A *cue* is something that a hypothesis, or a pair, carries and that goes with a label in the training set: a word, a
negator, a length, overlap. On test pairs it points to that label, rightly or wrongly. A model that follows it is right
where the cue is, and wrong where the cue misleads. So accuracy is compared on the carriers whose gold label is the
cue's and on those where it is another (the *gap*).

A model that merely says one label often has such a gap on every pair. What the cue itself does is therefore the gap
less the one among pairs that do not carry it (the *pull*), and that is what is tested; p-values are Holm's over all
cues. A pull is no proof: carriers whose label is not the cue's may be harder in other ways, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.metrics import Estimate, Gap, gap, holm, share
from goldlabel.pairs.gold import GoldPairs

LEAST = 10
"""Pairs that each of the four parts must have for a cue to be tested."""


@dataclass(frozen=True)
class Cue:
    """What goes with a label in the training set, and which test pairs carry it."""

    kind: str
    feature: str
    label: str
    """In the words of the test set."""
    share: float
    """The share of carriers in the training set that have the label."""
    carried: NDArray[np.bool_]

    @property
    def name(self) -> str:
        """What people call it: a word in quotation marks, anything else as it is."""
        return f"“{self.feature}”" if self.kind == "word" else self.feature


@dataclass(frozen=True)
class CueEffect:
    """What a cue does to a model."""

    cue: Cue
    carriers: Estimate
    """The share of test pairs that carry it."""
    right: Estimate
    """The accuracy on carriers that have the cue's label."""
    wrong: Estimate
    """The accuracy on carriers that have another."""
    gap: Gap
    pull: Gap
    """The gap less that among other pairs; its p-value is corrected for the number of cues."""

    @property
    def followed(self) -> bool:
        """Whether the pull is above nothing at the level of the intervals."""
        return (self.pull.value.value or 0) > 0 and self.pull.p_value <= 1 - self.pull.value.level

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "kind": self.cue.kind,
            "feature": self.cue.feature,
            "label": self.cue.label,
            "training_share": self.cue.share,
            "carriers": self.carriers.to_dict(),
            "points_right": self.right.to_dict(),
            "points_wrong": self.wrong.to_dict(),
            "gap": self.gap.to_dict(),
            "pull": self.pull.to_dict(),
            "followed": self.followed,
        }


def measure_cues(
    gold: GoldPairs, answers: NDArray[np.str_], cues: Sequence[Cue], *, level: float = 0.95
) -> list[CueEffect]:
    """Return what each cue does that enough pairs carry, the strongest pull first."""
    true, units = gold.frame["label"].to_numpy(), gold.units
    hits = answers == true
    effects = []
    for cue in cues:
        has_label = true == cue.label
        parts = [cue.carried & has_label, cue.carried & ~has_label, ~cue.carried & has_label, ~cue.carried & ~has_label]
        if min(int(part.sum()) for part in parts) < LEAST:
            continue
        right, wrong = (share(hits[part], units=units[part], level=level) for part in parts[:2])
        effects.append(
            CueEffect(
                cue=cue,
                carriers=share(cue.carried, units=units, level=level),
                right=right,
                wrong=wrong,
                gap=gap(hits, parts[:2], units=units, level=level),
                pull=gap(hits, parts, [1, -1, -1, 1], units=units, level=level),
            )
        )
    adjusted = holm([effect.pull.p_value for effect in effects])
    corrected = [
        replace(effect, pull=replace(effect.pull, p_value=p_value))
        for effect, p_value in zip(effects, adjusted, strict=True)
    ]
    return sorted(corrected, key=lambda effect: (effect.pull.p_value, -(effect.pull.value.value or 0)))
