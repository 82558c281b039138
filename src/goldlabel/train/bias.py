"""Bias: the probabilities that a model gives training pairs which sees only what it should not need.

    audit      the audit's linear model of the hypothesis alone; what is meant where nothing is said
    overlap    logistic regression on what premise and hypothesis share
    pmi        the words of the hypothesis alone, each by its mutual information with the labels (naive Bayes)
    MODEL      any model by its name, trained without premises
    RUN        a run folder, or whatever else ``load_model`` takes, as it is

All but the last are learnt here and *out of fold*: every pair is judged by a model that has seen neither it nor its
premise, in five folds of units as in the audit. A model that has learnt from the very pairs it judges is too sure of
them, so that little is left for the model that is debiased by it. A run is taken as it is; whether it was trained on
these pairs is read from its folder, recorded, and told by the command.

A bias is a function of the pairs and of its name alone, so that runs with different seeds share it; it is made once and
kept as a Parquet file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.hypothesis_only import (
    FOLDS,
    Fit,
    OutOfFold,
    assign_folds,
    judge,
    predict_fold,
    without_premise,
)
from goldlabel.errors import InputError
from goldlabel.files import atomic_file
from goldlabel.metrics import Estimate
from goldlabel.models.loading import load_model
from goldlabel.models.model import CONFIG, MODELS, find_member, label_indices, read_config, read_space
from goldlabel.models.predictions import Predictions
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import score_mapping
from goldlabel.registry import suggest
from goldlabel.train.bias_features import predict_by_hypothesis, predict_by_overlap, predict_by_words
from goldlabel.train.run import is_unfinished
from goldlabel.train.task import Task, digest_model

FEATURES: Mapping[str, Callable[..., NDArray[np.float64]]] = {
    "audit": predict_by_hypothesis,
    "overlap": predict_by_overlap,
    "pmi": predict_by_words,
}
"""Bias models that read features of texts."""
LEAST = 1e-12
"""The least probability; a logarithm of 0 would leave nothing to learn from a pair."""

OnFold = Callable[[int], object]
"""Told how many folds are done."""


@dataclass(frozen=True)
class Bias:
    """What one bias model says of the pairs that are trained on."""

    name: str
    probabilities: NDArray[np.float64]
    """(pairs, labels)"""
    folds: int | None
    """Of how many folds each pair was judged out of its own; None for a model that is taken as it is."""
    in_sample: bool | None
    """Whether the model was trained on these pairs; None where nothing tells."""
    accuracy: Estimate

    @property
    def safe(self) -> NDArray[np.float64]:
        """The probabilities, none of them 0."""
        return np.maximum(self.probabilities, LEAST)

    def to_dict(self) -> dict[str, Any]:
        """Return what the run folder keeps."""
        return {
            "bias": self.name,
            "out_of_fold": self.folds is not None,
            "folds": self.folds,
            "in_sample": self.in_sample,
            "accuracy": self.accuracy.to_dict(),
            "sha256": hashlib.sha256(self.probabilities.tobytes()).hexdigest(),
        }


def is_learnt_here(name: str) -> bool:
    """Whether a bias is learnt from the training pairs, out of fold, and not taken as it is."""
    return name in FEATURES or name in MODELS


def check_bias(name: str, task: Task) -> None:
    """Refuse what is neither learnt here nor looks like a model, and a run that is not finished or has other labels."""
    if name in MODELS:
        find_member(name)
    if is_learnt_here(name):
        return
    path = Path(name)
    if not path.exists() and ":" not in name:
        allowed = suggest(name, [*FEATURES, *MODELS])
        raise InputError(f"there is no bias {name!r}: neither a bias, a model's name nor a run folder; {allowed}")
    if (path / CONFIG).exists():
        if is_unfinished(path):
            raise InputError(f"bias {name}: this run is not finished; give its command once more first")
        score_mapping(read_space(read_config(path)), task.gold.space)


def is_in_sample(name: str, task: Task) -> bool | None:
    """Whether a bias model was trained on the pairs of the task; None where nothing tells."""
    if is_learnt_here(name):
        return False
    return True if task.gold.digest in {entry["sha256"] for entry in _trained_on(name).values()} else None


def shared_datasets(name: str, task: Task) -> list[str]:
    """Return the datasets from which both a bias model and the task have training pairs, be they the same or not."""
    theirs = {dataset for names in _trained_on(name) for dataset in names.split("+")}
    return [dataset for dataset in task.gold.name.split("+") if dataset in theirs]


def _trained_on(name: str) -> dict[str, Any]:
    """Return what a run says that it was trained on; what is no run says nothing."""
    if is_learnt_here(name) or not (Path(name) / CONFIG).exists():
        return {}
    trained_on: dict[str, Any] = read_config(Path(name)).get("training", {}).get("on", {})
    return trained_on


def measure_bias(name: str, task: Task, folder: Path, fit: Fit, on_fold: OnFold | None = None) -> Bias:
    """Return what a bias model says of the pairs that a task trains on; what was made before lies in ``folder``.

    ``fit`` fits models that need a trainer.
    """
    gold = _pairs_of(task)
    learnt, labels = is_learnt_here(name), gold.space.labels
    path = folder / f"{_key(name, gold)}.parquet"
    if not path.exists():
        if on_fold:
            on_fold(0)
        folds = assign_folds(gold.units, FOLDS) if learnt else None
        probabilities = _as_it_is(name, gold, task) if folds is None else _learn(name, gold, folds, path, fit, on_fold)
        shares = dict(zip(labels, probabilities.T, strict=True))
        _write(path, pl.DataFrame({"id": gold.frame["id"], "fold": folds, **shares}))
    table = pl.read_parquet(path)
    probabilities = table.select(labels).to_numpy().astype(np.float64)
    if learnt:
        codes = label_indices(gold.frame["label"].to_list(), gold.space).astype(np.int8)
        places = np.arange(len(gold)), codes, gold.units, table["fold"].to_numpy()
        judgement = judge(OutOfFold(*places, probabilities.astype(np.float32)), labels)
        assert judgement is not None  # there is no run without pairs
        accuracy = judgement.accuracy
    else:
        accuracy = gold.score(probabilities, gold.space)
    return Bias(name, probabilities, FOLDS if learnt else None, is_in_sample(name, task), accuracy)


def _learn(
    name: str, gold: GoldPairs, folds: NDArray[np.int64], path: Path, fit: Fit, on_fold: OnFold | None
) -> NDArray[np.float64]:
    """Return out-of-fold probabilities; a model's folds, which may take long, are kept until all are done."""
    codes, classes = label_indices(gold.frame["label"].to_list(), gold.space).astype(np.int8), len(gold.space)
    if name in FEATURES:
        return FEATURES[name](gold.frame, codes, folds, classes)
    texts, words = without_premise(gold.frame.select("premise", "hypothesis")), gold.frame["label"].to_numpy()
    probabilities = np.empty((len(gold), classes))
    parts = [path.with_suffix(f".fold-{number}.parquet") for number in range(FOLDS)]
    for number, part in enumerate(parts):
        unseen = folds == number
        if not part.exists():
            shares = predict_fold(name, texts, words, gold.space, unseen, fit=fit)
            _write(part, pl.DataFrame(shares, schema=list(gold.space.labels)))
        probabilities[unseen] = pl.read_parquet(part).to_numpy()
        if on_fold:
            on_fold(number + 1)
    for part in parts:
        part.unlink()
    return probabilities


def _as_it_is(name: str, gold: GoldPairs, task: Task) -> NDArray[np.float64]:
    model = load_model(name, task.options.device, default_space=gold.space)
    try:
        if isinstance(model, Predictions):
            shares = model.predict_pairs(gold.frame)
        else:
            shares = model.predict(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list())
    finally:
        model.close()
    mapped = score_mapping(model.label_space, gold.space).apply(shares)
    if unanswered := int(np.isnan(mapped).any(axis=1).sum()):
        raise InputError(
            f"bias {name}: says nothing of {unanswered:,} of {len(gold):,} pairs; a bias is needed for all"
        )
    return mapped


def bias_key(name: str, task: Task) -> str:
    """Name what a bias model says of the pairs that a task trains on."""
    return _key(name, _pairs_of(task))


def _pairs_of(task: Task) -> GoldPairs:
    if task.options.size is None:
        return task.gold
    return GoldPairs(task.gold.name, task.gold.space, task.gold.frame[task.rows])


def _key(name: str, gold: GoldPairs) -> str:
    """Name a file after the bias and all that its probabilities depend on."""
    parts = json.dumps([name, FOLDS, gold.digest, digest_model(name)])
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)[-40:]}-{hashlib.sha256(parts.encode()).hexdigest()[:16]}"


def _write(path: Path, table: pl.DataFrame) -> None:
    with atomic_file(path) as temporary:
        table.write_parquet(temporary)
