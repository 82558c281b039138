"""HBMP's three biLSTMs against each sentence by itself."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from goldlabel.models.hbmp import HBMP, run_packed, run_padded  # noqa: E402
from goldlabel.models.layers import Sentences, masked_max  # noqa: E402


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


def test_without_packing_the_states_are_the_same() -> None:
    """What a GPU runs, here on the processor: maxima, last states and gradients, over two encoders in a row."""
    torch.manual_seed(0)
    encoders = [nn.LSTM(7, 5, batch_first=True, bidirectional=True) for _ in range(2)]
    lengths = torch.tensor([3, 6, 1, 8])
    mask = torch.arange(8) < lengths[:, None]
    sentences = Sentences(torch.zeros(4, 8, dtype=torch.int64), mask, lengths)
    words = torch.randn(4, 8, 7, requires_grad=True)
    both = []
    for run in (run_packed, run_padded):
        first, last = run(encoders[0], words, sentences, None)
        second, (hidden, cell) = run(encoders[1], words, sentences, last)
        maxima = torch.cat([masked_max(states, mask) for states in (first, second)], dim=-1)
        weights = [*encoders[0].parameters(), *encoders[1].parameters()]
        gradients = torch.autograd.grad(maxima.sin().sum() + hidden.sum() + cell.sum(), [words, *weights])
        both.append([maxima, hidden, cell, *gradients])
    torch.testing.assert_close(both[0], both[1])
