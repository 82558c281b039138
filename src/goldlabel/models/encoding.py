"""Pairs as numbers: token ids in flat Arrow columns, made once and memory-mapped from then on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.models.arrow import map_batch, write_batch
from goldlabel.models.model import READS
from goldlabel.models.vocabulary import END, NULL, OTHER, SPECIALS, START, Vocabulary, build_vocabulary
from goldlabel.pairs.tokens import TOKENIZERS

if TYPE_CHECKING:
    import torch

    from goldlabel.models.network import PairTensors

BOUNDARIES = ("", "ends", "null")
FIELDS = ("characters", "match", "tags")
"""What a network may ask for beside a token's number."""


@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """How texts become numbers."""

    tokenizer: str = "words"
    lowercase: bool = False
    length: int = 100
    word_length: int = 16
    """Characters kept of a token."""
    reads: str = "both"
    boundaries: str = ""
    """``ends`` puts ``<start>`` and ``<end>`` around a sentence, ``null`` puts ``<null>`` before it."""
    drop_unknown: bool = False
    fields: tuple[str, ...] = ()
    tagger: str = ""
    """What gives the field ``tags``: see ``goldlabel.models.tagging``; by none, all are 0."""

    def __post_init__(self) -> None:
        if self.reads not in READS:
            raise InputError(f"a model reads {', '.join(READS)}, not {self.reads!r}")
        if self.boundaries not in BOUNDARIES:
            raise InputError(f"the boundaries of a sentence are ends, null or none, not {self.boundaries!r}")
        if self.length < 1:
            raise InputError(f"a sentence has at least 1 token, not {self.length}")

    def tokenize(self, texts: pl.Series) -> pl.Series:
        """Turn a column of texts into a column of lists of tokens, with their signs."""
        return TOKENIZERS.get(self.tokenizer)(texts, signs=True, lowercase=self.lowercase)


@dataclass(frozen=True)
class EncodedSentences:
    """Token ids of many sentences, one after the other, and what else the network asked for."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    fields: dict[str, NDArray[Any]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each sentence; never 0."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class EncodedPairs:
    """Both sides of pairs."""

    premise: EncodedSentences
    hypothesis: EncodedSentences

    def __len__(self) -> int:
        return len(self.premise.offsets) - 1

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens of each side, which are padded apart from each other."""
        return self.premise.lengths, self.hypothesis.lengths

    def tensors(self, device: torch.device) -> PairTensors:
        """Bring the pairs onto a device."""
        from goldlabel.models.network import PairTensors

        return PairTensors(self, device)

    def write(self, path: Path) -> None:
        """Write one Arrow file."""
        columns: dict[str, pa.Array] = {}
        for side, sentences in (("premise", self.premise), ("hypothesis", self.hypothesis)):
            for name, values in {"words": sentences.words, **sentences.fields}.items():
                offsets = sentences.offsets * (values.size // max(len(sentences.words), 1))
                columns[f"{side}_{name}"] = pa.LargeListArray.from_arrays(offsets, values.reshape(-1))
        batch = pa.record_batch(columns)
        write_batch(path, batch)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Map a written file into memory."""
        batch = map_batch(path)
        names = batch.schema.names
        sides = []
        for side in ("premise", "hypothesis"):
            columns = {name.removeprefix(f"{side}_"): batch[name] for name in names if name.startswith(f"{side}_")}
            offsets, words = columns["words"].offsets.to_numpy(), _values(columns.pop("words"))
            fields = {name: _values(values) for name, values in columns.items()}
            if "characters" in fields:
                letters = fields["characters"]
                fields["characters"] = letters.reshape(len(words), letters.size // max(len(words), 1))
            sides.append(EncodedSentences(offsets, words, fields))
        return cls(sides[0], sides[1])


@dataclass(frozen=True)
class Encoder:
    """From texts to numbers; a part of every trained network."""

    vocabulary: Vocabulary
    characters: str = ""
    options: EncoderOptions = EncoderOptions()

    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> EncodedPairs:
        """Encode pairs; a sentence that is not read becomes one ``<other>``."""
        sides = self._tokens(premises, "premise"), self._tokens(hypotheses, "hypothesis")
        premise, hypothesis = (self._numbered(side) for side in sides)
        if "match" in self.options.fields:
            for sentences, match in zip((premise, hypothesis), _matches(sides), strict=True):
                sentences.fields["match"] = match
        return EncodedPairs(premise, hypothesis)

    def encode_sentences(self, texts: Sequence[str], side: str) -> EncodedSentences:
        """Encode the sentences of one side, for networks that turn each into one vector."""
        return self._numbered(self._tokens(texts, side))

    def to_dict(self) -> dict[str, Any]:
        """Return what the configuration keeps; the vocabulary has a file of its own."""
        return asdict(self.options) | {"buckets": self.vocabulary.buckets}

    def _tokens(self, texts: Sequence[str], side: str) -> pl.Series:
        if self.options.reads not in ("both", side):
            return pl.Series([[SPECIALS[OTHER]]], dtype=pl.List(pl.String)).new_from_index(0, len(texts))
        column = self.options.tokenize(pl.Series(texts, dtype=pl.String))
        if self.options.drop_unknown:
            column = _only_known(column, self.vocabulary)
        column = column.list.head(self.options.length)
        before = {"ends": [SPECIALS[START]], "null": [SPECIALS[NULL]]}.get(self.options.boundaries, [])
        after = [SPECIALS[END]] if self.options.boundaries == "ends" else []
        words = pl.col("tokens")
        filled = pl.when(words.list.len() == 0).then(pl.lit([SPECIALS[NULL]])).otherwise(words)
        around = [pl.lit(part) for part in (before, after)]
        return column.to_frame("tokens").select(pl.concat_list(around[0], filled, around[1])).to_series()

    def _numbered(self, tokens: pl.Series) -> EncodedSentences:
        offsets = np.concatenate([[0], np.cumsum(tokens.list.len().to_numpy())]).astype(np.int64)
        flat = tokens.explode(empty_as_null=True)
        table = flat.unique().to_list()
        rows = flat.replace_strict(table, range(len(table))).cast(pl.Int64).to_numpy()
        special = {name: number for number, name in enumerate(SPECIALS)}
        words = np.array([special.get(word) or self.vocabulary.number(word) for word in table], dtype=np.int32)
        fields: dict[str, NDArray[Any]] = {}
        if "characters" in self.options.fields:
            fields["characters"] = self._spelled(table)[rows]
        if "tags" in self.options.fields:
            from goldlabel.models.tagging import tag_tokens

            fields["tags"] = tag_tokens(tokens, self.options.tagger)
        return EncodedSentences(offsets, words[rows], fields)

    def _spelled(self, table: list[str]) -> NDArray[np.int16]:
        """Return the characters of each word: 0 is padding, 1 a character not seen before."""
        numbers = {character: number for number, character in enumerate(self.characters, start=2)}
        spelled = np.zeros((len(table), self.options.word_length), dtype=np.int16)
        for row, word in enumerate(table):
            letters = [numbers.get(character, 1) for character in word[: self.options.word_length]]
            spelled[row, : len(letters)] = letters
        return spelled


def build_encoder(texts: Sequence[pl.Series], options: EncoderOptions, *, buckets: int = 1) -> Encoder:
    """Make an encoder whose vocabulary holds every word of the texts."""
    tokens = [options.tokenize(column.unique()) for column in texts]
    vocabulary = build_vocabulary(tokens, buckets=buckets)
    characters = "".join(sorted({character for word in vocabulary.words for character in word}))
    return Encoder(vocabulary, characters if "characters" in options.fields else "", options)


def _values(column: Any) -> NDArray[Any]:
    values: NDArray[Any] = column.values.to_numpy(zero_copy_only=True)
    return values


def _only_known(tokens: pl.Series, vocabulary: Vocabulary) -> pl.Series:
    """Leave out the tokens that have no number of their own."""
    rows = tokens.to_frame("tokens").with_row_index("row")
    known = pl.Series("tokens", vocabulary.words, dtype=pl.String).to_frame()
    kept = rows.explode("tokens").join(known, on="tokens", how="semi", maintain_order="left")
    grouped = kept.group_by("row", maintain_order=True).agg("tokens")
    whole = rows.select("row").join(grouped, on="row", how="left", maintain_order="left")
    return whole["tokens"].fill_null([])


def _matches(sides: tuple[pl.Series, pl.Series]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Mark the tokens that also stand in the other sentence, whatever their case."""
    premise, hypothesis = (
        side.to_frame("token").with_row_index("pair").explode("token").with_columns(pl.col("token").str.to_lowercase())
        for side in sides
    )

    def marked(own: pl.DataFrame, other: pl.DataFrame) -> NDArray[np.uint8]:
        tokens = other.unique().with_columns(pl.lit(1, pl.UInt8).alias("match"))
        joined = own.join(tokens, on=["pair", "token"], how="left", maintain_order="left")
        return joined["match"].fill_null(0).to_numpy()

    return marked(premise, hypothesis), marked(hypothesis, premise)


def cut_by_tokens(lengths: Sequence[NDArray[np.int64]], tokens: int) -> list[int]:
    """Return where to cut rows, given the lengths of each side, so that a padded batch stays within ``tokens``.

    A row that is longer than that is a batch of its own.
    """
    sides = np.stack(lengths)
    cuts: list[int] = []
    start = 0
    while True:
        widths = np.maximum.accumulate(sides[:, start : start + tokens + 1], axis=1).sum(axis=0)
        too_many = widths * np.arange(1, len(widths) + 1) > tokens
        too_many[:1] = False
        if not too_many.any():
            return cuts
        start += int(too_many.argmax())
        cuts.append(start)
