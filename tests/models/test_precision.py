"""What a GPU computes in the precision it was told; without a GPU nothing of this can be tested.

That the settings are made and unmade is tested everywhere, in ``tests/train/test_trainer.py``.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from goldlabel.models.precision import single_precision  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: precision on a GPU is not seen")


@pytest.mark.parametrize(
    "layer",
    [nn.Linear(512, 512), nn.LSTM(512, 512, batch_first=True), nn.Conv1d(512, 512, 3)],
    ids=["matmul", "rnn", "conv"],
)
@torch.no_grad()
def test_fp32_is_fp32_on_a_gpu_and_tf32_is_not(layer: nn.Module) -> None:
    torch.manual_seed(0)
    values = torch.randn(8, 512, 512)

    def run(values: Tensor, layer: nn.Module) -> Tensor:
        result = layer(values)
        first: Tensor = result[0] if isinstance(result, tuple) else result
        return first.double().cpu()

    exact = run(values.double(), layer.double())
    layer.float().cuda()
    errors = {}
    for precision in ("fp32", "tf32"):
        with single_precision(precision):
            errors[precision] = float((run(values.cuda(), layer) - exact).abs().max())
    assert errors["fp32"] < 1e-5 < 1e-4 < errors["tf32"]
