"""``ModelAudit``: what a model makes of half a pair, and of the artifacts of a dataset.

*Partial input*: the model is asked once more with every premise replaced by one fixed non-word (Hu et al. 2020, section
4), and once with every hypothesis. A model that reads both sides falls to the share of the most frequent label, or
below; what it keeps above that share it has from one side alone. *Sensitivity* is told in ``explanation.sensitivity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.explanation.sensitivity import Sensitivity
from goldlabel.metrics import Estimate, PairedTest, in_percent, in_points, mcnemar, mean, p_value, share
from goldlabel.pairs import Result
from goldlabel.pairs.gold import GoldPairs

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

TAKEN = {"hypothesis_only": "premise", "premise_only": "hypothesis"}
"""What is taken away from a model that reads one side."""


@dataclass(frozen=True)
class PartialInput:
    """A model that reads one side only."""

    accuracy: Estimate
    loss: PairedTest
    """Its own accuracy less this."""
    gain: Estimate
    """This less the share of the most frequent label of these pairs."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "accuracy": self.accuracy.to_dict(),
            "loss": self.loss.difference.to_dict() | {"p_value": self.loss.p_value},
            "gain": self.gain.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class ModelAudit(Result):
    """What was found about one model on the pairs of one dataset."""

    model: str
    dataset: str
    split: str
    accuracy: Estimate
    majority: Estimate
    """The share of the most frequent label."""
    partial: dict[str, PartialInput]
    """``hypothesis_only`` and ``premise_only``; empty where the model cannot be asked about changed pairs."""
    artifacts: list[Sensitivity]
    untested: int
    """Artifacts of the dataset that too few of these pairs carry, or too few do not."""
    notes: Sequence[str] = ()
    usage: EndpointSummary | None = None

    @property
    def title(self) -> str:
        """How good the model is, and on what."""
        return (
            f"{self.model} on {self.dataset} ({self.split}): {in_percent(self.accuracy)} of {self.accuracy.n:,} "
            f"pairs right; the most frequent label alone gives {in_percent(self.majority)}"
        )

    @property
    def table(self) -> pl.DataFrame:
        """One row for each side that is read alone; in per cent and points."""
        return pl.DataFrame(
            [
                {
                    "reads": name.replace("_", " "),
                    "accuracy": in_percent(part.accuracy),
                    "less than both sides": in_points(part.loss.difference),
                    "over the most frequent label": in_points(part.gain),
                }
                for name, part in self.partial.items()
            ],
            schema=dict.fromkeys(
                ("reads", "accuracy", "less than both sides", "over the most frequent label"), pl.String
            ),
        )

    @property
    def artifact_table(self) -> pl.DataFrame:
        """One row for each artifact, at the same gold label; in points, and the changes of probability in per cent."""
        columns = {
            "artifact": pl.String,
            "label": pl.String,
            "carriers": pl.Int64,
            "label said more often": pl.String,
            "p": pl.String,
            "right more often": pl.String,
            "word taken out": pl.String,
            "word put in": pl.String,
        }
        rows = [
            (
                result.cue.name,
                result.cue.label,
                int(result.cue.carried.sum()),
                in_points(result.shift.value),
                p_value(result.shift.p_value),
                in_points(result.accuracy.value),
                in_points(-result.taken_out) if result.taken_out else None,
                in_points(result.put_in) if result.put_in else None,
            )
            for result in self.artifacts
        ]
        return pl.DataFrame(rows, schema=columns, orient="row")

    @property
    def findings(self) -> list[str]:
        """What all this says, in plain sentences."""
        sentences = []
        if blind := self.partial.get("hypothesis_only"):
            above = blind.gain.low is not None and blind.gain.low > 0
            sentences.append(
                f"Without the premise it is right in {in_percent(blind.accuracy)}, "
                + (
                    f"{in_points(blind.gain)} points over the most frequent label: it labels by the hypothesis."
                    if above
                    else "not surely more than the most frequent label gives."
                )
            )
        leaned = [result for result in self.artifacts if result.leaned_on]
        if self.artifacts:
            named = ", ".join(f"{result.cue.name} for {result.cue.label}" for result in leaned)
            sentences.append(
                f"It leans on {len(leaned)} of the {len(self.artifacts)} artifacts that could be tested"
                + (f": {named}." if leaned else ".")
            )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "model": self.model,
            "dataset": self.dataset,
            "split": self.split,
            "n": self.accuracy.n,
            "units": self.accuracy.units,
            "accuracy": self.accuracy.to_dict(),
            "majority": self.majority.to_dict(),
            **{name: self.partial[name].to_dict() if name in self.partial else None for name in TAKEN},
            "artifacts": [result.to_dict() for result in self.artifacts],
            "untested_artifacts": self.untested,
            "findings": self.findings,
            "notes": list(self.notes),
            "usage": self.usage.to_dict() if self.usage else None,
        }


def judge_partial(
    gold: GoldPairs, answers: NDArray[np.str_], without: NDArray[np.str_], *, level: float = 0.95
) -> PartialInput:
    """Compare the answers to one side with those to both, and with the most frequent label."""
    true = gold.frame["label"].to_numpy()
    right = without == true
    return PartialInput(
        share(right, units=gold.units, level=level),
        mcnemar(true, answers, without, units=gold.units, level=level),
        mean(right.astype(np.int8) - most_frequent(gold), units=gold.units, level=level),
    )


def most_frequent(gold: GoldPairs) -> NDArray[np.bool_]:
    """Return which pairs have the label that most have."""
    labels = gold.frame["label"]
    hits: NDArray[np.bool_] = (labels == labels.mode(maintain_order=True)[0]).to_numpy()
    return hits
