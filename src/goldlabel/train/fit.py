"""Fitting one model to one task, and the way of a run from its beginning to its end.

``train`` gathers a task from datasets (``task.py``) and hands it to ``run_task``. That checks it, takes the folder
for itself (``run.py``), and has the model fitted there: a torch model by the trainer (``trainer.py``), which makes
steps (``step.py``) towards an objective (``objective.py``; a debiasing method's is prepared and built by
``debias/preparation.py``) on pairs that are encoded once (``encoded.py``) and cut into batches by length
(``batches.py``); a baseline by its own ``fit``; or not at all, where the weights of another run are scored as they are.
The folder ends as a model that ``load_model`` reads, with a ``result.json``. A run that was stopped on the way goes on
from its checkpoint; many runs are a sweep (``sweep.py``).
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.metrics import Estimate
from goldlabel.models.loading import load_model
from goldlabel.models.model import Model, find_member, label_indices
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import LabelSpace
from goldlabel.train.options import TrainOptions, change_options
from goldlabel.train.run import OnStep, ReadFolder, Run, RunFolder, Step
from goldlabel.train.task import Task, gather_task

if TYPE_CHECKING:
    from goldlabel.train.group import Group

ENCODED = "encoded"
BIAS = "bias"
"""Where the probabilities of bias models lie, beside what is encoded."""


def train(
    model: str,
    on: Pairs | Sequence[Pairs],
    output: str | Path,
    *,
    dev: Pairs | Sequence[Pairs] = (),
    sizes: Sequence[int | None] | None = None,
    copies: Sequence[int] | None = None,
    split: str | None = None,
    vocabulary: Sequence[Pairs] = (),
    label_space: LabelSpace | str | None = None,
    options: TrainOptions | None = None,
    on_step: OnStep | None = None,
    devices: int = 1,
    **changes: Any,
) -> Run:
    """Train a model and leave it in the folder ``output``; what is there half done goes on.

    ``on`` are one or several training sets, ``sizes`` how many pairs to draw of each (``None`` for all), ``copies`` how
    often each set's pairs are trained on in an epoch, ``split`` what is trained on of them if not their train split,
    ``dev`` the sets to stop on, by default the training sets' own dev splits. Pairs without a gold label are left out.
    ``vocabulary`` are further pairs whose words the model shall know, ``label_space`` the labels it shall learn.
    With several ``devices`` as many processes train it together, each with a GPU or its share of the cores.
    ``changes`` are fields of ``TrainOptions``, such as ``epochs=5``, and the model's own, such as ``hidden=200``.
    """
    task = gather_task(
        model,
        as_list(on),
        change_options(options or TrainOptions(), changes),
        sizes=sizes,
        copies=copies,
        split=split,
        dev=as_list(dev),
        vocabulary=vocabulary,
        label_space=label_space,
    )
    if devices > 1:
        from goldlabel.train.devices import run_on_devices

        return run_on_devices(task, Path(output), on_step, devices=devices)
    return run_task(task, Path(output), on_step)


def run_task(
    task: Task,
    folder: Path,
    on_step: OnStep | None = None,
    *,
    encoded: Path | None = None,
    group: Group | None = None,
) -> Run:
    """Train once; a folder that holds the same run unfinished goes on, finished gives its result.

    ``encoded`` is where encoded pairs are shared with other runs; by default they lie in the run's folder and are
    removed at its end. ``group`` are the processes that train together, of which this one leads.
    """
    task.check()
    run = RunFolder(folder)
    run.check(task.settings)
    if (finished := run.result()) is not None:
        return finished
    devices = {"devices": group.size} if group else {}
    with run.open(task.settings, {"seed": task.options.seed, **_hardware(task), **devices}, task.fingerprints):
        result = run.result()  # of a process that was here until now
        if result is None:
            result = _fit(task, run, encoded or folder / ENCODED, on_step, group)
            run.finish(result)
        shutil.rmtree(folder / ENCODED, ignore_errors=True)
    return result


def help_task(task: Task, folder: Path, group: Group, *, encoded: Path | None = None) -> None:
    """Train together with the process that runs the task in this folder; write nothing."""
    _fit_trained(task, ReadFolder(folder), encoded or folder / ENCODED, None, group)


def fit_model(
    model: str,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    labels: Sequence[str],
    space: LabelSpace,
    *,
    seed: int = 0,
) -> Model:
    """Fit any registered model to texts and labels and leave nothing on disk; a network has no dev set to stop on."""
    label_indices(labels, space)
    texts = {"premise": list(premises), "hypothesis": list(hypotheses), "label": list(labels)}
    frame = pl.DataFrame({"id": map(str, range(len(labels))), **texts, "language": None, "group": None}, strict=False)
    gold = GoldPairs("pairs", space, frame.cast(pl.String))
    task = Task(model, gold, (), (), TrainOptions(seed=seed))
    if not task.fitted_by_trainer:
        fitted: Model = _fit_baseline(task)
        return fitted
    with tempfile.TemporaryDirectory() as folder:
        return load_model(run_task(task, Path(folder)).run)


def as_list(pairs: Pairs | Sequence[Pairs]) -> list[Pairs]:
    """Return one or several datasets as a list."""
    return [pairs] if isinstance(pairs, Pairs) else list(pairs)


def _fit(task: Task, run: RunFolder, root: Path, on_step: OnStep | None, group: Group | None) -> Run:
    if task.options.fixed:
        assert task.options.start is not None
        return _score(load_model(task.options.start, task.options.device), task, run)
    if task.fitted_by_trainer:
        return _fit_trained(task, run, root, on_step, group)
    began = time.monotonic()
    if task.options.debias is None:
        return _score(_fit_baseline(task, on_step), task, run, seconds=time.monotonic() - began)
    from goldlabel.train.debias.preparation import bias_arguments, measure_biases

    biases = measure_biases(task, root.parent / BIAS, fit_model, on_step)
    model = _fit_baseline(task, on_step, **bias_arguments(task, biases))
    result = _score(model, task, run, seconds=time.monotonic() - began)
    run.add_to_config(debias={"method": task.options.debias, "bias": [bias.to_dict() for bias in biases]})
    return result


def _fit_trained(task: Task, run: RunFolder, root: Path, on_step: OnStep | None, group: Group | None) -> Run:
    """Train a torch model, from a checkpoint where there is one; the encoded pairs lie under ``root``."""
    import torch

    from goldlabel.train.debias.preparation import build_objective, prepare_debias
    from goldlabel.train.encoded import encode_task
    from goldlabel.train.group import Group
    from goldlabel.train.objective import CrossEntropy
    from goldlabel.train.trainer import Trainer, resolve_recipe

    options, group = task.options, group or Group()
    if not group.leads:
        group.wait()  # until what lies in files is made
    prepared = None
    if options.debias is not None:
        train_first = partial(_train_first, root)
        prepared = prepare_debias(task, run.path, root.parent / BIAS, fit_model, train_first, on_step)
    start: Any = None if options.start is None else load_model(options.start, "cpu")
    encoded = encode_task(task, start, root)
    if group.leads:
        group.wait()
    torch.manual_seed(options.seed)
    member = find_member(task.model)
    seen = set(task.gold.frame["label"].gather(pl.Series(task.rows))) | (set() if start is None else set(start.seen))
    model = member.build(task.choices, encoded.preparation, task.gold.space, sorted(seen), start)
    model.move_to(options.device)
    recipe = replace(resolve_recipe(member.recipe, options), length=model.length)
    more = {} if prepared is None else {"debias": prepared.to_dict(options)}
    if group.leads:
        model.save_config(run.path, recipe=vars(recipe), training=task.settings, **more)
    objective = CrossEntropy() if prepared is None else build_objective(task, model, prepared)
    trainer = Trainer(task, model, objective, encoded, recipe, run, on_step, group)
    trainer.run()
    group.wait()
    epochs = run.metrics()
    best = trainer.best_epoch or len(epochs)
    return Run(
        run=run.path,
        model=task.model,
        seed=options.seed,
        pairs=len(task.rows),
        parameters=sum(parameter.numel() for parameter in model.network.parameters() if parameter.requires_grad),
        epochs=len(epochs),
        best_epoch=best,
        dev={name: Estimate.from_dict(score) for name, score in epochs[best - 1]["dev"].items()},
        seconds=trainer.seconds,
        pairs_per_second=len(task.epoch_rows) * len(epochs) / max(trainer.seconds, 1e-9),
        settings=task.settings,
        notes=tuple(trainer.notes),
    )


def _train_first(root: Path, task: Task, folder: Path, on_step: OnStep | None) -> Run:
    """Train the model that a debiasing method needs first, on the same encoded pairs."""
    return run_task(task, folder, on_step, encoded=root)


def _fit_baseline(task: Task, on_step: OnStep | None = None, **told: Any) -> Any:
    """Let a model without a network fit itself, and tell of its passes over the pairs where it does."""
    frame, fit = task.gold.frame[task.rows], find_member(task.model).fit
    texts = [frame[column].to_list() for column in ("premise", "hypothesis", "label")]
    arguments = task.baseline_arguments() | told
    if on_step is not None and "on_pass" in signature(fit).parameters:
        arguments["on_pass"] = partial(_tell_pass, on_step, len(frame), time.monotonic())
    return fit(*texts, task.gold.space, **arguments)


def _tell_pass(on_step: OnStep, pairs: int, began: float, passes: int, most: int, loss: float) -> None:
    rate = passes * pairs / max(time.monotonic() - began, 1e-9)
    on_step(Step(passes, most, pairs, pairs, loss, rate, None))


def _score(model: Any, task: Task, run: RunFolder, *, seconds: float | None = None) -> Run:
    """Save a model that is as it will be, with its dev accuracies as the one epoch of its metrics.

    ``seconds`` is how long it was fitted; without, nothing was, and scoring is what is timed.
    """
    began = time.monotonic()
    scores = {}
    for gold in task.dev:
        shares = model.predict(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list())
        scores[gold.name] = gold.score(shares, model.label_space)
    taken = time.monotonic() - began if seconds is None else seconds
    pairs = 0 if seconds is None else len(task.rows)
    epoch = 1 if pairs else 0
    model.save(run.path)
    run.add_to_config(training=task.settings)
    run.truncate_metrics(-1)
    run.log_epoch(epoch, steps=0, loss=None, lr=None, dev=scores, seconds=taken)
    return Run(
        run=run.path,
        model=task.model,
        seed=task.options.seed,
        pairs=pairs,
        parameters=None,
        epochs=epoch,
        best_epoch=epoch,
        dev=scores,
        seconds=taken,
        pairs_per_second=(pairs or sum(map(len, task.dev))) / max(taken, 1e-9),
        settings=task.settings,
    )


def _hardware(task: Task) -> dict[str, Any]:
    if not task.fitted_by_trainer:
        return {"device": "cpu"}
    from goldlabel.models.torch_model import resolve_device
    from goldlabel.train.trainer import describe_device

    return describe_device(resolve_device(task.options.device))
