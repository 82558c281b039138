"""Training one model on the nodes of a Ray cluster, by Ray Train.

It starts the processes, joins them into torch's group, and starts all of them again where one is lost, from the last
checkpoint; what the processes do is that of ``devices.py`` and ``group.py``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.executors.cluster import connect
from goldlabel.executors.executor import Failure, attempt
from goldlabel.executors.ray import LETTING_GO, MOST_LOSSES
from goldlabel.files import LOCK_PATIENCE
from goldlabel.registry import import_extra
from goldlabel.train.devices import check_trained, train_together
from goldlabel.train.run import Run, RunFolder
from goldlabel.train.task import Task


def run_on_cluster(task: Task, folder: Path, *, devices: int, cluster: str | None = None) -> Run:
    """Train once, in so many processes of a cluster, whose nodes all see the folder; what is unfinished goes on."""
    task.check()
    check_trained(task)
    run = RunFolder(folder)
    run.check(task.settings)
    if (finished := run.result()) is not None:
        return finished
    folder.mkdir(parents=True, exist_ok=True)
    with connect(cluster, cpus=devices, paths=[folder, *task.files]) as nodes:
        on_gpus = task.options.device != "cpu" and any(node.gpus for node in nodes)
        room = sum(node.gpus if on_gpus else node.cpus for node in nodes)
        if room < devices:
            what = "GPUs" if on_gpus else "cores"
            raise InputError(f"--devices {devices}: the cluster has {room:g} {what}; give at most so many")
        outcome = _train(task, folder.resolve(), devices, on_gpus)
    if isinstance(outcome, Failure):
        raise GoldlabelError(outcome.leave(folder / "error.txt"))
    result = run.result()
    if result is None:
        raise GoldlabelError(f"{folder}: the cluster ended the run before it was finished; give the same command again")
    return result


def _train(task: Task, folder: Path, devices: int, on_gpus: bool) -> Failure | None:
    train = import_extra("ray.train", "ray")
    torch_train = import_extra("ray.train.torch", "ray")
    with tempfile.TemporaryDirectory(prefix="goldlabel-train-", dir=folder.parent) as storage:
        trainer = torch_train.TorchTrainer(
            _work,
            train_loop_config={"task": task, "folder": folder, "storage": storage},
            scaling_config=train.ScalingConfig(num_workers=devices, use_gpu=on_gpus),
            torch_config=torch_train.TorchConfig(backend="nccl" if on_gpus else "gloo"),
            run_config=train.RunConfig(
                storage_path=storage, failure_config=train.FailureConfig(max_failures=MOST_LOSSES)
            ),
        )
        try:
            trainer.fit()
        except Exception as error:  # Ray's own, with the worker's in its text
            return Failure(str(error).strip().splitlines()[-1], str(error))
        failures = sorted(Path(storage).glob("*.failure"))
        return Failure(failures[0].read_text(encoding="utf-8")) if failures else None


# In the processes


def _work(config: dict[str, Any]) -> None:
    import ray.train

    context = ray.train.get_context()
    rank, size = context.get_world_rank(), context.get_world_size()
    LOCK_PATIENCE.set(LETTING_GO)
    outcome = attempt(_join, lambda _: False, (rank, size, config["task"], config["folder"]))
    if isinstance(outcome, Failure) and not outcome.trace:  # the input is at fault: trying again would not help
        Path(config["storage"], f"{rank}.failure").write_text(outcome.message, encoding="utf-8")
    elif isinstance(outcome, Failure):
        raise RuntimeError(f"{outcome.trace}\n{outcome.message}")


def _join(_: Any, rank: int, size: int, task: Task, folder: Path) -> None:
    train_together(rank, size, task, folder, None)
