"""Training on several devices: as many processes, each with a GPU or its share of the cores, train one model.

They are started here, one for each device of this machine; or somebody else has started them, as ``torchrun`` does on
one or several machines, and told each its place by the variables that torch knows. The first process runs the task as
it would alone, the others help it (``group.py``). What is trained does not depend on how many there are but for
rounding, and for dropout, of which every process draws its own.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.executors.executor import Failure, attempt
from goldlabel.executors.processes import end_with_parent, shared_cores
from goldlabel.registry import import_extra
from goldlabel.train.run import OnStep, Run, RunFolder, Step
from goldlabel.train.task import Task

GRIEF = 2.0
"""Seconds to wait for another process's death when one has failed."""
_TOLD = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR")


def is_one_of_many(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process was started as one of several, by torchrun."""
    return all(name in environment for name in _TOLD)


def run_on_devices(task: Task, folder: Path, on_step: OnStep | None = None, *, devices: int) -> Run:
    """Train once, on so many devices of this machine; what is unfinished goes on, with whatever number it began."""
    task.check()
    _check_devices(task, devices)
    run = RunFolder(folder)
    run.check(task.settings)
    if (finished := run.result()) is not None:
        return finished
    context = get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="goldlabel-group-") as place:
        pipes = [context.Pipe() for _ in range(devices)]
        processes = [
            context.Process(
                target=_begin, args=(rank, devices, f"file://{place}/group", task, folder, pipes[rank][1]), daemon=True
            )
            for rank in range(devices)
        ]
        with shared_cores(devices):
            for process in processes:
                process.start()
        try:
            for _, theirs in pipes:
                theirs.close()
            outcome = _follow([ours for ours, _ in pipes], on_step)
        finally:
            for process in processes:
                process.terminate()
                process.join()
    if isinstance(outcome, Failure):
        if outcome.trace:
            outcome.leave(folder / "error.txt")
        raise GoldlabelError(outcome.message)
    return outcome


def join_and_run(task: Task, folder: Path, on_step: OnStep | None = None) -> Run | None:
    """Train together with the other processes of torchrun; return the run in the first one, nothing in the others."""
    import torch

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    task.check()
    check_trained(task)
    if task.options.device != "cpu" and torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    with _joined(rank, size, "env://", task):
        return train_together(rank, size, task, folder, on_step)


def _check_devices(task: Task, devices: int) -> None:
    check_trained(task)
    from goldlabel.models.torch_model import resolve_device

    there = import_extra("torch", "torch").cuda.device_count()
    if resolve_device(task.options.device).type == "cuda" and devices > there:
        raise InputError(f"--devices {devices}: this machine has {there} GPUs; give at most so many, or --device cpu")


def check_trained(task: Task) -> None:
    """Refuse a model that makes no steps, which processes could share."""
    if not task.fitted_by_trainer or task.options.fixed:
        raise InputError(f"--devices: {task.model} is not trained in steps; leave it out")


def _follow(pipes: list[Any], on_step: OnStep | None) -> Run | Failure:
    """Pass on what the first process tells until it is done; Ctrl-C asks it to save and stop."""
    first, stopped, waiting = pipes[0], False, list(pipes)
    while True:
        try:
            for pipe in connection.wait(waiting, timeout=1.0):
                message = _receive(pipe)
                if isinstance(message, Step):
                    stopped = bool(on_step and on_step(message)) or stopped
                    if stopped:
                        _ask_to_stop(first)
                elif message is EOFError:
                    return _died(pipes.index(pipe))
                elif isinstance(message, Failure):
                    return _cause(message, pipes, pipe)
                elif message is KeyboardInterrupt and pipe is first:
                    from goldlabel.train.trainer import Interrupted

                    raise Interrupted
                elif pipe is first:
                    run: Run = message
                    return run
                else:
                    waiting.remove(pipe)  # it has helped to the end
        except KeyboardInterrupt as interrupt:
            if stopped or type(interrupt) is not KeyboardInterrupt:
                raise
            stopped = True
            _ask_to_stop(first)


def _receive(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return EOFError


def _cause(failure: Failure, pipes: list[Any], failed: Any) -> Failure:
    """Return why a process failed: where another one died, it could not but fail, too."""
    others = [pipe for pipe in pipes if pipe is not failed]
    heard: Any = connection.wait(others, timeout=GRIEF) if failure.trace else ()
    for pipe in heard:
        while (message := _receive(pipe)) is not EOFError:
            if not pipe.poll(GRIEF):
                break
        if message is EOFError:
            return _died(pipes.index(pipe))
    return failure


def _ask_to_stop(first: Any) -> None:
    with suppress(OSError):
        first.send("stop")


def _died(number: int) -> Failure:
    return Failure(
        f"the process of device {number} died, for want of memory perhaps; the last checkpoint is kept: give the same "
        "command once more to go on"
    )


# In the processes


def _begin(rank: int, size: int, place: str, task: Task, folder: Path, pipe: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which asks the first process to stop
    end_with_parent()
    pipe.send(attempt(_work, lambda _: False, (rank, size, place, task, folder, pipe)))


def _work(_: Any, rank: int, size: int, place: str, task: Task, folder: Path, pipe: Any) -> Any:
    import torch

    from goldlabel.train.trainer import Interrupted

    def on_step(step: Step) -> bool:
        pipe.send(step)
        return bool(pipe.poll())

    if task.options.device != "cpu" and torch.cuda.is_available():
        torch.cuda.set_device(rank)
    with _joined(rank, size, place, task):
        try:
            return train_together(rank, size, task, folder, on_step)
        except Interrupted:
            return KeyboardInterrupt


def train_together(rank: int, size: int, task: Task, folder: Path, on_step: OnStep | None) -> Run | None:
    """Do this process's part, once torch's group is joined; return the run in the first one."""
    from goldlabel.train.fit import help_task, run_task
    from goldlabel.train.group import Group

    group = Group(rank, size)
    if group.leads:
        return run_task(task, folder, on_step, group=group)
    help_task(task, folder, group)
    return None


@contextmanager
def _joined(rank: int, size: int, place: str, task: Task) -> Iterator[None]:
    import torch
    import torch.distributed as dist

    # NCCL wants a GPU for each process; gloo sends by way of the processor, also where processes share one.
    here = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    on_gpus = task.options.device != "cpu" and torch.cuda.device_count() >= here
    dist.init_process_group("nccl" if on_gpus else "gloo", init_method=place, rank=rank, world_size=size)
    try:
        yield
    finally:
        dist.destroy_process_group()
