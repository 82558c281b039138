"""Everything a network's runs share, made once: vocabulary, encoded pairs, word vectors.

It lies in a folder whose name tells the data and the options it was made from, so that runs with the same ones, a
run that goes on and the processes of a sweep all find it made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import atomic_folder, write_text
from goldlabel.models.encoding import EncodedPairs, Encoder, EncoderOptions, build_encoder
from goldlabel.models.model import find_member, label_indices, read_tensors, write_tensors
from goldlabel.models.network import NetworkModel, read_encoder, vector_names, write_encoder
from goldlabel.models.vectors import Vectors, read_vectors
from goldlabel.models.vocabulary import Vocabulary, default_tokenizer
from goldlabel.pairs.gold import GoldPairs
from goldlabel.train.task import Task

ENCODER = "encoder.json"
TRAIN = "train.arrow"
VECTORS, WORDS = "vectors", "vectors.txt"


@dataclass(frozen=True)
class EncodedTask:
    """Encoded training and dev pairs, mapped from their files, and what is needed to build the network."""

    encoder: Encoder
    vectors: Vectors | None
    pairs: EncodedPairs
    dev: Sequence[EncodedPairs]


def encode_task(task: Task, start: NetworkModel | None, root: Path) -> EncodedTask:
    """Number the words of all texts, read their vectors, and encode all pairs, once under ``root``.

    ``start`` is the model that training goes on from: its words keep their numbers.
    """
    folder = root / _key(task)
    if not folder.exists():
        encoder, vectors = _build(task, start)
        with atomic_folder(folder) as temporary:
            _write(temporary, encoder, vectors)
            _encode(task.gold, encoder, temporary / TRAIN, with_labels=True)
            for number, gold in enumerate(task.dev):
                _encode(gold, encoder, temporary / _dev_file(number))
    return _read(folder, len(task.dev))


def _key(task: Task) -> str:
    """Name what the encoded pairs depend on."""
    options, settings = task.options, task.settings
    parts = [
        task.model,
        [gold.digest for gold in (task.gold, *task.dev)],
        [options.reads, options.tokenizer, options.tagger, options.options.get("length")],
        [settings.get(name) for name in ("vocabulary", "vectors", "start")],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _build(task: Task, start: NetworkModel | None) -> tuple[Encoder, Vectors | None]:
    options, network = task.options, find_member(task.model)
    frames = [task.gold.frame, *(gold.frame for gold in task.dev), *task.vocabulary]
    texts = [frame[side] for frame in frames for side in ("premise", "hypothesis")]
    if start is None:
        encoder = build_encoder(texts, _encoder_options(task), buckets=network.recipe.buckets)
    else:
        encoder = _grown(start.encoder, texts)
    if options.vectors is None:
        if start is not None and encoder.options.drop_unknown:
            encoder = start.encoder
        return encoder, None
    vectors = read_vectors(Path(options.vectors), vector_names(encoder.vocabulary))
    if start is not None and vectors.size != start.network.words.embedding_dim:
        raise InputError(
            f"{options.vectors}: has vectors of {vectors.size} numbers and {options.start} was trained with "
            f"{start.network.words.embedding_dim}; give the same vectors again, or none"
        )
    if encoder.options.drop_unknown or (network.recipe.drop_unknown and start is None):
        encoder = _only_known(encoder, vectors, start)
    return encoder, vectors


def _encoder_options(task: Task) -> EncoderOptions:
    network, options = find_member(task.model), task.options
    tokenizer = options.tokenizer or default_tokenizer(task.gold.languages, network.recipe.characters)
    chosen: EncoderOptions = network.encoder_options(
        options.options, tokenizer=tokenizer, reads=options.reads, tagger=options.tagger
    )
    return chosen


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


def _encode(gold: GoldPairs, encoder: Encoder, path: Path, *, with_labels: bool = False) -> None:
    encoded = encoder.encode(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list())
    labels = label_indices(gold.frame["label"].to_list(), gold.space).astype(np.int64) if with_labels else None
    replace(encoded, labels=labels).write(path)


def _write(folder: Path, encoder: Encoder, vectors: Vectors | None) -> None:
    write_encoder(folder, encoder)
    write_text(folder / ENCODER, json.dumps({"encoder": encoder.to_dict()}))
    if vectors is not None:
        write_tensors(folder, {VECTORS: vectors.matrix})
        write_text(folder / WORDS, "".join(f"{word}\n" for word in vectors.words))


def _read(folder: Path, dev_sets: int) -> EncodedTask:
    encoder = read_encoder(folder, json.loads((folder / ENCODER).read_text(encoding="utf-8")))
    vectors = None
    if (folder / WORDS).exists():
        words = (folder / WORDS).read_text(encoding="utf-8").split("\n")[:-1]
        vectors = Vectors(words, read_tensors(folder)[VECTORS])
    dev = [EncodedPairs.read(folder / _dev_file(number)) for number in range(dev_sets)]
    return EncodedTask(encoder, vectors, EncodedPairs.read(folder / TRAIN), dev)


def _dev_file(number: int) -> str:
    return f"dev-{number}.arrow"
