"""What a debiased run does before its training: check the method, measure biases, train a first model where needed.

All of it is resumable. Biases lie in a folder that the runs of a sweep share; the first model is a run inside the run's
folder, of which its probabilities are kept.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.hypothesis_only import FOLDS, Fit
from goldlabel.errors import InputError
from goldlabel.files import atomic_file
from goldlabel.metrics import Estimate
from goldlabel.models.loading import load_model
from goldlabel.models.model import label_indices
from goldlabel.models.options import check_options, own_options
from goldlabel.train.bias import Bias, OnFold, check_bias, is_in_sample, measure_bias, shared_datasets
from goldlabel.train.debias import DEBIAS, OF_BASELINES, USUAL
from goldlabel.train.debias.neutral_weights import SMOOTH, neutral_weights
from goldlabel.train.options import TrainOptions
from goldlabel.train.run import OnStep, Run, Step
from goldlabel.train.task import Task

if TYPE_CHECKING:
    from goldlabel.models.torch_model import TorchModel
    from goldlabel.train.debias.method import Method

FIRST = "first"
"""The run of the model that is trained first, inside the run's folder, and the name of its probabilities."""

Train = Callable[[Task, Path, OnStep | None], Run]
"""Trains a task in a folder."""


def bias_names(options: TrainOptions) -> tuple[str, ...]:
    """Return the bias models of a run: those that are named, or the method's usual one."""
    if options.debias is None:
        return ()
    if options.debias in OF_BASELINES:
        return options.bias or (USUAL,)
    return options.bias or DEBIAS.get(options.debias).usual_bias(options.debias_options) or ()


def check_debias(task: Task) -> None:
    """Refuse options that the method does not have or allow, and bias models that it has no use for."""
    options = task.options
    assert options.debias is not None
    if task.fitted_by_trainer:
        method = DEBIAS.get(options.debias)
        check_options(options.debias, method, options.debias_options)
        if options.bias and method.usual_bias(options.debias_options) is None:
            chosen = "".join(f" with {name}={value}" for name, value in options.debias_options.items())
            raise InputError(f"{options.debias}{chosen} reads no bias model; leave --bias out")
    elif options.debias_options:
        raise InputError(f"{task.model} takes {options.debias} as it is; leave --debias-set out")
    if len(set(options.bias)) < len(options.bias):
        raise InputError(f"bias {', '.join(options.bias)}: one is named twice")
    for name in bias_names(options):
        check_bias(name, task)


def warn_of_bias(task: Task) -> list[str]:
    """Say which bias models have learnt, or may have, from the very pairs that they are to judge."""
    warnings = []
    for name in bias_names(task.options):
        if is_in_sample(name, task):
            what = "was trained on these very pairs and is"
        elif shared := shared_datasets(name, task):
            what = f"was trained on pairs of {', '.join(shared)}, too; where they are the same, it is"
        else:
            continue
        advice = "the name of its model with --bias gives out-of-fold probabilities"
        warnings.append(f"bias {name}: {what} surer of them than of others; {advice}")
    return warnings


@dataclass(frozen=True)
class Prepared:
    """What is known of the training pairs before training begins."""

    biases: Sequence[Bias]
    first: NDArray[np.float64] | None
    """The first model's probabilities."""
    first_accuracy: Estimate | None

    def to_dict(self, options: TrainOptions) -> dict[str, Any]:
        """Return what the run folder keeps."""
        assert options.debias is not None
        resolved = own_options(DEBIAS.get(options.debias)) | dict(options.debias_options)
        record: dict[str, Any] = {"method": options.debias, "options": resolved}
        record["bias"] = [bias.to_dict() for bias in self.biases]
        if self.first_accuracy is not None:
            record["first"] = {"accuracy_in_sample": self.first_accuracy.to_dict()}
        return record


def measure_biases(task: Task, folder: Path, fit: Fit, on_step: OnStep | None = None) -> list[Bias]:
    """Measure all bias models of a task once; what was measured before lies in ``folder``."""
    return [measure_bias(name, task, folder, fit, _tell_folds(task, on_step)) for name in bias_names(task.options)]


def bias_arguments(task: Task, biases: Sequence[Bias]) -> dict[str, NDArray[np.float64]]:
    """Return what a model that fits itself is told of its training pairs: weights, or log-probabilities to multiply.

    The weights are those of ``weighting.py``, the product that of ``drift.py``, both with their defaults.
    """
    if task.options.debias == "drift":
        return {"offsets": np.sum([np.log(bias.safe) for bias in biases], axis=0)}
    shares = [bias.safe for bias in biases]
    labels = label_indices(task.gold.frame["label"].gather(pl.Series(task.rows)).to_list(), task.gold.space)
    weights, _ = neutral_weights(np.mean(shares, axis=0), labels, SMOOTH)
    return {"weights": weights / weights.mean()}


def prepare_debias(task: Task, run: Path, shared: Path, fit: Fit, train: Train, on_step: OnStep | None) -> Prepared:
    """Measure the biases, which lie in the folder ``shared``, and train the first model inside the run's folder."""
    biases = measure_biases(task, shared, fit, on_step)
    options = task.options
    assert options.debias is not None
    wanted = DEBIAS.get(options.debias).first_model(options.debias_options, options.bias)
    if wanted is None:
        return Prepared(biases, None, None)
    gold = replace(task.gold, frame=task.gold.frame[task.rows])
    path, labels = run / f"{FIRST}.parquet", list(gold.space.labels)
    if not path.exists():
        plain = replace(options, debias=None, debias_options={}, bias=())
        first = replace(task, options=plain)
        if wanted.epochs is not None:
            plain = replace(plain, epochs=wanted.epochs, stop_on="mean")
            first = replace(task, options=plain, dev=())
        model = load_model(train(first, run / FIRST, _first(on_step)).run, options.device)
        shares = model.predict(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list())
        model.close()
        with atomic_file(path) as temporary:
            pl.DataFrame(shares, schema=labels).insert_column(0, gold.frame["id"]).write_parquet(temporary)
    shutil.rmtree(run / FIRST, ignore_errors=True)
    probabilities = pl.read_parquet(path).select(labels).to_numpy().astype(np.float64)
    return Prepared(biases, probabilities, gold.score(probabilities, gold.space))


def build_objective(task: Task, model: TorchModel, prepared: Prepared) -> Method:
    """Make the objective, with parameters from torch's generator; a pair shows how large the model's vectors are."""
    import torch

    from goldlabel.train.debias.method import Material

    assert task.options.debias is not None
    method: type[Method] = DEBIAS.get(task.options.debias)
    frame, classes = task.gold.frame, len(task.gold.space)
    pair = model.encode([frame["premise"][0]], [frame["hypothesis"][0]])
    with model.scoring():
        place = torch.zeros(1, dtype=torch.int64, device=model.device)
        batch = pair.tensors(model.device).batch(place, tuple(int(side.max()) for side in pair.lengths))
        outputs = model.forward(batch, sides=method.sides)

    def of_all(shares: NDArray[np.float64]) -> torch.Tensor:
        """Give the pairs that are not trained on, of which nothing is asked, equal shares."""
        whole = np.full((len(frame), classes), 1 / classes)
        whole[task.rows] = shares
        return torch.from_numpy(whole).float()

    material = Material(
        labels=torch.from_numpy(label_indices(frame["label"].to_list(), task.gold.space).astype(np.int64)),
        rows=task.rows,
        classes=classes,
        features=outputs.hidden.shape[1],
        side=0 if outputs.hypothesis is None else outputs.hypothesis.shape[1],
        biases=[of_all(bias.safe).log() for bias in prepared.biases],
        first=None if prepared.first is None else of_all(prepared.first),
    )
    return method(material, **task.options.debias_options)


def _tell_folds(task: Task, on_step: OnStep | None) -> OnFold | None:
    """Let the folds of a bias model be seen as steps are."""
    if on_step is None:
        return None
    began, pairs = time.monotonic(), len(task.rows)

    def tell(fold: int) -> None:
        rate = fold * pairs / max(time.monotonic() - began, 1e-9)
        on_step(Step(fold, FOLDS, pairs, pairs, math.nan, rate, None, "bias fold"))

    return tell


def _first(on_step: OnStep | None) -> OnStep | None:
    """Tell the epochs of the first model from those of the second."""
    return None if on_step is None else lambda step: on_step(replace(step, unit="first model's epoch"))
