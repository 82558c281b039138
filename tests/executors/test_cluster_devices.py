"""One model trained by processes of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from goldlabel.errors import InputError
from goldlabel.train import TrainOptions, train
from goldlabel.train.cluster_devices import run_on_cluster
from goldlabel.train.task import Task, gather_task
from tests.train.samples import with_dev
from tests.train.test_devices import TOLERANCE, furthest

# Of Ray itself, about its own settings.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

OPTIONS = TrainOptions(epochs=2, batch=7, device="cpu", options={"hidden": 8, "dropout": 0.0})


def make_task() -> Task:
    return gather_task("cbow", [with_dev()], OPTIONS)


def test_processes_of_a_cluster_train_as_one_does(cluster: str, tmp_path: Path) -> None:
    one = train("cbow", with_dev(), tmp_path / "one", options=OPTIONS)
    run = run_on_cluster(make_task(), tmp_path / "run", devices=1)
    assert furthest(one.run, run.run) < TOLERANCE
    assert run.accuracies == one.accuracies
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("goldlabel-train-")] == []


def test_more_devices_than_the_cluster_has(cluster: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--devices 9: the cluster has \d cores; give at most so many"):
        run_on_cluster(make_task(), tmp_path / "run", devices=9)
