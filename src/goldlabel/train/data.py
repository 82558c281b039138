"""What a run trains and stops on: gold pairs of one label space, mixed, sampled and hashed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import GoldPairs, splits_of, take_gold
from goldlabel.pairs.labels import LabelSpace, score_mapping
from goldlabel.seeds import check_seed

_WHICH_TRAIN = "say with --split which one shall be trained on"
_WHICH_DEV = "give pairs with a dev split, or of one split alone"


def training_pairs(
    parts: Sequence[Pairs], sizes: Sequence[int | None], *, seed: int, split: str | None = None
) -> GoldPairs:
    """Mix training sets, each whole or sampled to a size; all must share one label space.

    ``split`` is what is trained on of each, by default its train split. Where there are several sets, ids and groups
    begin with their set's name, as two sets may use the same ones.
    """
    if not parts:
        raise InputError("there is nothing to train on; pass --on PATH")
    sets = _numbered([take_gold(part, split, default="train", advice=_WHICH_TRAIN) for part in parts])
    first = sets[0]
    frames = []
    for gold, size in zip(sets, sizes, strict=True):
        if gold.space.labels != first.space.labels:
            raise InputError(
                f"{gold.name} has the labels {', '.join(gold.space.labels)} and {first.name} "
                f"{', '.join(first.space.labels)}; bring them into one with --label-space"
            )
        if size is not None and size > len(gold):
            raise InputError(f"{gold.name}: {size:,} pairs were asked for and it has {len(gold):,} with a gold label")
        frame = gold.frame if size is None else gold.frame[nested_rows(len(gold), seed)[:size]]
        named = [(pl.lit(f"{gold.name}/") + pl.col(column)).alias(column) for column in ("id", "group")]
        frames.append(frame.with_columns(named if len(sets) > 1 else []))
    mixed = GoldPairs(
        "+".join(gold.name for gold in sets), first.space, pl.concat(frames), sum(gold.without_gold for gold in sets)
    )
    if not len(mixed):
        raise InputError(f"{mixed.name}: has no pair with a gold label to train on")
    return mixed


def dev_pairs(parts: Sequence[Pairs], space: LabelSpace, languages: frozenset[str] | None) -> list[GoldPairs]:
    """Take the dev sets of a run; their labels must be reachable from the model's and their language known to it.

    Of pairs that are all of one split that one is taken: who names a set to stop on means what it holds.
    """
    taken: list[GoldPairs] = []
    for part in parts:
        splits = splits_of(part)
        gold = take_gold(part, splits.pop() if len(splits) == 1 else None, default="dev", advice=_WHICH_DEV)
        if any(gold.name == other.name for other in taken):
            raise InputError(f"two dev sets are called {gold.name!r}; rename one of the folders")
        if gold.name == "mean":
            raise InputError("a dev set is called 'mean', which means the mean over all of them; rename its folder")
        if not len(gold):
            raise InputError(f"{gold.name}: has no pair with a gold label to stop on")
        score_mapping(space, gold.space)
        if languages is not None and (unknown := sorted(gold.languages - languages)):
            raise InputError(
                f"dev set {gold.name} is in {', '.join(unknown)} and the training data in "
                f"{', '.join(sorted(languages))}; give a dev set of that language"
            )
        taken.append(gold)
    return taken


def with_own_dev(parts: Sequence[Pairs], split: str | None) -> list[Pairs]:
    """Return the training sets that bring a dev split beside what is trained on."""
    return [] if split == "dev" else [part for part in parts if "dev" in splits_of(part)]


def nested_rows(count: int, seed: int) -> NDArray[np.int64]:
    """Return all rows in an order drawn by the seed; its beginnings are the nested samples."""
    return np.random.Generator(np.random.PCG64([check_seed(seed), count])).permutation(count)


def _numbered(sets: Sequence[GoldPairs]) -> list[GoldPairs]:
    """Give sets of the same name different ones: ``a``, ``a-2``."""
    seen: Counter[str] = Counter()
    named = []
    for gold in sets:
        seen[gold.name] += 1
        named.append(gold if seen[gold.name] == 1 else replace(gold, name=f"{gold.name}-{seen[gold.name]}"))
    return named
