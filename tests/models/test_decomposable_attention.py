"""Decomposable attention against sums written out by hand."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from goldlabel.models.decomposable_attention import (  # noqa: E402
    DecomposableAttention,
    IntraAttention,
    distance_rows,
)
from goldlabel.models.layers import Sentences  # noqa: E402

VECTORS = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 0.5], [1.0, 1.0]])


def sentences(*rows: list[int]) -> Sentences:
    size = max(map(len, rows))
    words = torch.tensor([row + [0] * (size - len(row)) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return Sentences(words, torch.arange(size) < lengths[:, None], lengths)


def with_identities(kind: type[DecomposableAttention]) -> DecomposableAttention:
    """Return a network of size 2 whose layers hand on their first two inputs."""
    network = kind(nn.Embedding.from_pretrained(VECTORS, padding_idx=0), 2, hidden=2).eval()
    for module in network.modules():
        if isinstance(module, nn.Linear):
            with torch.no_grad():
                module.weight.copy_(torch.eye(*module.weight.shape))
                if module.bias is not None:
                    module.bias.zero_()
    return network


def test_attention_with_identity_weights() -> None:
    network = with_identities(DecomposableAttention)
    # G hands on the aligned vector instead of the token's own.
    first = network.compare[1]
    assert isinstance(first, nn.Linear)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]))
    # The vectors, scaled to length 1, are x = (1, 0) and y = (0, 1): the premise is x y, the hypothesis x.
    scores = network(sentences([1, 2]), sentences([1])).logits
    # Each premise token aligns with x, the hypothesis's x with x at e and with y at 1; H sees the premise's sum alone.
    torch.testing.assert_close(scores, torch.tensor([[2.0, 0.0]]))
    scores = network(sentences([1]), sentences([1, 2])).logits
    near = math.e / (math.e + 1)
    torch.testing.assert_close(scores, torch.tensor([[near, 1 - near]]))


def test_tokens_are_summed_and_not_averaged() -> None:
    network = with_identities(DecomposableAttention)
    scores = network(sentences([1, 1, 1, 2]), sentences([1])).logits
    torch.testing.assert_close(scores, torch.tensor([[3.0, 1.0]]))


def test_the_length_of_a_word_vector_does_not_matter() -> None:
    network = with_identities(DecomposableAttention)
    before = network(sentences([1, 3]), sentences([3])).logits
    with torch.no_grad():
        network.words.weight[3] *= 7
    torch.testing.assert_close(network(sentences([1, 3]), sentences([3])).logits, before)


def test_word_order_is_seen_with_intra_attention_alone() -> None:
    torch.manual_seed(0)
    words = nn.Embedding(20, 6, padding_idx=0)
    there, back = list(range(1, 16)), list(range(15, 0, -1))
    for kind, sees in ((DecomposableAttention, False), (IntraAttention, True)):
        network = kind(words, 3, hidden=8, spread=0.5).double().eval()
        straight, turned = (network(sentences(row), sentences([4, 2])).logits for row in (there, back))
        assert bool((straight - turned).abs().max() > 1e-6) == sees


def test_intra_attention_by_distance_alone() -> None:
    network = with_identities(IntraAttention)
    assert isinstance(network, IntraAttention)
    with torch.no_grad():
        network.distances.fill_(-30.0)
        # Only the next word counts.
        network.distances[distance_rows(2, torch.device("cpu"))[0, 1]] = 30.0
    values = network.represent(sentences([1, 2, 1]))
    assert values.shape == (1, 3, 4)
    torch.testing.assert_close(values[0, :2, :2], torch.eye(2))
    torch.testing.assert_close(values[0, :2, 2:], torch.eye(2).flip(0))


def test_distances_share_one_bias_beyond_ten_words() -> None:
    rows = distance_rows(14, torch.device("cpu"))
    assert rows[0, :12].tolist() == [*range(10, 21), 21]
    assert rows[13].tolist() == [21, 21, 21, *range(11)]
    assert len(rows.unique()) == 22


@pytest.mark.parametrize(("kind", "count"), [(DecomposableAttention, 381_803), (IntraAttention, 582_225)])
def test_published_size(kind: type[DecomposableAttention], count: int) -> None:
    network = kind(nn.Embedding(5, 300, padding_idx=0), 3)
    trained = {name: value for name, value in network.named_parameters() if not name.startswith("words.")}
    assert sum(value.numel() for value in trained.values()) == count
    drawn: Tensor = torch.cat([value.detach().flatten() for value in trained.values()])
    assert drawn.std().item() == pytest.approx(0.01, rel=0.02)


def test_recipes_of_the_paper() -> None:
    for kind, rate in ((DecomposableAttention, 0.05), (IntraAttention, 0.025)):
        recipe = kind.recipe
        assert (recipe.optimiser, recipe.lr, recipe.batch) == ("adagrad", rate, 4)
        assert (recipe.boundaries, recipe.buckets, recipe.train_vectors) == ("null", 100, False)
