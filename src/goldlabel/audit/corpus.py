"""Pairs as numbers, read once: what every part of an audit looks at.

Texts are read block by block and not kept. What remains per pair are codes, counts and hashes, and the tokens of
the hypotheses, so that millions of pairs fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags, BagsBuilder, Vocabulary
from goldlabel.audit.foreign_text import NOT_ROMAN, count_letters
from goldlabel.audit.overlap import measure_heuristics
from goldlabel.audit.tags import WordTagger, tag_text
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.groups import column_values, group_columns
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.lexicon import LEXICONS
from goldlabel.pairs.overlap import measure_overlap
from goldlabel.pairs.record import DTYPES, LISTS
from goldlabel.pairs.tokens import TOKENIZERS, UNKNOWN, language_of, tokenizer_of, units_of
from goldlabel.pairs.units import normalised, number_units

ROWS_PER_BLOCK = 50_000
MOST_GROUPS = 200
MOST_PREMISES = 20_000

Rows = NDArray[np.bool_] | slice
"""Some of the pairs, or with ``slice(None)`` all."""


@dataclass(frozen=True)
class Corpus:
    """Everything an audit needs of ``n`` pairs, in their order."""

    space: LabelSpace
    labels: NDArray[np.int8]
    """Places in ``space.labels``; -1 for no gold label."""
    words: Bags
    """The tokens of the hypotheses."""
    premises: Bags
    premise_rows: NDArray[np.int64]
    """The tokens of a sample of the premises, and where these stand."""
    languages: NDArray[np.int16]
    """Places in ``language_names``; -1 where the language is not known."""
    language_names: list[str]
    columns: dict[str, tuple[NDArray[np.int32], list[str]]]
    """Codes and values of the columns pairs are grouped by; -1 where the value is missing."""
    overlap: NDArray[np.float32]
    heuristics: NDArray[np.uint8]
    premise_lengths: NDArray[np.int32]
    hypothesis_lengths: NDArray[np.int32]
    premise_tags: NDArray[np.uint32]
    hypothesis_tags: NDArray[np.uint32]
    letters: NDArray[np.int32]
    premise_keys: NDArray[np.uint64]
    hypothesis_keys: NDArray[np.uint64]
    """Hashes of the texts as they are compared: the same for what differs in case, spacing and punctuation only."""
    units: NDArray[np.int64]
    """Numbers of what must stay together and is not independent (see ``goldlabel.pairs.units``)."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def gold(self) -> NDArray[np.bool_]:
        """Return which pairs have a gold label."""
        return self.labels >= 0

    @property
    def rows_without_language(self) -> int:
        """Return how many pairs are in a language that is not known."""
        return int((self.languages < 0).sum())

    @property
    def pair_keys(self) -> NDArray[np.uint64]:
        """Return a hash of each pair's two texts as they are compared."""
        return join_keys(self.premise_keys, self.hypothesis_keys)

    def in_languages(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which pairs are known to be in one of these languages."""
        return np.isin(self.languages, [code for code, name in enumerate(self.language_names) if name in names])


def read_corpus(pairs: Pairs, *, tokenizer: str | None = None, columns: Sequence[str] = ()) -> Corpus:
    """Read pairs into numbers; ``columns`` are kept to group by."""
    for name in group_columns(columns):
        if name in LISTS:
            raise InputError(f"a pair may have several {name}, and the groups of an audit share no pair; take another")
    if tokenizer is not None:
        TOKENIZERS.get(tokenizer)
    reader = _Reader(pairs, tokenizer, tuple(dict.fromkeys(("split", *columns))))
    frame = pairs.frame.select(*map(column_values, dict.fromkeys([*_READ, *reader.column_names])))
    for block in frame.collect_batches(chunk_size=ROWS_PER_BLOCK, maintain_order=True):
        if len(block):
            reader.add(block)
    return reader.finish()


def read_rows(pairs: Pairs, columns: Sequence[str], rows: NDArray[np.int64]) -> pl.DataFrame:
    """Read some rows, given in order, without holding the others."""
    parts, start = [pl.DataFrame(schema={name: DTYPES[name] for name in columns})], 0
    for block in pairs.frame.select(columns).collect_batches(chunk_size=ROWS_PER_BLOCK, maintain_order=True):
        low, high = np.searchsorted(rows, (start, start + len(block)))
        parts.append(block[rows[low:high] - start])
        start += len(block)
    return pl.concat(parts)


def text_keys(texts: pl.Series) -> NDArray[np.uint64]:
    """Return a hash of each text as it is compared."""
    different, place = take_different(texts)
    keys: NDArray[np.uint64] = (
        different.to_frame("text").select(normalised("text").hash(1)).to_series().to_numpy()[place]
    )
    return keys


def take_different(texts: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return each different text once, and the place of each text among them.

    Premises come several times, and what is dear is done once for each.
    """
    place = texts.hash(0).rank("dense").to_numpy().astype(np.int64) - 1
    rows = np.empty(int(place.max(initial=-1)) + 1, dtype=np.int64)
    rows[place] = np.arange(len(place))
    return texts.gather(rows), place


def join_keys(premises: NDArray[np.uint64], hypotheses: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each pair from those of its texts."""
    joined: NDArray[np.uint64] = premises * np.uint64(0x9E3779B97F4A7C15) ^ hypotheses
    return joined


_READ = ("premise", "hypothesis", "label", "language", "group")


class _Reader:
    """Measures pairs block by block."""

    def __init__(self, pairs: Pairs, tokenizer: str | None, column_names: tuple[str, ...]) -> None:
        self.space = pairs.card.label_space
        self.name = pairs.card.name
        self._label_codes = {label: code for code, label in enumerate(self.space.labels)}
        self.tokenizer = tokenizer
        self.column_names = column_names
        self._units, self._vocabulary = Vocabulary(), Vocabulary()
        self._bags, self._premises = BagsBuilder(self._vocabulary), BagsBuilder(self._units)
        total = int(pairs.frame.select(pl.len()).collect(engine="streaming").item())
        # Premise keys are hashes: those in the lower part of their range are a sample.
        self._sampled_below = np.uint64(min(1.0, MOST_PREMISES / max(total, 1)) * (2**64 - 2**12))
        self._taggers = {"en": WordTagger("en", self._units.words)}
        self._languages: dict[str, int] = {}
        self._values: dict[str, dict[str, int]] = {name: {} for name in column_names}
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._groups: list[pl.Series] = []
        self._pool = ThreadPoolExecutor(2)  # Polars leaves Python alone while it works

    def add(self, block: pl.DataFrame) -> None:
        block = block.with_columns(language_of(block))
        measured: dict[str, NDArray[Any]] = {
            "labels": _codes(block["label"], self._label_codes, False).astype(np.int8),
            "premise_keys": text_keys(block["premise"]),
            "hypothesis_keys": text_keys(block["hypothesis"]),
            "languages": _codes(block["language"], self._languages).astype(np.int16),
        }
        groups = pl.when(pl.col("group").is_not_null()).then(pl.col("group").hash(2))
        self._groups.append(block.select(groups.alias("group")).to_series())
        for name in self.column_names:
            measured[f"column {name}"] = _codes(block[name], self._values[name])
        present = block["language"].unique().to_list()
        if len(present) == 1:
            texts, tokens = self._measure(present[0] or UNKNOWN, block)
        else:
            texts, tokens = self._measure_mixed(block)
        self._bags.add(tokens["words"])
        measured["sampled"] = measured["premise_keys"] < self._sampled_below
        self._premises.add(tokens["premise"].filter(pl.Series(measured["sampled"])))
        for name, values in (measured | texts).items():
            self._parts.setdefault(name, []).append(values)

    def _measure_mixed(self, block: pl.DataFrame) -> tuple[dict[str, NDArray[Any]], pl.DataFrame]:
        """Measure each language's pairs apart, and put them back in their order."""
        rows, texts, tokens = [], [], []
        for part in block.with_row_index("row").partition_by("language", maintain_order=True):
            figures, encoded = self._measure(part["language"][0] or UNKNOWN, part)
            rows.append(part["row"].to_numpy())
            texts.append(figures)
            tokens.append(encoded)
        order = np.argsort(np.concatenate(rows))
        joined = {name: np.concatenate([figures[name] for figures in texts])[order] for name in texts[0]}
        return joined, pl.concat(tokens)[order]

    def _measure(self, language: str, block: pl.DataFrame) -> tuple[dict[str, NDArray[Any]], pl.DataFrame]:
        """Return the figures of pairs in one language, and the codes of their tokens."""
        units, wanted = units_of(language), tokenizer_of(language, self.tokenizer)
        different, place = take_different(block["premise"])
        cut, plain = self._pool.map(TOKENIZERS.get(units), (different, block["hypothesis"]))
        tokens = self._vocabulary.encode(plain if wanted == units else TOKENIZERS.get(wanted)(block["hypothesis"]))
        encoded, hypotheses = self._units.encode(cut), self._units.encode(plain)
        premises = encoded.gather(place)
        overlap = measure_overlap(premises, hypotheses)
        lengths = [codes.list.len().to_numpy().astype(np.int32) for codes in (encoded, hypotheses)]
        premise_tags = self._tag(language, encoded, different, lengths[0])
        figures: dict[str, NDArray[Any]] = {
            "overlap": overlap,
            "heuristics": measure_heuristics(block, overlap, language),
            "premise_lengths": lengths[0][place],
            "hypothesis_lengths": lengths[1],
            "premise_tags": premise_tags[place],
            "hypothesis_tags": self._tag(language, hypotheses, block["hypothesis"], lengths[1]),
            "letters": count_letters(block) if language in NOT_ROMAN else np.zeros(len(block), np.int32),
        }
        return figures, pl.DataFrame({"words": tokens, "premise": premises})

    def _tag(
        self, language: str, encoded: pl.Series, texts: pl.Series, lengths: NDArray[np.int32]
    ) -> NDArray[np.uint32]:
        if language in self._taggers:
            return self._taggers[language].tag(encoded)
        if language in LEXICONS:
            return tag_text(language, texts, lengths.astype(np.int64))
        return np.zeros(len(texts), dtype=np.uint32)

    def finish(self) -> Corpus:
        self._pool.shutdown()
        if not self._parts:
            raise InputError(f"{self.name}: there are no pairs to audit")
        whole = {}
        for name in list(self._parts):
            whole[name] = np.concatenate(self._parts.pop(name))
        columns = {
            name: (whole.pop(f"column {name}").astype(np.int32), list(self._values[name])) for name in self.column_names
        }
        return Corpus(
            space=self.space,
            words=self._bags.finish(),
            language_names=list(self._languages),
            columns=columns,
            units=number_units(pl.concat(self._groups), pl.Series(whole["premise_keys"])),
            premises=self._premises.finish(),
            premise_rows=np.flatnonzero(whole.pop("sampled")),
            **whole,
        )


def _codes(values: pl.Series, known: dict[str, int], may_grow: bool = True) -> NDArray[np.int32]:
    """Return a number for each value, -1 for none; new values are numbered as they come."""
    if may_grow:
        for value in values.drop_nulls().unique(maintain_order=True):
            known.setdefault(value, len(known))
    return values.replace_strict(known, default=-1, return_dtype=pl.Int32).fill_null(-1).to_numpy()
