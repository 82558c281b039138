"""What a model answers, a slice of pairs at a time, and which pairs it is judged by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import option
from goldlabel.models import Model, load_model
from goldlabel.models.model import Charging
from goldlabel.models.predictions import Predictions
from goldlabel.models.probabilities import describe_improbable, find_improbable
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import GoldPairs, splits_of, take_gold
from goldlabel.pairs.labels import NO_GOLD, LabelSpace

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

OnPairs = Callable[[int], None]
"""Called with the number of pairs just answered, for progress bars."""

FIRST_SLICE, MOST_PAIRS = 64, 65_536
SECONDS = 2.0
"""Slices grow while one takes less than this, and shrink where one takes four times as long."""


@contextmanager
def open_model(model: Model | str | Path, datasets: Sequence[Pairs], **loading: Any) -> Iterator[tuple[str, Model]]:
    """Give a model and what it is called; one that is loaded here by its name is closed at the end.

    What does not tell its labels, a function or a file, has those of the data.
    """
    if not isinstance(model, str | Path):
        if loading:
            raise InputError(f"{', '.join(loading)}: a model that is loaded already takes no options; give them there")
        _check_labels(model)
        yield type(model).__name__, model
        return
    spaces = {pairs.card.label_space for pairs in datasets}
    loading = {"default_space": spaces.pop() if len(spaces) == 1 else None} | loading
    with closing(load_model(model, **loading)) as opened:
        yield str(model), opened


def usage_of(model: Model) -> EndpointSummary | None:
    """Return what an endpoint was asked and what that cost; no other model costs anything."""
    return model.summary() if isinstance(model, Charging) else None


def judged_pairs(
    pairs: Pairs, split: str | None = None, *, limit: int | None = None, also: Sequence[str] = ()
) -> GoldPairs:
    """Return the pairs that a model is judged by: those of a split, else of test, else of the only split.

    ``limit`` keeps the first of them, ``also`` further columns.
    """
    splits = splits_of(pairs)
    if split is None and "test" not in splits and len(splits) == 1:
        (split,) = splits
    gold = take_gold(pairs, split, default="test", advice=f"say with {option('split')} which one counts", also=also)
    if not len(gold):
        labelled = splits_of(pairs.only(label=list(pairs.card.label_space.labels)))
        advice = f"; with a gold label there are pairs of {', '.join(sorted(labelled))}" if labelled else ""
        raise InputError(
            f"{gold.name}: no pair of its split {gold.split!r} has a gold label, so nothing can be scored{advice}"
        )
    return gold if limit is None else replace(gold, frame=gold.frame.head(limit))


def answer_gold(
    name: str, model: Model, gold: GoldPairs, on_pairs: OnPairs | None = None
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return a model's probabilities for gold pairs and its labels in their space, ``-`` where it has no answer."""
    probabilities = np.concatenate([matrix for _, matrix in answer(model, [gold.frame], on_pairs)])
    labels = gold.answers(probabilities, model.label_space)
    if (labels == NO_GOLD).all():
        raise silence(name, model, gold)
    return probabilities, labels


def silence(name: str, model: Model, gold: GoldPairs) -> InputError:
    """Return the error for a model that has an answer to no pair at all."""
    if (usage := usage_of(model)) and usage.unanswered:
        reasons = "; ".join(f"{count:,}: {reason}" for count, reason in usage.reasons)
        return InputError(f"{gold.name}: {name} answered none of these {len(gold):,} pairs: {reasons}")
    return InputError(
        f"{gold.name}: {name} has an answer to none of these {len(gold):,} pairs; is it about other pairs?"
    )


def answer(
    model: Model, blocks: Iterable[pl.DataFrame], on_pairs: OnPairs | None = None
) -> Iterator[tuple[pl.DataFrame, NDArray[np.float64]]]:
    """Yield records with a model's probabilities, a slice at a time.

    A slice is as long as a model is quick, so that a slow one is heard of every few seconds and a quick one has enough
    pairs to put side by side.
    """
    _check_labels(model)
    size = FIRST_SLICE
    for block in blocks:
        start = 0
        while start < len(block):
            part = block.slice(start, size)
            began = time.monotonic()
            yield part, answer_slice(model, part)
            start += len(part)
            if on_pairs is not None:
                on_pairs(len(part))
            size = _next_size(size, time.monotonic() - began)


def _check_labels(model: Model) -> None:
    if not isinstance(model.label_space, LabelSpace):
        raise InputError(
            f"{type(model).__name__}: its label_space is {model.label_space!r}; give a LabelSpace, such as "
            'goldlabel.label_space("nli3")'
        )


def answer_slice(model: Model, part: pl.DataFrame) -> NDArray[np.float64]:
    """Return a model's probabilities for some pairs, all asked for at once."""
    try:
        if isinstance(model, Predictions):
            matrix = model.predict_pairs(part)
        else:
            matrix = np.asarray(model.predict(part["premise"].to_list(), part["hypothesis"].to_list()))
    except Exception as error:
        error.add_note(f"(on the {len(part):,} pairs from {part['id'][0]!r} to {part['id'][-1]!r})")
        raise
    if matrix.shape != (len(part), len(model.label_space)):
        raise InputError(
            f"{type(model).__name__} returned a matrix of {' × '.join(map(str, matrix.shape))} for {len(part):,} pairs "
            f"and {len(model.label_space)} labels"
        )
    if (row := find_improbable(matrix)) is not None:
        raise InputError(f"{type(model).__name__}: pair {part['id'][row]!r}: {describe_improbable(matrix[row])}")
    return matrix


def _next_size(size: int, seconds: float) -> int:
    if seconds < SECONDS:
        return min(2 * size, MOST_PAIRS)
    return size if seconds < 4 * SECONDS else max(size // 2, 1)
