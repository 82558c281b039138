"""Features of hypotheses: words, pairs of neighbouring words, and words at a place (first, second, third, last).

Each is counted per label, once per hypothesis, with its moments over units (see ``association``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.association import Clusters, Moments, add_carriers, make_clusters, no_moments
from goldlabel.audit.bags import Bags

PLACES = ("first", "second", "third", "last")
KINDS = ("word", "position", "bigram")
_SKETCH = 1 << 22

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Features:
    """Features of one kind; ``keys`` tell the words they are made of."""

    kind: str
    vocabulary: list[str]
    keys: Ints
    moments: Moments

    def __len__(self) -> int:
        return len(self.keys)

    def name(self, number: int) -> str:
        """Put a feature into words; most are never asked for."""
        other, code = divmod(int(self.keys[number]), len(self.vocabulary))
        word = self.vocabulary[code]
        if self.kind == "position":
            return f"{word} ({PLACES[other]})"
        return f"{self.vocabulary[other]} {word}" if self.kind == "bigram" else word


@dataclass(frozen=True)
class Sample:
    """Hypotheses with a gold label, those of one unit side by side."""

    bags: Bags
    clusters: Clusters
    rows: Ints
    """Where these pairs stand in the corpus."""


def take_sample(bags: Bags, labels: NDArray[np.int8], units: Ints, classes: int) -> Sample:
    """Put the hypotheses that have a gold label in the order of their units."""
    rows = np.flatnonzero(labels >= 0)
    rows = rows[np.argsort(units[rows], kind="stable")]
    return Sample(bags.take(rows), make_clusters(labels[rows], units[rows], classes), rows)


def count_features(sample: Sample, kind: str, *, least: int) -> Features:
    """Return the features of a kind that ``least`` hypotheses or more carry."""
    bags, clusters = sample.bags, sample.clusters
    classes = len(clusters.totals)
    frequent = _find_frequent(bags, kind, least)
    keys = frequent.keys
    counts = np.zeros(len(keys) * classes, dtype=np.int64)
    alone = np.zeros(len(keys))
    moments = no_moments(np.empty((len(keys), classes), dtype=np.int64), alone)
    for start, end in clusters.blocks():
        features, pairs = _carriers(bags, kind, start, end, frequent)
        counts += np.bincount(features * classes + clusters.labels[pairs], minlength=len(counts))
        single = clusters.alone[pairs]
        alone += np.bincount(features[single], minlength=len(keys))
        if not single.all():
            add_carriers(moments, clusters, features[~single], pairs[~single])
    moments.counts[:] = counts.reshape(-1, classes)
    enough = np.flatnonzero(moments.counts.sum(axis=1) >= least)
    return Features(kind, bags.vocabulary, keys[enough], moments.select(enough))


def holding_key(bags: Bags, kind: str, key: int) -> NDArray[np.bool_]:
    """Return which hypotheses carry a feature."""
    if kind == "word":
        return bags.holding(key)
    other, code = divmod(key, len(bags.vocabulary))
    carried = np.zeros(len(bags), dtype=bool)
    if kind == "bigram":
        at = np.flatnonzero((bags.codes[:-1] == other) & (bags.codes[1:] == code))
        first, second = (np.searchsorted(bags.offsets, place, side="right") - 1 for place in (at, at + 1))
        carried[first[first == second]] = True
        return carried
    long_enough = np.flatnonzero(bags.lengths > (other if other < 3 else 0))
    at = bags.offsets[long_enough] + other if other < 3 else bags.offsets[long_enough + 1] - 1
    carried[long_enough[bags.codes[at] == code]] = True
    return carried


@dataclass(frozen=True)
class _Frequent:
    """Keys that may be frequent enough, in order, and a way to their places."""

    keys: Ints
    places: NDArray[np.int32] | None
    """The place of each possible key, -1 for none; ``None`` where these are too many."""
    seen: NDArray[np.bool_] | None
    """Which hashes of keys are frequent enough, where keys are too many for places."""

    def find(self, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return which of some keys are among these, and the places of those that are."""
        if self.places is not None:
            place = self.places[keys]
            known = place >= 0
            return place[known].astype(np.int64), known
        assert self.seen is not None
        known = self.seen[_hashed(keys)]
        return np.searchsorted(self.keys, keys[known]), known


def _find_frequent(bags: Bags, kind: str, least: int) -> _Frequent:
    """Find the keys that may occur in ``least`` texts or more.

    Keys of two words are first counted by hashes of them, so that the many rare ones need not be remembered.
    """
    if kind != "bigram":
        size = len(bags.vocabulary) * (len(PLACES) if kind == "position" else 1)
        counts = np.zeros(size, dtype=np.int64)
        for keys, _ in _keyed(bags, kind):
            counts += np.bincount(keys, minlength=size)
        enough = counts >= least
        return _Frequent(np.flatnonzero(enough), np.where(enough, np.cumsum(enough) - 1, -1).astype(np.int32), None)
    sketch = np.zeros(_SKETCH, dtype=np.int64)
    for keys, _ in _keyed(bags, kind):
        sketch += np.bincount(_hashed(keys), minlength=_SKETCH)
    seen = sketch >= least
    kept = [np.empty(0, dtype=np.int64)]
    for keys, _ in _keyed(bags, kind):
        kept.append(np.unique(keys[seen[_hashed(keys)]]))
    return _Frequent(np.unique(np.concatenate(kept)), None, seen)


def _carriers(bags: Bags, kind: str, start: int, end: int, wanted: _Frequent) -> tuple[Ints, Ints]:
    """Return the places of wanted keys and the pairs of a stretch that carry them, in order and each once."""
    packed = []
    for keys, pairs in _keyed_stretch(bags, kind, start, end):
        place, known = wanted.find(keys)
        packed.append(place * (end - start) + (pairs[known] - start))
    carriers = np.sort(np.concatenate(packed))
    carriers = carriers[np.concatenate([np.ones(min(1, len(carriers)), dtype=bool), carriers[1:] != carriers[:-1]])]
    features, pairs = np.divmod(carriers, max(end - start, 1))
    return features, pairs + start


Keyed = Iterator[tuple[Ints, Ints]]
"""Keys, and the texts they were found in."""


def _keyed(bags: Bags, kind: str) -> Keyed:
    for start, end, _, _ in bags.blocks():
        yield from _keyed_stretch(bags, kind, start, end)


def _keyed_stretch(bags: Bags, kind: str, start: int, end: int) -> Keyed:
    size = len(bags.vocabulary)
    tokens = slice(int(bags.offsets[start]), int(bags.offsets[end]))
    codes, lengths = bags.codes[tokens].astype(np.int64), bags.lengths[start:end]
    if kind == "position":
        starts = bags.offsets[start:end] - bags.offsets[start]
        for place in range(len(PLACES)):
            long_enough = np.flatnonzero(lengths > (place if place < 3 else 0))
            at = starts[long_enough] + (place if place < 3 else lengths[long_enough] - 1)
            yield codes[at] + place * size, long_enough + start
        return
    owner = np.repeat(np.arange(start, end), lengths)
    if kind == "word":
        first = bags.first[tokens]
        yield codes[first], owner[first]
    else:
        inside = owner[1:] == owner[:-1]
        yield (codes[:-1] * size + codes[1:])[inside], owner[1:][inside]


def _hashed(keys: Ints) -> Ints:
    spread = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (spread >> np.uint64(64 - _SKETCH.bit_length() + 1)).astype(np.int64)
