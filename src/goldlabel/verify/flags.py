"""Flags: annotators who need a second look, judged against the others who voted on the very same pairs.

Some pairs are hard, and some annotators are given more of them. Every test here therefore takes the votes on a pair as
they are and asks who cast which: where all annotators are equal, each is equally likely to have cast any of them.
This is the exact test within strata of Mantel and Haenszel (1959) and Cox (1970, chapter 5), with pairs as strata.
Nothing is assumed about how hard pairs are.

- ``low agreement``: on a pair whose majority has k of m votes, an annotator is against it with a chance of
  (m − k) / m. The number of votes against is then Poisson-binomial; flagged is who has more than chances raised by
  ``margin`` allow.
- ``drift``: votes against in the later half, given their number in both halves, where the odds of being against are
  the chance's times a factor of the annotator's own. The factor cancels; with equal chances this is Fisher's test.
- ``one label``: all votes are the same, where chance would have to pick it among each pair's votes.
- ``fast``: more than half of the votes took less than ``speed`` of the median time of the pair's other votes (sign
  test).

Votes on pairs of one unit may err together, since who misreads a premise misreads it every time. For low agreement
and drift, the test by units (Liang and Zeger 1986) stands beside the exact one, and the larger p-value counts. The
tests of all annotators and kinds form one family, whose false-discovery rate is held (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.messages import Message, Word
from goldlabel.metrics import benjamini_hochberg, mean_test, p_in_words
from goldlabel.metrics.distributions import binomial, binomial_tail, convolve
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import Votes, marked

LEAST_TIMED = 5
TILTS = 60
"""Halvings of the search for the factor: more than double precision can tell apart."""

ENGLISH = {
    "one_label": "one label: all {n} votes are {label} ({p})",
    "low_agreement": "low agreement: {n} of {votes} votes against the majority, {expected} expected on the same pairs "
    "({p})",
    "drift": "drift: {late} of {later} later votes against the majority, {early} of {earlier} earlier ({p})",
    "fast": "fast: {seconds} seconds a vote, others {usual} on the same pairs ({p})",
}
"""What is said of each kind of flag."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Suspicion:
    """A test of one annotator: its p-value, and what to say if it counts."""

    annotator: int
    p_value: float
    kind: str
    parameters: Mapping[str, str]


def find_flags(votes: Votes, *, fdr: float, margin: float, speed: float, least: int) -> list[tuple[Message, ...]]:
    """Return the reasons to look at each annotator; only those with ``least`` votes or more are tested."""
    tests = [*_judgements(votes, margin, least), *_fast(votes, speed, least)]
    adjusted = benjamini_hochberg([test.p_value for test in tests])
    flags: list[list[Message]] = [[] for _ in votes.annotators]
    for test, p_value in zip(tests, adjusted, strict=True):
        if p_value <= fdr:
            said = {**test.parameters, "p": p_in_words(p_value)}
            flags[test.annotator].append(Message(f"flag_{test.kind}", ENGLISH[test.kind], said))
    return [tuple(reasons) for reasons in flags]


def _judgements(votes: Votes, margin: float, least: int) -> Iterator[Suspicion]:
    """Test what annotators answered."""
    signed = votes.signed
    lead = leading(votes.counts, len(votes.space))
    chance = 1 - (votes.counts * lead).sum(axis=1) / np.maximum(votes.total, 1)
    decided, against = marked(lead), ~lead[signed.row, signed.answer]
    times = signed.cast["time"].to_physical().to_numpy()
    for annotator, rows in enumerate(_by_annotator(signed)):
        if len(rows) < least:
            continue
        yield _one_label(votes, annotator, signed.row[rows], signed.answer[rows])
        rows = rows[decided[signed.row[rows]]]
        if len(rows):
            record = _Record(against[rows], chance[signed.row[rows]], votes.units[signed.row[rows]], times[rows])
            yield record.low_agreement(annotator, margin)
            yield record.drift(annotator)


def _by_annotator(signed: Votes) -> Iterator[NDArray[np.int64]]:
    order = np.argsort(signed.annotator, kind="stable")
    return iter(np.split(order, np.searchsorted(signed.annotator[order], np.arange(1, len(signed.annotators)))))


def _one_label(votes: Votes, annotator: int, pair: NDArray[np.int64], answer: NDArray[np.int64]) -> Suspicion:
    only = answer[0]
    chances = votes.counts[pair, only] / votes.total[pair]
    p_value = float(np.exp(np.log(chances).sum())) if (answer == only).all() else 1.0
    return Suspicion(annotator, p_value, "one_label", {"n": f"{len(pair):,}", "label": Word(votes.answers[only])})


@dataclass(frozen=True)
class _Record:
    """One annotator's votes on pairs with a majority: whether they are against it, and with what chance."""

    against: NDArray[np.bool_]
    chance: Floats
    unit: NDArray[np.int64]
    time: NDArray[np.float64 | np.int64]

    def low_agreement(self, annotator: int, margin: float) -> Suspicion:
        votes, against = len(self.against), int(self.against.sum())
        chance = np.minimum(self.chance + margin, 1.0)
        exact = min(1.0, float(poisson_binomial(chance)[against:].sum()))
        said = {"n": f"{against:,}", "votes": f"{votes:,}", "expected": f"{self.chance.sum():,.0f}"}
        return Suspicion(annotator, max(exact, _by_unit(self.against - chance, self.unit)), "low_agreement", said)

    def drift(self, annotator: int) -> Suspicion:
        known = np.flatnonzero(~np.isnan(self.time.astype(np.float64)))
        order = known[np.argsort(self.time[known], kind="stable")]
        against, late = self.against[order], np.arange(len(order)) >= (len(order) + 1) // 2
        said = {
            "late": f"{against[late].sum():,}",
            "later": f"{late.sum():,}",
            "early": f"{against[~late].sum():,}",
            "earlier": f"{(~late).sum():,}",
        }
        # Unanimous pairs can tell nothing about anybody.
        divided = self.chance[order] > 0
        order = order[divided]
        p_value = _later(against[divided], late[divided], self.chance[order], self.unit[order])
        return Suspicion(annotator, p_value, "drift", said)


def _later(against: NDArray[np.bool_], late: NDArray[np.bool_], chance: Floats, unit: NDArray[np.int64]) -> float:
    """Return the p-value of so many votes against in the later half."""
    total = int(against.sum())
    if total in (0, len(against)) or late.all() or not late.any():
        return 1.0
    chance = _tilted(chance, total)
    later, earlier = poisson_binomial(chance[late]), poisson_binomial(chance[~late])
    counts = np.arange(max(0, total - len(earlier) + 1), min(total, len(later) - 1) + 1)
    joint = later[counts] * earlier[total - counts]
    exact = min(1.0, float(joint[counts >= against[late].sum()].sum() / joint.sum()))
    variance = chance * (1 - chance)
    # The efficient score of the later half, given the annotator's own factor.
    score = (against - chance) * (late - variance[late].sum() / variance.sum())
    return max(exact, _by_unit(score, unit))


def _tilted(chance: Floats, total: int) -> Floats:
    """Multiply the odds of all chances by the factor that makes ``total`` the expected number."""
    odds = chance / (1 - chance)
    low, high = -30.0, 30.0
    for _ in range(TILTS):
        middle = (low + high) / 2
        expected = (1 / (1 + np.exp(-middle) / odds)).sum()
        low, high = (middle, high) if expected < total else (low, middle)
    return np.asarray(1 / (1 + np.exp(-low) / odds))


def poisson_binomial(chances: Floats) -> Floats:
    """Return the probabilities of 0, 1, 2, … successes in independent trials with these chances."""
    probabilities = np.ones(1)
    for chance, trials in zip(*np.unique(chances, return_counts=True), strict=True):
        probabilities = convolve(probabilities, binomial(trials, chance))
    return probabilities


def _by_unit(scores: Floats, unit: NDArray[np.int64]) -> float:
    """Return the p-value of a sum above zero where the scores of one unit depend on each other; 0 if none do."""
    units = len(np.unique(unit))
    if units == len(unit):
        return 0.0
    if units == 1:
        return 1.0
    return mean_test(scores, units=unit, alternative="greater") or 0.0


def _fast(votes: Votes, speed: float, least: int) -> Iterator[Suspicion]:
    timed = votes.cast.filter(pl.col("seconds").is_not_null()).sort("row", "seconds")
    timed = timed.with_columns(others=_others_median(timed)).filter(
        pl.col("annotator").is_not_null() & pl.col("others").is_not_null()
    )
    by_annotator = timed.group_by("annotator").agg(
        pl.len().alias("votes"),
        (pl.col("seconds") < speed * pl.col("others")).sum().alias("quick"),
        pl.col("seconds", "others").median(),
    )
    cast = np.bincount(votes.signed.annotator, minlength=len(votes.annotators))
    places = {name: place for place, name in enumerate(votes.annotators)}
    for name, count, quick, seconds, others in by_annotator.iter_rows():
        annotator = places[name]
        if cast[annotator] >= least and count >= LEAST_TIMED:
            said = {"seconds": f"{seconds:.1f}", "usual": f"{others:.1f}"}
            yield Suspicion(annotator, binomial_tail(quick, count, 0.5), "fast", said)


def _others_median(timed: pl.DataFrame) -> pl.Series:
    """Return for each vote the median time of the others on its pair; votes are sorted by pair and time."""
    row, seconds = timed["row"].to_numpy().astype(np.int64), timed["seconds"].to_numpy()
    counts = np.bincount(row)
    start = (np.cumsum(counts) - counts)[row]
    others, place = counts[row] - 1, np.arange(len(row)) - start
    middles = ((others - 1) // 2, others // 2)
    # Without the vote itself, those after it move up by one.
    low, high = (np.minimum(start + middle + (middle >= place), len(row) - 1) for middle in middles)
    median = (seconds[low] + seconds[high]) / 2
    return pl.Series("others", np.where(others > 0, median, np.nan)).fill_nan(None)
