"""One model trained by processes of a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from goldlabel.errors import InputError
from goldlabel.train import TrainOptions, train
from goldlabel.train.cluster_devices import run_on_cluster
from goldlabel.train.task import Task, gather_task
from tests.train.samples import with_dev
from tests.train.test_devices import TOLERANCE, furthest

OPTIONS = TrainOptions(epochs=2, batch=7, device="cpu", options={"hidden": 8, "dropout": 0.0})


def make_task() -> Task:
    return gather_task("cbow", [with_dev()], OPTIONS)


def test_processes_of_a_cluster_train_as_one_does(tmp_path: Path) -> None:
    """By the command, on a Ray of its own, which ends with it: Ray Train leaves actors behind."""
    one = train("cbow", with_dev(), tmp_path / "one", options=OPTIONS)
    with_dev().save(tmp_path / "doors")
    command = [sys.executable, "-m", "goldlabel", "train", "cbow", "--on", str(tmp_path / "doors"), "--epochs", "2"]
    command += ["--batch", "7", "--device", "cpu", "--set", "hidden=8", "--set", "dropout=0", "--devices", "1"]
    command += ["--executor", "ray", "-o", str(tmp_path / "run"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dev"] == one.accuracies
    assert furthest(one.run, tmp_path / "run") < TOLERANCE
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("goldlabel-train-")] == []


def test_more_devices_than_the_cluster_has(cluster: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--devices 9: the cluster has \d cores; give at most so many"):
        run_on_cluster(make_task(), tmp_path / "run", devices=9)
