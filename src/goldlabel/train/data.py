"""What a run trains and stops on: gold pairs of one label space, mixed, sampled and hashed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import Score, accuracy_score
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NO_GOLD, LabelSpace, score_mapping
from goldlabel.pairs.tokens import language_of

COLUMNS = ("id", "premise", "hypothesis", "label", "language")
LEAST_SHARE = 0.01
"""A language counts from this share of the pairs on: one borrowed word does not make an English set Chinese."""


@dataclass(frozen=True)
class GoldPairs:
    """Texts and gold labels of one dataset, in memory."""

    name: str
    space: LabelSpace
    frame: pl.DataFrame
    without_gold: int

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the pairs."""
        counts = language_of(self.frame).value_counts()
        return frozenset(counts.filter(pl.col("count") >= LEAST_SHARE * len(self))["language"])

    @cached_property
    def digest(self) -> str:
        """A hash of the texts and labels, in order."""
        return digest_texts(self.frame.select("id", "premise", "hypothesis", "label"))

    def score(self, probabilities: NDArray[np.float64], space: LabelSpace) -> Score:
        """Return the accuracy of scores over a model's label space on these labels."""
        mapped = score_mapping(space, self.space).apply(probabilities)
        words = np.array(self.space.labels)[mapped.argmax(axis=1)]
        return accuracy_score(self.frame["label"].to_numpy(), words)


def training_pairs(parts: Sequence[Pairs], sizes: Sequence[int | None], *, seed: int) -> GoldPairs:
    """Mix training sets, each whole or sampled to a size; all must share one label space.

    Where there are several, ids begin with their set's name, as two sets may use the same ones.
    """
    if not parts:
        raise InputError("there is nothing to train on; pass --on PATH")
    gold = _numbered([_gold(part, "train", "train on") for part in parts])
    first = gold[0]
    for other in gold[1:]:
        if other.space.labels != first.space.labels:
            raise InputError(
                f"{other.name} has the labels {', '.join(other.space.labels)} and {first.name} "
                f"{', '.join(first.space.labels)}; bring them into one with --label-space"
            )
    frames = []
    for one, size in zip(gold, sizes, strict=True):
        if size is not None and size > len(one):
            raise InputError(f"{one.name}: {size:,} pairs were asked for and it has {len(one):,} with a gold label")
        frame = one.frame if size is None else one.frame[nested_rows(len(one), seed)[:size]]
        prefixed = (pl.lit(f"{one.name}/") + pl.col("id")).alias("id")
        frames.append(frame if len(gold) == 1 else frame.with_columns(prefixed))
    names, without = "+".join(one.name for one in gold), sum(one.without_gold for one in gold)
    mixed = GoldPairs(names, first.space, pl.concat(frames), without)
    if not len(mixed):
        raise InputError(f"{mixed.name}: has no pair with a gold label to train on")
    return mixed


def dev_pairs(parts: Sequence[Pairs], space: LabelSpace, languages: frozenset[str] | None) -> list[GoldPairs]:
    """Take the dev sets of a run; their labels must be reachable from the model's and their language known to it."""
    taken: list[GoldPairs] = []
    for part in parts:
        one = _gold(part, "dev", "stop on")
        if any(one.name == other.name for other in taken):
            raise InputError(f"two dev sets are called {one.name!r}; rename one of the folders")
        if one.name == "mean":
            raise InputError("a dev set is called 'mean', which means the mean over all of them; rename its folder")
        if not len(one):
            raise InputError(f"{one.name}: has no pair with a gold label to stop on")
        score_mapping(space, one.space)
        if languages is not None and (strange := sorted(one.languages - languages)):
            raise InputError(
                f"dev set {one.name} is in {', '.join(strange)} and the training data in "
                f"{', '.join(sorted(languages))}; give a dev set of that language"
            )
        taken.append(one)
    return taken


def with_own_dev(parts: Sequence[Pairs]) -> list[Pairs]:
    """Return the training sets that bring a dev split beside what is trained on."""
    return [part for part in parts if "dev" in (splits := _splits(part)) and {"train", "none"} & splits]


def digest_texts(frame: pl.DataFrame) -> str:
    """Return a hash of a frame of texts, in order."""
    hashed = hashlib.sha256()
    for row in frame.iter_rows():
        hashed.update("\x1f".join(row).encode() + b"\n")
    return hashed.hexdigest()


def nested_rows(count: int, seed: int) -> NDArray[np.int64]:
    """Return all rows in an order drawn by the seed; its beginnings are the nested samples."""
    return np.random.Generator(np.random.PCG64([seed, count])).permutation(count)


def _numbered(gold: Sequence[GoldPairs]) -> list[GoldPairs]:
    """Give sets of the same name different ones: ``a``, ``a-2``."""
    seen: Counter[str] = Counter()
    named = []
    for one in gold:
        seen[one.name] += 1
        named.append(one if seen[one.name] == 1 else replace(one, name=f"{one.name}-{seen[one.name]}"))
    return named


def _splits(pairs: Pairs) -> set[str]:
    return set(pairs.frame.select(pl.col("split").unique()).collect()["split"])


def _gold(pairs: Pairs, split: str, purpose: str) -> GoldPairs:
    """Take the gold pairs of a split; of data that was never split, or that is of one other split, take all."""
    frame = pairs.frame.select(*COLUMNS, "split").collect(engine="streaming")
    held = sorted(frame["split"].unique())
    wanted = [one for one in (split, "none", *(held if len(held) == 1 else ())) if one in held]
    if held and not wanted:
        raise InputError(
            f"{pairs.card.name}: has the splits {', '.join(held)} and no {split} split to {purpose}; give a file of "
            "that split alone"
        )
    frame = frame.filter(pl.col("split").is_in(wanted[:1]))
    gold = frame.filter(pl.col("label") != NO_GOLD)
    return GoldPairs(pairs.card.name, pairs.card.label_space, gold.drop("split"), len(frame) - len(gold))
