"""``train``: fit any registered model on any pairs, and leave a run folder that ``load_model`` reads."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldlabel.models.model import find_member
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import LabelSpace
from goldlabel.train.checking import check_task, is_network
from goldlabel.train.fitting import fit_baseline, fit_network, score_fixed
from goldlabel.train.options import TrainOptions, change_options
from goldlabel.train.result import Training
from goldlabel.train.run_folder import RunFolder
from goldlabel.train.starting import start_digest
from goldlabel.train.task import Task, gather_task

if TYPE_CHECKING:
    from goldlabel.train.trainer import OnStep

ENCODED = "encoded"


def train(
    model: str,
    on: Pairs | Sequence[Pairs],
    output: str | Path,
    *,
    dev: Pairs | Sequence[Pairs] = (),
    sizes: Sequence[int | None] | None = None,
    split: str | None = None,
    vocabulary: Sequence[Pairs] = (),
    label_space: LabelSpace | str | None = None,
    options: TrainOptions | None = None,
    on_step: OnStep | None = None,
    **changes: Any,
) -> Training:
    """Train a model and leave it in the folder ``output``; what is there half done goes on.

    ``on`` are one or several training sets, ``sizes`` how many pairs to draw of each (``None`` for all), ``split`` what
    is trained on of them if not their train split, ``dev`` the sets to stop on, by default the training sets' own dev
    splits. Pairs without a gold label are left out.
    ``vocabulary`` are further pairs whose words the model shall know, ``label_space`` the labels it shall learn.
    ``changes`` are fields of ``TrainOptions``, such as ``epochs=5``, and the model's own, such as ``hidden=200``.
    """
    chosen = change_options(options or TrainOptions(), changes)
    task = gather_task(
        model,
        as_list(on),
        sizes=sizes,
        split=split,
        dev=as_list(dev),
        vocabulary=vocabulary,
        label_space=label_space,
        seed=chosen.seed,
        fixed=chosen.start if chosen.fixed else None,
    )
    return run_task(task, Path(output), chosen, on_step)


def run_task(
    task: Task, folder: Path, options: TrainOptions, on_step: OnStep | None = None, *, encoded: Path | None = None
) -> Training:
    """Train once; a folder that holds the same run unfinished goes on, finished gives its result.

    ``encoded`` is where encoded pairs are shared with other runs; by default they lie in the run's folder and are
    removed at its end.
    """
    check_task(task, options)
    settings = run_settings(task, options)
    run = RunFolder(folder)
    held = run.open(settings, {"seed": options.seed, **_hardware(task, options)})
    if held is not None:
        return Training(**{**held, "run": folder})
    own = run.path / ENCODED
    try:
        if options.fixed:
            result = score_fixed(task, run, options, settings)
        elif is_network(find_member(task.model)):
            result = fit_network(task, run, options, settings, encoded=encoded or own, on_step=on_step)
        else:
            result = fit_baseline(task, run, options, settings)
        run.finish({**vars(result), "run": str(folder)})
    finally:
        run.close()
    shutil.rmtree(own, ignore_errors=True)
    return result


def run_settings(task: Task, options: TrainOptions) -> dict[str, Any]:
    """Return what a run is a function of: its folder is known by it."""
    settings = task.settings(options, 0 if options.fixed else options.size or len(task.gold))
    if options.start is not None:
        settings["start"] = {"path": options.start, "sha256": start_digest(options.start)}
    return settings


def as_list(pairs: Pairs | Sequence[Pairs]) -> list[Pairs]:
    """Return one or several datasets as a list."""
    return [pairs] if isinstance(pairs, Pairs) else list(pairs)


def _hardware(task: Task, options: TrainOptions) -> dict[str, Any]:
    if not is_network(find_member(task.model)):
        return {"device": "cpu"}
    from goldlabel.models.network import resolve_device
    from goldlabel.train.trainer import describe_device

    return describe_device(resolve_device(options.device))
