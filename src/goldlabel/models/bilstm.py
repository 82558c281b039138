"""``bilstm``, ``bilstm-siamese``: a bidirectional LSTM, pooled over the tokens.

``bilstm`` is that of the MultiNLI baselines (Williams et al. 2018), which OCNLI used: a biLSTM of 300 per direction
for each side, the mean over the tokens, [p; h; p - h; p * h] through one ReLU layer of 300; dropout of 0.1 on the
words and after the layer, as in OCNLI. Batch and start are those of the released code. 3,610,803 parameters.

``bilstm-siamese`` is the base of the debiasing methods in Zhang et al. (2020): "one-layer 300D", one biLSTM for both
sides, max-pooled. Whether 300 is per direction or in all, the head and the optimiser are not published; ours are 300
per direction, [u; v; |u - v|; u * v] through one ReLU layer of 300 with dropout of 0.1 before and after, and Adam.
2,166,003 parameters.
"""

from __future__ import annotations

from typing import Annotated

from torch import Tensor, nn

from goldlabel.models.cbow import OCNLI, SPREAD
from goldlabel.models.layers import (
    BiLSTM,
    Sentences,
    compare,
    draw_linear,
    masked_max,
    masked_mean,
    start_as_tensorflow,
)
from goldlabel.models.network import Network, SentenceNetwork, WordRecipe, read_out
from goldlabel.models.options import Count, OneOf, Share
from goldlabel.models.torch_model import Outputs

POOLINGS = {"mean": masked_mean, "max": masked_max}


class BiLSTMNYU(Network):
    """The MultiNLI baselines' biLSTM: an encoder for each side."""

    paper = "Williams et al. 2018"
    recipe = OCNLI

    def __init__(
        self,
        words: nn.Embedding,
        labels: int,
        *,
        hidden: Count = 300,
        pooling: Annotated[str, OneOf(tuple(POOLINGS))] = "mean",
        dropout: Share = 0.1,
    ) -> None:
        super().__init__(words)
        self.pooling = POOLINGS[pooling]
        self.premise = BiLSTM(words.embedding_dim, hidden)
        self.hypothesis = BiLSTM(words.embedding_dim, hidden)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Sequential(
            nn.Linear(8 * hidden, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, labels)
        )
        start_as_tensorflow(self)
        draw_linear(self.head, SPREAD)

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Encode each side with its own weights, pool, compare."""
        p = self.premise.pool(self.dropout(self.words(premise.words)), premise, self.pooling)
        h = self.hypothesis.pool(self.dropout(self.words(hypothesis.words)), hypothesis, self.pooling)
        return read_out(self.head, compare(p, h)).with_sides((p, h))


class BiLSTMSiamese(SentenceNetwork):
    """One max-pooled biLSTM for both sides."""

    paper = "Conneau et al. 2017"
    recipe = WordRecipe(optimiser="adam", lr=4e-4, batch=64, epochs=20, patience=5)

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 300, dropout: Share = 0.1) -> None:
        super().__init__(words)
        self.encoder = BiLSTM(words.embedding_dim, hidden)
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(8 * hidden, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, labels),
        )

    def encode(self, sentences: Sentences) -> Tensor:
        """Return the maximum over the states."""
        return self.encoder.pool(self.words(sentences.words), sentences, masked_max)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Score [u; v; |u - v|; u * v]."""
        return read_out(self.head, compare(premise, hypothesis, absolute=True))
