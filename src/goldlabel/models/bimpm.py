"""``bimpm``: bilateral multi-perspective matching (Wang et al. 2017).

Word representation: the vector and an LSTM over the characters (20 to 50); context: a biLSTM of 100 shared by both
sides. Matching: m_k = cos(W_k * v_1, W_k * v_2) for 20 perspectives (their equations 3-4), by four strategies in
either direction of the biLSTM and from either side: with the last state of the other sentence (full, 5), with each of
its states and the best taken (max-pooling, 6), with the mean of its states weighted by their cosine (attentive, 7-9)
and with its nearest state (max-attentive). Aggregation: a biLSTM of 100 whose last states, 400 in all, go through
a tanh layer of 200. Dropout after every layer.

Parameters without embeddings, at 300 dimensions and 3 labels: 682,403, and 20 for each character. The published 1.6M
are those of the released code of 2017 at the dimensions of the paper, 1,591,503: with highway layers, perspectives and
aggregation of their own for each side, words matched too, a mean beside each maximum, and plain cosines. From that code
are the start (every weight uniform within 0.01, a forget bias of 1), the 10 characters and the 10 epochs, of which the
best on the dev set counts; gradients are clipped at 10 as in 2018 (50 in 2017). The paper names no batch size: 60 is
from a configuration that the author gave later.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from goldlabel.models.layers import BiLSTM, Sentences, encode_both, run_both, start_at_forget_bias, take
from goldlabel.models.network import Network, WordRecipe, read_out
from goldlabel.models.options import Count, Share
from goldlabel.models.torch_model import Outputs

SMALLEST = 1e-6
"""Squared lengths below this count as this, so that a cosine with zeros is 0."""
STRATEGIES = 4
BOUND = 0.01
"""Of the weights that training starts from."""


class BiMPM(Network):
    """Both directions of both sentences are matched against each other."""

    paper = "Wang et al. 2017"
    recipe = WordRecipe(
        optimiser="adam", lr=1e-3, batch=60, epochs=10, patience=10, clip=10.0, word_length=10, train_vectors=False
    )
    fields = ("characters",)

    def __init__(
        self,
        words: nn.Embedding,
        labels: int,
        *,
        alphabet: int,
        character: Count = 20,
        spelling: Count = 50,
        hidden: Count = 100,
        perspectives: Count = 20,
        dropout: Share = 0.1,
    ) -> None:
        super().__init__(words)
        self.characters = nn.Embedding(alphabet, character, padding_idx=0)
        self.spell = nn.LSTM(character, spelling, batch_first=True)
        self.context = BiLSTM(words.embedding_dim + spelling, hidden)
        self.perspectives = nn.Parameter(torch.empty(STRATEGIES, 2, perspectives, hidden))
        self.aggregate = BiLSTM(2 * STRATEGIES * perspectives, hidden)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Sequential(
            nn.Linear(4 * hidden, 2 * hidden), nn.Tanh(), nn.Dropout(dropout), nn.Linear(2 * hidden, labels)
        )
        for name, parameter in self.named_parameters():
            if not name.startswith("words."):
                nn.init.uniform_(parameter, -BOUND, BOUND)
        start_at_forget_bias(self, 1.0)
        with torch.no_grad():
            self.characters.weight[0] = 0  # padding

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Represent, match both ways, aggregate."""
        both = (premise, hypothesis)
        p, h = (_by_direction(states) for states in encode_both(self._contextualise, *both))
        matched = match_sentences((p, h), both, self.perspectives)
        last = torch.cat(run_both(self._aggregate, matched, both), dim=-1)
        outputs = read_out(self.head, self.dropout(last))
        if not sides:
            return outputs
        read = (_last(states, side.lengths).squeeze(2) for states, side in zip((p, h), both, strict=True))
        ends = [torch.cat([*ahead_and_back], dim=-1) for ahead_and_back in read]
        return outputs.with_sides((ends[0], ends[1]))

    def _contextualise(self, sentences: Sentences) -> Tensor:
        values = torch.cat([self.words(sentences.words), self._spell(sentences.field("characters"))], dim=-1)
        states: Tensor = self.dropout(self.context(self.dropout(values), sentences.lengths)[0])
        return states

    def _spell(self, characters: Tensor) -> Tensor:
        """Return the last state of an LSTM over each token's characters."""
        flat = characters.flatten(0, 1).long()
        states, _ = self.spell(self.characters(flat))
        ends = (flat > 0).sum(dim=1, keepdim=True).clamp(min=1) - 1
        return take(states, ends).view(*characters.shape[:2], -1)

    def _aggregate(self, matched: Tensor, sentences: Sentences) -> Tensor:
        last: Tensor = self.aggregate(self.dropout(matched), sentences.lengths)[1]
        return last


def match_sentences(
    states: tuple[Tensor, Tensor], sides: tuple[Sentences, Sentences], perspectives: Tensor
) -> tuple[Tensor, Tensor]:
    """Match both sides, states (2, batch, time, size); return (batch, time, 2 * strategies * perspectives) of each."""
    full, pooling, attentive, nearest = perspectives.square()
    masks = [side.mask for side in sides]
    # The first takes the memory, and hypotheses are mostly the shorter.
    pooled = match_all(states[1], states[0], pooling)
    cosines = _unit(states[0]) @ _unit(states[1]).transpose(2, 3)
    matched = []
    for own, other in ((0, 1), (1, 0)):
        mine, theirs = states[own], states[other]
        towards = cosines if own == 0 else cosines.transpose(2, 3)
        each = pooled.transpose(3, 4) if own == 0 else pooled
        strategies = [
            match(mine, _last(theirs, sides[other].lengths), full),
            each.masked_fill(~masks[other][:, None, None, :], -torch.inf).amax(dim=4).transpose(2, 3),
            match(mine, _mean(theirs, towards), attentive),
            match(mine, _nearest(theirs, towards, masks[other]), nearest),
        ]
        side = torch.stack(strategies).permute(2, 3, 0, 1, 4)
        matched.append(side.flatten(2))
    return matched[0], matched[1]


def match(first: Tensor, second: Tensor, squares: Tensor) -> Tensor:
    """Return cos(W_k * v_1, W_k * v_2) for every perspective; ``squares`` are W², (2, perspectives, size)."""
    return _weigh(first * second, squares) / (_lengths(first, squares) * _lengths(second, squares))


def match_all(first: Tensor, second: Tensor, squares: Tensor) -> Tensor:
    """Return the same between all places, (2, batch, perspectives, time of first, time of second)."""
    scaled = squares[:, None, :, None, :] * first[:, :, None]
    products = (scaled.flatten(2, 3) @ second.transpose(2, 3)).view(*scaled.shape[:4], second.shape[2])
    lengths = [_lengths(values, squares).transpose(2, 3) for values in (first, second)]
    return products / (lengths[0][..., None] * lengths[1][..., None, :])


def _weigh(values: Tensor, squares: Tensor) -> Tensor:
    """Return the sum of W² * v for each perspective, one product for each direction."""
    return (values.flatten(1, 2) @ squares.transpose(1, 2)).view(*values.shape[:3], -1)


def _lengths(values: Tensor, squares: Tensor) -> Tensor:
    return _weigh(values.square(), squares).clamp(min=SMALLEST).sqrt()


def _unit(values: Tensor) -> Tensor:
    return values / values.square().sum(dim=-1, keepdim=True).clamp(min=SMALLEST).sqrt()


def _by_direction(states: Tensor) -> Tensor:
    """Turn (batch, time, 2 * size) into (2, batch, time, size)."""
    return torch.stack(states.chunk(2, dim=-1))


def _last(states: Tensor, lengths: Tensor) -> Tensor:
    """Return what each direction read last: forwards at the last token, backwards at the first."""
    ahead, back = states
    return torch.stack([take(ahead, (lengths - 1)[:, None]), back[:, :1]])


def _mean(states: Tensor, cosines: Tensor) -> Tensor:
    """Return the weighted mean of the other sentence for each token, but for its length, which no cosine sees.

    The sum of the weights, by which the paper divides, may be near 0: of it only the sign is taken.
    """
    sums = cosines @ states
    lengths = sums.detach().norm(dim=-1, keepdim=True).clamp(min=SMALLEST**2)
    return sums / torch.where(cosines.sum(dim=-1, keepdim=True) < 0, -lengths, lengths)


def _nearest(states: Tensor, cosines: Tensor, mask: Tensor) -> Tensor:
    """Return the state of the other sentence with the highest cosine for each token."""
    places = cosines.masked_fill(~mask[:, None, :], -torch.inf).argmax(dim=-1, keepdim=True)
    # A product and not a lookup, whose gradients a GPU adds up in any order where several tokens look up the same.
    chosen = places == torch.arange(states.shape[2], device=states.device)
    return chosen.to(states.dtype) @ states
