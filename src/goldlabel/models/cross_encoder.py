"""A cross-encoder: one encoder reads both sentences at once (Devlin et al. 2019), and a head scores the labels."""

from __future__ import annotations

import inspect
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn

from goldlabel.models.checkpoint import last_linear
from goldlabel.models.pair_tokenizer import Inputs, PairBatch
from goldlabel.models.scoring import first_token_only
from goldlabel.models.torch_model import Outputs


class CrossEncoder(nn.Module):
    """A Hugging Face model for sequence classification."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self._hidden: dict[int, Tensor] = {}
        """What the last layer reads, for each thread that scores."""
        first_token_only(encoder)
        last_linear(encoder, encoder.config.num_labels).register_forward_pre_hook(self._keep)

    def forward(self, batch: PairBatch, *, sides: bool = False) -> Outputs:
        """Score pairs; the vector of a side alone is what the last layer reads where there is no other side."""
        outputs = self._score(*batch.inputs())
        if not sides:
            return outputs
        premise, hypothesis = (self._score(side).hidden for side in batch.alone())
        return outputs.with_sides((premise, hypothesis))

    def _score(self, inputs: Inputs) -> Outputs:
        logits: Tensor = read_inputs(self.encoder, inputs).logits
        return Outputs(logits, self._hidden.pop(get_ident()))

    def _keep(self, _: nn.Module, values: tuple[Tensor, ...]) -> None:
        self._hidden[get_ident()] = values[0]


def read_inputs(encoder: Any, inputs: Inputs) -> Any:
    """Let an encoder read; the types of tokens are for those that tell them apart."""
    types = {} if inputs.types is None or not _tells_types(encoder) else {"token_type_ids": inputs.types}
    mask = {} if inputs.full else {"attention_mask": inputs.mask}
    return encoder(input_ids=inputs.ids, **mask, **types)


def _tells_types(encoder: Any) -> bool:
    known: int = getattr(encoder.config, "type_vocab_size", 2)
    return known > 1 and "token_type_ids" in inspect.signature(encoder.forward).parameters


def reorder_labels(encoder: Any, order: tuple[str, ...], labels: tuple[str, ...]) -> None:
    """Let a classifier whose columns mean ``order`` score ``labels``, and say so in its configuration."""
    last = last_linear(encoder, len(order))
    rows = torch.tensor([order.index(label) for label in labels])
    with torch.no_grad():
        last.weight.copy_(last.weight[rows])
        if last.bias is not None:
            last.bias.copy_(last.bias[rows])
    _name_labels(encoder.config, labels)


def draw_labels(encoder: Any, labels: tuple[str, ...]) -> None:
    """Let a classifier score ``labels`` with fresh weights, as its library draws them."""
    last = last_linear(encoder, len(labels))
    nn.init.normal_(last.weight, std=getattr(encoder.config, "initializer_range", 0.02))
    if last.bias is not None:
        nn.init.zeros_(last.bias)
    _name_labels(encoder.config, labels)


def _name_labels(config: Any, labels: tuple[str, ...]) -> None:
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
