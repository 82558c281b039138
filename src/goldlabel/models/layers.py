"""Layers whose result at a real token never depends on the padding behind it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Sentences:
    """A padded batch: token numbers, which of them are real, how many; and what else the network asked for."""

    words: Tensor
    mask: Tensor
    lengths: Tensor
    characters: Tensor | None = None
    match: Tensor | None = None
    tags: Tensor | None = None

    def field(self, name: str) -> Tensor:
        """Return ``characters``, ``match`` or ``tags`` for a network that asked for it."""
        values: Tensor | None = getattr(self, name)
        if values is None:
            raise ValueError(f"the batch has no {name}; encode it with the fields that the network names")
        return values

    def join(self, other: Sentences) -> Sentences:
        """Put two batches into one, padded to the longer."""
        size = max(self.words.shape[1], other.words.shape[1])

        def both(mine: Tensor | None, theirs: Tensor | None) -> Tensor | None:
            return None if mine is None or theirs is None else torch.cat([_widened(mine, size), _widened(theirs, size)])

        return Sentences(
            torch.cat([_widened(self.words, size), _widened(other.words, size)]),
            torch.cat([_widened(self.mask, size), _widened(other.mask, size)]),
            torch.cat([self.lengths, other.lengths]),
            both(self.characters, other.characters),
            both(self.match, other.match),
            both(self.tags, other.tags),
        )


def run_both(
    layer: Callable[[Tensor, Sentences], Tensor], values: tuple[Tensor, Tensor], sides: tuple[Sentences, Sentences]
) -> tuple[Tensor, Tensor]:
    """Send both sides through one layer; on a GPU at once, as it pays there for steps and not for padding."""
    premise, hypothesis = sides
    if not premise.words.is_cuda:
        return layer(values[0], premise), layer(values[1], hypothesis)
    size = max(side.words.shape[1] for side in sides)
    together = torch.cat([_widened(side, size) for side in values])
    result = layer(together, premise.join(hypothesis))
    first, second = result[: len(premise.words)], result[len(premise.words) :]
    if result.dim() == 2:
        return first, second
    return first[:, : premise.words.shape[1]], second[:, : hypothesis.words.shape[1]]


def encode_both(
    encode: Callable[[Sentences], Tensor], premise: Sentences, hypothesis: Sentences
) -> tuple[Tensor, Tensor]:
    """Send both sides through one encoder."""
    return run_both(lambda _, side: encode(side), (premise.words, hypothesis.words), (premise, hypothesis))


class LSTM(nn.Module):
    """One direction, padding-proof.

    ``nn.LSTM`` on padded batches reads the padding only after the last token when it runs forwards; backwards,
    each sentence is turned round within its own length first. Packed sequences would do the same several times
    more slowly on a GPU (pytorch#149194).
    """

    def __init__(self, inputs: int, hidden: int, *, backwards: bool = False) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, batch_first=True)
        self.backwards = backwards

    def forward(self, values: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states at every token, zero at padding, and the last state read."""
        states = self.read(values, lengths)
        last = take(states, (lengths - 1)[:, None]).squeeze(1)
        if self.backwards:
            states = take(states, reversal(lengths, values.shape[1]))
        return mask_out(states, lengths), last

    def read(self, values: Tensor, lengths: Tensor) -> Tensor:
        """Return the states in the order of reading; those behind the last token mean nothing."""
        if self.backwards:
            values = take(values, reversal(lengths, values.shape[1]))
        states: Tensor = self.lstm(values)[0]
        return states


class BiLSTM(nn.Module):
    """Both directions side by side."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forwards = LSTM(inputs, hidden)
        self.backwards = LSTM(inputs, hidden, backwards=True)

    def forward(self, values: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states at every token, zero at padding, and the last states that each direction read."""
        if values.is_cuda:
            ahead, back = self.run_at_once(values, lengths)
            last = torch.cat([take(ahead, (lengths - 1)[:, None]).squeeze(1), back[:, 0]], dim=-1)
            return mask_out(torch.cat([ahead, back], dim=-1), lengths), last
        ahead, at_end = self.forwards(values, lengths)
        back, at_start = self.backwards(values, lengths)
        return torch.cat([ahead, back], dim=-1), torch.cat([at_end, at_start], dim=-1)

    def pool(self, values: Tensor, sentences: Sentences, pooling: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Return the states pooled over the tokens, whose order does not matter then."""
        if values.is_cuda:
            return pooling(torch.cat(self.run_at_once(values, sentences.lengths), dim=-1), sentences.mask)
        states = (lstm.read(values, sentences.lengths) for lstm in (self.forwards, self.backwards))
        return torch.cat([pooling(direction, sentences.mask) for direction in states], dim=-1)

    def run_at_once(self, values: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states of each direction as one call gives them, which a GPU runs beside each other.

        Backwards it begins at the padding, which leaves the states at 0. Those ahead of the last token mean nothing.
        """
        zeros = values.new_zeros(2, len(values), self.forwards.lstm.hidden_size)
        weights = [list(direction.lstm.parameters()) for direction in (self.forwards, self.backwards)]
        states, _ = run_idle_at_padding(values, lengths, (zeros, zeros), weights)
        ahead, back = states.chunk(2, dim=-1)
        return ahead, back


SATURATED = 1e4
"""A sigmoid of it is exactly 1, and of its negative exactly 0."""


def run_idle_at_padding(
    values: Tensor, lengths: Tensor, start: tuple[Tensor, Tensor], weights: Sequence[Sequence[Tensor]]
) -> tuple[Tensor, Tensor]:
    """Run LSTMs, one for each direction that there are weights of, whose cells stay as they are at padding.

    A further input that is 1 there shuts the input gate and opens the forget gate for good. So the last cells are those
    of the last tokens, without the packing that waits for the lengths. Returns all states and the last cells.
    """
    padding = torch.arange(values.shape[1], device=values.device) >= lengths[:, None]
    inputs = torch.cat([values, padding[:, :, None].to(values.dtype)], dim=-1)
    gates = torch.zeros(4, weights[0][1].shape[1], 1, device=values.device)
    gates[0], gates[1] = -SATURATED, SATURATED  # torch orders them input, forget, cell, output
    flat: list[Tensor] = []
    for from_inputs, *others in weights:
        flat += [torch.cat([from_inputs, gates.flatten(0, 1).to(from_inputs.dtype)], dim=1), *others]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
        states, _, cells = torch._VF.lstm(
            inputs, start, flat, True, 1, 0.0, torch.is_grad_enabled(), len(weights) == 2, True
        )
    return states, cells


def reversal(lengths: Tensor, size: int) -> Tensor:
    """Return the positions that turn each sentence round and leave its padding in place."""
    places = torch.arange(size, device=lengths.device)
    turned = lengths[:, None] - 1 - places
    return torch.where(turned >= 0, turned, places)


def take(values: Tensor, places: Tensor) -> Tensor:
    """Pick positions (batch, n) of a tensor (batch, time, features)."""
    return values.gather(1, places[:, :, None].expand(-1, -1, values.shape[2]))


def mask_out(values: Tensor, lengths: Tensor) -> Tensor:
    """Put zeros at padding."""
    real = torch.arange(values.shape[1], device=values.device) < lengths[:, None]
    return values * real[:, :, None].to(values.dtype)


def masked_max(values: Tensor, mask: Tensor) -> Tensor:
    """Return the maximum over the real tokens."""
    return values.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the real tokens."""
    return masked_sum(values, mask) / mask.sum(dim=1, keepdim=True)


def masked_sum(values: Tensor, mask: Tensor) -> Tensor:
    """Return the sum over the real tokens."""
    return (values * mask[:, :, None].to(values.dtype)).sum(dim=1)


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Return weights over the real places alone; ``mask`` is broadcast, and a row without any gives zeros."""
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=dim)
    return weights.masked_fill(~mask, 0.0)


def attend(premise: Tensor, hypothesis: Tensor, scores: Tensor, masks: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Soft alignment: for each premise token a mean of the hypothesis, and the other way round."""
    to_hypothesis = masked_softmax(scores, masks[1][:, None, :], dim=2)
    to_premise = masked_softmax(scores, masks[0][:, :, None], dim=1)
    return to_hypothesis @ hypothesis, to_premise.transpose(1, 2) @ premise


def compare(first: Tensor, second: Tensor, *, absolute: bool = False) -> Tensor:
    """Return [a; b; a - b; a * b], or with ``absolute`` [a; b; |a - b|; a * b]."""
    difference = first - second
    return torch.cat([first, second, difference.abs() if absolute else difference, first * second], dim=-1)


@torch.no_grad()
def start_at_forget_bias(module: nn.Module, bias: float) -> None:
    """Let the biases of all LSTMs start at 0, and at ``bias`` where they let the cell forget."""
    for lstm in module.modules():
        if isinstance(lstm, nn.LSTM):
            for name, biases in lstm.named_parameters():
                if "bias" in name:
                    nn.init.zeros_(biases)
                if "bias_ih" in name:
                    biases.chunk(4)[1].fill_(bias)  # torch orders the gates input, forget, cell, output


@torch.no_grad()
def start_as_tensorflow(module: nn.Module) -> None:
    """Let all LSTMs start as TensorFlow's: Glorot's bound for one matrix of inputs and states, a forget bias of 1."""
    for lstm in module.modules():
        if isinstance(lstm, nn.LSTM):
            bound = (6 / (lstm.input_size + 5 * lstm.hidden_size)) ** 0.5
            for name, weights in lstm.named_parameters():
                if "weight" in name:
                    nn.init.uniform_(weights, -bound, bound)
    start_at_forget_bias(module, 1.0)


def draw_linear(module: nn.Module, spread: float) -> None:
    """Draw weights and biases of all linear maps from a Gaussian."""
    for linear in module.modules():
        if isinstance(linear, nn.Linear):
            for parameter in linear.parameters():
                nn.init.normal_(parameter, std=spread)


def start_as_glorot(module: nn.Module) -> None:
    """Draw the weights of all linear maps within Glorot's bound, with biases of 0."""
    for linear in module.modules():
        if isinstance(linear, nn.Linear):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)


def _widened(values: Tensor, size: int) -> Tensor:
    missing = size - values.shape[1]
    if not missing:
        return values
    return functional.pad(values, (0, missing) if values.dim() == 2 else (0, 0, 0, missing))
