"""DIIN: the dense block and the gates against their definitions, the schedules and penalties in figures."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from goldlabel.models.diin import DIIN, DenseBlock, Highway, SelfAttention, cut  # noqa: E402
from goldlabel.models.layers import Sentences  # noqa: E402
from goldlabel.models.tagging import TAGS  # noqa: E402


def sentences(lengths: list[int], size: int) -> Sentences:
    counts = torch.tensor(lengths)
    mask = torch.arange(size) < counts[:, None]
    return Sentences(
        torch.randint(1, 6, (len(lengths), size)) * mask,
        mask,
        counts,
        characters=torch.randint(1, 9, (len(lengths), size, 16), dtype=torch.int16) * mask[:, :, None],
        match=torch.randint(0, 2, (len(lengths), size), dtype=torch.uint8) * mask,
        tags=torch.randint(0, TAGS, (len(lengths), size), dtype=torch.uint8) * mask,
    )


def small(**options: int) -> DIIN:
    chosen = {"character": 3, "filters": 4, "length": 16, "growth": 3, "layers": 2} | options
    return DIIN(nn.Embedding(6, 5, padding_idx=0), 3, alphabet=9, **chosen)


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_dense_block_by_its_definition(layers: int) -> None:
    torch.manual_seed(layers)
    block = DenseBlock(7, 4, layers)
    values = torch.randn(2, 7, 6, 6)
    expected = values
    for layer in range(layers):
        weight = torch.cat(
            [source.weight.split(4)[layer - n] for n, source in enumerate(block.sources[: layer + 1])], 1
        )
        assert weight.shape == (4, 7 + 4 * layer, 3, 3)
        added = functional.conv2d(expected, weight, block.sources[0].bias.split(4)[layer], padding=1).relu()
        expected = torch.cat([expected, added], dim=1)
    found = block(values)
    assert found.shape == (2, block.outputs, 6, 6)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_dense_block_is_drawn_layer_by_layer() -> None:
    torch.manual_seed(0)
    block = DenseBlock(40, 10, 4)
    block.initialise()
    for number, source in enumerate(block.sources):
        for layer, weight in enumerate(source.weight.split(10), start=number):
            bound = (6 / (9 * (40 + 10 * layer + 10))) ** 0.5
            assert 0.9 * bound < weight.abs().max().item() <= bound


def test_channels_of_the_paper() -> None:
    network = DIIN(nn.Embedding(4, 300, padding_idx=0), 3, alphabet=10)
    blocks = [module for module in network.modules() if isinstance(module, DenseBlock)]
    assert [block.sources[0].in_channels for block in blocks] == [134, 147, 153]
    assert [block.outputs for block in blocks] == [294, 307, 313]
    assert network.head.in_features == 6 * 6 * 156
    count = sum(value.numel() for name, value in network.named_parameters() if not name.startswith("words."))
    assert count == 4_366_862 + 8 * 10


def test_highway_is_closed_or_open() -> None:
    highway = Highway(2)
    values = torch.tensor([[1.0, -2.0]])
    with torch.no_grad():
        highway.gates.weight.copy_(torch.tensor([[2.0, 0.0], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0]]))
        highway.gates.bias.copy_(torch.tensor([0.0, 0.0, -50.0, -50.0]))
        torch.testing.assert_close(highway(values), values)
        highway.gates.bias[2:] = 50.0
        torch.testing.assert_close(highway(values), torch.tensor([[2.0, 0.0]]))
        highway.gates.bias[2:] = 0.0
        torch.testing.assert_close(highway(values), torch.tensor([[1.5, -1.0]]))


def test_self_attention_by_its_definition() -> None:
    torch.manual_seed(0)
    layer = SelfAttention(3)
    values, side = torch.randn(2, 4, 3), sentences([4, 2], 4)
    found = layer(values, side, None)
    for row, length in enumerate([4, 2]):
        x = values[row, :length]
        triples = torch.stack([torch.stack([torch.cat([a, b, a * b]) for b in x]) for a in x])
        attended = (triples @ layer.score.weight[0]).softmax(dim=1) @ x
        z, r, f = layer.gates(torch.cat([x, attended], dim=1)).chunk(3, dim=1)
        torch.testing.assert_close(found[row, :length], r.sigmoid() * x + f.sigmoid() * z.tanh())
        assert found[row, length:].eq(0).all()


def test_sides_have_encoders_of_their_own() -> None:
    torch.manual_seed(0)
    network = small().eval()
    premise, hypothesis = sentences([5], 5), sentences([3], 3)
    before = network(premise, hypothesis).logits
    with torch.no_grad():
        network.hypothesis_encoder.gates.bias += 1
    assert (network(premise, hypothesis).logits - before).abs().max() > 1e-6


def test_kept_share_falls_with_the_steps_of_training_alone() -> None:
    network = small()
    assert network.keep is not None
    assert network.keep.item() == 1.0
    network.steps.fill_(10_000)
    assert network.keep.item() == pytest.approx(0.977)
    network.steps.fill_(25_000)
    assert network.keep.item() == pytest.approx(0.977**2.5)
    assert network.eval().keep is None


def test_penalty_in_figures() -> None:
    network = small()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.head.weight[0, :2] = torch.tensor([3.0, 4.0])
        network.head.bias.fill_(9.0)
        network.spell.weight.fill_(9.0)
    # Half of 3² + 4², at half of the full weight in the middle of the ramp; biases and character filters are free.
    network.steps.fill_(50_000)
    assert network.penalty().item() == pytest.approx(12.5 * 9e-5 / 2)
    network.steps.fill_(0)
    assert network.penalty().item() == pytest.approx(12.5 * 9e-5 / (1 + torch.e**8))
    network.steps.fill_(10_000_000)
    assert network.penalty().item() == pytest.approx(12.5 * 9e-5)
    with torch.no_grad():
        network.hypothesis_encoder.score.weight[0, 0] = 2.0
    assert network.penalty().item() == pytest.approx((12.5 + 2) * 9e-5 + 2 * 1e-3)


def test_tokens_beyond_the_map_are_not_read() -> None:
    torch.manual_seed(0)
    network = small().eval()
    premise, hypothesis = sentences([40, 20, 3], 40), sentences([2, 17, 30], 30)
    scores = network(premise, hypothesis).logits
    torch.testing.assert_close(network(cut(premise, 16), cut(hypothesis, 16)).logits, scores)
    assert cut(premise, 16).lengths.tolist() == [16, 16, 3]
    assert cut(premise, 50) is premise


def test_scoring_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    network = small().eval()
    premise, hypothesis = sentences([5, 9, 1, 7, 2], 9), sentences([3, 3, 6, 1, 2], 6)
    at_once: Tensor = network(premise, hypothesis).logits
    monkeypatch.setattr("goldlabel.models.diin.MAPS_AT_ONCE", {"cpu": 2})
    with torch.no_grad():
        torch.testing.assert_close(network(premise, hypothesis).logits, at_once)


def test_training_drops_units_as_the_schedule_says() -> None:
    torch.manual_seed(0)
    network = small()
    premise, hypothesis = sentences([5], 5), sentences([3], 3)
    torch.testing.assert_close(network(premise, hypothesis).logits, network(premise, hypothesis).logits)
    network.steps.fill_(300_000)
    assert (network(premise, hypothesis).logits - network(premise, hypothesis).logits).abs().max() > 0


def test_batches_must_hold_the_fields() -> None:
    plain = sentences([2], 2)
    bare = Sentences(plain.words, plain.mask, plain.lengths)
    with pytest.raises(ValueError, match="the batch has no characters"):
        small()(bare, bare)
