"""``esim``, ``esim-nyu``: enhanced sequential inference (Chen et al. 2017).

Input encoding by a biLSTM (their equations 1-2), soft alignment (11-13), local comparison [a; ã; a-ã; a*ã]
(14-15) through a ReLU projection, composition by a second biLSTM (16-18), mean and max pooling (19-20), one tanh
layer. ``esim-nyu`` is the variant of the MultiNLI baselines that OCNLI used: premise and hypothesis have LSTMs of
their own and the comparison is not projected; the zeros of the padding, which enter the maximum there, are left out.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from goldlabel.models.cbow import OCNLI, SPREAD
from goldlabel.models.layers import (
    BiLSTM,
    Sentences,
    attend,
    compare,
    draw_linear,
    encode_both,
    masked_max,
    masked_mean,
    run_both,
    start_as_glorot,
    start_as_tensorflow,
    start_at_forget_bias,
)
from goldlabel.models.network import Network, WordRecipe, read_out
from goldlabel.models.options import Count, Share
from goldlabel.models.torch_model import Outputs


class ESIM(Network):
    """Chen's model: one encoder for both sides."""

    paper = "Chen et al. 2017"
    recipe = WordRecipe(
        optimiser="adam", lr=4e-4, batch=32, epochs=30, patience=7, clip=10.0, drop=0.5, drop_patience=0
    )

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 300, dropout: Share = 0.5) -> None:
        super().__init__(words)
        self.encoder = BiLSTM(words.embedding_dim, hidden)
        self.project = nn.Sequential(nn.Linear(8 * hidden, hidden), nn.ReLU())
        self.composer = BiLSTM(hidden, hidden)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(8 * hidden, hidden),
            nn.Tanh(),
            nn.Dropout(dropout),
            nn.Linear(hidden, labels),
        )
        self._start()

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Encode, align, compare, compose, pool."""
        p, h = encode_both(self._encode, premise, hypothesis)
        p_aligned, h_aligned = attend(p, h, p @ h.transpose(1, 2), (premise.mask, hypothesis.mask))
        compared = compare(p, p_aligned), compare(h, h_aligned)
        outputs = read_out(self.head, torch.cat(run_both(self._compose, compared, (premise, hypothesis)), dim=-1))
        return outputs.with_sides((masked_max(p, premise.mask), masked_max(h, hypothesis.mask))) if sides else outputs

    def _start(self) -> None:
        """Orthogonal recurrent weights, Glorot's for all others, no biases but 1 for the forget gates (coetaur0)."""
        start_as_glorot(self)
        for name, weights in (*self.encoder.named_parameters(), *self.composer.named_parameters()):
            if "weight_ih" in name:
                nn.init.xavier_uniform_(weights)
            elif "weight_hh" in name:
                nn.init.orthogonal_(weights)
        start_at_forget_bias(self, 1.0)

    def _encode(self, sentences: Sentences) -> Tensor:
        states: Tensor = self.encoder(self.dropout(self.words(sentences.words)), sentences.lengths)[0]
        return states

    def _compose(self, compared: Tensor, sentences: Sentences) -> Tensor:
        states, _ = self.composer(self.dropout(self.project(compared)), sentences.lengths)
        return torch.cat([masked_mean(states, sentences.mask), masked_max(states, sentences.mask)], dim=-1)


class ESIMNYU(Network):
    """The MultiNLI baselines' variant: an encoder and a composer for each side, no projection."""

    paper = "Williams et al. 2018"
    recipe = replace(OCNLI, epochs=30)

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 300, dropout: Share = 0.1) -> None:
        super().__init__(words)
        self.encoders = nn.ModuleList(BiLSTM(words.embedding_dim, hidden) for _ in range(2))
        self.composers = nn.ModuleList(BiLSTM(8 * hidden, hidden) for _ in range(2))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Sequential(
            nn.Linear(8 * hidden, hidden), nn.Tanh(), nn.Dropout(dropout), nn.Linear(hidden, labels)
        )
        start_as_tensorflow(self)
        draw_linear(self.head, SPREAD)

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Encode, align, compare, compose, pool, each side with its own weights."""
        both = (premise, hypothesis)
        p, h = (
            encoder(self.dropout(self.words(side.words)), side.lengths)[0]
            for encoder, side in zip(self.encoders, both, strict=True)
        )
        p_aligned, h_aligned = attend(p, h, p @ h.transpose(1, 2), (premise.mask, hypothesis.mask))
        pooled = []
        for composer, own, aligned, side in zip(self.composers, (p, h), (p_aligned, h_aligned), both, strict=True):
            states, _ = composer(compare(own, aligned), side.lengths)
            pooled += [masked_mean(states, side.mask), masked_max(states, side.mask)]
        outputs = read_out(self.head, torch.cat(pooled, dim=-1))
        return outputs.with_sides((masked_max(p, premise.mask), masked_max(h, hypothesis.mask))) if sides else outputs
