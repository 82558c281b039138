"""What an executor adds to a piece of work, what workers add to scoring and audit, and near-duplicates at size.

First, pieces that do nothing, by each executor and by a bare loop over Ray.

All of one run share a Ray of this machine, whose workers are warm. ``processes`` starts its own for every call, as a
command does; what that takes is measured apart, with as many pieces as there are processes.

Then, with ``--workers 1,2,4``, pairs a second that a model scores (``predict``) and pairs a second of an audit's
out-of-fold models, by so many processes. With ``--near 10000000``, the time and memory of near-duplicates among a
tenth, a fifth, half and all of so many generated pairs, each size in a process of its own; pairs and what is kept of
them while it runs lie where ``TMPDIR`` says, some 0.5 KB each.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measure import measure, write_result

import goldlabel as gl
from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.hypothesis_only import cross_validate_model
from goldlabel.executors import Here, Tell, open_executor
from goldlabel.executors.processes import Processes


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


def generate(count: int, seed: int = 0) -> pl.DataFrame:
    """Pairs of random words; one in twenty is another with a word more."""
    rng = np.random.default_rng(seed)
    words = np.array([a + b + c for a in "bcdfghklmnprst" for b in "aeiou" for c in ("n", "r", "st", "ll", "m", "ck")])

    def sentences(length: int) -> pl.Series:
        drawn = pl.DataFrame(words[rng.integers(0, len(words), (count, length))])
        return drawn.select(pl.concat_str(pl.all(), separator=" ")).to_series()

    labels = np.array(["entailment", "neutral", "contradiction"])[rng.integers(0, 3, count)]
    frame = pl.DataFrame({"premise": sentences(12), "hypothesis": sentences(7), "label": labels})
    again = frame.head(count // 20).with_columns(pl.col("premise") + " indeed")
    return pl.concat([frame.head(count - len(again)), again])


def measure_near(count: int) -> dict[str, Any]:
    """Find the near-duplicates of a dataset on disk, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        block = 1_000_000
        (Path(folder) / "parts").mkdir()
        for start in range(0, count, block):
            generate(min(block, count - start), seed=start).write_parquet(f"{folder}/parts/{start:09}.parquet")
        gl.convert(f"{folder}/parts", f"{folder}/data")
        return {"pairs": count, **measure(find_near, f"{folder}/data")}


def find_near(folder: str) -> int:
    """Find them as ``goldlabel data duplicates`` does; reading the folder is part of it."""
    return len(gl.read(folder).duplicates().clusters)


def measure_workers(workers: int, pairs: gl.Pairs, folder: Path) -> dict[str, float]:
    """Score pairs, and cross-validate a model on them, with so many processes; starting them is part of it."""
    corpus = read_corpus(pairs)
    executor = Processes(workers)
    scoring = time_one(lambda _: gl.predict(folder / "run", pairs, folder / "out.parquet", executor=executor), 0)
    audit = time_one(lambda _: cross_validate_model(pairs, corpus, "linear", executor=executor), 0)
    return {"workers": workers, "scored_per_second": len(pairs) / scoring, "audited_per_second": len(pairs) / audit}


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--workers", type=_numbers, default=[], help="such as 1,2,4")
    parser.add_argument("--near", type=int, help="pairs, such as 10000000")
    parser.add_argument("--scored", type=int, default=60_000, help="pairs that --workers score")
    arguments = parser.parse_args()
    if arguments.workers:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            pairs = gl.from_polars(generate(arguments.scored))
            gl.train("linear", pairs.head(5000), folder / "run")
            for row in (rows := [measure_workers(count, pairs, folder) for count in arguments.workers]):
                print("{workers} workers, pairs a second:".format(**row), end=" ")
                print("{scored_per_second:,.0f} scored, {audited_per_second:,.0f} audited".format(**row))
        write_result("cluster_workers", {"pairs": arguments.scored, "workers": rows})
    if arguments.near:
        sizes = []
        for share in (0.1, 0.2, 0.5, 1):
            sizes.append(row := measure_near(int(share * arguments.near)))
            grown = (row["peak_mb"] - sizes[0]["peak_mb"]) * 2**20 / max(row["pairs"] - sizes[0]["pairs"], 1)
            print(
                "{pairs:,} pairs: {seconds:.0f} s, {cpu_seconds:.0f} s of processors, {peak_mb:,.0f} MB at most, "
                "{result:,} duplicates".format(**row)
                + f", {grown:.0f} bytes a pair more than the first",
                flush=True,
            )
            write_result("cluster_near", {"sizes": sizes})
    if arguments.workers or arguments.near:
        return
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
