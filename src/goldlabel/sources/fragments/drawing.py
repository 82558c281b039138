"""Drawing pairs: how many of each cell, which ones, and in what order.

Nothing drawn is remembered. A cell's pairs are numbered; a keyed permutation of the numbers (a Feistel network
with cycle walking) gives as many different ones as are wanted, a block at a time. Only whole numbers are
involved, so a seed means the same pairs on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs.record import COLUMNS, DTYPES
from goldlabel.seeds import random_state
from goldlabel.sources.fragments.cells import Cell, cells
from goldlabel.sources.fragments.grammar import LABELS

BLOCK = 50_000
_ROUNDS = 4


@dataclass(frozen=True)
class Drawing:
    """How many pairs to draw from each cell, and the keys to draw them by."""

    cells: tuple[Cell, ...]
    quotas: tuple[int, ...]
    seed: int

    def blocks(self, size: int = BLOCK) -> Iterator[pl.DataFrame]:
        """Yield the pairs as records, in blocks of about ``size``; every block is alike in what it holds."""
        count = max(1, -(-sum(self.quotas) // size))
        random = random_state(self.seed)
        keys = random.randint(0, 2**31, size=(len(self.cells), _ROUNDS), dtype=np.int64)
        offsets = random.randint(0, count, size=len(self.cells))
        for block in range(count):
            parts = []
            for cell, quota, key, offset in zip(self.cells, self.quotas, keys, offsets, strict=True):
                start, stop = ((quota * edge + int(offset)) // count for edge in (block, block + 1))
                if stop > start:
                    numbers = permute(np.arange(start, stop, dtype=np.int64), cell.size, key)
                    parts.append((cell, numbers))
            if parts:
                yield write_records(parts, random)


def capacity(language: str, phenomenon: str) -> int:
    """Return the most pairs a phenomenon gives without repeating one and with its labels in balance."""
    all_cells = cells(language, phenomenon)
    limits = []
    for label in LABELS.values():
        own = [cell for cell in all_cells if cell.label == label]
        total = sum(cell.weight for cell in own)
        limits.append(min((cell.size - 1) * total // cell.weight for cell in own))
    return 3 * min(limits)


def plan_drawing(language: str, pairs: int, phenomena: Sequence[str], seed: int) -> Drawing:
    """Share ``pairs`` out: equally among phenomena while they last, among labels, and by weight among cells."""
    random = random_state(seed)
    chosen: list[Cell] = []
    quotas: list[int] = []
    shares = _fill({name: capacity(language, name) for name in phenomena}, pairs)
    turn = int(random.randint(3))
    for number, name in enumerate(phenomena):
        all_cells = cells(language, name)
        for place, label in enumerate(LABELS.values()):
            # Where a phenomenon's pairs do not divide by three, the labels take turns in having one more.
            wanted = (shares[name] + (place + number + turn) % 3) // 3
            own = [cell for cell in all_cells if cell.label == label]
            chosen += own
            quotas += _share(wanted, [cell.weight for cell in own], random)
    return Drawing(tuple(chosen), tuple(quotas), int(random.randint(0, 2**31)))


def permute(numbers: NDArray[np.int64], size: int, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Map numbers below ``size`` one to one onto numbers below ``size``, in an order set by the keys."""
    half = max(1, (int(size - 1).bit_length() + 1) // 2)
    mask = np.uint64(2**half - 1)
    value = numbers.astype(np.uint64)
    outside = np.ones(len(value), dtype=bool)
    # The network permutes the next power of four; numbers that land outside are sent on until they are inside.
    while outside.any():
        left, right = value[outside] >> np.uint64(half), value[outside] & mask
        for key in keys.astype(np.uint64):
            mixed = (right + key) * np.uint64(0x9E3779B97F4A7C15)
            left, right = right, left ^ ((mixed >> np.uint64(40)) & mask)
        value[outside] = (left << np.uint64(half)) | right
        outside = value >= np.uint64(size)
    return value.astype(np.int64)


def write_records(parts: Sequence[tuple[Cell, NDArray[np.int64]]], random: np.random.RandomState) -> pl.DataFrame:
    """Write numbered pairs of cells as records, shuffled."""
    premises, hypotheses, ids = [], [], []
    for cell, numbers in parts:
        filling = cell.fill(numbers)
        premises.append(cell.write(cell.premise, filling, len(numbers)))
        hypotheses.append(cell.write(cell.hypothesis, filling, len(numbers)))
        stem = f"{cell.language}-{cell.phenomenon}-{cell.number:03d}-"
        ids += [f"{stem}{number:07d}" for number in numbers.tolist()]
    order = random.permutation(len(ids))
    lengths = [len(numbers) for _, numbers in parts]
    which = pl.Series(np.repeat(np.arange(len(parts)), lengths)[order])
    language = parts[0][0].language
    premise = np.concatenate(premises)[order].tolist()
    columns = {
        "id": pl.Series(ids)[order],
        "premise": pl.Series(premise),
        "hypothesis": pl.Series(np.concatenate(hypotheses)[order].tolist()),
        "label": pl.Series([cell.label for cell, _ in parts])[which],
        "votes": pl.Series([[]], dtype=DTYPES["votes"]).new_from_index(0, len(ids)),
        "split": pl.Series(["none"]).new_from_index(0, len(ids)),
        "dataset": pl.Series(["fragments"]).new_from_index(0, len(ids)),
        "language": pl.Series([language]).new_from_index(0, len(ids)),
        "tags": pl.Series([[cell.phenomenon] for cell, _ in parts])[which],
        "group": pl.Series([f"{language}-{blake2b(text.encode(), digest_size=8).hexdigest()}" for text in premise]),
        "meta": pl.Series([cell.meta for cell, _ in parts])[which],
    }
    empty = pl.Series([None], dtype=pl.String).new_from_index(0, len(ids))
    return pl.DataFrame({name: columns.get(name, empty) for name in COLUMNS}, schema=DTYPES)


def _fill(room: dict[str, int], pairs: int) -> dict[str, int]:
    """Share ``pairs`` out equally; what one cannot take goes to the others."""
    shares: dict[str, int] = {}
    rest = pairs
    for place, (name, most) in enumerate(sorted(room.items(), key=lambda item: item[1])):
        shares[name] = min(most, rest // (len(room) - place))
        rest -= shares[name]
    return shares


def _share(count: int, weights: Sequence[int], random: np.random.RandomState) -> list[int]:
    """Share ``count`` out by weight; where it does not come out even, chance decides, without bias."""
    total = sum(weights)
    order = random.permutation(len(weights))
    offset = int(random.randint(total))
    quotas = [0] * len(weights)
    before = 0
    for place in order:
        after = before + weights[place]
        quotas[place] = (after * count + offset) // total - (before * count + offset) // total
        before = after
    return quotas
