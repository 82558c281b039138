"""Runs that are killed or interrupted go on as if they had not been."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from goldlabel.errors import InputError  # noqa: E402
from goldlabel.train import Run, train  # noqa: E402
from goldlabel.train import run as run_module  # noqa: E402
from goldlabel.train import trainer as trainer_module  # noqa: E402
from goldlabel.train.run import RunFolder, Step  # noqa: E402
from goldlabel.train.step import TrainingStep  # noqa: E402
from goldlabel.train.trainer import Interrupted  # noqa: E402
from tests.train.samples import SMALL, make_pairs, weights, with_dev, write_vectors  # noqa: E402

OPTIONS: dict[str, Any] = {**SMALL, "dropout": 0.2, "epochs": 4, "batch": 6, "accumulate": 2, "lr": 0.01}

CHILD = """
import sys
from pathlib import Path
from goldlabel.train import train, trainer
from tests.train.samples import with_dev
from tests.train.test_resume import OPTIONS

trainer.CHECKPOINT_SECONDS = 0.0
print("begins", flush=True)
train("cbow", with_dev(), sys.argv[1], on_step=lambda step: print("step", flush=True), **OPTIONS)
"""
"""A checkpoint after every step, and a word to the parent, who then kills."""


def whole(folder: Path, **changes: Any) -> Run:
    """The run without any interruption."""
    return train("cbow", with_dev(), folder, **{**OPTIONS, **changes})


def same(run: Path, other: Path) -> None:
    """Weights, metrics and probabilities are equal, to the bit; only the time taken differs."""
    assert weights(run) == weights(other)
    logged = [
        [
            {name: value for name, value in json.loads(line).items() if name != "seconds"}
            for line in (folder / "metrics.jsonl").read_text().splitlines()
        ]
        for folder in (run, other)
    ]
    assert logged[0] == logged[1]
    tables = [sorted((folder / "dynamics").iterdir()) for folder in (run, other)]
    assert [path.name for path in tables[0]] == [path.name for path in tables[1]]
    for one, two in zip(*tables, strict=True):
        assert pl.read_parquet(one).equals(pl.read_parquet(two))
    assert sorted(path.name for path in run.iterdir()) == sorted(path.name for path in other.iterdir())


def spawn(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, folder],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_killed_at_random_moments_and_gone_on_with(tmp_path: Path) -> None:
    chance = random.Random(5)
    run = tmp_path / "run"
    for steps in (0, chance.randint(1, 6)):
        child = spawn(run)
        assert child.stdout is not None
        for _ in range(1 + steps):
            assert child.stdout.readline(), "the run ended before it was killed"
        time.sleep(chance.random() / 20)
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
        assert child.wait() == -signal.SIGKILL
        assert not (run / "result.json").exists()
    assert (run / "checkpoint.pt").exists()
    whole(run)
    whole(tmp_path / "whole")
    same(run, tmp_path / "whole")


def test_leftovers_of_killed_writes_are_cleared_away(tmp_path: Path) -> None:
    """What a process leaves that is killed in the middle of a write: temporary files, and half a line."""
    run = tmp_path / "run"
    with pytest.raises(Interrupted):
        whole(run, on_step=lambda step: step.epoch == 2)
    for name in (
        ".checkpoint.pt.ab12_3xy.pt",
        ".model.safetensors.q7w8e9r0.safetensors",
        "dynamics/.e.aaaaaaaa.parquet",
    ):
        (run / name).write_bytes(b"half")
    with (run / "metrics.jsonl").open("a") as stream:
        stream.write('{"epoch": 2, "st')
    whole(run)
    whole(tmp_path / "whole")
    same(run, tmp_path / "whole")
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / ".environment.json.ab12_3xy.json").write_text("{")
    assert whole(fresh).epochs == 4


@pytest.mark.parametrize("moment", ["a step", "the end of an epoch", "the end"])
def test_stopping_saves_and_the_same_call_goes_on(tmp_path: Path, moment: str) -> None:
    run, seen = tmp_path / "run", []

    def stop(step: Step) -> bool:
        seen.append(step)
        if moment == "a step":
            return step.epoch == 2 and step.pairs == 24
        return step.epoch == (4 if moment == "the end" else 2) and step.pairs == step.of

    with pytest.raises(Interrupted):
        whole(run, on_step=stop)
    assert (run / "checkpoint.pt").exists()
    assert not (run / "result.json").exists()
    told: list[Step] = []
    result = whole(run, on_step=told.append)
    assert len(seen) + len(told) <= 4 * 5 + 1
    assert result.epochs == 4
    whole(tmp_path / "whole")
    same(run, tmp_path / "whole")
    assert whole(run, on_step=told.append) == result, "a finished run is not trained again"


def test_a_signal_waits_for_the_end_of_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    backward, calls = TrainingStep.backward, 0

    def interrupted(self: TrainingStep, *arguments: Any) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 5:
            signal.raise_signal(signal.SIGINT)
        return backward(self, *arguments)

    monkeypatch.setattr(TrainingStep, "backward", interrupted)
    with pytest.raises(Interrupted):
        whole(tmp_path / "run")
    assert signal.getsignal(signal.SIGINT) is before
    assert calls == 6, "the second batch of the step was done"
    state = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert (state["steps"], state["done"]) == (3, 6)
    whole(tmp_path / "run")
    whole(tmp_path / "whole")
    same(tmp_path / "run", tmp_path / "whole")


def test_a_second_signal_stops_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(self: TrainingStep, *_: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(TrainingStep, "backward", twice)
    with pytest.raises(KeyboardInterrupt) as raised:
        whole(tmp_path / "run")
    assert raised.type is KeyboardInterrupt


def test_checkpoints_are_due_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(RunFolder, "write_checkpoint", lambda _, state, *best: written.append(state["done"]))
    whole(tmp_path / "never", epochs=1)
    assert written == []
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SHARE", math.inf)  # however long one takes on a busy machine
    whole(tmp_path / "always", epochs=1)
    assert written == [2, 4, 6, 8, 0]


def test_a_run_of_other_settings_is_left_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(Interrupted):
        whole(run, on_step=lambda step: True)
    for changes, named in (({"lr": 0.02}, "lr"), ({"hidden": 9}, "options"), ({"seed": 1}, "seed")):
        with pytest.raises(InputError, match=rf"holds a run with other settings \({named}\); give the same ones"):
            whole(run, **changes)
    with pytest.raises(InputError, match=r"other settings \(on\)"):
        train("cbow", make_pairs(12), run, dev=with_dev(), **OPTIONS)
    with pytest.raises(InputError, match=r"other settings \(model, options\)"):
        train("lstm", with_dev(), run, **{**OPTIONS, "hidden": 9})
    whole(run)
    with pytest.raises(InputError, match="other settings"):
        whole(run, lr=0.02)


def test_a_run_that_failed_before_it_began_gives_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file of vectors"):
        whole(tmp_path / "run", vectors="nowhere.txt")
    assert not (tmp_path / "run").exists()
    write_vectors(tmp_path / "vectors.txt", ["Elefant"])
    with pytest.raises(InputError, match="has no vector of any word that is needed"):
        whole(tmp_path / "run", vectors=str(tmp_path / "vectors.txt"))
    assert whole(tmp_path / "run").epochs == 4


def test_a_damaged_checkpoint_and_one_of_a_newer_version(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        whole(tmp_path / "run", on_step=lambda step: True)
    path = tmp_path / "run" / "checkpoint.pt"
    state = torch.load(path, weights_only=True)
    torch.save({**state, "format": 99}, path)
    with pytest.raises(InputError, match="written by a newer version of Goldlabel; update to go on"):
        whole(tmp_path / "run")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(InputError, match=r"checkpoint\.pt: is damaged or missing; delete checkpoint\.pt to begin"):
        whole(tmp_path / "run")
    path.unlink()
    assert whole(tmp_path / "run").epochs == 4


def test_checkpoints_hold_what_is_trained_and_the_best_weights_are_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vectors(tmp_path / "vectors.txt", ["gate", "the", "stands"])
    written: list[str] = []
    save = run_module._save_tensors
    monkeypatch.setattr(run_module, "_save_tensors", lambda state, path: (written.append(path.name), save(state, path)))
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SHARE", math.inf)
    options = {"vectors": str(tmp_path / "vectors.txt"), "train_vectors": False, "patience": 9}
    run = tmp_path / "run"
    with pytest.raises(Interrupted):
        whole(run, on_step=lambda step: step.epoch == 4, **options)
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    best = torch.load(run / f"best-{state['best_epoch']}.pt", weights_only=True)
    assert "head.0.weight" in state["network"]
    assert "words.weight" not in state["network"].keys() | best.keys(), "frozen vectors are as they were built"
    assert not any("network" in name or "best_weights" in name for name in state if name != "network")
    bests = [name for name in written if name.startswith("best-")]
    assert len(bests) == len(set(bests)) < len(written) / 3
    assert [path.name for path in run.glob("best-*")] == [f"best-{state['best_epoch']}.pt"]
    whole(run, **options)
    whole(tmp_path / "whole", **options)
    same(run, tmp_path / "whole")
    assert not list(run.glob("best-*"))


def test_best_weights_that_are_damaged_are_forgotten_with_the_checkpoint(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(Interrupted):
        whole(run, on_step=lambda step: step.epoch == 4)
    best = next(run.glob("best-*"))
    best.write_bytes(best.read_bytes()[:500])
    with pytest.raises(InputError, match=r"best-\d\.pt: is damaged or missing; delete checkpoint\.pt to begin"):
        whole(run)
    (run / "checkpoint.pt").unlink()
    with pytest.raises(Interrupted):
        whole(run, on_step=lambda step: step.epoch == 4)
    whole(run)
    whole(tmp_path / "whole")
    same(run, tmp_path / "whole")
