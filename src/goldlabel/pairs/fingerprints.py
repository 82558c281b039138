"""Fingerprints: 64 bits that tell a pair again by what it says, on any machine and in any version.

A pair is hashed by its two texts after the normalisation that finds exact duplicates, by BLAKE2b (RFC 7693), so that
the fingerprints that a run leaves behind can be held against a test set years later. Labels play no part: a pair that
was learnt with another label, or in another label space, was learnt from all the same. That any of ten thousand test
pairs meets one of a million others by chance happens once in two billion times.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import atomic_file
from goldlabel.pairs.units import normalised

Fingerprints = NDArray[np.uint64]

TRAINED_ON = "trained-on.npy"
"""Where a run folder keeps the fingerprints of the pairs that its model has learnt from."""
_BYTES = 8
_STORED = np.dtype("<u8")
"""Little-endian, whatever the machine."""


def fingerprint_pairs(frame: pl.DataFrame) -> Fingerprints:
    """Return the fingerprint of each row by its ``premise`` and ``hypothesis``."""
    texts = frame.select(pl.format("{}\n{}", normalised("premise"), normalised("hypothesis"))).to_series()
    digests = b"".join(blake2b(text.encode(), digest_size=_BYTES).digest() for text in texts)
    return np.frombuffer(digests, dtype=_STORED).astype(np.uint64)


def write_fingerprints(path: Path, fingerprints: Fingerprints) -> None:
    """Write the different fingerprints in order."""
    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        np.save(stream, np.unique(fingerprints).astype(_STORED))


def read_fingerprints(path: Path) -> Fingerprints | None:
    """Read what ``write_fingerprints`` wrote; None where there is nothing, as in folders of older versions."""
    try:
        stored = np.load(path, allow_pickle=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"{path}: is damaged ({error}); delete it to do without what the run was trained on"
        ) from error
    if stored.dtype != _STORED or stored.ndim != 1:
        raise InputError(f"{path}: holds no fingerprints; delete it to do without what the run was trained on")
    fingerprints: Fingerprints = stored.astype(np.uint64)
    return fingerprints
