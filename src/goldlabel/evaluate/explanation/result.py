"""``Explanation``: why a model has the accuracy that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.evaluate.comparison import Comparison
from goldlabel.evaluate.explanation.counterfactuals import EditEffect
from goldlabel.evaluate.explanation.cues import CueEffect
from goldlabel.evaluate.explanation.hypothesis_only import Kinship
from goldlabel.evaluate.explanation.sides import Survival
from goldlabel.messages import many
from goldlabel.metrics import Estimate, in_percent, in_points, percent
from goldlabel.metrics import p_value as worded_p
from goldlabel.pairs import Result

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

SHOWN = 3
"""Cues that a sentence of findings names at most."""


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """The answers to each question about one model on one dataset; what could not be asked is in the notes."""

    model: str
    dataset: str
    split: str
    accuracy: Estimate
    chance: Estimate
    """The accuracy of always saying the most frequent label of these pairs."""
    training: str | None
    """The training set whose artifacts were looked for."""
    cues: Sequence[CueEffect]
    untested: int
    """Artifacts of the training set that too few of these pairs carry."""
    hypothesis_only: Kinship | None
    sides: Sequence[Survival]
    edits: Sequence[EditEffect]
    comparison: Comparison | None
    notes: Sequence[str]
    answers: pl.DataFrame
    """Each pair's ``id``, ``label``, the model's ``answer``, and the hypothesis-only model's where there is one."""
    usage: EndpointSummary | None = None
    """What an endpoint was asked, and what that cost."""

    @property
    def title(self) -> str:
        """The number that is explained."""
        return (
            f"{self.model} on {many(self.accuracy.n, 'pair')} of {self.dataset}: accuracy {in_percent(self.accuracy)}, "
            f"the most frequent label alone {in_percent(self.chance)}"
        )

    @property
    def table(self) -> pl.DataFrame:
        """The main figures, one row each, in per cent and points."""
        rows: list[tuple[str, Estimate, float | None]] = [("accuracy", self.accuracy, None)]
        if self.hypothesis_only is not None:
            kinship = self.hypothesis_only
            rows += [
                ("accuracy of the hypothesis-only model", kinship.blind, None),
                ("agreement with it", kinship.agreement, None),
                ("agreement beyond what the gold labels explain", kinship.excess.value, kinship.excess.p_value),
                ("accuracy on its easy pairs", kinship.easy, None),
                ("accuracy on its hard pairs", kinship.hard, None),
            ]
            if kinship.gap is not None:
                rows.append(("easy less hard", kinship.gap.value, kinship.gap.p_value))
        for part in self.sides:
            what = f"{part.side} {part.way}"
            rows += [
                (f"accuracy, {what}", part.accuracy, part.loss.p_value),
                (f"of the gain over chance survives, {what}", part.survives, None),
            ]
        return pl.DataFrame(
            [
                {
                    "figure": name,
                    "value": in_percent(figure),
                    "pairs": figure.n,
                    "units": figure.units,
                    "p": None if p_value is None else worded_p(p_value),
                }
                for name, figure, p_value in rows
            ],
            schema={"figure": pl.String, "value": pl.String, "pairs": pl.Int64, "units": pl.Int64, "p": pl.String},
        )

    @property
    def cue_table(self) -> pl.DataFrame:
        """One row per artifact of the training set, the strongest pull first; accuracies in per cent."""
        return pl.DataFrame(
            [
                {
                    "artifact": effect.cue.name,
                    "points to": effect.cue.label,
                    "carriers": round((effect.carriers.value or 0) * effect.carriers.n),
                    "points right": in_percent(effect.right),
                    "points wrong": in_percent(effect.wrong),
                    "gap": in_points(effect.gap.value),
                    "pull": in_points(effect.pull.value),
                    "p, corrected": worded_p(effect.pull.p_value),
                }
                for effect in self.cues
            ],
            schema={
                **dict.fromkeys(("artifact", "points to"), pl.String),
                "carriers": pl.Int64,
                **dict.fromkeys(("points right", "points wrong", "gap", "pull", "p, corrected"), pl.String),
            },
        )

    @property
    def edit_table(self) -> pl.DataFrame:
        """One row per edit and gold label; shares in per cent."""
        return pl.DataFrame(
            [
                {
                    "edit": effect.edit,
                    "gold label": effect.label,
                    "allow it": effect.flips.n,
                    "of": effect.pairs,
                    "answers flip": in_percent(effect.flips),
                    "must be": " or ".join(effect.allowed),
                    "right": in_percent(effect.right) if effect.right else "",
                }
                for effect in self.edits
            ],
            schema={
                **dict.fromkeys(("edit", "gold label"), pl.String),
                **dict.fromkeys(("allow it", "of"), pl.Int64),
                **dict.fromkeys(("answers flip", "must be", "right"), pl.String),
            },
        )

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Every table that has rows, by name."""
        tables = {"figures": self.table, "artifacts": self.cue_table, "edits": self.edit_table}
        return {name: table for name, table in tables.items() if len(table)}

    @property
    def findings(self) -> list[str]:
        """What all this says, in a few plain sentences."""
        sentences = [self._about_artifacts(), self._about_premise(), self._about_edits()]
        return [sentence for sentence in sentences if sentence]

    def _about_artifacts(self) -> str:
        if not self.cues:
            return ""
        followed = [effect for effect in self.cues if effect.followed]
        if not followed:
            return f"It follows none of the {len(self.cues)} artifacts of {self.training} that could be tested."
        first = followed[0]
        names = ", ".join(f"{effect.cue.name} for {effect.cue.label}" for effect in followed[:SHOWN])
        return (
            f"It follows {len(followed)} of the {len(self.cues)} artifacts of {self.training} that could be tested "
            f"({names}{' …' if len(followed) > SHOWN else ''}): where the first of them points to the gold label it is "
            f"right in {percent(first.right.value)} of the pairs, where it misleads in {percent(first.wrong.value)}."
        )

    def _about_premise(self) -> str:
        parts = []
        without = [part for part in self.sides if part.side == "premise"]
        if without:
            parts.append(self._about_gain([part.survives for part in without]))
            parts[0] += f" (accuracy {', '.join(f'{part.way} {percent(part.accuracy.value)}' for part in without)})"
        if self.hypothesis_only is not None:
            kinship = self.hypothesis_only
            than = "more" if kinship.related else "not more"
            parts.append(
                f"it agrees with a hypothesis-only model {than} than the gold labels explain "
                f"({_points(kinship.excess.value)}), and is right in {percent(kinship.easy.value)} of the pairs that "
                f"are easy for that model and in {percent(kinship.hard.value)} of the hard ones"
            )
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}." if text else ""

    def _about_gain(self, survives: Sequence[Estimate]) -> str:
        """Say what of the gain over the most frequent label is left; of a gain that may be none, no share is told."""
        shares = [figure.value for figure in survives if figure.value is not None]
        if not shares:
            return "it is not above the most frequent label, so no gain can survive without the premise"
        if self.accuracy.low is not None and self.accuracy.low <= self.chance.defined:
            return "it gains too little over the most frequent label to tell which share survives without the premise"
        share = f"up to {percent(max(shares))}" if max(shares) > 0 else "nothing"
        return f"of what it gains over the most frequent label, {share} survives without the premise"

    def _about_edits(self) -> str:
        settled: dict[str, list[Estimate]] = {}
        for effect in self.edits:
            if effect.right is not None and effect.right.n:
                settled.setdefault(effect.edit, []).append(effect.right)
        parts = ", ".join(f"{edit}: {_pooled(figures)}" for edit, figures in settled.items())
        return f"After edits that settle the label its answer is right in these cases: {parts}." if parts else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, without the single answers."""
        return {
            "model": self.model,
            "dataset": self.dataset,
            "split": self.split,
            "n": self.accuracy.n,
            "units": self.accuracy.units,
            "accuracy": self.accuracy.to_dict(),
            "chance": self.chance.to_dict(),
            "training": self.training,
            "artifacts": [effect.to_dict() for effect in self.cues],
            "untested_artifacts": self.untested,
            "hypothesis_only": self.hypothesis_only and self.hypothesis_only.to_dict(),
            "sides": [part.to_dict() for part in self.sides],
            "edits": [effect.to_dict() for effect in self.edits],
            "comparison": self.comparison and self.comparison.to_dict(),
            "findings": self.findings,
            "notes": list(self.notes),
            "usage": self.usage.to_dict() if self.usage else None,
        }


def _points(figure: Estimate) -> str:
    return "–" if figure.value is None else f"{100 * figure.value:+.1f} points"


def _pooled(figures: Sequence[Estimate]) -> str:
    """Return a share over several gold labels."""
    pairs = sum(figure.n for figure in figures)
    hits = sum((figure.value or 0) * figure.n for figure in figures)
    return f"{percent(hits / pairs)} of {pairs:,}"
