"""The poolings of ``bilstm``."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from goldlabel.models.bilstm import BiLSTMNYU  # noqa: E402
from goldlabel.models.layers import Sentences, compare  # noqa: E402


def test_mean_or_maximum_of_the_states() -> None:
    torch.manual_seed(0)
    mean = BiLSTMNYU(nn.Embedding(20, 6), 3, hidden=4).eval()
    highest = BiLSTMNYU(mean.words, 3, hidden=4, pooling="max").eval()
    highest.load_state_dict(mean.state_dict())
    sides = [
        Sentences(torch.randint(5, 20, (1, size)), torch.ones(1, size, dtype=torch.bool), torch.tensor([size]))
        for size in (5, 3)
    ]
    states = [
        encoder(mean.words(side.words), side.lengths)[0]
        for encoder, side in zip((mean.premise, mean.hypothesis), sides, strict=True)
    ]
    torch.testing.assert_close(mean(*sides).logits, mean.head(compare(*(one.mean(dim=1) for one in states))))
    torch.testing.assert_close(highest(*sides).logits, mean.head(compare(*(one.amax(dim=1) for one in states))))
