"""Fitting one model in one run folder: a network by the trainer, a baseline by itself, or no fitting at all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.metrics import Estimate
from goldlabel.models.model import Model, TrainableModel, find_member, load_model
from goldlabel.pairs.gold import GoldPairs
from goldlabel.train.checking import baseline_arguments
from goldlabel.train.data import nested_rows
from goldlabel.train.options import TrainOptions
from goldlabel.train.result import Training
from goldlabel.train.run_folder import RunFolder, score_entry
from goldlabel.train.starting import load_start, trained_vectors
from goldlabel.train.task import Task

if TYPE_CHECKING:
    from goldlabel.models.network import Network, NetworkModel
    from goldlabel.train.preparing import Prepared
    from goldlabel.train.trainer import OnStep


def fit_network(
    task: Task,
    run: RunFolder,
    options: TrainOptions,
    settings: dict[str, Any],
    *,
    encoded: Path,
    on_step: OnStep | None,
) -> Training:
    """Train a network, from a checkpoint where there is one; the encoded pairs lie under ``encoded``."""
    import torch

    from goldlabel.train.trainer import Trainer, resolve_recipe

    network: Any = find_member(task.model)
    prepared, start = prepare_task(task, options, encoded)
    torch.manual_seed(options.seed)
    model = _build(network, prepared, options, start)
    model.move_to(options.device)
    recipe = resolve_recipe(network.recipe, options)
    trained = model.network.words.weight.requires_grad
    model.save_config(run.path, recipe=vars(recipe), training=settings, train_vectors=trained)
    rows = _rows(task.gold, options)
    trainer = Trainer(model, prepared, rows, recipe, options, run, on_step)
    trainer.run()
    epochs = run.metrics()
    best = trainer.best_epoch or len(epochs)
    return Training(
        run=run.path,
        model=task.model,
        seed=options.seed,
        pairs=len(rows),
        parameters=sum(parameter.numel() for parameter in trainer.trained),
        epochs=len(epochs),
        best_epoch=best,
        dev=epochs[best - 1]["dev"],
        seconds=trainer.seconds,
        pairs_per_second=len(rows) * len(epochs) / max(trainer.seconds, 1e-9),
        settings=settings,
    )


def prepare_task(task: Task, options: TrainOptions, encoded: Path) -> tuple[Prepared, NetworkModel | None]:
    """Encode a network's pairs, or find them encoded; return them with the model that training starts from."""
    from goldlabel.train.preparing import prepare

    network: Any = find_member(task.model)
    start = load_start(options, task.model, task.gold)
    return prepare(network, task.gold, task.dev, task.others, options, start, encoded), start


def fit_baseline(task: Task, run: RunFolder, options: TrainOptions, settings: dict[str, Any]) -> Training:
    """Let a model without a network fit itself."""
    member: type[TrainableModel] = find_member(task.model)
    rows = _rows(task.gold, options)
    frame = task.gold.frame[rows]
    began = time.monotonic()
    model = member.fit(
        frame["premise"].to_list(),
        frame["hypothesis"].to_list(),
        frame["label"].to_list(),
        task.gold.space,
        **baseline_arguments(task, options),
    )
    seconds = time.monotonic() - began
    return _score(model, task, run, options, settings, pairs=len(rows), seconds=seconds)


def score_fixed(task: Task, run: RunFolder, options: TrainOptions, settings: dict[str, Any]) -> Training:
    """Score the dev sets with the weights of another run, and keep them in this one."""
    assert options.start is not None
    return _score(load_model(options.start, options.device), task, run, options, settings, pairs=0, seconds=None)


def _score(
    model: Any,
    task: Task,
    run: RunFolder,
    options: TrainOptions,
    settings: dict[str, Any],
    *,
    pairs: int,
    seconds: float | None,
) -> Training:
    """Save a model that is as it will be, with its dev accuracies as the one epoch of its metrics."""
    began = time.monotonic()
    scores = {one.name: _accuracy(model, one) for one in task.dev}
    epoch = 1 if pairs else 0
    taken = time.monotonic() - began if seconds is None else seconds
    model.save(run.path)
    run.add_to_config(training=settings)
    run.truncate_metrics(-1)
    run.log_epoch(epoch, steps=0, loss=None, lr=None, dev=scores, seconds=taken)
    return Training(
        run=run.path,
        model=task.model,
        seed=options.seed,
        pairs=pairs,
        parameters=None,
        epochs=epoch,
        best_epoch=epoch,
        dev={name: score_entry(score) for name, score in scores.items()},
        seconds=taken,
        pairs_per_second=(pairs or sum(map(len, task.dev))) / max(taken, 1e-9),
        settings=settings,
    )


def _accuracy(model: Model, gold: GoldPairs) -> Estimate:
    shares = model.predict(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list())
    return gold.score(shares, model.label_space)


def _rows(gold: GoldPairs, options: TrainOptions) -> NDArray[np.int64]:
    return np.arange(len(gold)) if options.size is None else nested_rows(len(gold), options.seed)[: options.size]


def _build(
    network: type[Network], prepared: Prepared, options: TrainOptions, start: NetworkModel | None
) -> NetworkModel:
    from goldlabel.models.network import NetworkModel, build_network

    chosen = dict(options.options) if start is None else start.options
    fresh = build_network(
        network,
        prepared.encoder,
        len(prepared.gold.space),
        options=chosen,
        vectors=prepared.vectors,
        size=None if start is None else start.network.words.embedding_dim,
        train_vectors=options.train_vectors,
    )
    seen: Sequence[str] = prepared.gold.frame["label"].unique().to_list()
    if start is not None:
        assert options.start is not None
        _take_over(fresh, start, prepared)
        wanted = options.train_vectors
        fresh.words.weight.requires_grad = trained_vectors(options.start) if wanted is None else wanted
        seen = [*seen, *start.seen]
    return NetworkModel(fresh, prepared.encoder, prepared.gold.space, sorted(set(seen)), chosen)


def _take_over(fresh: Network, start: NetworkModel, prepared: Prepared) -> None:
    """Copy all weights; words that the first run did not know keep their fresh vectors."""
    import torch

    held = start.network.state_dict()
    old, new = start.encoder.vocabulary, prepared.encoder.vocabulary
    vectors = fresh.words.weight.detach().clone()
    known = len(old) - old.buckets
    vectors[:known] = held["words.weight"][:known]
    vectors[len(new) - new.buckets :] = held["words.weight"][known:]
    held["words.weight"] = vectors
    with torch.no_grad():
        fresh.load_state_dict(held)
