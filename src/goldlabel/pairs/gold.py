"""Gold: the pairs that have a label to learn from or to be judged by.

Training, auditing and evaluating take the same view of a dataset: texts, labels, label space, units, a digest, and the
rule which split is meant. ``none`` is a split of its own. It is taken where there is no other, as data that was never
split is; beside others it holds what a plan left over (the other pairs of exclusive writers, say) and is never
taken along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, accuracy_score
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.fingerprints import Fingerprints, fingerprint_pairs
from goldlabel.pairs.groups import column_values
from goldlabel.pairs.labels import NO_GOLD, LabelSpace, score_mapping
from goldlabel.pairs.record import split_name
from goldlabel.pairs.tokens import UNKNOWN, language_of
from goldlabel.pairs.units import units_of

UNSPLIT = "none"
_COLUMNS = ("id", "premise", "hypothesis", "label", "language", "group")


@dataclass(frozen=True)
class GoldPairs:
    """Texts and gold labels of one dataset, in memory.

    ``frame`` has the columns ``id, premise, hypothesis, label, language, group`` of the record, and others that were
    asked for.
    """

    name: str
    space: LabelSpace
    frame: pl.DataFrame
    without_gold: int = 0
    """Pairs of the same split that were left out."""
    split: str = UNSPLIT

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the pairs; ``UNKNOWN`` if some have none."""
        return frozenset(language_of(self.frame).fill_null(UNKNOWN).unique())

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The number of each pair's unit: what must stay together and is not independent."""
        return units_of(self.frame)

    @cached_property
    def digest(self) -> str:
        """A hash of the texts and labels, in order."""
        return digest_texts(self.frame.select("id", "premise", "hypothesis", "label"))

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """By which each pair is told again, whatever its id and its set are called."""
        return fingerprint_pairs(self.frame)

    def answers(self, probabilities: NDArray[np.float64], space: LabelSpace) -> NDArray[np.str_]:
        """Return the label of these pairs' space that scores over a model's space make most probable.

        It is ``-`` where there is no answer: a row of NaN, or everything on labels without a counterpart here.
        """
        mapping = score_mapping(space, self.space)
        kept = [space.index(label) for label, target in mapping.targets.items() if target is not None]
        answered = probabilities[:, kept].sum(axis=1) > 0
        words = np.array(self.space.labels)[mapping.apply(probabilities).argmax(axis=1)]
        return np.where(answered, words, NO_GOLD)

    def score(self, probabilities: NDArray[np.float64], space: LabelSpace) -> Estimate:
        """Return the accuracy of scores over a model's label space on these labels; no answer is a wrong one."""
        return accuracy_score(self.frame["label"].to_numpy(), self.answers(probabilities, space), units=self.units)


def take_gold(
    pairs: Pairs, split: str | None = None, *, default: str, advice: str, also: Sequence[str] = ()
) -> GoldPairs:
    """Return the gold pairs of a split, or without one, of the ``default`` split or of data that was never split.

    Where neither is there, nothing is guessed; ``advice`` tells the user how to say which split is meant. ``also`` are
    further columns to keep.
    """
    names = dict.fromkeys((*_COLUMNS, "split", *also))
    frame = pairs.frame.select(*map(column_values, names)).collect(engine="streaming")
    splits = sorted(frame["split"].unique())
    wanted = split_name(split) if split else UNSPLIT if splits == [UNSPLIT] else default
    if splits and wanted not in splits:
        raise InputError(f"{pairs.card.name}: has no {wanted} split, only {', '.join(splits)}; {advice}")
    frame = frame.filter(pl.col("split") == wanted)
    frame = frame if "split" in also else frame.drop("split")
    gold = frame.filter(pl.col("label") != NO_GOLD)
    return GoldPairs(pairs.card.name, pairs.card.label_space, gold, len(frame) - len(gold), wanted)


def splits_of(pairs: Pairs) -> set[str]:
    """Return the splits that pairs lie in."""
    return set(pairs.frame.select(pl.col("split").unique()).collect()["split"])


def digest_texts(frame: pl.DataFrame) -> str:
    """Return a hash of a frame of texts, in order."""
    hashed = hashlib.sha256()
    for row in frame.iter_rows():
        hashed.update("\x1f".join(row).encode() + b"\n")
    return hashed.hexdigest()
