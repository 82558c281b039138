"""In which numbers networks score, on any processor and on a GPU.

That training makes and unmakes torch's settings is tested in ``tests/train/test_trainer.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from goldlabel.errors import InputError  # noqa: E402
from goldlabel.models import MODELS, load_model, precision  # noqa: E402
from goldlabel.models.encoding import build_encoder  # noqa: E402
from goldlabel.models.network import Network, NetworkModel, build_network  # noqa: E402
from goldlabel.models.precision import single_precision  # noqa: E402
from goldlabel.models.torch_model import ROUNDING, Choices  # noqa: E402
from goldlabel.pairs.labels import NLI3  # noqa: E402

NETWORKS = sorted(name for name in MODELS if issubclass(MODELS.get(name), Network))
PREMISES = [f"Ferry {number} left the harbour before the {number % 7} herons came." for number in range(400)]
HYPOTHESES = [f"{number % 5} birds were late for ferry {number}." for number in range(400)]

on_a_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device, or CUDA=1 is not set: precision on a GPU is not seen"
)


def save_fresh(name: str, folder: Path, *, sharper: float = 1.0) -> None:
    """Save a network with fresh weights; ``sharper`` scales those of its last layer, and so what it is sure of."""
    kind = MODELS.get(name)
    texts = [pl.Series(PREMISES), pl.Series(HYPOTHESES)]
    options = kind.encoder_options(Choices(model=name, languages=frozenset()))
    encoder = build_encoder(texts, options, buckets=kind.recipe.buckets)
    torch.manual_seed(0)
    network = build_network(kind, encoder, len(NLI3), options={})
    last = [module for module in network.modules() if isinstance(module, nn.Linear)][-1]
    with torch.no_grad():
        last.weight.mul_(sharper)
    NetworkModel(network, encoder, NLI3, NLI3.labels, {}).save(folder)


def test_scores_in_bf16_are_near_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``cbow`` has no LSTM, so every processor computes it in bf16; that this one would for all is simulated."""
    monkeypatch.setattr(precision, "computes_bf16", lambda _: True)
    save_fresh("cbow", tmp_path / "run", sharper=0.05)
    exact = load_model(tmp_path / "run", "cpu").predict(PREMISES, HYPOTHESES)
    rounded = load_model(tmp_path / "run", "cpu", "bf16").predict(PREMISES, HYPOTHESES)
    assert 0 < np.abs(rounded - exact).max() <= ROUNDING == 1e-3
    save_fresh("cbow", tmp_path / "sharp", sharper=1.0)
    model = load_model(tmp_path / "sharp", "cpu", "bf16")
    with pytest.raises(InputError, match=r"bf16 changes a probability by 0\.\d+ and 0\.001 is allowed; .* fp32"):
        model.predict(PREMISES, HYPOTHESES)
    assert model.predict([], []).shape == (0, 3)


def test_a_precision_that_is_not_known(tmp_path: Path) -> None:
    save_fresh("cbow", tmp_path / "run")
    with pytest.raises(InputError, match="precision 'bf61' is not known; did you mean 'bf16'"):
        load_model(tmp_path / "run", precision="bf61")


@on_a_gpu
@pytest.mark.parametrize("name", NETWORKS)
def test_scores_in_bf16_on_a_gpu_are_near_or_refused(name: str, tmp_path: Path) -> None:
    save_fresh(name, tmp_path / "run")
    exact = load_model(tmp_path / "run", "cuda").predict(PREMISES, HYPOTHESES)
    try:
        rounded = load_model(tmp_path / "run", "cuda", "bf16").predict(PREMISES, HYPOTHESES)
    except InputError as refusal:
        assert "bf16 changes a probability" in str(refusal)  # noqa: PT017
    else:
        assert 0 < np.abs(rounded - exact).max() < 2 * ROUNDING


@on_a_gpu
@pytest.mark.parametrize("name", NETWORKS)
def test_scores_in_fp32_on_a_gpu_are_those_of_the_processor(name: str, tmp_path: Path) -> None:
    save_fresh(name, tmp_path / "run")
    here, there = (load_model(tmp_path / "run", device).predict(PREMISES, HYPOTHESES) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(there, here, atol=2e-5)


@on_a_gpu
@pytest.mark.parametrize("kind", ["matmul", "rnn", "conv"])
@torch.no_grad()
def test_fp32_is_fp32_on_a_gpu_and_tf32_is_not(kind: str) -> None:
    torch.manual_seed(0)
    layers = {"matmul": nn.Linear(512, 512), "rnn": nn.LSTM(512, 512, batch_first=True), "conv": nn.Conv1d(512, 512, 3)}
    layer, values = layers[kind], torch.randn(8, 512, 512)

    def run(values: Tensor) -> Tensor:
        result = layer(values)
        first: Tensor = result[0] if isinstance(result, tuple) else result
        return first.double().cpu()

    layer.double()
    exact = run(values.double())
    layer.float().cuda()
    errors = {}
    for setting in ("fp32", "tf32"):
        with single_precision(setting):
            errors[setting] = float((run(values.cuda()) - exact).abs().max())
    assert errors["fp32"] < 1e-5 < 1e-4 < errors["tf32"]
