"""``cbow``: the sum of a sentence's word vectors, and a three-layer perceptron (Williams et al. 2018; OCNLI).

[p; h; p - h; p * h] goes through three layers of 300 with ReLU and dropout.
"""

from __future__ import annotations

from torch import Tensor, nn

from goldlabel.models.layers import Sentences, compare, masked_sum
from goldlabel.models.network import Recipe, SentenceNetwork


class CBOW(SentenceNetwork):
    """Continuous bag of words."""

    recipe = Recipe(optimiser="adam", lr=4e-4, batch=32, epochs=40, patience=5, length=50)

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: int = 300, dropout: float = 0.1) -> None:
        super().__init__(words)
        layers: list[nn.Module] = []
        size = 4 * words.embedding_dim
        for _ in range(3):
            layers += [nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout)]
            size = hidden
        self.head = nn.Sequential(*layers, nn.Linear(hidden, labels))

    def encode(self, sentences: Sentences) -> Tensor:
        """Sum the word vectors."""
        return masked_sum(self.words(sentences.words), sentences.mask)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Tensor:
        """Compare the two sums."""
        scores: Tensor = self.head(compare(premise, hypothesis))
        return scores
