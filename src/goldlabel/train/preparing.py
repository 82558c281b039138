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
from goldlabel.models.model import label_indices
from goldlabel.models.network import Network, NetworkModel, read_encoder, write_encoder
from goldlabel.models.vectors import Vectors, read_vectors
from goldlabel.models.vocabulary import Vocabulary, default_tokenizer
from goldlabel.pairs.gold import GoldPairs, digest_texts
from goldlabel.train.options import TrainOptions
from goldlabel.train.starting import start_digest

ENCODER = "encoder.json"
TRAIN = "train.arrow"


@dataclass(frozen=True)
class Prepared:
    """Encoded training and dev pairs, mapped from their files, and what is needed to build the network."""

    gold: GoldPairs
    dev: Sequence[GoldPairs]
    encoder: Encoder
    vectors: Vectors | None
    pairs: EncodedPairs
    dev_pairs: Sequence[EncodedPairs]


def prepare(
    network: type[Network],
    gold: GoldPairs,
    dev: Sequence[GoldPairs],
    others: Sequence[pl.DataFrame],
    options: TrainOptions,
    start: NetworkModel | None,
    root: Path,
) -> Prepared:
    """Number the words of training, dev and ``others``, read their vectors, and encode all pairs, once under ``root``.

    ``start`` is the model that training goes on from: its words keep their numbers.
    """
    folder = root / _key(network, gold, dev, others, options)
    if not folder.exists():
        encoder, vectors = _build(network, gold, dev, others, options, start)
        with atomic_folder(folder) as temporary:
            _write(temporary, encoder, vectors)
            _encode(gold, encoder, temporary / TRAIN, with_labels=True)
            for number, one in enumerate(dev):
                _encode(one, encoder, temporary / _dev_file(number))
    return _read(folder, gold, dev)


def _key(
    network: type[Network],
    gold: GoldPairs,
    dev: Sequence[GoldPairs],
    others: Sequence[pl.DataFrame],
    options: TrainOptions,
) -> str:
    """Name what the encoded pairs depend on."""
    vectors = Path(options.vectors).stat() if options.vectors and Path(options.vectors).exists() else None
    parts = [
        network.__qualname__,
        [one.digest for one in (gold, *dev)],
        [digest_texts(frame) for frame in others],
        [options.reads, options.tokenizer, options.tagger, options.vectors],
        [vectors.st_size, vectors.st_mtime_ns] if vectors else None,
        start_digest(options.start) if options.start else None,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _build(
    network: type[Network],
    gold: GoldPairs,
    dev: Sequence[GoldPairs],
    others: Sequence[pl.DataFrame],
    options: TrainOptions,
    start: NetworkModel | None,
) -> tuple[Encoder, Vectors | None]:
    frames = [gold.frame, *(one.frame for one in dev), *others]
    texts = [frame[side] for frame in frames for side in ("premise", "hypothesis")]
    if start is None:
        encoder = build_encoder(texts, _encoder_options(network, gold, options), buckets=network.recipe.buckets)
    else:
        encoder = _grown(start.encoder, texts, options)
    if options.vectors is None:
        if start is not None and encoder.options.drop_unknown:
            encoder = start.encoder
        return encoder, None
    wanted = {form for word in encoder.vocabulary.words for form in (word, word.lower())}
    vectors = read_vectors(Path(options.vectors), wanted)
    if start is not None and vectors.size != start.network.words.embedding_dim:
        raise InputError(
            f"{options.vectors}: has vectors of {vectors.size} numbers and {options.start} was trained with "
            f"{start.network.words.embedding_dim}; give the same vectors again, or none"
        )
    if encoder.options.drop_unknown or (network.recipe.drop_unknown and start is None):
        encoder = _only_known(encoder, vectors, start)
    return encoder, vectors


def _encoder_options(network: type[Network], gold: GoldPairs, options: TrainOptions) -> EncoderOptions:
    recipe = network.recipe
    return EncoderOptions(
        tokenizer=options.tokenizer or default_tokenizer(gold.languages),
        lowercase=recipe.lowercase,
        length=recipe.length,
        reads=options.reads,
        boundaries=recipe.boundaries,
        fields=network.fields,
        tagger=options.tagger,
    )


def _grown(held: Encoder, texts: Sequence[pl.Series], options: TrainOptions) -> Encoder:
    """Return the encoder of the run that training goes on from, with the words that are new."""
    for name in ("tokenizer", "tagger"):
        wanted, was = getattr(options, name), getattr(held.options, name)
        if wanted and wanted != was:
            raise InputError(f"{options.start} was trained with {name} {was!r}, not {wanted!r}; leave --{name} out")
    more = build_encoder(texts, held.options, buckets=held.vocabulary.buckets)
    new = tuple(word for word in more.vocabulary.words if word not in held.vocabulary)
    return replace(held, vocabulary=Vocabulary(held.vocabulary.words + new, held.vocabulary.buckets))


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
        np.save(folder / "vectors.npy", vectors.matrix)
        write_text(folder / "vectors.txt", "".join(f"{word}\n" for word in vectors.words))


def _read(folder: Path, gold: GoldPairs, dev: Sequence[GoldPairs]) -> Prepared:
    encoder = read_encoder(folder, json.loads((folder / ENCODER).read_text(encoding="utf-8")))
    vectors = None
    if (folder / "vectors.npy").exists():
        words = (folder / "vectors.txt").read_text(encoding="utf-8").split("\n")[:-1]
        vectors = Vectors(words, np.load(folder / "vectors.npy"))
    return Prepared(
        gold,
        dev,
        encoder,
        vectors,
        EncodedPairs.read(folder / TRAIN),
        [EncodedPairs.read(folder / _dev_file(number)) for number in range(len(dev))],
    )


def _dev_file(number: int) -> str:
    return f"dev-{number}.arrow"
