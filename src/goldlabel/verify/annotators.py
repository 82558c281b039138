"""Annotators: how well each agrees with the others, how fast, whether they drift, and who needs a second look.

A vote is held against the majority of the other votes on the same pair, so that nobody agrees with themselves.
Flags are statistical tests, all one-sided and exact, with the false-discovery rate over annotators held at
``level`` for each kind (Benjamini and Hochberg 1995). A flag is a reason to look, not a verdict.

- ``one label``: all votes are the same, which would be improbable by the shares of the answers overall.
- ``low agreement``: agreement is more than ``margin`` below that of all others together (binomial test).
- ``fast``: the median time is less than ``speed`` of the median annotator's (sign test).
- ``drift``: agreement in the later half of the votes is below that in the earlier half (Fisher's test).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import benjamini_hochberg, p_in_words, wilson
from goldlabel.pairs import Result
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import NONE, Votes

LEAST_TIMED = 5


@dataclass(frozen=True)
class Annotator:
    """One person's record; ``None`` where a figure is undefined."""

    name: str
    votes: int
    compared: int
    agreement: float | None
    interval: tuple[float, float] | None
    seconds: float | None
    drift: float | None
    confusion: NDArray[np.int64]
    flags: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Annotators(Result):
    """Everybody's record; a confusion matrix has the others' majority as rows, the annotator's answers as columns."""

    labels: tuple[str, ...]
    answers: tuple[str, ...]
    people: Sequence[Annotator]

    @property
    def title(self) -> str:
        """How many annotators there are and how many are flagged."""
        flagged = sum(bool(person.flags) for person in self.people)
        return f"{len(self.people):,} annotators, {flagged:,} flagged"

    @property
    def table(self) -> pl.DataFrame:
        """One row per annotator, the flagged ones first; agreement and drift in per cent."""
        ordered = sorted(self.people, key=lambda person: (not person.flags, person.name))
        rows = [
            (
                person.name,
                person.votes,
                _rounded(person.agreement),
                _rounded(person.seconds),
                _rounded(person.drift),
                "; ".join(person.flags),
            )
            for person in ordered
        ]
        schema = {
            "annotator": pl.String,
            "votes": pl.Int64,
            "agreement": pl.Float64,
            "seconds": pl.Float64,
            "drift": pl.Float64,
            "flags": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return each annotator's figures under their name."""
        return {
            person.name: {
                "votes": person.votes,
                "compared": person.compared,
                "agreement": person.agreement,
                "interval": list(person.interval) if person.interval else None,
                "seconds": person.seconds,
                "drift": person.drift,
                "confusion": {
                    label: dict(zip(self.answers, row.tolist(), strict=True))
                    for label, row in zip(self.labels, person.confusion, strict=True)
                },
                "flags": list(person.flags),
            }
            for person in self.people
        }


def annotators(
    votes: Votes, *, level: float = 0.05, margin: float = 0.05, speed: float = 1 / 3, least: int = 10
) -> Annotators:
    """Return the record of every annotator; flags need ``least`` votes."""
    if not votes.annotators:
        votes.require_annotators("the quality of annotators")
    if not 0 < level < 1 or not 0 <= margin < 1 or not 0 < speed < 1:
        raise InputError("level and speed must be between 0 and 1, margin from 0 to below 1")
    known = votes.annotator != NONE
    person, answer = votes.annotator[known], votes.answer[known]
    others = _others_majority(votes)[known]
    tally = _Tally.of(votes, person, answer, others, votes.times[known])
    reasons: list[list[str]] = [[] for _ in votes.annotators]
    enough = tally.votes >= least
    medians = _median_seconds(votes)
    _flag(reasons, level, _one_label(tally, enough, votes.answers))
    _flag(reasons, level, _low_agreement(tally, enough, margin))
    _flag(reasons, level, _fast(votes, medians, enough, speed))
    _flag(reasons, level, _drift(tally, enough))
    return Annotators(votes.space.labels, votes.answers, _records(votes, tally, medians, reasons))


@dataclass(frozen=True)
class _Tally:
    """Counts per annotator; ``halves`` are hits and votes compared in the earlier and the later half."""

    votes: NDArray[np.int64]
    answers: NDArray[np.int64]
    compared: NDArray[np.int64]
    hits: NDArray[np.int64]
    confusion: NDArray[np.int64]
    halves: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        votes: Votes,
        person: NDArray[np.int32],
        answer: NDArray[np.int8],
        others: NDArray[np.int8],
        times: NDArray[np.float64],
    ) -> _Tally:
        people, width, labels = len(votes.annotators), len(votes.answers), len(votes.space)
        held = others != NONE
        right = others == answer
        cell = (person[held].astype(np.int64) * labels + others[held]) * width + answer[held]
        by_answer = np.bincount(person.astype(np.int64) * width + answer, minlength=people * width)
        return cls(
            votes=np.bincount(person, minlength=people),
            answers=by_answer.reshape(people, width),
            compared=np.bincount(person[held], minlength=people),
            hits=np.bincount(person[held & right], minlength=people),
            confusion=np.bincount(cell, minlength=people * labels * width).reshape(people, labels, width),
            halves=_halves(person, held, right, times, people),
        )


def _others_majority(votes: Votes) -> NDArray[np.int8]:
    """Return for each vote the majority of the pair's other votes."""
    rest = votes.counts[votes.pair]
    rest[np.arange(len(rest)), votes.answer] -= 1
    return leading(rest, len(votes.space))


def _halves(
    person: NDArray[np.int32],
    held: NDArray[np.bool_],
    right: NDArray[np.bool_],
    times: NDArray[np.float64],
    people: int,
) -> NDArray[np.int64]:
    """Count by annotator, half and hit, over the votes whose time is known."""
    timed = held & ~np.isnan(times)
    person, right, times = person[timed], right[timed], times[timed]
    order = np.lexsort((times, person))
    person, right = person[order], right[order]
    counts = np.bincount(person, minlength=people)
    place = np.arange(len(person)) - (np.cumsum(counts) - counts)[person]
    later = place >= (counts[person] + 1) // 2
    cell = (person.astype(np.int64) * 2 + later) * 2 + right
    return np.bincount(cell, minlength=people * 4).reshape(people, 2, 2)


Suspects = Mapping[int, tuple[float, str]]
"""The p-value and the reason for each annotator who was tested."""


def _flag(reasons: list[list[str]], level: float, suspects: Suspects) -> None:
    adjusted = benjamini_hochberg([p_value for p_value, _ in suspects.values()])
    for (person, (_, reason)), p_value in zip(suspects.items(), adjusted, strict=True):
        if p_value <= level:
            reasons[person].append(f"{reason} ({p_in_words(p_value)})")


def _one_label(tally: _Tally, enough: NDArray[np.bool_], answers: Sequence[str]) -> Suspects:
    shares = tally.answers.sum(axis=0) / max(1, int(tally.answers.sum()))
    found = {}
    for person in np.flatnonzero(enough):
        only = int(tally.answers[person].argmax())
        alone = tally.answers[person, only] == tally.votes[person]
        p_value = float(shares[only] ** tally.votes[person]) if alone else 1.0
        found[int(person)] = (p_value, f"one label: all {tally.votes[person]:,} votes are {answers[only]}")
    return found


def _low_agreement(tally: _Tally, enough: NDArray[np.bool_], margin: float) -> Suspects:
    from scipy.stats import binom

    found = {}
    for person in np.flatnonzero(enough & (tally.compared > 0) & (tally.compared < tally.compared.sum())):
        hits, compared = int(tally.hits[person]), int(tally.compared[person])
        rate = (tally.hits.sum() - hits) / (tally.compared.sum() - compared)
        p_value = float(binom.cdf(hits, compared, max(0.0, rate - margin)))
        reason = f"low agreement: {hits / compared:.0%} with the others' majority, all others {rate:.0%}"
        found[int(person)] = (p_value, reason)
    return found


def _fast(votes: Votes, medians: NDArray[np.float64], enough: NDArray[np.bool_], speed: float) -> Suspects:
    from scipy.stats import binom

    timed = ~np.isnan(votes.seconds) & (votes.annotator != NONE)
    if not timed.any():
        return {}
    usual = float(np.nanmedian(medians))
    person = votes.annotator[timed]
    counts = np.bincount(person, minlength=len(medians))
    quick = np.bincount(person[votes.seconds[timed] < speed * usual], minlength=len(medians))
    found = {}
    for one in np.flatnonzero(enough & (counts >= LEAST_TIMED)):
        p_value = float(binom.sf(quick[one] - 1, counts[one], 0.5))
        found[int(one)] = (p_value, f"fast: {medians[one]:.1f} seconds a vote, the median annotator {usual:.1f}")
    return found


def _drift(tally: _Tally, enough: NDArray[np.bool_]) -> Suspects:
    from scipy.stats import hypergeom

    found = {}
    for person in np.flatnonzero(enough & (tally.halves.sum(axis=2).min(axis=1) > 0)):
        early, late = tally.halves[person]
        hits, total = int(early[1] + late[1]), int(tally.halves[person].sum())
        p_value = float(hypergeom.cdf(late[1], total, hits, late.sum()))
        reason = f"drift: {early[1] / early.sum():.0%} agreement in the earlier half, {late[1] / late.sum():.0%} later"
        found[int(person)] = (p_value, reason)
    return found


def _median_seconds(votes: Votes) -> NDArray[np.float64]:
    frame = pl.DataFrame({"person": votes.annotator, "seconds": pl.Series(votes.seconds).fill_nan(None)})
    medians = frame.filter(pl.col("person") != NONE).group_by("person").agg(pl.col("seconds").median())
    values = np.full(len(votes.annotators), np.nan)
    values[medians["person"].to_numpy()] = medians["seconds"].fill_null(np.nan).to_numpy()
    return values


def _records(votes: Votes, tally: _Tally, medians: NDArray[np.float64], reasons: list[list[str]]) -> list[Annotator]:
    records = []
    for person, name in enumerate(votes.annotators):
        hits, compared = int(tally.hits[person]), int(tally.compared[person])
        early, late = tally.halves[person]
        interval = wilson(hits, compared) if compared else None
        drift = 100 * float(late[1] / late.sum() - early[1] / early.sum()) if early.sum() and late.sum() else None
        records.append(
            Annotator(
                name=name,
                votes=int(tally.votes[person]),
                compared=compared,
                agreement=100 * hits / compared if compared else None,
                interval=interval.percent().interval if interval else None,
                seconds=None if np.isnan(medians[person]) else float(medians[person]),
                drift=drift,
                confusion=tally.confusion[person],
                flags=tuple(reasons[person]),
            )
        )
    return records


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
