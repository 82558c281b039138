"""What the torch networks share: the recipe, the base class, and the ``Model`` around a trained network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.files import write_text
from goldlabel.models.encoding import EncodedPairs, EncodedSentences, Encoder, EncoderOptions, cut_by_tokens
from goldlabel.models.layers import Sentences, encode_both
from goldlabel.models.model import read_space, read_tensors, write_config, write_tensors
from goldlabel.models.options import check_options
from goldlabel.models.precision import autocast, resolve_precision, single_precision
from goldlabel.models.vectors import Vectors
from goldlabel.models.vocabulary import END, PAD, START, Vocabulary
from goldlabel.pairs.labels import LabelSpace

VOCABULARY = "vocab.txt"
CHARACTERS = "characters.txt"
BOUNDARY_VECTORS = {"<s>": START, "</s>": END}
"""What files of vectors call the start and the end of a sentence."""
SCORING_TOKENS = {"cpu": 8_192, "cuda": 131_072}
PAIRS_AT_ONCE = {"cpu": 4_096, "cuda": 16_384}
"""Pairs whose sentence vectors are held and compared at once; InferSent's widest matrix takes 64 kB for each."""

ROUNDING = 1e-3
ROUNDING_PAIRS = 256
"""bf16 may change a probability by so much, which is tried on so many pairs whenever something is scored."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network was trained by its authors."""

    optimiser: str = "adam"
    lr: float = 1e-3
    batch: int = 32
    """Pairs in a batch."""
    epochs: int = 20
    patience: int = 5
    """Epochs without a better dev accuracy after which training stops."""
    in_a_row: bool = True
    """Whether these epochs must follow one another, or are counted in all."""
    clip: float | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    """What the optimiser is told beside the rate, in torch's names."""
    l2: float = 0.0
    """λ of λ/2 · ‖θ‖² over all that is trained but word vectors."""
    decay: float = 1.0
    """Factor of the learning rate after every epoch."""
    drop: float = 1.0
    """Factor of the learning rate after ``drop_patience`` further epochs without a better dev accuracy."""
    drop_patience: int = 0
    floor: float = 0.0
    """Training stops when the learning rate falls below."""
    length: int = 100
    word_length: int = 16
    """Characters read of a token."""
    characters: str = "characters"
    """The tokeniser for Chinese and Japanese."""
    lowercase: bool = False
    embedding: int = 300
    """Dimensions of word vectors that are not given."""
    train_vectors: bool = True
    boundaries: str = ""
    drop_unknown: bool = False
    buckets: int = 1


class Network(nn.Module):
    """A network that scores pairs: a subclass gives its recipe and ``forward``.

    Keyword arguments of a subclass's ``__init__``, with their defaults, are its hyper-parameters.
    """

    recipe: ClassVar[Recipe]
    fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, words: nn.Embedding) -> None:
        super().__init__()
        self.words = words
        self.steps = 0
        """Optimiser steps so far, for schedules inside the network."""

    def forward(self, premise: Sentences, hypothesis: Sentences) -> Tensor:
        """Return a score for each label, (batch, labels)."""
        raise NotImplementedError

    def penalty(self) -> Tensor | None:
        """Return what is added to the loss beside cross-entropy."""
        return None

    @classmethod
    def encoder_options(cls, own: Mapping[str, Any], **chosen: Any) -> EncoderOptions:
        """Return how texts become the numbers that this network reads, given its own options and the user's choices."""
        return EncoderOptions(
            lowercase=cls.recipe.lowercase,
            length=own.get("length", cls.recipe.length),
            word_length=cls.recipe.word_length,
            boundaries=cls.recipe.boundaries,
            fields=cls.fields,
            **chosen,
        )

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> NetworkModel:
        """Read a trained network from its run folder."""
        return NetworkModel.load(folder, config, cls)


class SentenceNetwork(Network):
    """A network that turns each sentence into one vector and compares the two."""

    def encode(self, sentences: Sentences) -> Tensor:
        """Return a vector for each sentence, (batch, features)."""
        raise NotImplementedError

    def classify(self, premise: Tensor, hypothesis: Tensor) -> Tensor:
        """Return a score for each label from the two vectors."""
        raise NotImplementedError

    def forward(self, premise: Sentences, hypothesis: Sentences) -> Tensor:
        """Encode both sides and compare."""
        return self.classify(*encode_both(self.encode, premise, hypothesis))


def build_network(
    network: type[Network],
    encoder: Encoder,
    labels: int,
    *,
    options: dict[str, Any],
    vectors: Vectors | None = None,
    size: int | None = None,
    train_vectors: bool | None = None,
) -> Network:
    """Make a network with fresh weights drawn from torch's generator; words take their vectors where given."""
    size = vectors.size if vectors else size or network.recipe.embedding
    embedding = nn.Embedding(len(encoder.vocabulary), size, padding_idx=PAD)
    if vectors:
        _fill(embedding, encoder.vocabulary, vectors)
        embedding.weight.requires_grad = network.recipe.train_vectors if train_vectors is None else train_vectors
    else:
        nn.init.normal_(embedding.weight, std=0.1)
        with torch.no_grad():
            embedding.weight[PAD] = 0
    return _instance(network, embedding, encoder, labels, options)


def _instance(
    network: Any, embedding: nn.Embedding, encoder: Encoder, labels: int, options: Mapping[str, Any]
) -> Network:
    check_options(registered_name(network), network, options)
    more = {"alphabet": len(encoder.characters) + 2} if "characters" in network.fields else {}
    made: Network = network(embedding, labels, **options, **more)
    return made


def _fill(embedding: nn.Embedding, vocabulary: Vocabulary, vectors: Vectors) -> None:
    """Copy the vectors of known words, or of their lower case; the rest is drawn with the same spread."""
    spread = float(vectors.matrix.std())
    rows = {word: row for row, word in enumerate(vectors.words)}
    numbers = {word: vocabulary.number(word) for word in vocabulary.words} | BOUNDARY_VECTORS
    with torch.no_grad():
        embedding.weight.normal_(std=spread)
        embedding.weight[PAD] = 0
        for word, number in numbers.items():
            row = rows.get(word, rows.get(word.lower()))
            if row is not None:
                embedding.weight[number] = torch.from_numpy(vectors.matrix[row])


def vector_names(vocabulary: Vocabulary) -> set[str]:
    """Return the words whose vectors a network takes from a file."""
    return {form for word in vocabulary.words for form in (word, word.lower())} | set(BOUNDARY_VECTORS)


class PairTensors:
    """Encoded pairs on a device, from which padded batches are cut without leaving it."""

    def __init__(self, pairs: EncodedPairs, device: torch.device) -> None:
        self.premise = SentenceTensors(pairs.premise, device)
        self.hypothesis = SentenceTensors(pairs.hypothesis, device)
        self.labels = None if pairs.labels is None else torch.from_numpy(pairs.labels.copy()).to(device)

    def batch(self, rows: Tensor, sizes: tuple[int, int]) -> tuple[Sentences, Sentences]:
        """Return both sides of the pairs in ``rows``, padded to ``sizes`` tokens."""
        return self.premise.batch(rows, sizes[0]), self.hypothesis.batch(rows, sizes[1])


class SentenceTensors:
    """Encoded sentences on a device."""

    def __init__(self, sentences: EncodedSentences, device: torch.device) -> None:
        self.starts = torch.from_numpy(sentences.offsets[:-1].copy()).to(device)
        self.lengths = torch.from_numpy(sentences.lengths).to(device)
        self.words = torch.from_numpy(sentences.words.astype(np.int64)).to(device)
        self.fields = {name: torch.from_numpy(values.copy()).to(device) for name, values in sentences.fields.items()}

    def batch(self, rows: Tensor, size: int) -> Sentences:
        """Return the sentences in ``rows`` padded to ``size`` tokens."""
        lengths = self.lengths[rows]
        places = torch.arange(size, device=rows.device)
        mask = places < lengths[:, None]
        index = (self.starts[rows][:, None] + places).clamp(max=len(self.words) - 1)
        fields: dict[str, Tensor] = {}
        for name, values in self.fields.items():
            picked = values[index]
            fields[name] = picked * (mask[:, :, None] if picked.dim() == 3 else mask)
        return Sentences(torch.where(mask, self.words[index], PAD), mask, lengths, **fields)


def resolve_device(name: str) -> torch.device:
    """Return the device asked for, or say that it is not there."""
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for and this machine has no CUDA device; pass --device cpu")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and torch.cuda.is_available()) else "cpu")


def scoring_batches(lengths: Sequence[NDArray[np.int64]], tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows in order of length, so many that a padded batch stays within ``tokens``."""
    order = np.lexsort(tuple(lengths))
    yield from np.split(order, cut_by_tokens([side[order] for side in lengths], tokens))


def neighbours(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.int64]:
    """Return an order that puts pairs of one premise together, or of one hypothesis where fewer of these differ.

    A sentence is then encoded once for all of its pairs, however few are taken at once.
    """
    fewer = min((premises, hypotheses), key=lambda texts: len(set(texts)))
    numbers: dict[str, int] = {}
    return np.argsort([numbers.setdefault(text, len(numbers)) for text in fewer], kind="stable")


def within_memory(work: Callable[[NDArray[np.int64]], Tensor], rows: NDArray[np.int64]) -> Tensor:
    """Return what the work gives for the rows, in halves where the device's memory does not hold them at once."""
    try:
        return work(rows)
    except torch.OutOfMemoryError as error:
        if len(rows) == 1:
            raise GoldlabelError("out of memory: not even one pair fits onto the device; pass --device cpu") from error
    # Behind the handler, which keeps alive what was made until memory ran out.
    return torch.cat([within_memory(work, half) for half in np.array_split(rows, 2)])


class NetworkModel:
    """A trained network as a ``Model``: texts in, probabilities out."""

    def __init__(
        self, network: Network, encoder: Encoder, label_space: LabelSpace, seen: Sequence[str], options: dict[str, Any]
    ) -> None:
        self.network = network
        self.encoder = encoder
        self.label_space = label_space
        self.seen = tuple(seen)
        """Labels of the training data; the others get no probability."""
        self.options = options
        self.precision = "fp32"
        """Of scores; training has its own."""

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.network.words.weight.device

    def move_to(self, device: str, precision: str = "fp32") -> None:
        """Bring the weights to ``cpu``, ``cuda`` or ``auto``, and let scores be computed in ``precision`` there."""
        self.precision = resolve_precision(precision, resolve_device(device))
        self.network.to(resolve_device(device))

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return probabilities; batches are cut by length, which changes nothing but the speed."""
        if len(premises) != len(hypotheses):
            raise InputError(f"there are {len(premises)} premises and {len(hypotheses)} hypotheses")
        if not len(premises):
            return np.empty((0, len(self.label_space)))
        premises, hypotheses = list(premises), list(hypotheses)  # columns of frames come here, too
        if self.precision == "bf16":
            self._check_rounding(premises, hypotheses)
        return self._predict(premises, hypotheses)

    def _predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        if isinstance(self.network, SentenceNetwork):
            return self._predict_sentences(self.network, premises, hypotheses)
        return self.predict_encoded(self.encoder.encode(premises, hypotheses))

    def _check_rounding(self, premises: Sequence[str], hypotheses: Sequence[str]) -> None:
        """Refuse bf16 where it moves the probabilities of pairs from all over the data by more than is allowed."""
        rows = np.unique(np.linspace(0, len(premises) - 1, ROUNDING_PAIRS).astype(np.int64))
        sides = [premises[row] for row in rows], [hypotheses[row] for row in rows]
        exact = copy(self)
        exact.precision = "fp32"
        moved = float(np.abs(self._predict(*sides) - exact._predict(*sides)).max())
        if moved > ROUNDING:
            raise InputError(
                f"bf16 changes a probability by {moved:.4f} and {ROUNDING:g} is allowed; score in precision fp32"
            )

    def predict_encoded(self, pairs: EncodedPairs) -> NDArray[np.float64]:
        """Return the probabilities of pairs that are encoded already."""
        return self.predict_tensors(pairs, PairTensors(pairs, self.device))

    def predict_tensors(self, pairs: EncodedPairs, tensors: PairTensors) -> NDArray[np.float64]:
        """Return the probabilities of pairs that are on the device already."""
        lengths = pairs.premise.lengths, pairs.hypothesis.lengths
        scores = torch.empty(len(pairs), len(self.label_space), device=self.device)

        def score(rows: NDArray[np.int64]) -> Tensor:
            sizes = int(lengths[0][rows].max()), int(lengths[1][rows].max())
            logits: Tensor = self.network(*tensors.batch(torch.from_numpy(rows).to(self.device), sizes))
            return logits.float()

        with self._scoring():
            for rows in scoring_batches(lengths, SCORING_TOKENS[self.device.type]):
                scores[torch.from_numpy(rows).to(self.device)] = within_memory(score, rows)
        return self._probabilities(scores)

    @contextmanager
    def _scoring(self) -> Iterator[None]:
        self.network.eval()
        with torch.inference_mode(), single_precision(self.precision), autocast(self.precision, self.device):
            yield

    def _predict_sentences(
        self, network: SentenceNetwork, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.float64]:
        """Take so many pairs at once that the vectors of their sentences fit into memory."""
        order, several = neighbours(premises, hypotheses), PAIRS_AT_ONCE[self.device.type]
        scores = torch.empty(len(premises), len(self.label_space), device=self.device)
        with self._scoring():
            for rows in np.split(order, range(several, len(order), several)):
                sides = ([texts[row] for row in rows] for texts in (premises, hypotheses))
                scores[torch.from_numpy(rows).to(self.device)] = self._compare(network, *sides)
        return self._probabilities(scores)

    def _compare(self, network: SentenceNetwork, premises: list[str], hypotheses: list[str]) -> Tensor:
        """Encode each different sentence once, and score the pairs."""
        vectors, places = [], []
        for side, texts in (("premise", premises), ("hypothesis", hypotheses)):
            numbers: dict[str, int] = {}
            places.append(torch.tensor([numbers.setdefault(text, len(numbers)) for text in texts], device=self.device))
            vectors.append(self._encode_sentences(network, self.encoder.encode_sentences(list(numbers), side)))

        def classify(rows: NDArray[np.int64]) -> Tensor:
            index = torch.from_numpy(rows).to(self.device)
            sides = (values[place[index]] for values, place in zip(vectors, places, strict=True))
            return network.classify(*sides).float()

        return within_memory(classify, np.arange(len(premises)))

    def _encode_sentences(self, network: SentenceNetwork, sentences: EncodedSentences) -> Tensor:
        tensors = SentenceTensors(sentences, self.device)

        def encode(rows: NDArray[np.int64]) -> Tensor:
            index = torch.from_numpy(rows).to(self.device)
            return network.encode(tensors.batch(index, int(sentences.lengths[rows].max())))

        batches = list(scoring_batches([sentences.lengths], SCORING_TOKENS[self.device.type]))
        vectors = torch.cat([within_memory(encode, rows) for rows in batches])
        order = torch.from_numpy(np.concatenate(batches)).to(self.device)
        return torch.empty_like(vectors).index_copy_(0, order, vectors)

    def _probabilities(self, scores: Tensor) -> NDArray[np.float64]:
        unseen = [label not in self.seen for label in self.label_space.labels]
        hidden = torch.tensor(unseen, device=scores.device)
        shares = scores.masked_fill(hidden, -torch.inf).double().softmax(dim=1).cpu().numpy()
        return np.asarray(shares, dtype=np.float64)

    def save(self, folder: Path) -> None:
        """Write configuration, vocabulary and weights."""
        self.save_config(folder)
        self.save_weights(folder)

    def save_config(self, folder: Path, **more: Any) -> None:
        """Write configuration and vocabulary; ``more`` goes into the configuration too."""
        write_encoder(folder, self.encoder)
        write_config(
            folder,
            registered_name(type(self.network)),
            self.label_space,
            seen=list(self.seen),
            options=self.options,
            encoder=self.encoder.to_dict(),
            embedding=self.network.words.embedding_dim,
            **more,
        )

    def save_weights(self, folder: Path, state: Mapping[str, Tensor] | None = None) -> None:
        """Write the weights, or those of another state of the network."""
        weights = self.network.state_dict() if state is None else state
        write_tensors(folder, {name: value.detach().cpu().numpy() for name, value in weights.items()})

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any], network: type[Network]) -> Self:
        """Read what ``save`` wrote."""
        encoder = read_encoder(folder, config)
        space = read_space(config)
        embedding = nn.Embedding(len(encoder.vocabulary), config["embedding"], padding_idx=PAD)
        fresh = _instance(network, embedding, encoder, len(space), config["options"])
        weights = {name: torch.from_numpy(value) for name, value in read_tensors(folder).items()}
        try:
            fresh.load_state_dict(weights)
        except RuntimeError as error:
            raise InputError(f"{folder}: its weights do not fit its configuration; train again") from error
        return cls(fresh, encoder, space, config["seen"], config["options"])


def registered_name(network: type[Network]) -> str:
    """Return the name under which a network is registered."""
    from goldlabel.models import MODELS

    return next(name for name in MODELS if MODELS.get(name) is network)


def write_encoder(folder: Path, encoder: Encoder) -> None:
    """Write the vocabulary; what else there is to an encoder, ``to_dict`` gives."""
    write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in encoder.vocabulary.words))
    if encoder.characters:
        write_text(folder / CHARACTERS, encoder.characters)


def read_encoder(folder: Path, config: dict[str, Any]) -> Encoder:
    """Read the vocabulary and the encoder's options from a run folder."""
    options = dict(config["encoder"])
    try:
        words = (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1]
        characters = ""
        if "characters" in options["fields"]:
            characters = (folder / CHARACTERS).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"{folder}: is not a complete run folder, {Path(error.filename).name} is missing") from error
    vocabulary = Vocabulary(tuple(words), options.pop("buckets"))
    return Encoder(vocabulary, characters, EncoderOptions(**options | {"fields": tuple(options["fields"])}))
