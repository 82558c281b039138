"""MinHash over character trigrams: texts that are alike share a bucket, and some that are not.

Broder 1997; Leskovec et al., *Mining of Massive Datasets*, ch. 3. What shares a bucket is a candidate only, to be kept
if the true Jaccard similarity says so. Most candidates that are not alike are told by a *sketch*, 64 bits of which each
is set if one of a text's trigrams falls on it: a bit that two sketches do not share stands for at least one trigram
that the texts do not share (Sandes, Teodoro and Melo 2020, *Bitmap filter*). So no pair that is alike is lost by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs.mixing import mix

SHINGLE = 3
PERMUTATIONS = 96
SEED = 1
CANDIDATES_PER_BLOCK = 20_000
_GOLDEN = 0x9E3779B97F4A7C15
_LEEWAY = 1e-9
"""Against rounding, where a bound is compared with the threshold."""

Shingled = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""The trigrams of every text of a column as keys in one array, and where each text starts in it."""


def shingle(texts: pl.DataFrame) -> list[Shingled]:
    """Return the trigrams of every text, by column."""
    return [_shingles(texts[name], salt) for salt, name in enumerate(texts.columns)]


def _shingles(texts: pl.Series, salt: int) -> Shingled:
    lengths = np.maximum(texts.str.len_chars().to_numpy().astype(np.int64), SHINGLE)
    joined = texts.str.pad_end(SHINGLE).str.join("").item()
    points = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    # Three code points of 21 bits fill 63 bits: the key is the trigram itself.
    keys = points[:-2] | points[1:-1] << np.uint64(21) | points[2:] << np.uint64(42)
    inside = np.ones(len(keys), dtype=bool)
    ends = np.cumsum(lengths)[:-1]
    inside[ends - 1] = inside[ends - 2] = False  # trigrams that reach over the end of a text
    offsets = np.concatenate([[0], np.cumsum(lengths - SHINGLE + 1)])
    return salted(keys[inside], salt), offsets


def salted(keys: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Spread keys over 64 bits, apart for each salt."""
    return mix(keys + np.uint64((_GOLDEN * (salt + 1)) & 0xFFFFFFFFFFFFFFFF))


def band_width(threshold: float) -> int:
    """Choose the widest band that still finds a pair at the threshold with probability 0.99."""
    widths = (12, 8, 6, 4, 3, 2)
    return next((w for w in widths if (1 - threshold**w) ** (PERMUTATIONS // w) <= 0.01), 1)


def buckets_of(shingled: Sequence[Shingled], threshold: float) -> NDArray[np.uint64]:
    """Return the bucket of each row in each band of its MinHash signature, by bands; a row is all its texts."""
    width = band_width(threshold)
    signatures = _signatures(*_unite(shingled))
    starts = range(0, PERMUTATIONS - width + 1, width)
    return np.stack([_bucket(signatures[:, first : first + width]) for first in starts])


def _unite(shingled: Sequence[Shingled]) -> Shingled:
    """Return the trigrams of every row: those of its texts, one after the other."""
    if len(shingled) == 1:
        return shingled[0]
    offsets = np.sum([starts for _, starts in shingled], axis=0)
    keys = np.empty(offsets[-1], dtype=np.uint64)
    place = offsets[:-1].copy()
    for part, starts in shingled:
        counts = np.diff(starts)
        keys[np.arange(len(part)) + np.repeat(place - starts[:-1], counts)] = part
        place += counts
    return keys, offsets


def _signatures(keys: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    from rensa import RMinHash

    matrix = RMinHash.digest_matrix_from_flat_token_hashes(keys, offsets.astype(np.uint64), PERMUTATIONS, SEED)
    return np.asarray(matrix.to_rows(), dtype=np.uint32)


def _bucket(band: NDArray[np.uint32]) -> NDArray[np.uint64]:
    bucket = np.zeros(len(band), dtype=np.uint64)
    for column in band.T:
        bucket = salted(bucket ^ column.astype(np.uint64), 0)
    return bucket


def sketch(shingled: Shingled) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return 64 bits of each text, and how many trigrams it has, those that come twice counted twice."""
    keys, offsets = shingled
    bits = np.uint64(1) << (keys >> np.uint64(58))
    return np.bitwise_or.reduceat(bits, offsets[:-1]), np.diff(offsets).astype(np.uint32)


def may_be_alike(
    sketches: NDArray[np.uint64],
    trigrams: NDArray[np.uint32],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    threshold: float,
) -> NDArray[np.bool_]:
    """Return which pairs of texts the sketches do not tell apart.

    With S trigrams in both texts together and D in one of them only, the similarity is (S - D) / (S + D): the greater
    the more there are in all and the fewer differ. Trigrams that come twice make S no less, bits make D no more.
    """
    apart = pl.Series(sketches[left] ^ sketches[right]).bitwise_count_ones().to_numpy().astype(np.float64)
    all_of_both = trigrams[left].astype(np.float64) + trigrams[right]
    return all_of_both - apart >= (threshold - _LEEWAY) * (all_of_both + apart)


def are_alike(
    take: Callable[[NDArray[np.integer]], pl.DataFrame],
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    threshold: float,
) -> NDArray[np.bool_]:
    """Return which row pairs reach the threshold in every column of the texts that ``take`` gives of rows."""
    alike = np.ones(len(left), dtype=bool)
    for start in range(0, len(left), CANDIDATES_PER_BLOCK):
        block = slice(start, start + CANDIDATES_PER_BLOCK)
        rows, places = np.unique([left[block], right[block]], return_inverse=True)
        a, b = places.reshape(2, -1)
        for keys, offsets in shingle(take(rows)):
            alike[block] &= _jaccard(keys, offsets, a, b) >= threshold
    return alike


def _jaccard(
    keys: NDArray[np.uint64], offsets: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of the trigram sets of each candidate."""
    similarity = np.empty(len(left))
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        in_left = set(keys[offsets[a] : offsets[a + 1]].tolist())
        in_right = set(keys[offsets[b] : offsets[b + 1]].tolist())
        similarity[number] = len(in_left & in_right) / len(in_left | in_right)
    return similarity
