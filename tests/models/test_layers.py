"""The shared layers against torch's own on each sentence by itself."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from goldlabel.models.layers import (  # noqa: E402
    LSTM,
    BiLSTM,
    Sentences,
    attend,
    compare,
    masked_max,
    masked_mean,
    masked_softmax,
    masked_sum,
    reversal,
)

LENGTHS = torch.tensor([5, 1, 3])
MASK = torch.arange(5) < LENGTHS[:, None]


def values(size: int = 4, seed: int = 0) -> Tensor:
    """A batch whose padding holds what would show in any result that it touched."""
    torch.manual_seed(seed)
    return torch.randn(3, 5, size).masked_fill(~MASK[:, :, None], 1e3)


def test_bilstm_reads_each_sentence_as_if_alone() -> None:
    layer = BiLSTM(4, 6)
    whole = nn.LSTM(4, 6, batch_first=True, bidirectional=True)
    for own, suffix in ((layer.forwards, ""), (layer.backwards, "_reverse")):
        for name, parameter in own.lstm.named_parameters():
            getattr(whole, name + suffix).data.copy_(parameter.data)
    batch = values()
    states, last = layer(batch, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        alone, (final, _) = whole(batch[row : row + 1, :length])
        torch.testing.assert_close(states[row, :length], alone[0])
        assert not states[row, length:].any()
        torch.testing.assert_close(last[row], torch.cat([final[0, 0], final[1, 0]]))


def test_both_directions_at_once_are_those_one_after_the_other() -> None:
    """What a GPU runs, here on the processor: states and gradients."""
    layer, batch = BiLSTM(4, 6), values().requires_grad_()
    states, _ = layer(batch, LENGTHS)
    at_once = torch.cat(layer.run_at_once(batch, LENGTHS), dim=-1) * MASK[:, :, None]
    torch.testing.assert_close(at_once, states)
    gradients = [torch.autograd.grad(way.sin().sum(), [batch, *layer.parameters()]) for way in (states, at_once)]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("pooling", [masked_max, masked_mean])
def test_pooled_states_are_those_of_the_tokens(pooling: object) -> None:
    layer, batch = BiLSTM(4, 6), values()
    sentences = Sentences(torch.zeros(3, 5, dtype=torch.int64), MASK, LENGTHS)
    states, _ = layer(batch, LENGTHS)
    assert callable(pooling)
    torch.testing.assert_close(layer.pool(batch, sentences, pooling), pooling(states, MASK))


def test_backwards_is_forwards_on_the_sentence_turned_round() -> None:
    back, ahead, batch = LSTM(4, 6, backwards=True), LSTM(4, 6), values()
    ahead.load_state_dict(back.state_dict())
    turned = batch.clone()
    for row, length in enumerate(LENGTHS.tolist()):
        turned[row, :length] = batch[row, :length].flip(0)
    torch.testing.assert_close(back(batch, LENGTHS)[1], ahead(turned, LENGTHS)[1])


def test_turning_round_leaves_padding_in_place() -> None:
    assert reversal(LENGTHS, 5).tolist() == [[4, 3, 2, 1, 0], [0, 1, 2, 3, 4], [2, 1, 0, 3, 4]]


def test_pooling_over_the_real_tokens() -> None:
    batch = values()
    for row, length in enumerate(LENGTHS.tolist()):
        real = batch[row, :length]
        torch.testing.assert_close(masked_max(batch, MASK)[row], real.amax(0))
        torch.testing.assert_close(masked_sum(batch, MASK)[row], real.sum(0))
        torch.testing.assert_close(masked_mean(batch, MASK)[row], real.mean(0))


def test_softmax_over_the_real_places() -> None:
    scores = torch.tensor([[1.0, 2.0, 9.0], [1.0, 1.0, 1.0]], requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    weights = masked_softmax(scores, mask)
    expected = torch.tensor([1.0, 2.0]).softmax(0).tolist()
    torch.testing.assert_close(weights, torch.tensor([[*expected, 0.0], [0.0, 0.0, 0.0]]))
    weights.square().sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[1].any()


def test_soft_alignment_by_hand() -> None:
    premise, hypothesis = torch.tensor([[[1.0], [3.0], [50.0]]]), torch.tensor([[[2.0], [6.0]]])
    masks = torch.tensor([[True, True, False]]), torch.tensor([[True, True]])
    scores = torch.log(torch.tensor([[[1.0, 3.0], [1.0, 1.0], [9.0, 9.0]]]))
    to_hypothesis, to_premise = attend(premise, hypothesis, scores, masks)
    torch.testing.assert_close(to_hypothesis[0, :2, 0], torch.tensor([5.0, 4.0]))
    torch.testing.assert_close(to_premise[0, :, 0], torch.tensor([2.0, 1.5]))


def test_comparing_two_vectors() -> None:
    first, second = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 1.0]])
    assert compare(first, second).tolist() == [[1, 2, 3, 1, -2, 1, 3, 2]]
    assert compare(first, second, absolute=True).tolist() == [[1, 2, 3, 1, 2, 1, 3, 2]]


def test_joined_batches_are_padded_to_the_longer() -> None:
    short = Sentences(torch.tensor([[5]]), torch.tensor([[True]]), torch.tensor([1]), torch.ones(1, 1, 16))
    long = Sentences(torch.tensor([[6, 7]]), torch.tensor([[True, True]]), torch.tensor([2]), torch.ones(1, 2, 16))
    both = short.join(long)
    assert both.words.tolist() == [[5, 0], [6, 7]]
    assert both.mask.tolist() == [[True, False], [True, True]]
    assert both.lengths.tolist() == [1, 2]
    assert both.characters is not None
    assert both.characters.sum(dim=2).tolist() == [[16, 0], [16, 16]]
    assert both.match is None
