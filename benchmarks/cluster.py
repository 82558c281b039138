"""What an executor adds to a piece of work: pieces that do nothing, by each executor and by a bare loop over Ray.

All of one run share a Ray of this machine, whose workers are warm. ``processes`` starts its own for every call, as a
command does; what that takes is measured apart, with as many pieces as there are processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from measure import write_result

from goldlabel.executors import Here, Processes, Tell, open_executor


def nothing(tell: Tell, number: int) -> int:
    return number


def run_bare(count: int) -> None:
    import ray

    task = ray.remote(num_cpus=1)(lambda number: number)
    ray.get([task.remote(number) for number in range(count)])


def run_with(executor: Any, count: int) -> None:
    outcomes: dict[str, Any] = {}
    executor.run(nothing, {str(number): (number,) for number in range(count)}, outcomes.__setitem__)
    assert len(outcomes) == count


def time_one(work: Callable[[int], None], count: int) -> float:
    start = time.perf_counter()
    work(count)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    start = time.perf_counter()
    jobs = os.cpu_count() or 1
    with open_executor("ray") as ray_executor:
        started = time.perf_counter() - start
        ways: dict[str, Callable[[int], None]] = {
            "bare Ray": run_bare,
            "ray": lambda count: run_with(ray_executor, count),
            "processes": lambda count: run_with(Processes(jobs), count),
            "here": lambda count: run_with(Here(), count),
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        fixed: dict[str, list[float]] = {name: [] for name in ways}
        for work in ways.values():
            work(jobs)
        for _ in range(arguments.repeats):  # one after the other, so that a busy machine is busy for all
            for name, work in ways.items():
                fixed[name].append(time_one(work, jobs))
                taken[name].append(time_one(work, arguments.pieces))
    each = {
        name: (statistics.median(taken[name]) - statistics.median(fixed[name])) / (arguments.pieces - jobs)
        for name in ways
    }
    figures = {
        name: {
            "ms_per_piece": 1000 * each[name],
            "seconds_before_the_first": statistics.median(fixed[name]),
            "times_bare_ray": each[name] / each["bare Ray"],
        }
        for name in ways
    }
    print(f"{arguments.pieces} pieces, {jobs} at a time; starting Ray took {started:.1f} s")
    for name, row in figures.items():
        print(
            f"{name:10} {row['ms_per_piece']:8.3f} ms a piece ({row['times_bare_ray']:.2f} of bare Ray), "
            f"{row['seconds_before_the_first']:.2f} s before the first"
        )
    write_result("cluster", {"pieces": arguments.pieces, "start_seconds": started, "executors": figures})


if __name__ == "__main__":
    main()
