"""Several processes train one model: as one would, whoever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

from safetensors.numpy import load_file  # noqa: E402

from goldlabel.errors import GoldlabelError, InputError  # noqa: E402
from goldlabel.train import Run, train  # noqa: E402
from goldlabel.train.run import CHECKPOINT, DYNAMICS, Step  # noqa: E402
from goldlabel.train.trainer import Interrupted  # noqa: E402
from tests.train.samples import SMALL, weights, with_dev  # noqa: E402

TOLERANCE = 1e-5
"""Gradients are added up in another order; over these few steps weights differ by no more."""


def quick(folder: Path, **changes: Any) -> Run:
    return train("cbow", with_dev(), folder, **{"epochs": 3, "batch": 7, **SMALL, **changes})


def furthest(one: Path, other: Path) -> float:
    """Return by how much any weight of two runs differs."""
    ours, theirs = (load_file(run / "model.safetensors") for run in (one, other))
    assert ours.keys() == theirs.keys()
    return max(float(np.abs(ours[name] - theirs[name]).max()) for name in ours)


def dynamics(run: Path) -> np.ndarray:
    tables = [pl.read_parquet(path) for path in sorted((run / DYNAMICS).iterdir())]
    return np.array([row for table in tables for row in table["probabilities"].to_list()])


def losses(run: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_two_processes_train_as_one_does(tmp_path: Path) -> None:
    """In batches of seven, which do not come out even, so that shares differ."""
    one, two = quick(tmp_path / "one"), quick(tmp_path / "two", devices=2)
    assert 0 < furthest(one.run, two.run) < TOLERANCE
    assert np.allclose(dynamics(one.run), dynamics(two.run), atol=TOLERANCE)
    assert losses(one.run) == pytest.approx(losses(two.run), abs=TOLERANCE)
    assert one.accuracies == two.accuracies
    assert json.loads((two.run / "environment.json").read_text())["devices"] == 2


def test_a_run_goes_on_with_as_many_and_ends_in_the_same_weights(tmp_path: Path) -> None:
    whole = quick(tmp_path / "whole", devices=2, dropout=0.3)
    steps: list[Step] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return len(steps) == 9

    with pytest.raises(Interrupted):
        quick(tmp_path / "run", devices=2, dropout=0.3, on_step=stop)
    assert (tmp_path / "run" / CHECKPOINT).exists()
    assert quick(tmp_path / "run", devices=2, dropout=0.3).epochs == 3
    assert weights(tmp_path / "run") == weights(whole.run)


def test_one_that_dies_ends_the_others_and_one_process_goes_on(tmp_path: Path) -> None:
    quick(tmp_path / "alone")
    steps: list[Step] = []

    def kill(step: Step) -> None:
        steps.append(step)
        if len(steps) == 8:
            os.kill(sorted(child.pid for child in active_children() if child.pid)[-1], signal.SIGKILL)

    with pytest.raises(GoldlabelError, match="the process of device 1 died"):
        quick(tmp_path / "run", devices=2, on_step=kill)
    assert active_children() == []
    quick(tmp_path / "run")
    assert furthest(tmp_path / "alone", tmp_path / "run") < TOLERANCE


def test_what_is_not_trained_in_steps_needs_no_devices(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="linear is not trained in steps"):
        train("linear", with_dev(), tmp_path / "run", devices=2)


def test_torchrun_starts_the_processes_just_as_well(tmp_path: Path) -> None:
    with_dev().save(tmp_path / "doors")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--no-python", sys.executable]
    command += ["-m", "goldlabel", "train", "cbow", "--on", str(tmp_path / "doors"), "-o", str(tmp_path / "run")]
    options = ["--epochs", "1", "--set", "hidden=8", "--set", "dropout=0", "--device", "cpu", "--json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["epochs"] == 1
    quick(tmp_path / "one", epochs=1, batch=None)
    assert furthest(tmp_path / "one", tmp_path / "run") < TOLERANCE
