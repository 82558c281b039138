"""The arms of a campaign beside each other: what writing against a model is worth.

All arms have the same contexts, target labels, pay and verifiers, and writers come to them at random. In the arms
without a model to be seen the round's models were asked all the same, so that what they get wrong can be compared. A
*sentence* is a try of a job that was ended; it is *confirmed* where others gave it the writer's label. The cost of a
confirmed pair is all that was paid for the arm, writing and judging, over the pairs confirmed in it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from goldlabel.metrics import Estimate, mean, share
from goldlabel.metrics.bootstrap import Statistic, bootstrap_sums, divided
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.units import units_of

WORDS = 5


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


@dataclass(frozen=True, repr=False)
class Arms(Result):
    """The arms of a campaign."""

    name: str
    currency: str
    arms: tuple[Arm, ...]

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
        return {"currency": self.currency, "arms": [arm.to_dict() for arm in self.arms]}

    def _row(self, arm: Arm) -> dict[str, Any]:
        blind = arm.hypothesis_only
        return {
            "arm": arm.name,
            "writers": arm.writers,
            "jobs": arm.jobs,
            "sentences": arm.sentences,
            "model wrong, %": arm.fooled.percent().text(1),
            "confirmed, %": arm.confirmed.percent().text(1),
            "verified errors, %": arm.verified_errors.percent().text(1),
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
    arms = (
        _measure(arm, pairs, snapshot.verdicts, costs, resamples)
        for arm in protocol.conditions
        if len(pairs.only(condition=arm.name))
    )
    return Arms(snapshot.project.name, protocol.pay.currency, tuple(arms))


def _measure(arm: Condition, campaign: Pairs, verdicts: pl.DataFrame, costs: Costs, resamples: int) -> Arm:
    pairs = campaign.only(condition=arm.name)
    frame = pairs.frame.collect()
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
    jobs = frame.unique(["writer", "group"], maintain_order=True).drop_nulls("seconds")
    answered, judged = frame.filter("answered"), frame.drop_nulls("verdict")
    edited = frame.drop_nulls("distance")
    blind, overlap, words = _artifacts(pairs)
    return Arm(
        name=arm.name,
        writers=frame["writer"].n_unique(),
        jobs=len(frame.unique(["writer", "group"])),
        sentences=len(frame),
        fooled=_share(answered, "fooled"),
        confirmed=_share(judged, "confirmed"),
        verified_errors=share(
            (answered["fooled"] & answered["confirmed"]).to_numpy(), units=answered["unit"].to_numpy()
        ),
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
