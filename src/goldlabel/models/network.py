"""What the word-embedding networks share: the base class, vocabulary and vectors, and the ``Model`` around one."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from goldlabel.errors import InputError
from goldlabel.files import digest_file, write_text
from goldlabel.models.encoding import EncodedPairs, EncodedSentences, Encoder, EncoderOptions, build_encoder
from goldlabel.models.layers import Sentences, encode_both
from goldlabel.models.model import read_space, read_tensors, write_config, write_tensors
from goldlabel.models.options import check_options, own_options
from goldlabel.models.sentence_scoring import encode_batches, predict_by_sentences
from goldlabel.models.torch_model import Choices, Outputs, Recipe, TorchModel
from goldlabel.models.vectors import Vectors, read_vectors
from goldlabel.models.vocabulary import END, PAD, START, Vocabulary, default_tokenizer
from goldlabel.pairs.labels import LabelSpace

VOCABULARY = "vocab.txt"
CHARACTERS = "characters.txt"
ENCODER = "encoder.json"
VECTORS, VECTOR_WORDS = "vectors", "vectors.txt"
BOUNDARY_VECTORS = {"<s>": START, "</s>": END}
"""What files of vectors call the start and the end of a sentence."""


@dataclass(frozen=True, kw_only=True)
class WordRecipe(Recipe):
    """How a network was trained by its authors, and how it reads words."""

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


class Network(nn.Module, ABC):
    """A network that scores pairs: a subclass gives its recipe and ``forward``.

    Keyword arguments of a subclass's ``__init__``, with their defaults, are its hyper-parameters.
    """

    recipe: ClassVar[WordRecipe]
    kind: ClassVar[str] = "network"
    paper: ClassVar[str]
    fields: ClassVar[tuple[str, ...]] = ()
    fitted_by_trainer: ClassVar[bool] = True
    any_language: ClassVar[bool] = False
    steps: Tensor

    def __init__(self, words: nn.Embedding) -> None:
        super().__init__()
        self.words = words
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64), persistent=False)
        """Optimiser steps so far, for schedules inside the network; on the device, as captured steps count there."""

    @abstractmethod
    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Score a batch; with ``sides``, give a vector of each side alone as well."""

    def penalty(self) -> Tensor | None:
        """Return what is added to the loss beside the objective."""
        return None

    @classmethod
    def own_options(cls) -> dict[str, Any]:
        """Return the names and defaults of the hyper-parameters."""
        return own_options(cls)

    @classmethod
    def check(cls, choices: Choices) -> None:
        """Refuse what this network cannot be told."""
        check_options(choices.model, cls, cls._options(choices))
        if choices.tagger and "tags" not in cls.fields:
            raise InputError(f"{choices.model} does not use parts of speech; leave --tagger out")

    @classmethod
    def sources(cls, choices: Choices) -> dict[str, Any]:
        """Return the hash of the vectors."""
        if choices.vectors is None:
            return {}
        if not Path(choices.vectors).is_file():
            raise InputError(f"{choices.vectors}: there is no such file of vectors")
        return {"vectors": {"sha256": digest_file(Path(choices.vectors))}}

    @classmethod
    def encoder_options(cls, choices: Choices) -> EncoderOptions:
        """Return how texts become the numbers that this network reads."""
        return EncoderOptions(
            tokenizer=choices.tokenizer or default_tokenizer(choices.languages, cls.recipe.characters),
            lowercase=cls.recipe.lowercase,
            length=cls._options(choices).get("length", choices.length or cls.recipe.length),
            word_length=cls.recipe.word_length,
            reads=choices.reads,
            boundaries=cls.recipe.boundaries,
            fields=cls.fields,
            tagger=choices.tagger,
        )

    @classmethod
    def prepare(cls, choices: Choices, texts: Sequence[pl.Series], start: NetworkModel | None) -> WordPreparation:
        """Number the words of all texts and read their vectors; the words of ``start`` keep their numbers."""
        if start is None:
            encoder = build_encoder(texts, cls.encoder_options(choices), buckets=cls.recipe.buckets)
        else:
            encoder = _grown(start.encoder, texts)
        if choices.vectors is None:
            if start is not None and encoder.options.drop_unknown:
                encoder = start.encoder
            return WordPreparation(encoder, None)
        vectors = read_vectors(Path(choices.vectors), vector_names(encoder.vocabulary))
        if start is not None and vectors.size != start.network.words.embedding_dim:
            raise InputError(
                f"{choices.vectors}: has vectors of {vectors.size} numbers and the run to start from was trained with "
                f"{start.network.words.embedding_dim}; give the same vectors again, or none"
            )
        if encoder.options.drop_unknown or (cls.recipe.drop_unknown and start is None):
            encoder = _only_known(encoder, vectors, start)
        return WordPreparation(encoder, vectors)

    @classmethod
    def encoded_by(cls, choices: Choices) -> list[Any]:
        """Return how texts become numbers; networks that read alike share what is prepared."""
        return [asdict(cls.encoder_options(choices)), cls.recipe.buckets, cls.recipe.drop_unknown]

    @classmethod
    def read_preparation(cls, folder: Path) -> WordPreparation:
        """Read what a preparation wrote."""
        encoder = read_encoder(folder, json.loads((folder / ENCODER).read_text(encoding="utf-8")))
        if not (folder / VECTOR_WORDS).exists():
            return WordPreparation(encoder, None)
        words = (folder / VECTOR_WORDS).read_text(encoding="utf-8").split("\n")[:-1]
        return WordPreparation(encoder, Vectors(words, read_tensors(folder)[VECTORS]))

    @classmethod
    def read_rows(cls, path: Path) -> EncodedPairs:
        """Map encoded pairs."""
        return EncodedPairs.read(path)

    @classmethod
    def build(
        cls,
        choices: Choices,
        preparation: WordPreparation,
        space: LabelSpace,
        seen: Sequence[str],
        start: NetworkModel | None,
    ) -> NetworkModel:
        """Make the network with fresh weights, or with those of the run that training starts from."""
        own = cls._options(choices) if start is None else start.options
        network = build_network(
            cls,
            preparation.encoder,
            len(space),
            options=own,
            vectors=preparation.vectors,
            size=None if start is None else start.network.words.embedding_dim,
            train_vectors=choices.train_vectors,
        )
        if start is not None:
            _take_over(network, start, preparation.encoder.vocabulary)
            trained = start.network.words.weight.requires_grad
            network.words.weight.requires_grad = trained if choices.train_vectors is None else choices.train_vectors
        return NetworkModel(network, preparation.encoder, space, seen, own)

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> NetworkModel:
        """Read a trained network from its run folder."""
        return NetworkModel.load(folder, config, cls)

    @classmethod
    def _options(cls, choices: Choices) -> dict[str, Any]:
        """Return the network's own options; one whose size depends on the length is told the user's."""
        shaped = choices.length is not None and "length" in own_options(cls)
        return dict(choices.options) | ({"length": choices.length} if shaped else {})


class SentenceNetwork(Network):
    """A network that turns each sentence into one vector and compares the two."""

    @abstractmethod
    def encode(self, sentences: Sentences) -> Tensor:
        """Return a vector for each sentence, (batch, features)."""

    @abstractmethod
    def classify(self, premise: Tensor, hypothesis: Tensor) -> Outputs:
        """Return a score for each label from the two vectors."""

    def forward(self, premise: Sentences, hypothesis: Sentences, *, sides: bool = False) -> Outputs:
        """Encode both sides and compare; their vectors are there anyway."""
        vectors = encode_both(self.encode, premise, hypothesis)
        return self.classify(*vectors).with_sides(vectors)


def read_out(head: nn.Sequential, values: Tensor) -> Outputs:
    """Send values through the layers of a head, the last of which scores the labels."""
    hidden = head[:-1](values)
    return Outputs(head[-1](hidden), hidden)


@dataclass(frozen=True)
class WordPreparation:
    """An encoder with its vocabulary, and the vectors of its words where they are given."""

    encoder: Encoder
    vectors: Vectors | None

    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> EncodedPairs:
        """Turn texts into the numbers of their words."""
        return self.encoder.encode(premises, hypotheses)

    def write(self, folder: Path) -> None:
        """Write vocabulary and vectors."""
        write_encoder(folder, self.encoder)
        write_text(folder / ENCODER, json.dumps({"encoder": self.encoder.to_dict()}))
        if self.vectors is not None:
            write_tensors(folder, {VECTORS: self.vectors.matrix})
            write_text(folder / VECTOR_WORDS, "".join(f"{word}\n" for word in self.vectors.words))


def _grown(encoder: Encoder, texts: Sequence[pl.Series]) -> Encoder:
    """Return the encoder of the run that training goes on from, with the words that are new."""
    more = build_encoder(texts, encoder.options, buckets=encoder.vocabulary.buckets)
    new = tuple(word for word in more.vocabulary.words if word not in encoder.vocabulary)
    return replace(encoder, vocabulary=Vocabulary(encoder.vocabulary.words + new, encoder.vocabulary.buckets))


def _only_known(encoder: Encoder, vectors: Vectors, start: NetworkModel | None) -> Encoder:
    """Leave out the words without a vector; those that the run before knew stay."""
    known = set(vectors.words)
    words = tuple(
        word
        for word in encoder.vocabulary.words
        if word in known or word.lower() in known or (start is not None and word in start.encoder.vocabulary)
    )
    vocabulary = Vocabulary(words, encoder.vocabulary.buckets)
    return replace(encoder, vocabulary=vocabulary, options=replace(encoder.options, drop_unknown=True))


def _take_over(network: Network, start: NetworkModel, vocabulary: Vocabulary) -> None:
    """Copy all weights; words that the first run did not know keep their fresh vectors."""
    weights = start.network.state_dict()
    old = start.encoder.vocabulary
    vectors = network.words.weight.detach().clone()
    known = len(old) - old.buckets
    vectors[:known] = weights["words.weight"][:known]
    vectors[len(vocabulary) - vocabulary.buckets :] = weights["words.weight"][known:]
    weights["words.weight"] = vectors
    with torch.no_grad():
        network.load_state_dict(weights)


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

    def batch(self, rows: Tensor, sizes: tuple[int, ...]) -> tuple[Sentences, Sentences]:
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


class NetworkModel(TorchModel):
    """A trained network as a ``Model``."""

    network: Network

    def __init__(
        self,
        network: Network,
        encoder: Encoder,
        label_space: LabelSpace,
        seen: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(network, label_space, seen, options)
        self.encoder = encoder

    @property
    def length(self) -> int:
        """The tokens of a sentence that are read."""
        return self.encoder.options.length

    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> EncodedPairs:
        """Turn texts into the numbers of their words."""
        return self.encoder.encode(premises, hypotheses)

    def forward(self, batch: tuple[Sentences, Sentences], *, sides: bool = False) -> Outputs:
        """Score both sides of a batch."""
        outputs: Outputs = self.network(*batch, sides=sides)
        return outputs

    def parameter_groups(self, recipe: Recipe) -> list[dict[str, Any]]:
        """Return what is trained; word vectors do not decay."""
        words = self.network.words.weight
        trained = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        return [
            {"params": [parameter for parameter in trained if parameter is not words], "weight_decay": recipe.l2},
            {"params": [parameter for parameter in trained if parameter is words], "weight_decay": 0.0},
        ]

    def penalty(self) -> Tensor | None:
        """Return the network's own."""
        return self.network.penalty()

    def count_step(self) -> None:
        """Count on the device."""
        self.network.steps += 1

    def set_steps(self, steps: int) -> None:
        """Go on from so many steps."""
        self.network.steps.fill_(steps)

    def _predict(self, premises: list[str], hypotheses: list[str]) -> NDArray[np.float64]:
        if isinstance(self.network, SentenceNetwork):
            encode = partial(self._encode_sentences, self.network)
            return predict_by_sentences(self, premises, hypotheses, encode, self.network.classify)
        return super()._predict(premises, hypotheses)

    def _encode_sentences(self, network: SentenceNetwork, texts: list[str], side: str) -> Tensor:
        sentences = self.encoder.encode_sentences(texts, side)
        tensors = SentenceTensors(sentences, self.device)
        return encode_batches(
            sentences.lengths, self.device, lambda rows, size: network.encode(tensors.batch(rows, size))
        )

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
            train_vectors=self.network.words.weight.requires_grad,
            **more,
        )

    def save_weights(self, folder: Path) -> None:
        """Write the weights."""
        state = self.network.state_dict()
        write_tensors(folder, {name: value.detach().cpu().numpy() for name, value in state.items()})

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
        embedding.weight.requires_grad = config.get("train_vectors", True)
        return cls(fresh, encoder, space, config["seen"], config["options"])


def registered_name(network: type[Network]) -> str:
    """Return the name under which a network is registered."""
    from goldlabel.models import MODELS

    return next(name for name, member in MODELS.items() if member is network)


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
