"""``hbmp``: hierarchical biLSTMs with max pooling (Talman et al. 2019).

Three biLSTMs of 600 per direction read the same word vectors, each starting from the states in which the one before
it ended. The maxima over the tokens of all three make the sentence, 3,600 features; [u; v; |u - v|; u * v] goes
through two LeakyReLU layers of 600 with dropout of 0.1 before each. 21,991,803 parameters, the published 22M.

The released code lets padding into the states and the maxima; here it is left out. Its learning rate and its early
stopping watch the loss on the development set, ours the accuracy; both stop at the fourth epoch without gain in all.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from goldlabel.models.layers import Sentences, compare, masked_max, reversal, run_idle_at_padding, take
from goldlabel.models.network import SentenceNetwork, WordRecipe, read_out
from goldlabel.models.options import Count, Share
from goldlabel.models.torch_model import Outputs

State = tuple[Tensor, Tensor]


class HBMP(SentenceNetwork):
    """Three max-pooled biLSTMs, each taking over the states of the one before."""

    paper = "Talman et al. 2019"
    recipe = WordRecipe(
        optimiser="adam",
        lr=5e-4,
        batch=64,
        epochs=20,
        patience=4,
        in_a_row=False,
        drop=0.2,
        drop_patience=1,
        floor=1e-5,
        lowercase=True,
    )

    def __init__(self, words: nn.Embedding, labels: int, *, hidden: Count = 600, dropout: Share = 0.1) -> None:
        super().__init__(words)
        self.encoders = nn.ModuleList(
            nn.LSTM(words.embedding_dim, hidden, batch_first=True, bidirectional=True) for _ in range(3)
        )
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(24 * hidden, hidden),
            nn.LeakyReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(),
            nn.Linear(hidden, labels),
        )

    def encode(self, sentences: Sentences) -> Tensor:
        """Return the maxima over the states of the three."""
        words, run = self.words(sentences.words), run_padded if sentences.words.is_cuda else run_packed
        maxima, last = [], None
        for encoder in self.encoders:
            assert isinstance(encoder, nn.LSTM)
            states, last = run(encoder, words, sentences, last)
            maxima.append(masked_max(states, sentences.mask))
        return torch.cat(maxima, dim=-1)

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Score [u; v; |u - v|; u * v]."""
        return read_out(self.head, compare(premise, hypothesis, absolute=True))


def run_packed(encoder: nn.LSTM, words: Tensor, sentences: Sentences, start: State | None) -> tuple[Tensor, State]:
    """Return the states at every token and the last ones, those of torch on packed sentences."""
    lengths = sentences.lengths.cpu()
    packed, last = encoder(pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False), start)
    states, _ = pad_packed_sequence(packed, batch_first=True, total_length=words.shape[1])
    return states, last


def run_padded(encoder: nn.LSTM, words: Tensor, sentences: Sentences, start: State | None) -> tuple[Tensor, State]:
    """Return the same, but in any order of the tokens, without waiting for the lengths as packing does."""
    states, last = [], []
    for number, suffix in enumerate(("", "_reverse")):
        names = (f"{name}_l0{suffix}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        weights = [encoder.get_parameter(name) for name in names]
        zeros = words.new_zeros(1, len(words), encoder.hidden_size)
        begin = (zeros, zeros) if start is None else (start[0][number : number + 1], start[1][number : number + 1])
        # Backwards, each sentence is turned round within its length, as its padding must come last.
        read = take(words, reversal(sentences.lengths, words.shape[1])) if suffix else words
        outputs, cells = run_idle_at_padding(read, sentences.lengths, begin, [weights])
        states.append(outputs)
        last.append((take(outputs, (sentences.lengths - 1)[:, None]).squeeze(1), cells[0]))
    h, c = (torch.stack([direction[part] for direction in last]) for part in (0, 1))
    return torch.cat(states, dim=-1), (h, c)
