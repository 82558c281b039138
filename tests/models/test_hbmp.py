"""HBMP's three biLSTMs against each sentence by itself."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from goldlabel.models.hbmp import HBMP  # noqa: E402
from goldlabel.models.layers import Sentences  # noqa: E402


def test_each_layer_starts_where_the_one_before_it_ended() -> None:
    torch.manual_seed(0)
    net = HBMP(nn.Embedding(20, 6, padding_idx=0), 3, hidden=4).eval()
    lengths = torch.tensor([4, 1, 2])
    mask = torch.arange(6) < lengths[:, None]
    sentences = Sentences(torch.randint(5, 20, (3, 6)) * mask, mask, lengths)
    vectors = net.encode(sentences)
    assert vectors.shape == (3, 3 * 2 * 4)
    for row, length in enumerate(lengths.tolist()):
        words, last, maxima = net.words(sentences.words[row : row + 1, :length]), None, []
        for encoder in net.encoders:
            states, last = encoder(words, last)
            maxima.append(states[0].amax(dim=0))
        torch.testing.assert_close(vectors[row], torch.cat(maxima))
    fresh = net.encoders[1](net.words(sentences.words[:1, :4]))[0][0].amax(dim=0)
    assert not torch.allclose(vectors[0, 8:16], fresh)
