"""Contamination: what of a test set a model may have seen in training.

Two questions, two answers. ``contaminated`` holds a test set against a training set that lies here: pairs that
stand in both after normalisation, pairs that are nearly the same, premises and hypotheses that are shared alone, and
what the accuracy is with them and without. ``seen_pairs`` asks a model: a run folder keeps fingerprints of the pairs
that it learnt from (``goldlabel.pairs.fingerprints``), those of the run it started from among them, so that a model
which was trained on a test set is found by what it read, whatever the set was called then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.messages import option
from goldlabel.metrics import Estimate, Gap, gap, in_percent, share
from goldlabel.models.loading import trained_on
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.duplicates import find_alike
from goldlabel.pairs.fingerprints import Fingerprints
from goldlabel.pairs.gold import GoldPairs, take_gold
from goldlabel.pairs.units import normalised

Mask = NDArray[np.bool_]

THRESHOLD = 0.8
"""The likeness from which on pairs are near-duplicates, as in ``data duplicates``."""
REFUSED_SHARE = 0.02
"""A model is refused that has learnt from more than this share of a test set.

Corpora repeat a few pairs of their own training sets: SICK 1.0 % of its test set, SNLI, MultiNLI and OCNLI none. Twice
that is no accident any more.
"""
REFUSED_PAIRS = 5
"""In small sets two or three repeated pairs are a large share (FraCaS: 2 of 69), so that there must be this many."""
_TEXTS = ("premise", "hypothesis")


@dataclass(frozen=True, repr=False)
class Contamination(Result):
    """Which pairs of a test set a training set holds."""

    test: GoldPairs
    training: str
    """The name of the training set."""
    threshold: float
    exact: Mask
    """The pair stands in both."""
    near: Mask
    """A pair that is at least as alike as the threshold stands in the training set; the exact ones are among these."""
    premises: Mask
    """The premise stands in both, with this hypothesis or with another."""
    hypotheses: Mask

    @property
    def shares(self) -> dict[str, Estimate]:
        """The shares of test pairs, by unit."""
        masks = {"exact": self.exact, "near": self.near, "premises": self.premises, "hypotheses": self.hypotheses}
        return {name: share(mask, units=self.test.units) for name, mask in masks.items()}

    @property
    def title(self) -> str:
        """How much of the test set the training set holds."""
        return (
            f"{self.test.name}: {int(self.near.sum()):,} of {len(self.test):,} pairs stand in {self.training} or are "
            f"nearly the same as one there ({int(self.exact.sum()):,} exactly)"
        )

    @property
    def table(self) -> pl.DataFrame:
        """One row per kind of what is shared."""
        rows = [
            (what, round((figure.value or 0) * figure.n), in_percent(figure)) for what, figure in self.shares.items()
        ]
        return pl.DataFrame(rows, schema={"shared": pl.String, "pairs": pl.Int64, "share": pl.String}, orient="row")

    def accuracy(self, answers: ArrayLike, *, level: float = 0.95) -> Exposure:
        """Return how well the pairs that were not seen are answered, beside all and those that were.

        ``answers`` are labels of the test pairs, ``-`` where there is none.
        """
        hits = np.asarray(answers) == self.test.frame["label"].to_numpy()
        units = self.test.units

        def over(rows: Mask | slice) -> Estimate:
            return share(hits[rows], units=units[rows], level=level)

        both = self.near.any() and not self.near.all()
        gain = gap(hits, [self.near, ~self.near], units=units, level=level) if both else None
        return Exposure(over(slice(None)), over(~self.near), over(self.near), gain)

    def without(self) -> GoldPairs:
        """Return the test set without the pairs that the training set holds exactly or nearly."""
        if self.near.all():
            raise InputError(f"{self.test.name}: all {len(self.test):,} pairs stand in {self.training}; none is left")
        return replace(self.test, frame=self.test.frame.filter(pl.Series(~self.near)))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and the ids of the pairs."""
        ids = self.test.frame["id"]
        return {
            "dataset": self.test.name,
            "training": self.training,
            "threshold": self.threshold,
            "pairs": len(self.test),
            **{name: figure.to_dict() for name, figure in self.shares.items()},
            "ids": ids.filter(pl.Series(self.near)).to_list(),
        }


@dataclass(frozen=True)
class Exposure:
    """What accuracy owes to pairs that stand in the training set, too."""

    whole: Estimate
    unseen: Estimate
    """Without those that the training set holds exactly or nearly."""
    seen: Estimate
    gain: Gap | None
    """The accuracy on seen pairs less that on unseen ones; None where there are not both."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        figures = {"all": self.whole, "unseen": self.unseen, "seen": self.seen}
        return {name: figure.to_dict() for name, figure in figures.items()} | {
            "gain": self.gain and self.gain.to_dict()
        }


def contaminated(
    test: GoldPairs, training: Pairs | GoldPairs | pl.DataFrame, threshold: float = THRESHOLD
) -> Contamination:
    """Hold a test set against a training set: the train split of a dataset, gold pairs, or a frame of both texts."""
    name = "the training set"
    if isinstance(training, Pairs):
        training = take_gold(training, default="train", advice="give the pairs that were trained on as a frame")
    if isinstance(training, GoldPairs):
        name, training = training.name, training.frame
    ours, theirs = (frame.select(normalised(column) for column in _TEXTS) for frame in (test.frame, training))
    exact = find_alike(ours, theirs, 1.0)
    near = exact.copy()
    if threshold < 1 and not exact.all():
        near[~exact] = find_alike(ours.filter(pl.Series(~exact)), theirs, threshold)
    premises, hypotheses = (find_alike(ours.select(column), theirs.select(column), 1.0) for column in _TEXTS)
    return Contamination(test, name, threshold, exact, near, premises, hypotheses)


def seen_pairs(test: GoldPairs, known: Fingerprints) -> Mask:
    """Return which pairs of a test set a model has learnt from."""
    seen: Mask = np.isin(test.fingerprints, known)
    return seen


def refuse_trained_on(reference: str | Path, test: GoldPairs, *, force: bool = False) -> Estimate | None:
    """Refuse a model that has learnt from a test set, as its run folder tells; see ``refuse_seen``."""
    known = trained_on(reference)
    return None if known is None else refuse_seen(str(reference), known, test, force=force)


def refuse_seen(name: str, known: Fingerprints, test: GoldPairs, *, force: bool = False) -> Estimate | None:
    """Refuse a model that has learnt from a test set, unless it is forced; return what share of it, by unit.

    Nothing is returned where the model has learnt from too little of the set to be refused. Whoever forces it marks its
    figures with the share.
    """
    seen = seen_pairs(test, known)
    if seen.sum() < min(REFUSED_PAIRS, len(test)) or seen.mean() <= REFUSED_SHARE:
        return None
    if not force:
        raise InputError(
            f"{name}: was trained on {int(seen.sum()):,} of the {len(test):,} pairs of {test.name}, as their "
            f"texts tell; judge it by other pairs, or pass {option('force')} to have its figures marked"
        )
    return share(seen, units=test.units)
