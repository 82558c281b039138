"""Batches from length buckets.

Pairs are shuffled, cut into pools of up to ``POOL`` batches, sorted by length within each pool, cut into batches by
pairs or by padded tokens, and the batches shuffled. Sentences of a batch are then of nearly equal length, and yet
every epoch has other batches: there are ``LEAST_POOLS`` pools or more, as one that held everything would be sorted
into the same batches each time. The plan is a function of the seed and the epoch alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from goldlabel.models.encoding import cut_by_tokens

POOL = 64
LEAST_POOLS = 4


def plan_batches(
    lengths: Sequence[NDArray[np.int64]],
    *,
    pairs: int,
    tokens: int | None,
    seed: Sequence[int],
) -> list[NDArray[np.int64]]:
    """Return the rows of each batch, given the lengths of what is padded; with ``tokens``, ``pairs`` does not count."""
    random = np.random.Generator(np.random.PCG64(list(seed)))
    order = random.permutation(len(lengths[0]))
    usual = max(1, int(tokens / sum(side.mean() for side in lengths))) if tokens else pairs
    size = usual * min(POOL, math.ceil(len(order) / (usual * LEAST_POOLS)))
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(order), size):
        pool = order[start : start + size]
        pool = pool[np.lexsort([side[pool] for side in reversed(lengths)])]
        sides = [side[pool] for side in lengths]
        batches += np.split(pool, cut_by_tokens(sides, tokens) if tokens else range(pairs, len(pool), pairs))
    return [batches[index] for index in random.permutation(len(batches))]
