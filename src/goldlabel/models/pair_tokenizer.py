"""Pairs as a pre-trained encoder reads them: token ids of both sentences, put together and padded on the device.

A Hugging Face tokenizer turns a pair into ``[CLS] premise [SEP] hypothesis [SEP]``, or whatever its encoder was trained
with; the two sentences never touch each other in it. So each different sentence is tokenised once, rows hold the two
sentences without the special tokens, and these are put around them where a batch is cut: around both for a
cross-encoder, around each alone for a bi-encoder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from goldlabel.errors import InputError
from goldlabel.files import write_text
from goldlabel.models.arrow import map_batch, write_batch

USE = "pair_tokenizer.json"
AT_ONCE = 65_536
"""Texts tokenised at once; what the tokenizer returns takes some kB for each."""
TOGETHER = 64
"""Texts that are given to the tokenizer as one."""


@dataclass(frozen=True)
class Frame:
    """The special tokens around a sentence or a pair, and the types of all tokens."""

    parts: tuple[tuple[int, ...], ...]
    """The tokens before the first sentence, behind it, and behind the second."""
    types: tuple[int, ...]
    """Of the tokens before the second sentence, of those from there on, and of the last one."""

    @property
    def added(self) -> int:
        """How many tokens it adds."""
        return sum(map(len, self.parts))


@dataclass(frozen=True)
class Layout:
    """How an encoder's input is put together."""

    single: Frame
    pair: Frame
    joined: bool
    """Whether the encoder reads both sentences at once, or each alone."""
    pad: int
    pad_type: int
    left: bool
    """Whether the padding is on the left."""
    typed: bool
    """Whether tokens have types: which sentence they belong to."""

    @property
    def frame(self) -> Frame:
        """What is put around that which the encoder reads at once."""
        return self.pair if self.joined else self.single

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return what ``asdict`` made a dictionary of."""
        frames = {
            name: Frame(tuple(map(tuple, values[name]["parts"])), tuple(values[name]["types"]))
            for name in ("single", "pair")
        }
        return cls(**values | frames)


class Picked(NamedTuple):
    """The sentences of one side of a batch: where they start among all tokens and how many tokens they have."""

    tokens: Tensor
    starts: Tensor
    counts: Tensor


class Inputs(NamedTuple):
    """What an encoder reads, (batch, tokens) each."""

    ids: Tensor
    mask: Tensor
    types: Tensor | None
    full: bool = False
    """Whether nothing is padded, so that there is nothing to mask."""


@dataclass(frozen=True)
class PairBatch:
    """A batch of pairs on the device."""

    premise: Picked
    hypothesis: Picked
    layout: Layout
    sizes: tuple[int, ...]
    full: bool = False
    """Whether every pair has that size."""

    def inputs(self) -> tuple[Inputs, ...]:
        """Return what the encoder reads: the pairs, or the premises and the hypotheses."""
        if self.layout.joined:
            inputs = put_together(self.layout, self.layout.pair, (self.premise, self.hypothesis), self.sizes[0])
            return (inputs._replace(full=self.full),)
        return self.alone()

    def alone(self) -> tuple[Inputs, Inputs]:
        """Return each side alone."""
        sizes = self.sizes
        if self.layout.joined:
            sizes = (self.sizes[0] - self.layout.pair.added + self.layout.single.added,) * 2
        premise, hypothesis = (
            put_together(self.layout, self.layout.single, (side,), size)
            for side, size in zip((self.premise, self.hypothesis), sizes, strict=True)
        )
        return premise, hypothesis


def put_together(layout: Layout, frame: Frame, sentences: Sequence[Picked], size: int) -> Inputs:
    """Put sentences and special tokens one after the other and fill up to ``size``, without waiting for the device."""
    total = sum((side.counts for side in sentences), torch.zeros_like(sentences[0].counts)) + frame.added
    places = torch.arange(size, device=total.device) - (size - total if layout.left else torch.zeros_like(total))
    ids = torch.full_like(places, layout.pad)
    types = torch.full_like(places, frame.types[0])
    start = torch.zeros_like(total)
    for number, part in enumerate(frame.parts):
        for place, token in enumerate(part):
            ids = ids.masked_fill(places == start + place, token)
        start = start + len(part)
        if number < len(sentences):
            side = sentences[number]
            inside = (places >= start) & (places < start + side.counts)
            where = (side.starts + places - start).clamp(0, len(side.tokens) - 1)
            ids = torch.where(inside, side.tokens[where].long(), ids)
            if number:
                types = types.masked_fill(places >= start, frame.types[number])
            start = start + side.counts
    mask = (places >= 0) & (places < total)
    types = types.masked_fill(places == total - 1, frame.types[-1]).masked_fill(~mask, layout.pad_type)
    return Inputs(ids, mask.long(), types if layout.typed else None)


@dataclass(frozen=True)
class Sentences:
    """Token ids of many sentences, one after the other, without special tokens."""

    offsets: NDArray[np.int64]
    tokens: NDArray[np.int32]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each; 0 for an empty text."""
        return np.diff(self.offsets)

    def append(self, others: Self) -> Self:
        """Return these sentences and others behind them."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + others.offsets[1:]])
        return type(self)(offsets, np.concatenate([self.tokens, others.tokens]))

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the sentences in ``rows``."""
        return self._slices(self.offsets[rows], self.lengths[rows])

    def head(self, counts: NDArray[np.int64]) -> Self:
        """Return the first tokens of each sentence."""
        return self if (counts == self.lengths).all() else self._slices(self.offsets[:-1], counts)

    def _slices(self, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Self:
        offsets = _offsets(counts)
        places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], counts)
        return type(self)(offsets, self.tokens[places])


@dataclass(frozen=True)
class TokenRows:
    """Tokenised pairs, in memory or mapped from a file."""

    premise: Sentences
    hypothesis: Sentences
    layout: Layout

    def __len__(self) -> int:
        return len(self.premise.offsets) - 1

    @property
    def lengths(self) -> tuple[NDArray[np.int64], ...]:
        """The tokens of each pair, or of each of its sides, special ones included."""
        sides, added = (self.premise.lengths, self.hypothesis.lengths), self.layout.frame.added
        return (sides[0] + sides[1] + added,) if self.layout.joined else (sides[0] + added, sides[1] + added)

    def tensors(self, device: torch.device) -> TokenTensors:
        """Bring the pairs onto a device."""
        return TokenTensors(self, device)

    def write(self, path: Path) -> None:
        """Write one Arrow file."""
        columns = {
            name: pa.LargeListArray.from_arrays(side.offsets, side.tokens)
            for name, side in (("premise", self.premise), ("hypothesis", self.hypothesis))
        }
        batch = pa.record_batch(columns).replace_schema_metadata({"layout": json.dumps(asdict(self.layout))})
        write_batch(path, batch)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Map a written file into memory."""
        batch = map_batch(path)
        premise, hypothesis = (
            Sentences(column.offsets.to_numpy(), column.values.to_numpy(zero_copy_only=True)) for column in batch
        )
        return cls(premise, hypothesis, Layout.from_dict(json.loads(batch.schema.metadata[b"layout"])))


class TokenTensors:
    """Tokenised pairs on a device."""

    def __init__(self, rows: TokenRows, device: torch.device) -> None:
        self.layout = rows.layout
        self.premise = SentenceTensors(rows.premise, device)
        self.hypothesis = SentenceTensors(rows.hypothesis, device)

    def batch(self, rows: Tensor, sizes: tuple[int, ...]) -> PairBatch:
        """Return the pairs in ``rows``, to be padded to ``sizes`` tokens."""
        return PairBatch(self.premise.pick(rows), self.hypothesis.pick(rows), self.layout, sizes)


class SentenceTensors:
    """Tokenised sentences on a device."""

    def __init__(self, sentences: Sentences, device: torch.device) -> None:
        self.starts = bring(sentences.offsets[:-1].copy(), device)
        self.counts = bring(sentences.lengths, device)
        # One more than there are, so that there is something to look at where every text is empty.
        self.tokens = bring(np.append(sentences.tokens, np.int32(0)), device)

    def pick(self, rows: Tensor) -> Picked:
        """Return the sentences in ``rows``."""
        return Picked(self.tokens, self.starts[rows][:, None], self.counts[rows][:, None])


def bring(values: NDArray[Any], device: torch.device) -> Tensor:
    """Bring numbers onto a device without waiting for what it is doing."""
    tensor = torch.from_numpy(values)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


class PairTokenizer:
    """From texts to token ids: a Hugging Face tokenizer, and how its encoder reads pairs."""

    def __init__(self, tokenizer: Any, *, length: int, reads: str = "both", joined: bool = True) -> None:
        self.tokenizer = tokenizer
        self.length = length
        """The most tokens that the encoder reads at once, special ones included."""
        self.reads = reads
        if tokenizer.is_fast:
            # Some are saved with the length and the padding of somebody's training.
            tokenizer.backend_tokenizer.no_truncation()
            tokenizer.backend_tokenizer.no_padding()
        self.layout = Layout(
            single=_frame(tokenizer, ("a",)),
            pair=_frame(tokenizer, ("a", "b")),
            joined=joined,
            pad=tokenizer.pad_token_id or 0,
            pad_type=tokenizer.pad_token_type_id,
            left=tokenizer.padding_side == "left",
            typed="token_type_ids" in tokenizer.model_input_names,
        )
        least = self.layout.frame.added + (2 if joined else 1)
        if length < least:
            raise InputError(f"length {length} leaves no room for the sentences; pass {least} or more")

    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenRows:
        """Tokenise pairs; where one is too long, the longer sentence is cut first."""
        return self.reader(premises, hypotheses).encode(np.arange(len(premises)))

    def encode_sentences(self, texts: Sequence[str], side: str) -> Sentences:
        """Tokenise sentences that are read alone."""
        return self.cut_alone(SentenceReader(texts, partial(self.tokenize, side=side)).read(np.arange(len(texts))))

    def reader(self, premises: Sequence[str], hypotheses: Sequence[str]) -> PairReader:
        """Return what tokenises these pairs when they are asked for."""
        return PairReader(self, premises, hypotheses)

    def cut_alone(self, sentences: Sentences) -> Sentences:
        """Cut sentences that are read alone."""
        return sentences.head(np.minimum(sentences.lengths, self.length - self.layout.single.added))

    def tokenize(self, texts: list[str], side: str) -> Sentences:
        """Tokenise sentences of one side, as many tokens as are read at once; if it is not read, each is one token."""
        if self.reads not in ("both", side):
            return Sentences(np.arange(len(texts) + 1), np.full(len(texts), self._hidden_token(), np.int32))
        sentences = token_ids(self.tokenizer, texts)
        return sentences.head(np.minimum(sentences.lengths, self.length))

    def write(self, folder: Path) -> None:
        """Write the tokenizer as its library does, and how it is used."""
        self.tokenizer.save_pretrained(folder)
        use = {"length": self.length, "reads": self.reads, "joined": self.layout.joined}
        write_text(folder / USE, json.dumps(use))

    @classmethod
    def read(cls, folder: Path, tokenizer: Any) -> Self:
        """Return what was written, around the tokenizer in the folder."""
        return cls(tokenizer, **json.loads((folder / USE).read_text(encoding="utf-8")))

    def _hidden_token(self) -> int:
        """Return what stands for a sentence that is not read: the token that encoders know for hidden words."""
        tokens = (self.tokenizer.mask_token_id, self.tokenizer.unk_token_id, self.tokenizer.eos_token_id)
        return next((token for token in tokens if token is not None), 0)


class PairReader:
    """Tokenises pairs when they are asked for, each different sentence once."""

    def __init__(self, tokenizer: PairTokenizer, premises: Sequence[str], hypotheses: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._premise = SentenceReader(premises, partial(tokenizer.tokenize, side="premise"))
        self._hypothesis = SentenceReader(hypotheses, partial(tokenizer.tokenize, side="hypothesis"))

    def __len__(self) -> int:
        return len(self._premise)

    @property
    def characters(self) -> NDArray[np.int64]:
        """How long each pair is, before it is tokenised."""
        return self._premise.characters + self._hypothesis.characters

    def prepare(self, rows: NDArray[np.int64]) -> None:
        """Tokenise what the pairs in ``rows`` need; one thread may, while another encodes pairs that are prepared."""
        self._premise.prepare(rows)
        self._hypothesis.prepare(rows)

    def encode(self, rows: NDArray[np.int64]) -> TokenRows:
        """Return the pairs in ``rows``; where one is too long, the longer sentence is cut first."""
        premise, hypothesis = self._premise.read(rows), self._hypothesis.read(rows)
        layout = self._tokenizer.layout
        if not layout.joined:
            return TokenRows(self._tokenizer.cut_alone(premise), self._tokenizer.cut_alone(hypothesis), layout)
        counts = longest_first(premise.lengths, hypothesis.lengths, self._tokenizer.length - layout.pair.added)
        return TokenRows(premise.head(counts[0]), hypothesis.head(counts[1]), layout)


class SentenceReader:
    """Tokenises sentences when they are asked for, each different one once."""

    def __init__(self, texts: Sequence[str], tokenize: Callable[[list[str]], Sentences]) -> None:
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        self._numbers = np.fromiter(map(numbers.__getitem__, texts), np.int64, len(texts))
        self._texts, self._tokenize = list(numbers), tokenize
        self._places = np.full(len(numbers), -1)
        """Of each different sentence among those that are tokenised."""
        self._sentences = Sentences(np.zeros(1, np.int64), np.empty(0, np.int32))

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def characters(self) -> NDArray[np.int64]:
        """The characters of each sentence."""
        return np.fromiter(map(len, self._texts), np.int64, len(self._texts))[self._numbers]

    def prepare(self, rows: NDArray[np.int64]) -> None:
        """Tokenise the sentences in ``rows``."""
        numbers = np.unique(self._numbers[rows])
        fresh = numbers[self._places[numbers] < 0]
        for start in range(0, len(fresh), AT_ONCE):
            part = fresh[start : start + AT_ONCE]
            sentences = self._tokenize([self._texts[number] for number in part])
            self._places[part] = len(self._sentences.lengths) + np.arange(len(part))
            self._sentences = self._sentences.append(sentences)

    def read(self, rows: NDArray[np.int64]) -> Sentences:
        """Return the sentences in ``rows``."""
        self.prepare(rows)
        return self._sentences.take(self._places[self._numbers[rows]])


def longest_first(
    premise: NDArray[np.int64], hypothesis: NDArray[np.int64], room: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many tokens are kept of each side so that both fit, as ``tokenizers`` cuts with ``longest_first``."""
    shorter, longer = np.minimum(premise, hypothesis), np.maximum(premise, hypothesis)
    both = shorter > room // 2
    fits = shorter + longer <= room
    kept_longer = np.where(fits, longer, np.where(both, room - room // 2, room - shorter))
    kept_shorter = np.where(fits, shorter, np.where(both, room // 2, shorter))
    swapped = premise > hypothesis
    return np.where(swapped, kept_longer, kept_shorter), np.where(swapped, kept_shorter, kept_longer)


def token_ids(tokenizer: Any, texts: list[str]) -> Sentences:
    """Tokenise texts without special tokens."""
    if not tokenizer.is_fast:
        return _sentences(tokenizer(texts, add_special_tokens=False)["input_ids"])
    end = _end_mark(tokenizer)
    if end is not None:
        # To take apart what the library returns for a sentence costs more than to tokenise it, so that it is given many
        # at once with a mark behind each; a part of a text that is cut already is tokenised like a text of its own.
        groups = [
            [part for text in texts[n : n + TOGETHER] for part in (text, end[0])]
            for n in range(0, len(texts), TOGETHER)
        ]
        encodings = tokenizer.backend_tokenizer.encode_batch_fast(
            groups, is_pretokenized=True, add_special_tokens=False
        )
        tokens = np.fromiter(
            chain.from_iterable(encoding.ids for encoding in encodings), np.int32, sum(map(len, encodings))
        )
        ends = np.flatnonzero(tokens == end[1])
        if len(ends) == len(texts):  # else a text has the mark in it
            return Sentences(_offsets(np.diff(ends, prepend=-1) - 1), np.delete(tokens, ends))
    encodings = tokenizer.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    return _sentences([encoding.ids for encoding in encodings])


def _end_mark(tokenizer: Any) -> tuple[str, int] | None:
    """Return a special token that the tokenizer reads as one, and its number."""
    for name in (tokenizer.sep_token, tokenizer.eos_token, tokenizer.cls_token, tokenizer.pad_token):
        ids = tokenizer.backend_tokenizer.encode(name, add_special_tokens=False).ids if name else []
        if len(ids) == 1 and ids[0] == tokenizer.convert_tokens_to_ids(name):
            return name, ids[0]
    return None


def _sentences(lists: list[list[int]]) -> Sentences:
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return Sentences(_offsets(lengths), np.fromiter(chain.from_iterable(lists), np.int32, int(lengths.sum())))


def _frame(tokenizer: Any, texts: tuple[str, ...]) -> Frame:
    """See what a tokenizer puts around texts."""
    whole = tokenizer(*texts, return_token_type_ids=True)
    left, types = list(whole["input_ids"]), list(whole["token_type_ids"])
    parts: list[tuple[int, ...]] = []
    starts: list[int] = []
    for text in texts:
        sentence = token_ids(tokenizer, [text]).tokens.tolist()
        start = next((n for n in range(len(left)) if left[n : n + len(sentence)] == sentence), None)
        if start is None or not sentence:
            raise InputError(f"{type(tokenizer).__name__} does not keep the two sentences of a pair apart")
        parts.append(tuple(left[:start]))
        starts.append(len(whole["input_ids"]) - len(left) + start)
        left = left[start + len(sentence) :]
    return Frame((*parts, tuple(left)), (*(types[start] for start in starts), types[-1]))


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
