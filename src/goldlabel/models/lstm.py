"""``lstm``: the sentence-vector baseline that came with SNLI (Bowman et al. 2015), 100D.

Word vectors go through a tanh layer to 100; an LSTM reads them and its last state is the sentence. [p; h] goes
through three tanh layers of 200. Dropout lies on what enters and leaves the sentence model, not within it.

232,103 parameters; 220k are published, and why fewer is not said. The rates are those of the launch script of the
released code (vector-entailment): λ 3e-5 on all but the word vectors, which are trained, 0.9 of the units kept (0.95 in
another line), batches of 64, gradients clipped at 5, a forget bias of 5, Adadelta's ρ 0.95 and ε 1e-7.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from goldlabel.models.layers import LSTM, Sentences, start_at_forget_bias
from goldlabel.models.network import SentenceNetwork, WordRecipe, read_out
from goldlabel.models.options import Count, Share
from goldlabel.models.torch_model import Outputs


class LSTM100(SentenceNetwork):
    """The last state of one LSTM for each sentence."""

    paper = "Bowman et al. 2015"
    recipe = WordRecipe(
        optimiser="adadelta",
        settings={"rho": 0.95, "eps": 1e-7},
        lr=1.0,
        batch=64,
        epochs=40,
        patience=5,
        clip=5.0,
        l2=3e-5,
    )

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 100, dropout: Share = 0.1) -> None:
        super().__init__(words)
        self.project = nn.Sequential(nn.Linear(words.embedding_dim, hidden), nn.Tanh(), nn.Dropout(dropout))
        self.encoder = LSTM(hidden, hidden)
        self.dropout = nn.Dropout(dropout)
        layers: list[nn.Module] = []
        for _ in range(3):
            layers += [nn.Linear(2 * hidden, 2 * hidden), nn.Tanh()]
        self.head = nn.Sequential(*layers, nn.Linear(2 * hidden, labels))
        start_at_forget_bias(self.encoder, 5.0)

    def encode(self, sentences: Sentences) -> Tensor:
        """Return the state after the last token."""
        _, last = self.encoder(self.project(self.words(sentences.words)), sentences.lengths)
        vector: Tensor = self.dropout(last)
        return vector

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Score [p; h]."""
        return read_out(self.head, torch.cat([premise, hypothesis], dim=-1))
