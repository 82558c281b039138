"""``disan``: directional self-attention without recurrence (Shen et al. 2018).

Each of two blocks maps the words, h = ELU(W x + b), lets every token attend to those before it (in the other block:
behind it) with one weight per feature, and mixes what it finds with itself by a gate (their section 3.3). The two
are concatenated; attention over the tokens, again one weight per feature, makes the sentence (source2token, section
3.2). [u; v; u - v; u * v] goes through one ELU layer of 300. Glorot weights; dropout of 0.25 before every linear map.

2,345,403 parameters, the published 2.35M: as in the released code, the gate has three biases that act as one. The
released code trains the vectors of words that GloVe lacks; here they stay frozen with the others.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from goldlabel.models.layers import Sentences, compare, masked_softmax, start_as_glorot
from goldlabel.models.network import SentenceNetwork, WordRecipe, read_out
from goldlabel.models.options import Count, Share
from goldlabel.models.torch_model import Outputs

SCALE = 5.0
"""Scores lie between -5 and 5 (their c)."""
PART = 2**28
"""Weights held at once; a batch that has more is attended to in parts, and these are computed again for gradients."""


class DirectionalAttention(nn.Module):
    """Attention from each token to the earlier ones, or with ``backwards`` to the later ones."""

    def __init__(self, inputs: int, hidden: int, *, dropout: float, backwards: bool = False) -> None:
        super().__init__()
        self.backwards = backwards
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(inputs, hidden)
        self.dependent = nn.Linear(hidden, hidden, bias=False)
        self.head = nn.Linear(hidden, hidden)
        self.gate_own = nn.Linear(hidden, hidden)
        self.gate_found = nn.Linear(hidden, hidden)
        self.gate_bias = nn.Parameter(torch.zeros(hidden))

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """Return a vector for each token; those of padding mean nothing."""
        own: Tensor = functional.elu(self.project(self.dropout(values)))
        kept = self.dropout(own)
        attended = self._attend(self.dependent(kept), self.head(kept), own, self._allowed(mask))
        gate = torch.sigmoid(
            self.gate_own(self.dropout(own)) + self.gate_found(self.dropout(attended)) + self.gate_bias
        )
        return gate * own + (1 - gate) * attended

    def _allowed(self, mask: Tensor) -> Tensor:
        """Return which token (first) may see which (second), (batch, time, time)."""
        square = torch.ones(mask.shape[1], mask.shape[1], dtype=torch.bool, device=mask.device)
        directed = square.triu(1) if self.backwards else square.tril(-1)
        return directed & mask[:, None, :]

    def _attend(self, dependent: Tensor, head: Tensor, own: Tensor, allowed: Tensor) -> Tensor:
        rows = max(1, PART // (own.shape[1] ** 2 * own.shape[2]))
        parts = list(zip(*(torch.split(values, rows) for values in (dependent, head, own, allowed)), strict=True))
        if len(parts) > 1 and torch.is_grad_enabled():
            return torch.cat(
                [checkpoint(attend_by_feature, *part, use_reentrant=False, preserve_rng_state=False) for part in parts]
            )
        return torch.cat([attend_by_feature(*part) for part in parts])


def attend_by_feature(dependent: Tensor, head: Tensor, values: Tensor, allowed: Tensor) -> Tensor:
    """For token i, return sum_j a_ij * h_j with a_ij = softmax_j(c * tanh((W1 h_j + W2 h_i + b) / c)) in each feature.

    As no score is above c, the softmax needs no maximum taken off; a token that may see none gets zeros.
    """
    scores = torch.tanh((dependent / SCALE)[:, None] + (head / SCALE)[:, :, None])
    weights = torch.exp(SCALE * scores) * allowed[:, :, :, None]
    return (weights * values[:, None]).sum(dim=2) / weights.sum(dim=2).clamp(min=1e-3)


class DiSAN(SentenceNetwork):
    """Two directional blocks, then attention over the tokens."""

    paper = "Shen et al. 2018"
    recipe = WordRecipe(
        optimiser="adadelta",
        settings={"rho": 0.95, "eps": 1e-8},
        lr=0.5,
        batch=64,
        epochs=47,
        patience=10,
        l2=5e-5,
        lowercase=True,
        train_vectors=False,
    )

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 300, dropout: Share = 0.25) -> None:
        super().__init__(words)
        self.forwards = DirectionalAttention(words.embedding_dim, hidden, dropout=dropout)
        self.backwards = DirectionalAttention(words.embedding_dim, hidden, dropout=dropout, backwards=True)
        self.score = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(2 * hidden, 2 * hidden),
            nn.ELU(),
            nn.Dropout(dropout),
            nn.Linear(2 * hidden, 2 * hidden),
        )
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(8 * hidden, hidden),
            nn.ELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, labels),
        )
        start_as_glorot(self)

    def encode(self, sentences: Sentences) -> Tensor:
        """Attend in both directions, then over the tokens."""
        words = self.words(sentences.words)
        tokens = torch.cat([block(words, sentences.mask) for block in (self.forwards, self.backwards)], dim=-1)
        weights = masked_softmax(self.score(tokens), sentences.mask[:, :, None], dim=1)
        return (weights * tokens).sum(dim=1)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Score [u; v; u - v; u * v]."""
        return read_out(self.head, compare(premise, hypothesis))
