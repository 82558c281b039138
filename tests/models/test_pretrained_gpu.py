"""Encoders on a GPU: steps of every architecture are captured, and a run that was stopped ends in the same weights.

Run by ``make test-gpu`` where there is one; elsewhere these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import goldlabel as gl
from goldlabel.train import step as step_module
from goldlabel.train import train
from goldlabel.train.step import CapturedSteps
from goldlabel.train.trainer import Interrupted
from tests.models.checkpoints import KINDS, make_classifier
from tests.train.samples import with_dev

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device, or CUDA=1 is not set: encoders on a GPU are not seen"
)
VARIANTS = [
    *((kind, {}) for kind in KINDS),
    ("bert", {"head": "bi"}),
    ("roberta", {"lora": 2}),
    ("bert", {"precision": "bf16"}),
    ("deberta-v2", {"precision": "bf16"}),
]
PAIRS = with_dev(96, 24)
SETTINGS: dict[str, Any] = {"device": "cuda", "epochs": 2, "batch": 8, "lr": 1e-3, "precision": "fp32", "dropout": 0.2}


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "encoder" / "model.safetensors")


@pytest.mark.parametrize(("kind", "options"), VARIANTS)
def test_captured_steps_give_the_same_weights(
    kind: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, graphs = f"hf:{make_classifier(tmp_path / 'start', kind)}", []
    make = CapturedSteps.make

    def noted(self: CapturedSteps, rows: torch.Tensor, sizes: tuple[int, ...]) -> torch.Tensor:
        loss = make(self, rows, sizes)
        graphs.append(len(self._graphs))
        assert not self._refused
        return loss

    monkeypatch.setattr(CapturedSteps, "make", noted)
    train(model, PAIRS, tmp_path / "captured", **SETTINGS | options)
    assert max(graphs) > 0, "steps are captured"
    monkeypatch.setattr(step_module, "LEAST_BATCHES", 10**9)
    train(model, PAIRS, tmp_path / "alone", **SETTINGS | options)
    alone = weights(tmp_path / "alone")
    for name, value in weights(tmp_path / "captured").items():
        # Where nothing is padded the library leaves the mask out, but for a captured step, and rounding differs.
        torch.testing.assert_close(value, alone[name], rtol=0, atol=1e-3)
    here, there = (
        gl.load_model(tmp_path / "captured", device).predict(["The gate stands open."], ["The gate is locked."])
        for device in ("cpu", "cuda")
    )
    np.testing.assert_allclose(here, there, atol=1e-4)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_run_that_was_stopped_twice_ends_in_the_same_weights(precision: str, tmp_path: Path) -> None:
    model, settings = f"hf:{make_classifier(tmp_path / 'start')}", SETTINGS | {"precision": precision, "epochs": 3}
    train(model, PAIRS, tmp_path / "whole", **settings)
    for epoch in (1, 3):
        with pytest.raises(Interrupted):
            train(model, PAIRS, tmp_path / "run", on_step=lambda step, epoch=epoch: step.epoch == epoch, **settings)
    train(model, PAIRS, tmp_path / "run", **settings)
    whole = weights(tmp_path / "whole")
    assert all(torch.equal(value, whole[name]) for name, value in weights(tmp_path / "run").items())
