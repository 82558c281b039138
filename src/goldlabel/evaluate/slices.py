"""Slices: kinds of pairs on which a model may be better or worse than on the rest.

Predefined are the values of some columns, each tag, lengths of premise and hypothesis by quarters of the set, lexical
overlap (the share of the hypothesis's different tokens that are in the premise), negation in the hypothesis (by the
word lists of ``pairs.lexicon``; English and Chinese), and whether a model that saw no premise is right, the easy pairs,
or wrong, the hard ones (Gururangan et al. 2018). Tokens are words, in Chinese characters. A pair that lacks what a kind
asks for is in none of its slices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, in_percent, share
from goldlabel.pairs import Result
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.groups import ALL, group_rows, group_title
from goldlabel.pairs.lexicon import LEXICONS, find_listed
from goldlabel.pairs.overlap import measure_overlap
from goldlabel.pairs.tokens import language_of, tokenize_units

SLICED = ("genre", "level", "round", "condition", "tags")
"""The columns whose values are slices, where the frame has them."""
WITHOUT_PREMISE = "without premise"
OVERLAPS = (0.0, 0.25, 0.5, 0.75, 1.0)

Rows = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Slice:
    """Some of the pairs, and what they have in common."""

    kind: str
    name: str
    rows: Rows


@dataclass(frozen=True, repr=False)
class SliceScores(Result):
    """A model's accuracy on each slice of a dataset."""

    dataset: str
    whole: Estimate
    slices: Sequence[tuple[Slice, Estimate]]

    @property
    def title(self) -> str:
        """The accuracy on all pairs."""
        return f"{self.dataset}: {in_percent(self.whole)} on all {self.whole.n:,} pairs"

    @property
    def table(self) -> pl.DataFrame:
        """Accuracies in per cent, one row per slice."""
        rows = [
            {"kind": own.kind, "slice": own.name, "accuracy": in_percent(accuracy), "pairs": accuracy.n}
            for own, accuracy in self.slices
        ]
        schema = {"kind": pl.String(), "slice": pl.String(), "accuracy": pl.String(), "pairs": pl.Int64()}
        return pl.DataFrame(rows, schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; accuracies are from 0 to 1."""
        return {
            "dataset": self.dataset,
            "whole": self.whole.to_dict(),
            "slices": [
                {"kind": own.kind, "name": own.name, "accuracy": accuracy.to_dict()} for own, accuracy in self.slices
            ],
        }


def make_slices(
    gold: GoldPairs, *, columns: Sequence[str] = SLICED, without_premise: NDArray[np.str_] | None = None
) -> list[Slice]:
    """Return the predefined slices of gold pairs, without those that have no pair or all of them.

    ``without_premise`` are the labels that a model which saw no premise gives these pairs.
    """
    slices = [own for column in columns if column in gold.frame.columns for own in _by_column(gold.frame, column)]
    tokens = {side: tokenize_units(gold.frame, side) for side in ("premise", "hypothesis")}
    for side, lists in tokens.items():
        slices += _by_length(f"{side} length", lists.list.len().to_numpy().astype(np.int64))
    slices += _by_overlap(measure_overlap(tokens["premise"], tokens["hypothesis"]).astype(np.float64))
    slices += _by_negation(gold.frame)
    if without_premise is not None:
        if len(without_premise) != len(gold):
            raise InputError(f"{gold.name}: {len(without_premise):,} labels are no answers to {len(gold):,} pairs")
        easy = np.asarray(without_premise) == gold.frame["label"].to_numpy()
        slices += [
            Slice(WITHOUT_PREMISE, "easy: right without the premise", easy),
            Slice(WITHOUT_PREMISE, "hard: wrong without the premise", ~easy),
        ]
    return [own for own in slices if 0 < own.rows.sum() < len(gold)]


def score_slices(gold: GoldPairs, hits: Floats, slices: Sequence[Slice], *, level: float = 0.95) -> SliceScores:
    """Return the accuracy on each slice from the hits on all pairs, or from the shares of runs that are right."""
    units = gold.units
    scored = [(own, share(hits[own.rows], units=units[own.rows], level=level)) for own in slices]
    return SliceScores(gold.name, share(hits, units=units, level=level), scored)


def _by_column(frame: pl.DataFrame, column: str) -> Iterator[Slice]:
    kind = "tag" if column == "tags" else column
    for key, rows in group_rows(frame, (column,)).items():
        if key != ALL and rows is not None:
            yield Slice(kind, f"{kind} {group_title(key)}", rows)


def _by_length(kind: str, lengths: NDArray[np.int64]) -> Iterator[Slice]:
    quarter = np.searchsorted(np.quantile(lengths, [0.25, 0.5, 0.75]), lengths) if len(lengths) else lengths
    for number in np.unique(quarter):
        rows = quarter == number
        low, high = lengths[rows].min(), lengths[rows].max()
        yield Slice(kind, f"{kind} {low}" if low == high else f"{kind} {low} to {high}", rows)


def _by_overlap(overlap: Floats) -> Iterator[Slice]:
    for low, high in pairwise(OVERLAPS):
        name = f"overlap below {100 * high:g} %" if not low else f"overlap {100 * low:g} to {100 * high:g} %"
        yield Slice("overlap", name, (low <= overlap) & (overlap < high))
    yield Slice("overlap", "overlap 100 %", overlap == 1)


def _by_negation(frame: pl.DataFrame) -> Iterator[Slice]:
    languages = language_of(frame)
    negated, known = np.zeros(len(frame), dtype=np.bool_), np.zeros(len(frame), dtype=np.bool_)
    for language in LEXICONS:
        rows = (languages == language).fill_null(False).to_numpy()
        known |= rows
        negated[rows] = find_listed(language, "negation", frame["hypothesis"].filter(rows))
    yield Slice("negation", "negation in the hypothesis", negated)
    yield Slice("negation", "no negation in the hypothesis", known & ~negated)
