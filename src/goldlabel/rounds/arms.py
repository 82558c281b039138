"""The arms of a campaign beside each other: what writing against a model is worth.

All arms have the same contexts, target labels, pay and verifiers, and writers come to them at random. In the arms
without a model to be seen the round's models were asked all the same, so that what they get wrong can be compared. A
*sentence* is a try of a job that was ended; it is *confirmed* where others gave it the writer's label. The cost of a
confirmed pair is all that was paid for the arm, writing and judging, over the pairs confirmed in it.

Every arm is held against the first one. They share their contexts, so differences are taken with the pairs of one
context together (``goldlabel.metrics.gaps``), and p-values are corrected for all of them (Holm 1979). Both tell what
other contexts would have shown with these writers, not what other writers would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.hypothesis_only import Judgement, cross_validate, judge
from goldlabel.audit.pmi import Word, rank_words
from goldlabel.collect.data.snapshot import Snapshot
from goldlabel.collect.protocols import Condition
from goldlabel.collect.rounds.costs import Costs
from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, Gap, gap, holm, in_points, mean, p_value, share
from goldlabel.metrics.bootstrap import Statistic, bootstrap_sums, divided
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.units import units_of

WORDS = 5
COUNTED = {
    "fooled": pl.col("answered"),
    "confirmed": pl.col("verdict").is_not_null(),
    "verified_errors": pl.col("answered"),
}
"""Shares of an arm's sentences, and the sentences that each is a share of."""


@dataclass(frozen=True, kw_only=True)
class Arm:
    """What came of one arm; ``fooled`` and ``verified_errors`` are shares of its sentences."""

    name: str
    writers: int
    jobs: int
    sentences: int
    fooled: Estimate
    confirmed: Estimate
    verified_errors: Estimate
    hypothesis_only: Judgement | None
    overlap: Estimate
    words: Sequence[Word]
    seconds: Estimate
    cost: Estimate
    edits: Estimate
    unchanged: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        counts = {name: getattr(self, name) for name in ("name", "writers", "jobs", "sentences")}
        figures = ("fooled", "confirmed", "verified_errors", "overlap", "seconds", "cost", "edits", "unchanged")
        return counts | {
            **{name: getattr(self, name).to_dict() for name in figures},
            "hypothesis_only": self.hypothesis_only and self.hypothesis_only.brief(),
            "pmi": [word.to_dict() for word in self.words],
        }


@dataclass(frozen=True)
class Contrast:
    """A share of one arm less that of the first, and the p-value of no difference, corrected for all contrasts."""

    share: str
    arm: str
    against: str
    difference: Estimate
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        names = {name: getattr(self, name) for name in ("share", "arm", "against", "p_value")}
        return names | {"difference": self.difference.to_dict()}


@dataclass(frozen=True, repr=False)
class Arms(Result):
    """The arms of a campaign, and what they differ in."""

    name: str
    currency: str
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]

    @property
    def title(self) -> str:
        """Which arms there are."""
        return f"{self.name}: {', '.join(arm.name for arm in self.arms)}"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each arm."""
        return pl.DataFrame([self._row(arm) for arm in self.arms])

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            "currency": self.currency,
            "arms": [arm.to_dict() for arm in self.arms],
            "contrasts": [contrast.to_dict() for contrast in self.contrasts],
        }

    def _row(self, arm: Arm) -> dict[str, Any]:
        blind = arm.hypothesis_only
        key = (arm.name, "verified_errors")
        contrast = next((one for one in self.contrasts if (one.arm, one.share) == key), None)
        return {
            "arm": arm.name,
            "writers": arm.writers,
            "jobs": arm.jobs,
            "sentences": arm.sentences,
            "model wrong, %": arm.fooled.percent().text(1),
            "confirmed, %": arm.confirmed.percent().text(1),
            "verified errors, %": arm.verified_errors.percent().text(1),
            f"verified errors less {self.arms[0].name}'s": "–" if contrast is None else in_points(contrast.difference),
            "p (Holm)": "–" if contrast is None else p_value(contrast.p_value),
            "hypothesis-only gain, %": "–" if blind is None else blind.gain.percent().text(1),
            "highest PMI": ", ".join(f"{word.word} ({word.pmi.defined:.2f})" for word in arm.words),
            "overlap, %": arm.overlap.percent().text(1),
            "seconds": arm.seconds.text(1),
            f"{self.currency} per confirmed pair": arm.cost.text(2),
            "edits, characters": arm.edits.text(1),
        }


def compare_arms(snapshot: Snapshot, costs: Costs, *, resamples: int = 1000) -> Arms:
    """Measure each arm of a campaign in which something was written."""
    ended = pl.col("round").is_not_null() & pl.col("meta").str.json_path_match("$.pair_meta.unfinished").is_null()
    pairs = Pairs(snapshot.own.frame.filter(ended), snapshot.own.card)
    protocol = snapshot.project.protocol
    frame = _with_outcomes(pairs.frame.collect(), snapshot.verdicts)
    written = set(frame["condition"])
    arms = tuple(
        _measure(arm, pairs.only(condition=arm.name), frame.filter(condition=arm.name), costs, resamples)
        for arm in protocol.conditions
        if arm.name in written
    )
    contrasts = tuple(_contrasts(frame, [arm.name for arm in arms]))
    return Arms(snapshot.project.name, protocol.pay.currency, arms, contrasts)


def _with_outcomes(frame: pl.DataFrame, verdicts: pl.DataFrame) -> pl.DataFrame:
    """Add what a model said to each sentence and what others decided."""
    meta = pl.col("meta")
    frame = frame.with_columns(
        pl.Series("unit", units_of(frame)),
        fooled=meta.str.json_path_match("$.pair_meta.fooled") == "true",
        answered=meta.str.json_path_match("$.pair_meta.model").is_not_null(),
        seconds=meta.str.json_path_match("$.writing_seconds").cast(pl.Float64),
        distance=meta.str.json_path_match("$.pair_meta.proposal.distance").cast(pl.Int64),
        premise_id=pl.col("group").str.strip_prefix("premise-").cast(pl.Int64),
    ).join(verdicts, on="id", how="left", maintain_order="left")
    frame = frame.with_columns(
        pl.col("fooled").fill_null(False), confirmed=(pl.col("verdict") == pl.col("label")).fill_null(False)
    )
    return frame.with_columns(verified_errors=pl.col("fooled") & pl.col("confirmed"))


def _contrasts(frame: pl.DataFrame, names: Sequence[str]) -> Iterator[Contrast]:
    """Yield what each arm has more or less of than the first, of each share that there are sentences for in both."""
    gaps: dict[tuple[str, str], Gap] = {}
    for share_name, of in COUNTED.items():
        counted = frame.filter(of)
        first, *others = ((counted["condition"] == name).to_numpy() for name in names)
        for name, other in zip(names[1:], others, strict=True):
            if first.any() and other.any():
                hits, units = counted[share_name].to_numpy(), counted["unit"].to_numpy()
                gaps[share_name, name] = gap(hits, [other, first], units=units)
    adjusted = holm([one.p_value for one in gaps.values()])
    for ((share_name, name), one), p in zip(gaps.items(), adjusted, strict=True):
        yield Contrast(share_name, name, names[0], one.value, p)


def _measure(arm: Condition, pairs: Pairs, frame: pl.DataFrame, costs: Costs, resamples: int) -> Arm:
    jobs = frame.unique(["writer", "group"], maintain_order=True).drop_nulls("seconds")
    shares = {name: _share(frame.filter(of), name) for name, of in COUNTED.items()}
    edited = frame.drop_nulls("distance")
    blind, overlap, words = _artifacts(pairs)
    return Arm(
        name=arm.name,
        writers=frame["writer"].n_unique(),
        jobs=len(frame.unique(["writer", "group"])),
        sentences=len(frame),
        **shares,
        hypothesis_only=blind,
        overlap=overlap,
        words=words,
        seconds=mean(jobs["seconds"].to_numpy(), units=jobs["unit"].to_numpy()),
        cost=_cost(arm.name, frame, costs, resamples),
        edits=mean(edited["distance"].to_numpy(), units=edited["unit"].to_numpy()),
        unchanged=share((edited["distance"] == 0).to_numpy(), units=edited["unit"].to_numpy()),
    )


def _share(frame: pl.DataFrame, column: str) -> Estimate:
    return share(frame[column].to_numpy(), units=frame["unit"].to_numpy())


def _artifacts(pairs: Pairs) -> tuple[Judgement | None, Estimate, list[Word]]:
    """Return how well labels are told without the premise, the overlap, and the words that tell labels most."""
    corpus = read_corpus(pairs)
    known = ~np.isnan(corpus.overlap)
    overlap = mean(corpus.overlap[known].astype(np.float64), units=corpus.units[known])
    try:
        folds = cross_validate(corpus.words, corpus.labels, corpus.units, len(corpus.space))
    except InputError:  # too few contexts for folds
        return None, overlap, rank_words(corpus, top=WORDS)
    return judge(folds, corpus.space.labels), overlap, rank_words(corpus, top=WORDS)


def _cost(arm: str, frame: pl.DataFrame, costs: Costs, resamples: int) -> Estimate:
    """Return what a confirmed pair costs: a ratio of sums, bootstrapped over contexts."""
    premises = sorted({*frame["premise_id"], *(premise for name, premise in costs if name == arm)})
    confirmed = dict(frame.group_by("premise_id").agg(pl.col("confirmed").sum()).iter_rows())
    terms = np.array([[costs[arm, one], confirmed.get(one, 0)] for one in premises], dtype=np.float64).reshape(-1, 2)
    ratio = Statistic(terms, lambda sums: divided(sums[:, 0], sums[:, 1]))
    return bootstrap_sums({"cost": ratio}, resamples=resamples)["cost"]
