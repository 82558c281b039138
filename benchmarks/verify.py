"""Votes to gold labels: how long a million pairs take, and what stopping early saves on real votes.

Speed:   verify with every interval, and each way to a gold label, at growing sizes; Dawid-Skene and MACE beside
         crowd-kit on the same votes in the same run.
Saving:  the stopping rule against a fixed four verifiers, on the votes of OCNLI, SNLI and ChaosNLI where
         GOLDLABEL_CORPORA names a folder that has them. The prior is fitted on one half of the pairs, and the rule
         is tried on the other.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
from measure import measure, write_result

PEOPLE = 300
STEPS = 20
LABELS = ("contradiction", "entailment", "neutral")
RULES = (("lossless", 0.999, 5), ("bold", 0.95, 5), ("spent where it matters", 0.8, 25))


def generate(path: Path, pairs: int) -> None:
    """Write pairs, three to a premise, with five votes of annotators who are right three times out of four or more."""
    from goldlabel.pairs.record import COLUMNS, DTYPES

    random = np.random.RandomState(0)
    truth = random.randint(0, 3, pairs)
    who = (random.randint(0, PEOPLE, (pairs, 1)) + np.array([0, 7, 31, 90, 150])) % PEOPLE
    right = random.random_sample((pairs, 5)) < random.uniform(0.75, 0.97, PEOPLE)[who]
    votes = np.where(right, truth[:, None], random.randint(0, 3, (pairs, 5)))
    words = pl.Series(np.array(LABELS)[votes.reshape(-1)])
    columns: dict[str, Any] = {name: pl.Series([None] * pairs, dtype=DTYPES[name]) for name in COLUMNS}
    columns |= {
        "id": [str(number) for number in range(pairs)],
        "premise": [f"Heron {number // 3} stands in the reeds." for number in range(pairs)],
        "hypothesis": ["A bird is outside."] * pairs,
        "label": pl.Series(np.array(LABELS)[truth]),
        "votes": words.reshape((pairs, 5)).arr.to_list(),
        "split": ["dev"] * pairs,
        "genre": pl.Series(np.array(["news", "tv", "talk"])[random.randint(0, 3, pairs)]),
        "tags": pl.Series([[]] * pairs, dtype=DTYPES["tags"]),
        "meta": [orjson.dumps({"annotators": [f"w{person}" for person in row]}).decode() for row in who],
    }
    pl.DataFrame(columns).write_parquet(path)


def load(path: str) -> Any:
    from goldlabel.pairs import Card, Pairs, label_space

    return Pairs(pl.scan_parquet(path), Card(name="crowd", label_space=label_space("nli3"), author="first"))


def run_verify(path: str) -> int:
    from goldlabel.verify import verify

    return verify(load(path), by="genre").whole.relabelled


def run_method(path: str, method: str) -> float:
    """Return the seconds that the method itself took, without reading."""
    from goldlabel.verify import gold_labels, votes_of

    votes = votes_of(load(path))
    start = time.perf_counter()
    gold_labels(votes, method)
    return time.perf_counter() - start


def run_steps(path: str, method: str) -> float:
    """Return the seconds of ``STEPS`` steps of ours."""
    from goldlabel.verify import METHODS, votes_of

    votes = votes_of(load(path))
    start = time.perf_counter()
    METHODS.get(method)(votes, iterations=STEPS, tolerance=0.0)
    return time.perf_counter() - start


def run_crowd_kit(path: str, method: str) -> float:
    """Return the seconds of ``STEPS`` steps of crowd-kit's."""
    import crowdkit.aggregation as crowdkit
    import pandas as pd

    from goldlabel.verify import votes_of

    table = votes_of(load(path)).table
    frame = pd.DataFrame({"task": table["pair"], "worker": table["annotator"], "label": table["label"]})
    models = {
        "dawid-skene": crowdkit.DawidSkene(n_iter=STEPS, tol=-np.inf),
        "mace": crowdkit.MACE(n_restarts=1, n_iter=STEPS),
    }
    start = time.perf_counter()
    models[method].fit(frame)
    return time.perf_counter() - start


def speed(folder: Path, sizes: list[int], beside: int) -> dict[str, Any]:
    from goldlabel.verify import METHODS

    figures: dict[str, Any] = {"verify": {}, "methods": {}, "crowd_kit": {}}
    for pairs in sizes:
        path = folder / f"{pairs}.parquet"
        generate(path, pairs)
        seen = measure(run_verify, str(path))
        figures["verify"][pairs] = {"seconds": seen["seconds"], "peak_mb": seen["peak_mb"]}
        print(f"verify, {pairs:>9,} pairs, 4 groups: {seen['seconds']:6.1f} s, peak {seen['peak_mb']:,.0f} MB")
    for method in METHODS:
        seconds = measure(run_method, str(path), method)["result"]
        figures["methods"][method] = {"pairs": sizes[-1], "seconds": seconds}
        print(f"{method:18} {sizes[-1]:>9,} pairs: {seconds:6.2f} s")
    generate(folder / "beside.parquet", beside)
    for method in ("dawid-skene", "mace"):
        path = folder / "beside.parquet"
        ours, theirs = (measure(run, str(path), method)["result"] for run in (run_steps, run_crowd_kit))
        figures["crowd_kit"][method] = {"pairs": beside, "ours": ours, "theirs": theirs, "faster": theirs / ours}
        print(f"{method}: {theirs / ours:.0f} times as fast as crowd-kit on {beside:,} pairs")
    return figures


def saving(corpora: Path) -> dict[str, Any]:
    from goldlabel.pairs import Pairs
    from goldlabel.sources import add, load
    from goldlabel.verify import StoppingRule, fit_prior, simulate, votes_of

    figures: dict[str, Any] = {}
    for name in ("ocnli", "snli", "chaosnli"):
        if not (corpora / name).exists():
            continue
        add(name, [corpora / name])
        pairs = load(name)
        frame = pairs.collect().filter(pl.col("votes").list.len() >= 5).with_row_index("row")
        halves = [frame.filter(pl.col("row") % 2 == half).drop("row") for half in (0, 1)]
        pilot, rest = (votes_of(Pairs(half.lazy(), pairs.card)) for half in halves)
        prior = fit_prior(pilot.counts[:, : len(pilot.space)])
        for what, confidence, most in RULES:
            if rest.total.max() < most:
                continue
            simulated = simulate(rest, StoppingRule(confidence=confidence, most=most, prior=prior)).to_dict()
            figures[f"{name}, {what}"] = simulated
            print(
                f"{name:9} {what:23} {simulated['votes_per_pair']:.2f} verifiers instead of 4, "
                f"{simulated['saving']:.1f} % saved, {simulated['same_as_fixed']:.1f} % decided alike, "
                f"{simulated['right']:.1f} % right (fixed: {simulated['fixed_right']:.1f} %)"
            )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--beside", type=int, default=20_000, help="pairs for the comparison with crowd-kit")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GOLDLABEL_HOME"] = f"{folder}/home"
        figures = speed(Path(folder), options.pairs, options.beside)
        corpora = os.environ.get("GOLDLABEL_CORPORA")
        figures["saving"] = saving(Path(corpora)) if corpora else None
        if not corpora:
            print("saving: not measured, GOLDLABEL_CORPORA is not set")
    write_result("verify", figures)


if __name__ == "__main__":
    main()
