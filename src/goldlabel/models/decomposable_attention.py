"""``decomposable-attention`` and its kin: attend, compare, aggregate (Parikh et al. 2016).

A ``<null>`` before each sentence; word vectors scaled to length 1 and projected to 200. Attend: F(a_i) · F(b_j) and
a softmax each way (their equations 1-2). Compare: G([a_i; β_i]) and G([b_j; α_j]) (3). Aggregate: the sum over the
tokens of each side (4) and H of both (5). F, G and H are two layers of 200 with ReLU, dropout before each.
``decomposable-attention-intra`` puts to each token what it attends to in its own sentence, with a bias for each
distance up to 10 words either way and one for all that lies farther (section 3.4). ``decomposable-attention-300`` is
the first at the size and by the cheaper recipe of a public reimplementation (libowen2121), which reached 86.2 on SNLI.

Parameters without embeddings, at 300 dimensions and 3 labels: 381,803 (published 380k) and 582,225 (580k).
The authors trained for 50 million steps; here it is at most 250 epochs, as in a public reimplementation. They hash
every word without a vector to one of 100 random ones; here only words that are not in the vocabulary are hashed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from goldlabel.models.layers import (
    Sentences,
    attend,
    draw_linear,
    encode_both,
    masked_mean,
    masked_softmax,
    masked_sum,
    run_both,
)
from goldlabel.models.network import Network, WordRecipe, read_out
from goldlabel.models.options import Count, Positive, Share
from goldlabel.models.torch_model import Outputs

FAR = 10
"""Words farther apart than this share one bias."""


class DecomposableAttention(Network):
    """Parikh's model without word order."""

    paper = "Parikh et al. 2016"
    recipe = WordRecipe(
        optimiser="adagrad",
        # TensorFlow's start, which Parikh et al. had: from 0, the first step moves every weight by the whole rate.
        settings={"initial_accumulator_value": 0.1},
        lr=0.05,
        batch=4,
        epochs=250,
        patience=10,
        train_vectors=False,
        boundaries="null",
        buckets=100,
    )
    vectors_per_token: ClassVar[int] = 1

    def __init__(
        self, words: nn.Embedding, labels: int, *, hidden: Count = 200, dropout: Share = 0.2, spread: Positive = 0.01
    ) -> None:
        super().__init__(words)
        width = self.vectors_per_token * hidden
        self.project = nn.Linear(words.embedding_dim, hidden, bias=False)
        self.attend = feed_forward(width, hidden, dropout)
        self.compare = feed_forward(2 * width, hidden, dropout)
        self.aggregate = nn.Sequential(feed_forward(2 * hidden, hidden, dropout), nn.Linear(hidden, labels))
        draw_linear(self, spread)

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Attend, compare, aggregate."""
        both = encode_both(self._represent_and_attend, premise, hypothesis)
        (p, p_attending), (h, h_attending) = (self._parts(side) for side in both)
        scores = p_attending @ h_attending.transpose(1, 2)
        p_aligned, h_aligned = attend(p, h, scores, (premise.mask, hypothesis.mask))
        pairs = torch.cat([p, p_aligned], dim=-1), torch.cat([h, h_aligned], dim=-1)
        compared = torch.cat(run_both(self._compare, pairs, (premise, hypothesis)), dim=-1)
        outputs = read_out(self.aggregate, compared)
        if not sides:
            return outputs
        return outputs.with_sides((masked_mean(p, premise.mask), masked_mean(h, hypothesis.mask)))

    def represent(self, sentences: Sentences) -> Tensor:
        """Return what stands for each token: the projection of its vector, scaled to length 1."""
        projected: Tensor = self.project(functional.normalize(self.words(sentences.words), dim=-1))
        return projected

    def _represent_and_attend(self, sentences: Sentences) -> Tensor:
        values = self.represent(sentences)
        return torch.cat([values, self.attend(values)], dim=-1)

    def _parts(self, both: Tensor) -> tuple[Tensor, Tensor]:
        width = self.vectors_per_token * self.project.out_features
        return both[..., :width], both[..., width:]

    def _compare(self, pairs: Tensor, sentences: Sentences) -> Tensor:
        return masked_sum(self.compare(pairs), sentences.mask)


class IntraAttention(DecomposableAttention):
    """Parikh's model with attention inside each sentence first."""

    recipe = replace(DecomposableAttention.recipe, lr=0.025)
    vectors_per_token = 2

    def __init__(
        self, words: nn.Embedding, labels: int, *, hidden: Count = 200, dropout: Share = 0.2, spread: Positive = 0.01
    ) -> None:
        super().__init__(words, labels, hidden=hidden, dropout=dropout, spread=spread)
        self.attend_within = feed_forward(hidden, hidden, dropout)
        self.distances = nn.Parameter(torch.empty(2 * FAR + 2))
        nn.init.normal_(self.distances, std=spread)
        draw_linear(self.attend_within, spread)

    def represent(self, sentences: Sentences) -> Tensor:
        """Return [a_i; a'_i], the token and what it attends to in its own sentence."""
        values = super().represent(sentences)
        attending = self.attend_within(values)
        scores = attending @ attending.transpose(1, 2) + self.distances[distance_rows(values.shape[1], values.device)]
        return torch.cat([values, masked_softmax(scores, sentences.mask[:, None, :]) @ values], dim=-1)


class DecomposableAttention300(DecomposableAttention):
    """Parikh's model, wider and trained in fewer and larger steps."""

    recipe = replace(
        DecomposableAttention.recipe, settings={"initial_accumulator_value": 0.0}, batch=32, l2=1e-5, clip=5.0
    )

    def __init__(
        self, words: nn.Embedding, labels: int, *, hidden: Count = 300, dropout: Share = 0.2, spread: Positive = 0.01
    ) -> None:
        super().__init__(words, labels, hidden=hidden, dropout=dropout, spread=spread)


def feed_forward(inputs: int, hidden: int, dropout: float) -> nn.Sequential:
    """Return two layers with ReLU and dropout before each."""
    layers: list[nn.Module] = []
    for size in (inputs, hidden):
        layers += [nn.Dropout(dropout), nn.Linear(size, hidden), nn.ReLU()]
    return nn.Sequential(*layers)


def distance_rows(size: int, device: torch.device) -> Tensor:
    """Return which distance bias holds between each two of ``size`` tokens."""
    places = torch.arange(size, device=device)
    distances = places[None, :] - places[:, None]
    return torch.where(distances.abs() > FAR, 2 * FAR + 1, distances + FAR)
