"""``infersent``: a wide max-pooled biLSTM (Conneau et al. 2017).

Frozen word vectors, words without one left out, around the sentence ``<start>`` and ``<end>``, which take the vectors
of ``<s>`` and ``</s>`` where the file has them; a biLSTM of 2,048 per direction, max-pooled to 4,096; [u; v; |u - v|;
u * v] through two layers of 512 with no non-linearity between them, as the released code has it by default. 47,155,715
parameters, 38.5 million of them in the encoder; SNLI's page gives 40 million.

Two differences from the released code. There a sentence shorter than the longest of its batch takes zeros into its
maximum; here the padding is left out. There the gradients are divided by the batch once more under today's torch,
which ignores ``loss.size_average = False``, and become 64 times too small; here they are the batch's mean, as meant.
"""

from __future__ import annotations

from torch import Tensor, nn

from goldlabel.models.layers import BiLSTM, Sentences, compare, masked_max
from goldlabel.models.network import SentenceNetwork, WordRecipe, read_out
from goldlabel.models.options import Count
from goldlabel.models.torch_model import Outputs


class InferSent(SentenceNetwork):
    """The maximum over the states of a biLSTM, compared by a linear map."""

    paper = "Conneau et al. 2017"
    recipe = WordRecipe(
        optimiser="sgd",
        lr=0.1,
        batch=64,
        epochs=20,
        patience=20,
        clip=5.0,
        decay=0.99,
        drop=0.2,
        floor=1e-5,
        train_vectors=False,
        boundaries="ends",
        drop_unknown=True,
    )

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 2048, layer: Count = 512) -> None:
        super().__init__(words)
        self.encoder = BiLSTM(words.embedding_dim, hidden)
        self.head = nn.Sequential(nn.Linear(8 * hidden, layer), nn.Linear(layer, layer), nn.Linear(layer, labels))

    def encode(self, sentences: Sentences) -> Tensor:
        """Return the maximum over the states."""
        return self.encoder.pool(self.words(sentences.words), sentences, masked_max)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Score [u; v; |u - v|; u * v]."""
        return read_out(self.head, compare(premise, hypothesis, absolute=True))
