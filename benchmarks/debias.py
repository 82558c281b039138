"""Debiasing on planted truth: what an artifact costs a plain model, and what each method wins back.

    python benchmarks/debias.py [--seeds 6] [--pairs 4000]

See ``tests/train/planted.py`` for the pairs. Every model is trained on the biased and on the clean set and scored on
test pairs where the artifact misleads. Printed are means over the seeds with 95 % intervals (Student's t): accuracy
after biased training, the share won back of what the plain model lost, and the accuracy after clean training.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from measure import write_result
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.train.planted import make_options, make_planted, score

from goldlabel.audit import AFLite
from goldlabel.train.debias import DEBIAS

TEST = 1000
FIRST_SEED = 10
"""The recipe and the methods' usual options were chosen with the help of lower seeds, so others must judge them."""
RECIPE = {"epochs": 16, "lr": 0.001}
PLAIN, FILTERED = "plain", "AFLite's filtered set"
ROWS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    **{name: {"debias": name} for name in DEBIAS},
    "drift, two biases": {"debias": "drift", "bias": ("audit", "overlap")},
    "focal, weights=self": {"debias": "focal", "debias_options": {"weights": "self"}},
    "weighting, mode=prob": {"debias": "weighting", "debias_options": {"mode": "prob"}},
    FILTERED: {},
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=4000)
    chosen = parser.parse_args()
    biased: dict[str, list[float]] = {name: [] for name in ROWS}
    clean: dict[str, list[float]] = {name: [] for name in ROWS}
    for seed in range(FIRST_SEED, FIRST_SEED + chosen.seeds):
        planted = make_planted(chosen.pairs, TEST, seed)
        for name, changes in ROWS.items():
            for scores, pairs in ((biased, planted.biased), (clean, planted.clean)):
                train = pairs.split(AFLite(), seed=seed).pairs if name == FILTERED else pairs
                options = make_options(**RECIPE, **changes, seed=seed)
                scores[name].append(score(train, planted.reversed, options).defined)
            print(f"seed {seed}  {name:24} {100 * biased[name][-1]:5.1f} {100 * clean[name][-1]:5.1f}", flush=True)
    fall = np.array(clean[PLAIN]) - np.array(biased[PLAIN])
    figures = {"falls": interval(100 * fall)}
    print(f"\nthe plain model falls by {text(figures['falls'])} points\n")
    print("| method | biased | won back, % | clean | cost, points |\n| --- | --- | --- | --- | --- |")
    for name in ROWS:
        after, without = np.array(biased[name]), np.array(clean[name])
        row = {
            "biased": interval(100 * after),
            "won_back": interval(100 * (after - biased[PLAIN]) / fall.mean()),
            "clean": interval(100 * without),
            "cost": interval(100 * (np.array(clean[PLAIN]) - without)),
        }
        figures[name] = row
        print(f"| {name} | {' | '.join(text(entry) for entry in row.values())} |")
    write_result("debias", figures | {"seeds": chosen.seeds, "pairs": chosen.pairs})


def interval(values: Any) -> dict[str, float]:
    """Return the mean and half the width of its 95 % interval over the seeds."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    width = float(student.ppf(0.975, max(len(values) - 1, 1))) * spread / np.sqrt(len(values))
    return {"mean": float(np.mean(values)), "half_width": float(width)}


def text(figure: dict[str, float]) -> str:
    return f"{figure['mean']:.1f} ± {figure['half_width']:.1f}"


if __name__ == "__main__":
    main()
