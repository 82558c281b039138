"""``diin``: a densely connected network over the interaction of all word pairs (Gong et al. 2017).

Embedding: word vector, convolution over 16 characters, part of speech (47 one-hot) and whether the token stands in the
other sentence too; 448 in all, through two highway layers. Encoding: self-attention by w · [a; b; a * b] and a fuse
gate (their equations 1-6), with weights of their own for each side whose difference is penalised. Interaction:
p_i * h_j (7), on a map of 48 by 48. Feature extraction: a 1x1 convolution to 0.3 of the channels, then three times a
dense block of eight 3x3 convolutions (growth 20), a 1x1 convolution to half the channels and 2x2 max-pooling; all is
flattened and classified. The share of kept units falls by 0.977 in 10,000 steps; the weight of the L2 norm follows a
sigmoid over 100,000 steps.

Parameters without embeddings, at 300 dimensions and 3 labels: 4,366,862, and 8 for each character (published 4.36M;
the authors' code has a second, redundant bias in each gate and one in the attention, and does not count the
character filters). Differences from the authors: the map is zero at padding; a token matches the same token in any
case, without stems and WordNet; tags come from the tagger that was chosen, or are all unknown; there is no late change
to SGD.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn import functional

from goldlabel.models.layers import Sentences, encode_both, mask_out, masked_max, masked_softmax
from goldlabel.models.network import Network, WordRecipe
from goldlabel.models.options import Bounds, Count
from goldlabel.models.tagging import TAGS
from goldlabel.models.torch_model import Outputs

L2 = 9e-5
L2_STEPS = 100_000
DIFFERENCE = 1e-3
KEEP, KEEP_STEPS = 0.977, 10_000
MAPS_AT_ONCE = {"cpu": 32, "cuda": 512}
"""Pairs whose maps are held at once when scoring; each takes some 8 MB."""


class DIIN(Network):
    """Densely interactive inference network."""

    paper = "Gong et al. 2018"
    recipe = WordRecipe(
        optimiser="adadelta",
        settings={"rho": 0.95, "eps": 1e-8},
        lr=0.5,
        batch=70,
        epochs=40,
        patience=5,
        clip=1.0,
        length=48,
    )
    fields = ("characters", "match", "tags")

    def __init__(
        self,
        words: nn.Embedding,
        labels: int,
        *,
        alphabet: int,
        character: Count = 8,
        filters: Count = 100,
        length: Annotated[int, Bounds(least=8)] = 48,
        growth: Count = 20,
        layers: Count = 8,
    ) -> None:
        super().__init__(words)
        self.length = length
        self.characters = nn.Embedding(alphabet, character)
        self.spell = nn.Conv1d(character, filters, 5)
        size = words.embedding_dim + filters + TAGS + 1
        self.highways = nn.ModuleList(Highway(size) for _ in range(2))
        self.premise_encoder = SelfAttention(size)
        self.hypothesis_encoder = SelfAttention(size)
        channels = int(0.3 * size)
        self.scale = nn.Linear(size, channels)
        stages: list[nn.Module] = []
        for _ in range(3):
            block = DenseBlock(channels, growth, layers)
            channels = block.outputs // 2
            stages += [block, nn.Conv2d(block.outputs, channels, 1), nn.MaxPool2d(2)]
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels * (length // 8) ** 2, labels)
        self.apply(_initialise)
        nn.init.xavier_uniform_(self.characters.weight)
        for parameter in self.stages.parameters():
            if parameter.dim() == 4:
                parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Embed, encode, let all words interact, extract features."""
        both = cut(premise, self.length), cut(hypothesis, self.length)
        p, h = self._encode(*both)
        several = len(p) if torch.is_grad_enabled() else MAPS_AT_ONCE[p.device.type]
        hidden = torch.cat(
            [self._extract(*part) for part in zip(torch.split(p, several), torch.split(h, several), strict=True)]
        )
        outputs = Outputs(self.head(hidden), hidden)
        if not sides:
            return outputs
        # Which words the other sentence has, too, is not known to a sentence alone.
        alone = [replace(side, match=torch.zeros_like(side.field("match"))) for side in both]
        p, h = self._encode(*alone)
        return outputs.with_sides((masked_max(p, both[0].mask), masked_max(h, both[1].mask)))

    @property
    def keep(self) -> Tensor | None:
        """The share of units that dropout keeps at this step; None when not training, where all are kept."""
        return KEEP ** (self.steps / KEEP_STEPS) if self.training else None

    def penalty(self) -> Tensor:
        """Return the L2 norms of the weights and of the difference between the sides' encoders."""
        ramp = torch.sigmoid(8 * (self.steps - L2_STEPS / 2) / (L2_STEPS / 2))
        weights = [module.weight for module in self.modules() if isinstance(module, nn.Linear | nn.Conv2d)]
        pairs = zip(self.premise_encoder.weights(), self.hypothesis_encoder.weights(), strict=True)
        return L2 * ramp * _half_square(weights) + DIFFERENCE * _half_square([ours - theirs for ours, theirs in pairs])

    def _encode(self, premise: Sentences, hypothesis: Sentences) -> tuple[Tensor, Tensor]:
        p, h = encode_both(self._embed, premise, hypothesis)
        p = self.premise_encoder(p, premise, self.keep)
        h = self.hypothesis_encoder(h, hypothesis, self.keep)
        return p, h

    def _embed(self, sentences: Sentences) -> Tensor:
        vectors = _dropped(self.words(sentences.words), self.keep)
        letters = _dropped(self.characters(sentences.field("characters").flatten(0, 1).long()), self.keep)
        spelled = self.spell(letters.transpose(1, 2)).relu().amax(dim=2).view(*vectors.shape[:2], -1)
        tags = sentences.field("tags")[..., None] == torch.arange(TAGS, device=vectors.device)
        match = sentences.field("match")[..., None]
        values = torch.cat([vectors, spelled, tags.to(vectors.dtype), match.to(vectors.dtype)], dim=-1)
        for highway in self.highways:
            values = highway(values)
        return values

    def _extract(self, p: Tensor, h: Tensor) -> Tensor:
        together = _dropped(p[:, :, None] * h[:, None], self.keep)
        # Before the bias: at padding the scaled map holds the bias alone, as a convolution over zeros would give.
        scaled = functional.linear(together, self.scale.weight)
        space = (0, 0, 0, self.length - h.shape[1], 0, self.length - p.shape[1])
        features = functional.pad(scaled, space) + self.scale.bias.to(scaled.dtype)
        return _dropped(self.stages(features.permute(0, 3, 1, 2)).flatten(1), self.keep)


class Highway(nn.Module):
    """A ReLU layer and the input, mixed by a gate."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.gates = nn.Linear(size, 2 * size)

    def forward(self, values: Tensor) -> Tensor:
        """Return g * relu(Wx) + (1 - g) * x."""
        changed, gate = self.gates(values).chunk(2, dim=-1)
        return torch.lerp(values.to(changed.dtype), changed.relu(), gate.sigmoid())


class SelfAttention(nn.Module):
    """Attention within a sentence, put to each token by a fuse gate."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.score = nn.Linear(3 * size, 1, bias=False)
        self.gates = nn.Linear(2 * size, 3 * size)

    def forward(self, values: Tensor, sentences: Sentences, keep: Tensor | None) -> Tensor:
        """Return r * x + f * z with gates r, f and the candidate z of [x; attended x], zero at padding."""
        # The score's first part is the same for all that a token attends to, so that the softmax never sees it.
        own, other, product = self.score.weight.view(3, 1, -1)
        scores = values @ own.T + (values @ other.T).transpose(1, 2) + (values * product) @ values.transpose(1, 2)
        attended = masked_softmax(scores, sentences.mask[:, None, :]) @ values
        both = torch.cat([values, attended], dim=-1)
        # Each of the three has a dropout mask of its own.
        candidate, kept, taken = (
            functional.linear(_dropped(both, keep), weight, bias)
            for weight, bias in zip(self.gates.weight.chunk(3), self.gates.bias.chunk(3), strict=True)
        )
        return mask_out(kept.sigmoid() * values + taken.sigmoid() * candidate.tanh(), sentences.lengths)

    def weights(self) -> list[Tensor]:
        """Return the weights that are kept near those of the other side."""
        return [self.score.weight, self.gates.weight]


class DenseBlock(nn.Module):
    """Convolutions of 3x3, each of which sees the results of all before it.

    Its weights are kept by source, not by layer: a source's convolution gives at once what all layers after it take
    from it. That is the same sum, without ever longer concatenations and with fewer, wider products: on a GPU twice
    as fast, in half the memory.
    """

    def __init__(self, inputs: int, growth: int, layers: int) -> None:
        super().__init__()
        self.inputs, self.growth = inputs, growth
        self.outputs = inputs + growth * layers
        later = (nn.Conv2d(growth, growth * (layers - layer), 3, padding=1, bias=False) for layer in range(1, layers))
        self.sources = nn.ModuleList([nn.Conv2d(inputs, growth * layers, 3, padding=1), *later])

    def forward(self, values: Tensor) -> Tensor:
        """Return the input and what each layer adds to it, side by side."""
        first, *later = self.sources
        maps, sums = [values], first(values)
        for source in later:
            maps.append(sums[:, : self.growth].relu())
            sums = sums[:, self.growth :] + source(maps[-1])
        return torch.cat([*maps, sums.relu()], dim=1)

    @torch.no_grad()
    def initialise(self) -> None:
        """Draw each layer's weights within Glorot's bound for the whole layer."""
        for number, source in enumerate(self.sources):
            parts = torch.split(source.get_parameter("weight"), self.growth)
            for layer, weight in enumerate(parts, start=number):
                fan = 9 * (self.inputs + self.growth * layer + self.growth)
                bound = (6 / fan) ** 0.5
                nn.init.uniform_(weight, -bound, bound)


def cut(sentences: Sentences, size: int) -> Sentences:
    """Return the first ``size`` tokens of each sentence."""
    if sentences.words.shape[1] <= size:
        return sentences
    fields = {name: getattr(sentences, name)[:, :size] for name in ("words", "mask", *DIIN.fields)}
    return replace(sentences, lengths=sentences.lengths.clamp(max=size), **fields)


def _dropped(values: Tensor, keep: Tensor | None) -> Tensor:
    """Dropout whose rate is on the device, as it changes from step to step."""
    if keep is None:
        return values
    return torch.where(torch.rand_like(values, dtype=torch.float32) < keep, values / keep.to(values.dtype), 0.0)


def _half_square(tensors: list[Tensor]) -> Tensor:
    return torch.cat([tensor.flatten() for tensor in tensors]).square().sum() / 2


def _initialise(module: nn.Module) -> None:
    """Glorot's uniform weights and zero biases; the gates, which stand for several square layers, as those."""
    if isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, DenseBlock):
        module.initialise()
    if isinstance(module, Highway | SelfAttention):
        bound = (3 / module.size) ** 0.5
        nn.init.uniform_(module.gates.weight, -bound, bound)
