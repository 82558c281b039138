"""Training on a GPU: captured steps, exact resume, precisions, want of memory, two runs at once.

Run by ``make test-gpu`` where there is one; elsewhere these tests are skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import goldlabel as gl  # noqa: E402
from goldlabel.errors import GoldlabelError  # noqa: E402
from goldlabel.models import MODELS  # noqa: E402
from goldlabel.models.network import Network  # noqa: E402
from goldlabel.train import Run, sweep, train  # noqa: E402
from goldlabel.train import step as step_module  # noqa: E402
from goldlabel.train.debias import DEBIAS  # noqa: E402
from goldlabel.train.objective import CrossEntropy  # noqa: E402
from goldlabel.train.step import CapturedSteps, TrainingStep  # noqa: E402
from goldlabel.train.trainer import Interrupted  # noqa: E402
from tests.models.test_networks import SMALL  # noqa: E402
from tests.train.samples import weights, with_dev  # noqa: E402

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device, or CUDA=1 is not set: training on a GPU is not seen"
)

NETWORKS = sorted(name for name in MODELS if issubclass(MODELS.get(name), Network))
DROPS = {"cbow", "bilstm", "bilstm-siamese", "esim", "esim-nyu", "hbmp", "disan", "bimpm", "lstm"}
PAIRS = with_dev(192, 24)

KILLED = """
import sys
from goldlabel.train import train, trainer
from tests.train.test_gpu import PAIRS, settings

trainer.CHECKPOINT_SECONDS = 0.0
train(sys.argv[1], PAIRS, sys.argv[2], on_step=lambda step: print("step", flush=True), **settings(sys.argv[1]))
"""


@pytest.fixture(params=NETWORKS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes that were captured."""
    keys: list[Any] = []
    capture = CapturedSteps._capture

    def noted(self: CapturedSteps, rows: Any, sizes: Any) -> Any:
        keys.append((len(rows), sizes))
        return capture(self, rows, sizes)

    monkeypatch.setattr(CapturedSteps, "_capture", noted)
    return keys


def settings(name: str, **changes: Any) -> dict[str, Any]:
    dropout = {"dropout": 0.3} if name in DROPS else {}
    return {"device": "cuda", "epochs": 3, "batch": 8, "precision": "fp32", **SMALL[name], **dropout, **changes}


def fit(name: str, folder: Path, **changes: Any) -> Run:
    return train(name, PAIRS, folder, **settings(name, **changes))


def test_captured_steps_give_the_same_weights(
    name: str, tmp_path: Path, captures: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(name, tmp_path / "captured")
    assert captures, "steps are captured"
    monkeypatch.setattr(step_module, "LEAST_BATCHES", 10**9)
    before = len(captures)
    fit(name, tmp_path / "alone")
    assert len(captures) == before
    assert weights(tmp_path / "captured") == weights(tmp_path / "alone")


@pytest.mark.parametrize("precision", ["fp32", "tf32", "bf16"])
def test_every_precision_learns(name: str, precision: str, tmp_path: Path) -> None:
    fit(name, tmp_path / "run", precision=precision, epochs=2)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert all(np.isfinite(line["loss"]) for line in lines)
    here, there = (
        gl.load_model(tmp_path / "run", device).predict(["The gate stands open."], ["The gate is locked."])
        for device in ("cpu", "cuda")
    )
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_a_run_that_was_stopped_twice_ends_in_the_same_weights(name: str, tmp_path: Path) -> None:
    fit(name, tmp_path / "whole")
    for epoch in (1, 3):
        with pytest.raises(Interrupted):
            fit(name, tmp_path / "run", on_step=lambda step, epoch=epoch: step.epoch == epoch)
    fit(name, tmp_path / "run")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


@pytest.mark.parametrize("name", ["bilstm-siamese", "hbmp"])
def test_a_run_that_was_killed_twice_ends_in_the_same_weights(name: str, tmp_path: Path) -> None:
    fit(name, tmp_path / "whole")
    for words in (1, 2):
        command = [sys.executable, "-c", KILLED, name, str(tmp_path / "run")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(words):
                assert process.stdout.readline() == "step\n"
            process.kill()
        assert not (tmp_path / "run" / "result.json").exists()
    fit(name, tmp_path / "run")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_want_of_memory_names_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is on the device before the memory is made scarce, and its first batch does not fit."""
    total, backward = torch.cuda.get_device_properties(0).total_memory, TrainingStep.backward

    def scarce(self: TrainingStep, *arguments: Any) -> Any:
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 2**21) / total)
        return backward(self, *arguments)

    monkeypatch.setattr(TrainingStep, "backward", scarce)
    try:
        with pytest.raises(GoldlabelError, match=r"out of memory in batch 1 of epoch 1: 192 pairs .* --batch-tokens"):
            fit("bilstm-siamese", tmp_path / "run", batch=192, hidden=512)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    monkeypatch.undo()
    fit("bilstm-siamese", tmp_path / "other")


def test_a_step_that_cannot_be_captured_is_made_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An objective that waits for the device; dropout needs random numbers after the capture that failed."""
    fit("cbow", tmp_path / "captured")
    forward = CrossEntropy.forward

    def waiting(self: CrossEntropy, *arguments: Any) -> Any:
        loss = forward(self, *arguments)
        assert loss.item() > 0
        return loss

    monkeypatch.setattr(CrossEntropy, "forward", waiting)
    (note,) = fit("cbow", tmp_path / "alone").notes
    assert "steps cannot be captured into CUDA graphs and are made one by one" in note
    assert weights(tmp_path / "captured") == weights(tmp_path / "alone")


@pytest.mark.parametrize("when", [0, 2])
def test_a_graph_that_finds_no_memory_is_no_end_of_the_run(
    when: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device is full while the first or a later size is captured, and has room for single steps."""
    monkeypatch.setattr(step_module, "ROUND_TO", 1)
    monkeypatch.setattr(step_module, "LEAST_BATCHES", 1)
    fit("bilstm-siamese", tmp_path / "captured")
    whole, captured = TrainingStep.whole, 0

    def full(self: TrainingStep, *arguments: Any) -> Any:
        nonlocal captured
        loss = whole(self, *arguments)
        if torch.cuda.is_current_stream_capturing():
            captured += 1
            if captured > when:
                torch.empty(2**42, device="cuda")
        return loss

    monkeypatch.setattr(TrainingStep, "whole", full)
    (note,) = fit("bilstm-siamese", tmp_path / "alone").notes
    assert "made one by one (CUDA out of memory" in note
    assert captured == when + 1
    assert weights(tmp_path / "captured") == weights(tmp_path / "alone")


def test_two_runs_at_once_are_as_one_after_the_other(tmp_path: Path) -> None:
    options = settings("esim", epochs=2)
    apart = sweep("esim", PAIRS, tmp_path / "apart", seeds=2, **options)
    beside = sweep("esim", PAIRS, tmp_path / "beside", seeds=2, jobs=2, **options)
    assert list(apart.runs) == list(beside.runs) == ["seed-0", "seed-1"]
    for run in apart.runs:
        assert weights(tmp_path / "apart" / run) == weights(tmp_path / "beside" / run)


@pytest.mark.parametrize("method", list(DEBIAS))
def test_every_debiasing_method_is_captured(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not fit("bilstm-siamese", tmp_path / "captured", debias=method).notes
    monkeypatch.setattr(step_module, "LEAST_BATCHES", 10**9)
    fit("bilstm-siamese", tmp_path / "alone", debias=method)
    assert weights(tmp_path / "captured") == weights(tmp_path / "alone")
