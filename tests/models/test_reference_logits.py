"""Every network against its released code: the same weights and batch give the same logits, up to rounding.

The known answers lie in the folder ``reference_logits`` of the public corpora. Its index tells how they were computed,
where the released code lets padding in and what was patched, and the largest difference that was seen, in single
precision and, where the reference ran in double precision, in that.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from goldlabel.models import MODELS  # noqa: E402
from goldlabel.models.layers import Sentences  # noqa: E402
from goldlabel.models.network import Network  # noqa: E402
from goldlabel.models.vocabulary import PAD  # noqa: E402

DIFFERENCES: dict[str, tuple[float, float | None]] = {
    "esim": (3.1e-7, 2.7e-13),
    "infersent": (5.1e-7, 7.8e-16),
    "hbmp": (3.0e-7, 7.8e-16),
    "decomposable-attention": (4.2e-6, 3.6e-15),
    "bimpm": (5.5e-7, 1.3e-15),
    "disan": (3.1e-6, None),
    "diin": (1.2e-6, None),
    "cbow": (5.7e-6, None),
    "bilstm": (4.8e-7, None),
    "esim-nyu": (3.6e-7, None),
}
SLACK = 5
"""Processors and versions of torch add up in another order."""


@pytest.mark.parametrize("name", DIFFERENCES)
def test_logits_are_those_of_the_released_code(name: str, corpora: Path) -> None:
    single, double = DIFFERENCES[name]
    assert difference(name, corpora, torch.float32) <= SLACK * single
    if double is not None:
        assert difference(name, corpora, torch.float64) <= SLACK * double


@torch.no_grad()
def difference(name: str, corpora: Path, dtype: torch.dtype) -> float:
    """The largest difference of a logit from the released code's."""
    with np.load(corpora / "reference_logits" / f"{name}.npz") as arrays:
        about = json.loads(str(arrays["options"]))
        network = build(about, {key[7:]: arrays[key] for key in arrays.files if key.startswith("weight:")})
        sides = [sentences({key: arrays[key] for key in arrays.files}, side) for side in ("premise", "hypothesis")]
        expected = torch.from_numpy(arrays["logits"]).double()
    logits: Tensor = network.to(dtype).eval()(*sides).logits
    assert logits.shape == expected.shape
    assert expected.abs().max() > 0.1, "logits that are nearly nothing would equal any others"
    return float((logits.double() - expected).abs().max())


def build(about: dict[str, object], weights: dict[str, np.ndarray]) -> Network:
    """The network as described, with the weights given."""
    words = nn.Embedding(about["vocabulary"], about["embedding"], padding_idx=PAD)
    network: Network = MODELS.get(about["network"])(words, about["labels"], **about["options"])
    network.load_state_dict({key: torch.from_numpy(values) for key, values in weights.items()})
    return network


def sentences(arrays: dict[str, np.ndarray], side: str) -> Sentences:
    """One side of the batch."""
    prefix = f"input:{side}_"
    fields = {key.removeprefix(prefix): torch.from_numpy(arrays[key]) for key in arrays if key.startswith(prefix)}
    words, lengths = fields.pop("words").long(), fields.pop("lengths")
    return Sentences(words, torch.arange(words.shape[1]) < lengths[:, None], lengths, **fields)
