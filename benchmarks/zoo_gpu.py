"""All nine networks of the cross-dataset paper, trained to convergence on one GPU in one command.

    python benchmarks/zoo_gpu.py --on snli --vectors glove.npz   # by default generated pairs and random vectors

Runs share the GPU, --jobs at a time: a single one leaves most of it idle. With NVIDIA's multi-process service
(nvidia-cuda-mps-control -d) their kernels run beside each other and not in turns. Batches, rates and all else are those
of the published recipes; every run stops when its dev accuracy has not got better for --patience epochs. Printed per
model: minutes, epochs, dev and test accuracy.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from measure import write_result

from goldlabel.models import load_model
from goldlabel.sources import find
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.train.fit import run_task
from goldlabel.train.options import TrainOptions
from goldlabel.train.task import gather_task

NETWORKS = "diin,hbmp,disan,bimpm,lstm,infersent,esim,bilstm-siamese,decomposable-attention"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", default=None, help="pairs with train, dev and test splits; generated ones by default")
    parser.add_argument("--vectors", default=None)
    parser.add_argument("--jobs", type=int, default=5, help="networks trained at a time")
    parser.add_argument("--patience", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--models", default=NETWORKS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--limit", type=int, default=None)
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("no CUDA device: nothing is trained")
        return
    start = time.perf_counter()
    figures: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool,
    ):
        cases = [(name, seed) for name in arguments.models.split(",") for seed in range(arguments.seeds)]
        running = {pool.submit(train_one, *case, folder, vars(arguments)): case for case in cases}
        for done in as_completed(running):
            name, seed = running[done]
            figures[f"{name}/seed-{seed}"] = row = done.result()
            print(f"{name:24} seed {seed} {row}", flush=True)
    total = (time.perf_counter() - start) / 60
    print(f"all: {total:.1f} minutes")
    write_result("zoo_gpu", {"runs": figures, "minutes": total, "jobs": arguments.jobs})


def train_one(name: str, seed: int, folder: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Train one network and score the test split."""
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // arguments["jobs"]))
    start = time.perf_counter()
    given = arguments["on"]
    pairs = find(given) if given else fragment_pairs("en", 6_000, seed=0).split("80:10:10").pairs
    options = TrainOptions(
        seed=seed,
        vectors=arguments["vectors"],
        device=arguments["device"],
        patience=arguments["patience"],
        epochs=arguments["epochs"],
    )
    task = gather_task(name, [pairs], options, sizes=[arguments["limit"]])
    run = Path(folder) / name / f"seed-{seed}"
    result = run_task(task, run)
    test = pairs.only(split="test", label=list(pairs.card.label_space.labels)).collect()
    model = load_model(run, arguments["device"])
    shares = model.predict(test["premise"].to_list(), test["hypothesis"].to_list())
    gold = test["label"].to_numpy()
    right = [model.label_space.labels[index] for index in shares.argmax(axis=1)] == gold
    return {
        "minutes": round((time.perf_counter() - start) / 60, 2),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "dev": round(next(iter(result.accuracies.values())), 4),
        "test": round(float(right.mean()), 4),
        "pairs_per_second": round(result.pairs_per_second),
        "parameters": result.parameters,
    }


if __name__ == "__main__":
    main()
