"""A bi-encoder (Reimers and Gurevych 2019): each sentence becomes one vector, and a linear layer compares the two.

The vector is the mean of the states of the sentence's tokens; the layer reads [u; v; |u − v|], their objective for
classification. No pair is read as a whole, so that each sentence is encoded once for all of its pairs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from goldlabel.models.cross_encoder import read_inputs
from goldlabel.models.pair_tokenizer import Inputs, PairBatch
from goldlabel.models.torch_model import Outputs


class BiEncoder(nn.Module):
    """A Hugging Face encoder without a head, and a layer that compares vectors."""

    def __init__(self, encoder: Any, labels: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(3 * encoder.config.hidden_size, labels)

    def forward(self, batch: PairBatch, *, sides: bool = False) -> Outputs:
        """Encode both sides and compare; their vectors are there anyway."""
        premise, hypothesis = (self.encode(inputs) for inputs in batch.inputs())
        return self.classify(premise, hypothesis).with_sides((premise, hypothesis))

    def encode(self, inputs: Inputs) -> Tensor:
        """Return a vector for each sentence, (batch, features)."""
        states: Tensor = read_inputs(self.encoder, inputs).last_hidden_state
        mask = inputs.mask[:, :, None].to(states.dtype)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Return a score for each label from the two vectors."""
        hidden = torch.cat([premise, hypothesis, (premise - hypothesis).abs()], dim=1)
        return Outputs(self.classifier(hidden), hidden)
