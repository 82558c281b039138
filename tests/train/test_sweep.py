"""Many runs of one model."""

from __future__ import annotations

import json
import os
import signal
import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

torch = pytest.importorskip("torch")

from goldlabel.errors import GoldlabelError, InputError  # noqa: E402
from goldlabel.files import lock_folder  # noqa: E402
from goldlabel.models import network as network_module  # noqa: E402
from goldlabel.models.cbow import CBOW  # noqa: E402
from goldlabel.train import Sweep, sweep, train  # noqa: E402
from goldlabel.train.run import Step  # noqa: E402
from goldlabel.train.trainer import Interrupted  # noqa: E402
from tests.train.samples import SMALL, make_pairs, weights, with_dev  # noqa: E402


def many(folder: Path, on: Any = None, **changes: Any) -> Sweep:
    return sweep("cbow", with_dev() if on is None else on, folder, **{**SMALL, "epochs": 2, "lr": 0.01, **changes})


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Here and in child processes."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_seeds_sizes_and_points_have_readable_folders(tmp_path: Path) -> None:
    grid = {"lr": [0.01, 0.001], "hidden": [4]}
    result = many(tmp_path / "runs", seeds=2, seed=1, curve=[24, 12], grid=grid)
    expected = [
        f"size-{size}/lr-{lr}_hidden-4/seed-{seed}" for size in (12, 24) for lr in ("0.01", "0.001") for seed in (1, 2)
    ]
    assert list(result.runs) == expected
    assert [str(path.parent.relative_to(tmp_path / "runs")) for path in (tmp_path / "runs").rglob("result.json")]
    assert all((tmp_path / "runs" / name / "model.safetensors").exists() for name in expected)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["size-12", "size-24", "summary.json"]
    assert result.table.columns == ["size", "lr", "hidden", "runs", "doors"]
    assert len(result.table) == 4
    assert list(many(tmp_path / "seeds", seeds=2).runs) == ["seed-0", "seed-1"]


def test_a_run_of_a_sweep_is_that_run_alone(tmp_path: Path) -> None:
    many(tmp_path / "runs", seeds=2, grid={"dropout": [0.0, 0.4]})
    train("cbow", with_dev(), tmp_path / "alone", **{**SMALL, "epochs": 2, "lr": 0.01, "dropout": 0.4, "seed": 1})
    assert weights(tmp_path / "runs" / "dropout-0.4" / "seed-1") == weights(tmp_path / "alone")


def test_figures_over_seeds(tmp_path: Path) -> None:
    dev = [make_pairs(24, name="front", first=500), make_pairs(24, name="back", first=600)]
    result = many(tmp_path / "runs", make_pairs(24), dev=dev, seeds=3, grid={"lr": [0.02, 1e-9]})
    figures = {case["case"]: case for case in result.to_dict()["cases"]}
    for name in ("lr-0.02", "lr-1e-09"):
        runs = [result.runs[f"{name}/seed-{seed}"] for seed in range(3)]
        for one in ("front", "back"):
            values = [run.accuracies[one] for run in runs]
            assert figures[name]["dev"][one] == {
                "mean": pytest.approx(statistics.fmean(values)),
                "sd": pytest.approx(statistics.stdev(values)),
                "runs": 3,
            }
        means = [statistics.fmean(run.accuracies.values()) for run in runs]
        assert figures[name]["mean"]["mean"] == pytest.approx(statistics.fmean(means))
    best = max(figures, key=lambda name: figures[name]["mean"]["mean"])
    assert result.best is not None
    assert result.best.name == best == "lr-0.02"
    document = result.to_dict()
    assert document["dev"] == {name: figures[best]["dev"][name]["mean"] for name in ("front", "back")}
    assert {"run", "model", "parameters", "epochs", "dev", "seconds", "pairs_per_second", "seed"} <= set(document)
    assert json.loads((tmp_path / "runs" / "summary.json").read_text()) == json.loads(json.dumps(document))
    assert result.table.columns == ["lr", "runs", "front", "back", "mean"]
    assert "±" in result.table["mean"][0]
    assert result.title.endswith("best: lr-0.02")


def test_the_sizes_of_a_learning_curve_are_nested(tmp_path: Path) -> None:
    result = many(tmp_path / "runs", curve=[12, 30], seeds=2, epochs=1)
    ids = {
        name: set(pl.read_parquet(tmp_path / "runs" / name / "dynamics" / "epoch-001.parquet")["id"])
        for name in result.runs
    }
    for seed in (0, 1):
        assert len(ids[f"size-12/seed-{seed}"]) == 12
        assert ids[f"size-12/seed-{seed}"] < ids[f"size-30/seed-{seed}"]
    assert ids["size-12/seed-0"] != ids["size-12/seed-1"]
    assert [run.pairs for run in result.runs.values()] == [12, 12, 30, 30]
    assert result.best is not None
    assert result.best.name == "size-30"


def test_everything_is_tokenised_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    real = network_module.build_encoder
    monkeypatch.setattr(network_module, "build_encoder", lambda *a, **o: built.append(1) or real(*a, **o))
    many(tmp_path / "runs", seeds=2, curve=[12, 24], grid={"lr": [0.01, 0.02]}, epochs=1)
    assert len(built) == 1
    many(tmp_path / "other", seeds=2, grid={"tokenizer": ["words", "characters"]}, epochs=1)
    assert len(built) == 3
    assert not (tmp_path / "runs" / "encoded").exists()


@pytest.mark.usefixtures("one_thread")
def test_several_at_a_time_give_the_same(tmp_path: Path) -> None:
    told: set[str] = set()
    options = {"seeds": 3, "dropout": 0.3}
    one = many(tmp_path / "one", **options)
    two = many(tmp_path / "two", **options, jobs=2, on_step=lambda name, step: told.add(name))
    assert list(one.runs) == list(two.runs)
    assert told <= set(two.runs)
    assert told, "what processes tell arrives"
    for name in one.runs:
        assert weights(tmp_path / "one" / name) == weights(tmp_path / "two" / name)
        assert one.runs[name].dev == two.runs[name].dev
    assert not (tmp_path / "two" / "encoded").exists()


@pytest.mark.usefixtures("one_thread")
def test_a_process_that_dies_takes_no_other_run_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    with monkeypatch.context() as patched:
        path = os.environ.get("PYTHONPATH")
        patched.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *([path] if path else [])]))
        result = sweep("majority", with_dev(), tmp_path / "runs", seeds=2, jobs=2)
    assert list(result.runs) == ["seed-0"]
    assert result.failed == {"seed-1": "its process died, for want of memory perhaps; run again with fewer --jobs"}
    again = sweep("majority", with_dev(), tmp_path / "runs", seeds=2)
    assert list(again.runs) == ["seed-0", "seed-1"], "the same call completes it"


KILLER = """
import os, signal, sys
if "spawn_main" in " ".join(sys.orig_argv):
    import importlib
    module = importlib.import_module("goldlabel.train.sweep")
    real = module._train

    def kill(tell, task, folder, name):
        if name == "seed-1":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(tell, task, folder, name)

    kill.__module__, kill.__qualname__ = "goldlabel.train.sweep", "_train"
    module._train = kill
"""
"""Python runs this first: in the processes of the sweep, one run kills its own."""


def test_a_run_that_fails_names_itself_and_the_others_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forward = CBOW.forward

    def faulty(self: CBOW, premise: Any, hypothesis: Any, **options: Any) -> Any:
        if self.head[0].out_features == 5:
            raise ZeroDivisionError("a fault of ours")
        outputs = forward(self, premise, hypothesis, **options)
        return replace(outputs, logits=outputs.logits * (float("nan") if self.head[0].out_features == 6 else 1.0))

    monkeypatch.setattr(CBOW, "forward", faulty)
    result = many(tmp_path / "runs", grid={"hidden": [4, 5, 6, 7]})
    assert list(result.runs) == ["hidden-4/seed-0", "hidden-7/seed-0"]
    assert set(result.failed) == {"hidden-5/seed-0", "hidden-6/seed-0"}
    assert "ZeroDivisionError: a fault of ours (see " in result.failed["hidden-5/seed-0"]
    assert "not a finite number at step 1" in result.failed["hidden-6/seed-0"]
    assert "in faulty" in (tmp_path / "runs" / "hidden-5" / "seed-0" / "error.txt").read_text()
    assert json.loads((tmp_path / "runs" / "summary.json").read_text())["failed"] == result.failed
    assert [row["runs"] for row in result.table.to_dicts()] == [1, 0, 0, 1]
    monkeypatch.undo()
    again = many(tmp_path / "runs", grid={"hidden": [4, 5, 6, 7]})
    assert (len(again.runs), again.failed) == (4, {})
    assert not (tmp_path / "runs" / "hidden-5" / "seed-0" / "error.txt").exists()


def test_an_interrupted_sweep_goes_on(tmp_path: Path) -> None:
    def stop(name: str, step: Step) -> bool:
        return name == "seed-1" and step.epoch == 2

    with pytest.raises(Interrupted):
        many(tmp_path / "runs", seeds=3, on_step=stop)
    assert json.loads((tmp_path / "runs" / "summary.json").read_text())["cases"][0]["runs"] == 1
    finished = (tmp_path / "runs" / "seed-0" / "result.json").stat().st_mtime_ns
    result = many(tmp_path / "runs", seeds=3)
    assert len(result.runs) == 3
    assert (tmp_path / "runs" / "seed-0" / "result.json").stat().st_mtime_ns == finished
    whole = many(tmp_path / "whole", seeds=3)
    for name in whole.runs:
        assert weights(tmp_path / "runs" / name) == weights(tmp_path / "whole" / name)
    more = many(tmp_path / "runs", seeds=4)
    assert len(more.runs) == 4, "more seeds join those that are there"


@pytest.mark.usefixtures("one_thread")
def test_interrupted_processes_save_their_runs(tmp_path: Path) -> None:
    pressed: list[str] = []

    def stop(name: str, step: Step) -> None:
        if not pressed:
            pressed.append(name)
            os.kill(os.getpid(), signal.SIGINT)

    long = {"seeds": 2, "epochs": 4_000, "patience": 4_000}
    with pytest.raises(KeyboardInterrupt):
        many(tmp_path / "runs", jobs=2, on_step=stop, **long)
    saved = [path.parent.name for path in (tmp_path / "runs").rglob("checkpoint.pt")]
    assert set(pressed) <= set(saved), "the run that told of a step has saved its state"
    assert not list((tmp_path / "runs").rglob("result.json"))


def test_baselines_sweep_too(tmp_path: Path) -> None:
    result = sweep("linear", with_dev(), tmp_path / "runs", curve=[6, 48], seeds=2, grid={"regularisation": [0.1, 10]})
    assert len(result.runs) == 8
    assert result.best is not None
    assert result.best.values["size"] == 48


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 0}, "0 seeds cannot be"),
        ({"jobs": 0}, "0 jobs cannot be"),
        ({"curve": [49]}, "49 pairs were asked for and there are 48"),
        ({"curve": [0]}, "size 0 is not a number from 1 on"),
        ({"grid": {"lr": [0.1], "stop_on": ["dors"]}}, "did you mean 'doors'"),
        ({"grid": {"lrr": [0.1]}}, "did you mean 'lr'"),
        ({"vectors": "nowhere.txt"}, "no such file of vectors"),
    ],
)
def test_sweeps_that_cannot_be(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(GoldlabelError, match=message):
        many(tmp_path / "runs", **changes)
    assert not list((tmp_path / "runs").rglob("result.json"))


def test_folders_of_something_else_are_left_alone(tmp_path: Path) -> None:
    train("majority", with_dev(), tmp_path / "run")
    with pytest.raises(InputError, match="holds a single run; choose another folder for several"):
        many(tmp_path / "run", seeds=2)
    with pytest.raises(InputError, match="weights that stay as they are need no sweep"):
        sweep("majority", with_dev(), tmp_path / "fixed", seeds=2, start=str(tmp_path / "run"), fixed=True)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years")
    with pytest.raises(InputError, match="holds something else than runs"):
        many(tmp_path / "thesis", seeds=2)
    many(tmp_path / "runs", seeds=2)
    with pytest.raises(InputError, match=r"seed-0: holds a run with other settings \(lr\)"):
        many(tmp_path / "runs", seeds=2, lr=0.5)
    with pytest.raises(InputError, match="runs: holds something else than a run"):
        train("cbow", with_dev(), tmp_path / "runs", **SMALL)


def test_two_sweeps_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        lock_folder(tmp_path / "runs", "training"),
        pytest.raises(InputError, match="runs: another process is training here; wait for it, or choose another"),
    ):
        many(tmp_path / "runs", seeds=2)
    assert len(many(tmp_path / "runs", seeds=2).runs) == 2
