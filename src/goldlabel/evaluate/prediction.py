"""``predict``: a model's probabilities for every pair, written into one file.

Pairs are read, answered and written a slice at a time, so that neither the pairs nor the answers have to fit into
memory. Each slice becomes a part in a folder beside the file, named by the pairs it is about; when the last is there,
they become the file, which so appears only when it is whole. What was interrupted goes on after the parts that are
there, if the model is the same and they are about the same pairs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import MOST_PAIRS, OnPairs, answer, open_model, usage_of
from goldlabel.evaluate.parts import ASKED_COLUMNS, Parts, answers_frame, label_columns
from goldlabel.evaluate.shared_prediction import SLICE, label_space_of, share_out
from goldlabel.executors import Executor
from goldlabel.files import refuse_url
from goldlabel.messages import many
from goldlabel.models import Model
from goldlabel.models.loading import describe_files
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.gold import splits_of
from goldlabel.pairs.labels import NO_GOLD, LabelSpace
from goldlabel.pairs.record import SPLITS
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

PARTS = ".parts"
SUFFIXES = (".parquet", ".jsonl", ".csv")


@dataclass(frozen=True, repr=False)
class Prediction(Result):
    """What was predicted, and where it lies."""

    model: str
    output: Path
    labels: Mapping[str, int]
    """How many pairs got each label; ``-`` is no answer."""
    predicted_before: int
    """Pairs that an interrupted run had left."""
    seconds: float
    usage: EndpointSummary | None = None
    """What an endpoint was asked, and what that cost."""

    @property
    def pairs(self) -> int:
        """The pairs in the file."""
        return sum(self.labels.values())

    @property
    def unanswered(self) -> int:
        """The pairs without an answer."""
        return self.labels.get(NO_GOLD, 0)

    @property
    def pairs_per_second(self) -> float:
        """Of those that were predicted now."""
        return (self.pairs - self.predicted_before) / max(self.seconds, 1e-9)

    @property
    def title(self) -> str:
        """How much was predicted, and where it lies."""
        return f"{self.model}: {many(self.pairs, 'pair')} in {self.output}"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by the label that was predicted."""
        schema = {"label": pl.String, "pairs": pl.Int64}
        return pl.DataFrame(list(self.labels.items()), schema=schema, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the place and the speed."""
        return {
            "model": self.model,
            "pairs": self.pairs,
            "output": str(self.output),
            "seconds": self.seconds,
            "pairs_per_second": self.pairs_per_second,
            "labels": dict(self.labels),
            "unanswered": self.unanswered,
            "predicted_before": self.predicted_before,
            "usage": self.usage.to_dict() if self.usage else None,
        }


def predict(
    model: Model | str | Path,
    pairs: Pairs,
    output: str | Path,
    *,
    split: str | None = None,
    limit: int | None = None,
    on_pairs: OnPairs | None = None,
    executor: Executor | None = None,
    **loading: Any,
) -> Prediction:
    """Write a model's probabilities for pairs, with gold label or without, into a Parquet, JSONL or CSV file.

    The file has ``id``, ``label`` (the most probable one, ``-`` for no answer) and one column per label. ``split`` and
    ``limit`` take less than all pairs. The model is one that is loaded, or what ``load_model`` loads by a name with
    ``loading``; by its name, what was interrupted goes on where it was. An open ``executor`` shares the pairs out
    to its workers, each of which loads the model; the bytes are the same whichever it is.
    """
    output = Path(output)
    refuse_url(output)
    if output.suffix.lower() not in SUFFIXES:
        raise InputError(f"{output}: the ending of its name tells no format; allowed: {', '.join(SUFFIXES)}")
    if output.is_dir():
        raise InputError(f"{output}: is a folder; name a file to write")
    frame = asked_pairs(pairs, split, limit).frame
    if executor is not None:
        return _predict_apart(executor, model, pairs, frame, output, on_pairs, loading)
    with open_model(model, [pairs], **loading) as (name, opened):
        settings = _settings(model, opened.label_space, loading) if isinstance(model, str | Path) else None
        labels, before, seconds = write_answers(opened, frame, output, settings, on_pairs)
        usage = usage_of(opened)
    return Prediction(name, output, _ordered(labels, opened.label_space), before, seconds, usage)


def _predict_apart(
    executor: Executor,
    model: Model | str | Path,
    pairs: Pairs,
    frame: pl.LazyFrame,
    output: Path,
    on_pairs: OnPairs | None,
    loading: Mapping[str, Any],
) -> Prediction:
    space = label_space_of(model, pairs, loading)
    label_columns(space)
    parts = Parts(output.with_name(output.name + PARTS))
    with parts.locked():
        parts.begin(_settings(str(model), space, loading) | {"slices": SLICE})
        before, seconds = share_out(
            executor, str(model), frame, parts, {"default_space": pairs.card.label_space} | dict(loading), on_pairs
        )
        labels = parts.write(output)
    return Prediction(str(model), output, _ordered(labels, space), before, seconds)


def _ordered(labels: Mapping[str, int], space: LabelSpace) -> dict[str, int]:
    return {label: labels[label] for label in (*space.labels, NO_GOLD) if label in labels}


def write_answers(
    model: Model, frame: pl.LazyFrame, output: Path, settings: Mapping[str, Any] | None, on_pairs: OnPairs | None = None
) -> tuple[dict[str, int], int, float]:
    """Write a model's answers to a file; what an interrupted run with the same settings left there is gone on with.

    Return how many pairs got each label, how many were there before, and the seconds that the others took.
    """
    parts = Parts(output.with_name(output.name + PARTS))
    with parts.locked():
        columns = ["id", "label", *label_columns(model.label_space)]
        parts.begin(settings)
        before = parts.rows
        if on_pairs is not None:
            on_pairs(before)
        blocks = frame.select(ASKED_COLUMNS).collect_batches(chunk_size=MOST_PAIRS, maintain_order=True)
        began = time.monotonic()
        for part, probabilities in answer(model, parts.skip(blocks), on_pairs):
            parts.add(part, answers_frame(part["id"], probabilities, model.label_space).select(columns))
        seconds = time.monotonic() - began
        return parts.write(output), before, seconds


def asked_pairs(pairs: Pairs, split: str | None, limit: int | None) -> Pairs:
    """Return the pairs of a split, or all; and of these the first."""
    if split is not None and one_of("split", split, SPLITS) not in (splits := splits_of(pairs)):
        raise InputError(f"{pairs.card.name}: has no {split} split, only {', '.join(sorted(splits))}")
    chosen = pairs if split is None else pairs.only(split=split)
    return chosen if limit is None else chosen.limit(limit)


def _settings(model: str | Path, space: LabelSpace, loading: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the answers are a function of, beside the pairs; on which device is all the same."""
    options = {name: value for name, value in loading.items() if name != "device"}
    return {"model": str(model), "files": describe_files(model), "labels": list(space.labels), "options": options}
