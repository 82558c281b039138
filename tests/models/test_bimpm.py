"""Multi-perspective matching against plain loops over its definition."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from goldlabel.models.bimpm import BiMPM, match, match_all, match_sentences  # noqa: E402
from goldlabel.models.layers import Sentences, mask_out  # noqa: E402

SIZE, PERSPECTIVES = 4, 3


def sides() -> tuple[Sentences, Sentences]:
    """Two pairs, one of whose sentences has a single token."""
    both = []
    for lengths in ([5, 2], [1, 4]):
        size = max(lengths)
        counts = torch.tensor(lengths)
        both.append(Sentences(torch.ones(2, size, dtype=torch.long), torch.arange(size) < counts[:, None], counts))
    return both[0], both[1]


def states(of: Sentences) -> Tensor:
    values = torch.randn(2, *of.words.shape, SIZE, dtype=torch.float64)
    return torch.stack([mask_out(direction, of.lengths) for direction in values])


def cosine(first: Tensor, second: Tensor, weights: Tensor) -> Tensor:
    """Equation 4 for each perspective."""
    return torch.stack([functional.cosine_similarity(row * first, row * second, dim=0) for row in weights])


def by_definition(mine: Tensor, theirs: Tensor, backwards: bool, weights: Tensor) -> Tensor:
    """The four strategies for one direction of one pair, without padding: (strategies, time, perspectives)."""
    full, pooling, attentive, nearest = weights
    found: list[list[Tensor]] = [[], [], [], []]
    for state in mine:
        found[0].append(cosine(state, theirs[0 if backwards else -1], full))
        found[1].append(torch.stack([cosine(state, other, pooling) for other in theirs]).amax(dim=0))
        near = torch.stack([functional.cosine_similarity(state, other, dim=0) for other in theirs])
        found[2].append(cosine(state, (near[:, None] * theirs).sum(dim=0) / near.sum(), attentive))
        found[3].append(cosine(state, theirs[int(near.argmax())], nearest))
    return torch.stack([torch.stack(rows) for rows in found])


def test_all_strategies_against_a_plain_loop() -> None:
    torch.manual_seed(1)
    batch = sides()
    values = states(batch[0]), states(batch[1])
    perspectives = torch.randn(4, 2, PERSPECTIVES, SIZE, dtype=torch.float64)
    matched = match_sentences(values, batch, perspectives)
    for own, other in ((0, 1), (1, 0)):
        assert matched[own].shape == (2, batch[own].words.shape[1], 2 * 4 * PERSPECTIVES)
        for pair in range(2):
            length, their_length = int(batch[own].lengths[pair]), int(batch[other].lengths[pair])
            for direction in range(2):
                expected = by_definition(
                    values[own][direction, pair, :length],
                    values[other][direction, pair, :their_length],
                    direction == 1,
                    perspectives[:, direction],
                )
                found = matched[own][pair, :length].view(length, 4, 2, PERSPECTIVES)[:, :, direction].transpose(0, 1)
                torch.testing.assert_close(found, expected)


def test_cosine_of_known_vectors() -> None:
    first = torch.tensor([3.0, 4.0]).expand(2, 1, 1, 2)
    second = torch.tensor([4.0, 3.0]).expand(2, 1, 1, 2)
    weights = torch.tensor([[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]]).expand(2, 3, 2)
    torch.testing.assert_close(match(first, second, weights.square())[0, 0, 0], torch.tensor([24 / 25, 1.0, 1.0]))
    torch.testing.assert_close(
        match_all(first, second, weights.square())[1, 0, :, 0, 0], torch.tensor([0.96, 1.0, 1.0])
    )


def test_perspectives_do_not_depend_on_their_scale() -> None:
    torch.manual_seed(2)
    batch = sides()
    values = states(batch[0]), states(batch[1])
    perspectives = torch.randn(4, 2, PERSPECTIVES, SIZE, dtype=torch.float64)
    for one, other in zip(
        match_sentences(values, batch, perspectives), match_sentences(values, batch, 5 * perspectives), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_gradients_are_finite_at_padding() -> None:
    torch.manual_seed(3)
    batch = sides()
    values = tuple(states(side).requires_grad_() for side in batch)
    matched = match_sentences((values[0], values[1]), batch, torch.randn(4, 2, PERSPECTIVES, SIZE).double())
    (matched[0].sum() + matched[1].sum()).backward()
    assert all(value.grad is not None and value.grad.isfinite().all() for value in values)


def test_words_are_spelled_up_to_their_last_character() -> None:
    torch.manual_seed(4)
    network = BiMPM(nn.Embedding(3, 5, padding_idx=0), 3, alphabet=9, character=4, spelling=6, hidden=5)
    spelled = network._spell(torch.tensor([[[3, 4, 0, 0], [3, 4, 5, 0], [0, 0, 0, 0]]], dtype=torch.int16))
    assert spelled.shape == (1, 3, 6)
    for place, word in enumerate(([3, 4], [3, 4, 5])):
        _, (last, _) = network.spell(network.characters(torch.tensor([word])))
        torch.testing.assert_close(spelled[0, place], last[0, 0])


def test_size_of_the_configuration_in_the_paper() -> None:
    network = BiMPM(nn.Embedding(5, 300, padding_idx=0), 3, alphabet=30)
    count = sum(value.numel() for name, value in network.named_parameters() if not name.startswith("words."))
    # Character LSTM, context, perspectives, aggregation, head; 20 for each of the 30 characters.
    assert count == 14_400 + 361_600 + 16_000 + 209_600 + 80_803 + 600
