"""Executors: where many independent pieces of work are done, one after the other or side by side.

A piece of work is a function of its arguments that leaves its result in files or returns it; so which executor does it
changes nothing but the time. One that fails takes no other with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from goldlabel.errors import InputError
from goldlabel.executors.executor import DIED, Executor, Failure, OnDone, OnTold, Tell, Work, collect
from goldlabel.executors.gpus import gpus_here, share_gpus
from goldlabel.executors.here import Here
from goldlabel.registry import Registry

__all__ = [
    "DIED",
    "EXECUTORS",
    "Executor",
    "Failure",
    "Here",
    "OnDone",
    "OnTold",
    "Tell",
    "Work",
    "collect",
    "open_executor",
]


@contextmanager
def open_executor(
    executor: str | Executor | None = None,
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    gpus_per_job: float | None = None,
) -> Iterator[Executor]:
    """Open the executor of a name: ``here``, ``processes`` or ``ray``; ``jobs`` pieces at a time at most.

    Without a name, several jobs are done in processes, and what has a ``cluster`` by Ray. Without ``jobs`` there are as
    many as the machine or the cluster has room for. ``gpus_per_job`` is the share of a GPU that a piece has: on a
    cluster by default a whole one, where there are any; in processes all that fall on it share it.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"{jobs} jobs cannot be; give a number from 1 on")
    if executor is not None and not isinstance(executor, str):
        yield executor
        return
    name = executor or ("ray" if cluster else "processes" if (jobs or 1) > 1 else "here")
    opener = EXECUTORS.get(name)
    if name != "ray" and cluster is not None:
        raise InputError(f"--cluster is for --executor ray, and work is done by {name}; leave one of them out")
    if name == "here" and gpus_per_job is not None:
        raise InputError("--gpus-per-job is for --executor processes and ray, and work is done here; leave it out")
    if gpus_per_job is not None and (gpus_per_job < 0 or (gpus_per_job > 1 and not float(gpus_per_job).is_integer())):
        raise InputError(f"--gpus-per-job {gpus_per_job:g} cannot be; give a share such as 0.5, or a whole number")
    with opener(jobs, cluster, gpus_per_job) as opened:
        yield opened


@contextmanager
def _open_here(jobs: int | None, cluster: str | None, gpus_per_job: float | None) -> Iterator[Executor]:
    if (jobs or 1) > 1:
        raise InputError(f"--executor here does one piece at a time, not {jobs}; leave --jobs out, or use processes")
    yield Here()


@contextmanager
def _open_processes(jobs: int | None, cluster: str | None, gpus_per_job: float | None) -> Iterator[Executor]:
    from goldlabel.executors.processes import Processes

    most = jobs or os.cpu_count() or 1
    if gpus_per_job:
        gpus = share_gpus(gpus_per_job)
        yield Processes(min(most, len(gpus)), gpus)
    else:
        yield Processes(most, tuple(gpus_here()) if gpus_per_job is None else ("",))


@contextmanager
def _open_ray(jobs: int | None, cluster: str | None, gpus_per_job: float | None) -> Iterator[Executor]:
    from goldlabel.executors.cluster import connect
    from goldlabel.executors.ray import Ray

    with connect(cluster, cpus=jobs):
        yield Ray(jobs, gpus_per_job)


EXECUTORS: Registry[Callable[[int | None, str | None, float | None], AbstractContextManager[Executor]]] = Registry(
    "executor"
)
EXECUTORS.add("here", _open_here)
EXECUTORS.add("processes", _open_processes)
EXECUTORS.add("ray", _open_ray)
