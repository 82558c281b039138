"""DiSAN's attention against plain loops."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from goldlabel.models import disan  # noqa: E402
from goldlabel.models.disan import DirectionalAttention, DiSAN, attend_by_feature  # noqa: E402
from goldlabel.models.layers import Sentences  # noqa: E402


@pytest.mark.parametrize("backwards", [False, True])
def test_each_feature_attends_for_itself(backwards: bool) -> None:
    torch.manual_seed(0)
    dependent, head, values = torch.randn(3, 1, 4, 2).mul(8)
    block = DirectionalAttention(2, 2, dropout=0.0, backwards=backwards)
    allowed = block._allowed(torch.tensor([[True, True, True, False]]))
    found = attend_by_feature(dependent, head, values, allowed)[0]
    for token in range(3):
        seen = [other for other in range(3) if (other > token if backwards else other < token)]
        for feature in range(2):
            score = [5 * math.tanh((dependent[0, other, feature] + head[0, token, feature]) / 5) for other in seen]
            weights = [math.exp(one) / sum(map(math.exp, score)) for one in score]
            expected = sum(
                weight * float(values[0, other, feature]) for weight, other in zip(weights, seen, strict=True)
            )
            assert float(found[token, feature]) == pytest.approx(expected, abs=1e-5)


def test_order_matters_and_direction_too() -> None:
    torch.manual_seed(0)
    ahead = DirectionalAttention(3, 4, dropout=0.0)
    back = DirectionalAttention(3, 4, dropout=0.0, backwards=True)
    back.load_state_dict(ahead.state_dict())
    values, mask = torch.randn(1, 5, 3), torch.ones(1, 5, dtype=torch.bool)
    torch.testing.assert_close(back(values.flip(1), mask).flip(1), ahead(values, mask))
    assert not torch.allclose(ahead(values.flip(1), mask).flip(1), ahead(values, mask))


def test_a_token_that_sees_nothing_keeps_its_own_share() -> None:
    torch.manual_seed(0)
    block = DirectionalAttention(3, 4, dropout=0.0)
    values, mask = torch.randn(1, 1, 3), torch.ones(1, 1, dtype=torch.bool)
    own = nn.functional.elu(block.project(values))
    gate = torch.sigmoid(block.gate_own(own) + block.gate_found.bias + block.gate_bias)
    torch.testing.assert_close(block(values, mask), gate * own)


def test_parts_give_the_same_scores_and_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    net = DiSAN(nn.Embedding(20, 6, padding_idx=0), 3, hidden=4, dropout=0.0)
    lengths = torch.tensor([5, 2, 4, 1, 3])
    mask = torch.arange(5) < lengths[:, None]
    side = Sentences(torch.randint(5, 20, (5, 5)) * mask, mask, lengths)
    results = []
    for part in (disan.PART, 2 * 5 * 5 * 4):
        monkeypatch.setattr(disan, "PART", part)
        net.zero_grad()
        scores = net(side, side).logits
        scores.square().sum().backward()
        with torch.no_grad():
            torch.testing.assert_close(net(side, side).logits, scores)
        results.append((scores.detach(), torch.cat([one.grad.flatten() for one in net.parameters()])))
    torch.testing.assert_close(results[0], results[1])
