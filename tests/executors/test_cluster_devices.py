"""One model trained by processes of a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')

from goldlabel.train import TrainOptions, train
from tests.train.samples import with_dev
from tests.train.test_devices import TOLERANCE, furthest

OPTIONS = TrainOptions(epochs=2, batch=7, device="cpu", options={"hidden": 8, "dropout": 0.0})


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
