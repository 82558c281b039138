"""``cbow``: the sum of a sentence's word vectors, and a three-layer perceptron (Williams et al. 2018; OCNLI).

[p; h; p - h; p * h] goes through three layers of 300 with ReLU. Dropout, the batch and the start (a Gaussian with a
deviation of 0.1) are those of the released MultiNLI baselines, the rate of dropout that of OCNLI.
"""

from __future__ import annotations

from torch import Tensor, nn

from goldlabel.models.layers import Sentences, compare, draw_linear, masked_sum
from goldlabel.models.network import SentenceNetwork, WordRecipe, read_out
from goldlabel.models.options import Count, Share
from goldlabel.models.torch_model import Outputs

OCNLI = WordRecipe(optimiser="adam", lr=4e-4, batch=16, epochs=40, patience=5, length=50, characters="letters")
"""How the three baselines of OCNLI were trained; ``esim-nyu`` and ``bilstm`` are the others."""
SPREAD = 0.1


class CBOW(SentenceNetwork):
    """Continuous bag of words."""

    paper = "Williams et al. 2018"
    recipe = OCNLI

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 300, dropout: Share = 0.1) -> None:
        super().__init__(words)
        self.dropout = nn.Dropout(dropout)
        layers: list[nn.Module] = []
        size = 4 * words.embedding_dim
        for last in (False, False, True):
            layers += [nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout) if last else nn.Identity()]
            size = hidden
        self.head = nn.Sequential(*layers, nn.Linear(hidden, labels))
        draw_linear(self.head, SPREAD)

    def encode(self, sentences: Sentences) -> Tensor:
        """Sum the word vectors."""
        return masked_sum(self.dropout(self.words(sentences.words)), sentences.mask)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Compare the two sums."""
        return read_out(self.head, compare(premise, hypothesis))
