"""Work done by the nodes of a Ray cluster, or by a Ray that is started on this machine for it.

A piece whose worker or node dies is begun again elsewhere; as it is a function of its arguments and goes on from what
it has left in files, that gives the same. Ray's own retries are not used: a piece that is begun again must know it, to
wait until what was left of it on a dying node has let go of its files.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.executors.cluster import Node, check_nodes, live_nodes, modules_in_use
from goldlabel.executors.executor import DIED, TELL_EVERY, Failure, OnDone, OnTold, Work, attempt
from goldlabel.files import LOCK_PATIENCE
from goldlabel.registry import import_extra

LOST = object()
MOST_LOSSES = 3
"""How often a piece may lose its worker or node before it is given up."""
LETTING_GO = 60.0
"""Seconds that a piece begun again waits for the files of the one before; a network disk may keep its locks so long."""
ENDING = 30.0
"""Seconds that pieces have after Ctrl-C to save their state."""


class Ray:
    """As many pieces at a time as the cluster has room for, or ``jobs`` at most."""

    def __init__(self, jobs: int | None, gpus_per_job: float | None) -> None:
        self.ray = import_extra("ray", "ray")
        self.jobs = jobs
        self.checked: list[str] = []
        """The modules that nodes were asked for; to be asked takes them a moment."""
        nodes = live_nodes()
        if gpus_per_job is None:
            gpus_per_job = float(any(node.gpus for node in nodes))
        self.gpus_per_job = gpus_per_job
        self._check_room(nodes)

    def run(
        self,
        function: Callable[..., Any],
        work: Work,
        on_done: OnDone,
        *,
        on_told: OnTold | None = None,
        paths: Sequence[Path] = (),
    ) -> None:
        """Call the function with each piece's arguments."""
        if not work:
            return
        ray, nodes = self.ray, live_nodes()
        if paths or modules_in_use() != self.checked:
            check_nodes(nodes, paths)
            self.checked = modules_in_use()
        most = self.jobs or 2 * round(sum(node.cpus for node in nodes))
        board = None if on_told is None else _open_board(ray)
        begin = ray.remote(num_cpus=1, num_gpus=self.gpus_per_job, max_retries=0)(_do).remote
        shared = (ray.put((function, dict(work))), str(Path.cwd()), dict(os.environ), board)
        waiting, losses = deque(work), dict.fromkeys(work, 0)
        running: dict[Any, str] = {}
        try:
            while waiting or running:
                while waiting and len(running) < most:
                    name = waiting.popleft()
                    running[begin(name, losses[name], shared)] = name
                for ref in self._ended(list(running), TELL_EVERY if board else 1.0):
                    name = running.pop(ref)
                    outcome = self._outcome(ref)
                    losses[name] += outcome is LOST
                    if outcome is LOST and losses[name] < MOST_LOSSES:
                        waiting.append(name)
                    else:
                        on_done(name, Failure(DIED) if outcome is LOST else outcome)
                if board is not None and on_told is not None:
                    for name, state in ray.get(board.take.remote()).items():
                        on_told(name, state)
        except BaseException:
            for ref in running:
                ray.cancel(ref, force=False)
            if running:
                ray.wait(list(running), num_returns=len(running), timeout=ENDING)
            raise

    def _ended(self, running: list[Any], seconds: float) -> list[Any]:
        """Return which pieces have ended, once one has or the time is over."""
        first, _ = self.ray.wait(running, timeout=seconds)
        if not first:
            self._check_room(live_nodes())
            return []
        ended: list[Any] = self.ray.wait(running, num_returns=len(running), timeout=0)[0]
        return ended

    def _outcome(self, ref: Any) -> Any:
        """Return the result of a piece, its failure, or that it was lost with its worker or node."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(ref)
        except errors.TaskCancelledError as error:
            raise KeyboardInterrupt from error
        except errors.RayTaskError as error:
            return Failure(str(error).strip().splitlines()[-1], str(error))
        except errors.RayError:
            return LOST

    def _check_room(self, nodes: Sequence[Node]) -> None:
        """Refuse to wait for ever for a node that could do a piece."""
        if not any(node.gpus >= self.gpus_per_job for node in nodes):
            what = f"has {self.gpus_per_job:g} GPUs; give fewer with --gpus-per-job" if nodes else "is alive"
            names = ", ".join(f"{node.name}: {node.gpus:g} GPUs" for node in nodes)
            raise InputError(f"no node of the cluster {what}" + (f" ({names})" if names else ""))


def _open_board(ray: Any) -> Any:
    """Start what gathers the workers' words, beside this process, so that no other node's death takes it away."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(_Board).remote()


class _Board:
    """How far pieces are, by name: the last word of each."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}

    def tell(self, name: str, state: Any) -> None:
        self.told[name] = state

    def take(self) -> dict[str, Any]:
        told, self.told = self.told, {}
        return told


# In the workers


class _Worker:
    """What a worker keeps between pieces: the work that it has fetched."""

    package: Any = None
    content: tuple[Callable[..., Any], Work]


def _do(name: str, losses: int, shared: tuple[Any, str, Mapping[str, str], Any]) -> Any:
    package, folder, environment, board = shared
    _move_to(folder, environment)
    LOCK_PATIENCE.set(LETTING_GO if losses else 0.0)
    outcome = attempt(_fetch_and_do, _teller(board, name), (package, name))
    if isinstance(outcome, Failure):
        return replace(outcome, message=f"{outcome.message} (on node {os.uname().nodename})")
    return outcome


def _fetch_and_do(tell: Any, package: Any, name: str) -> Any:
    import ray

    if _Worker.package != package:
        _Worker.content = ray.get(package)
        _Worker.package = package
    function, work = _Worker.content
    return function(tell, *work[name])


def _teller(board: Any, name: str) -> Callable[[Any], bool]:
    last = 0.0

    def tell(state: Any) -> bool:
        nonlocal last
        if board is not None and time.monotonic() - last > TELL_EVERY:
            last = time.monotonic()
            board.tell.remote(name, state)
        return False

    return tell


def _move_to(folder: str, environment: Mapping[str, str]) -> None:
    """Let names of files and the environment mean what they mean where the command was given."""
    if Path(folder).is_dir():
        os.chdir(folder)
    for name, value in environment.items():
        if name == "OMP_NUM_THREADS" or name.startswith("GOLDLABEL_"):
            os.environ[name] = value
        elif not name.startswith("RAY_"):
            os.environ.setdefault(name, value)
