"""What the models of an audit's folds have answered, kept until the audit is done.

A fold is named by all that its answers are a function of: the code, the libraries, the model, the seed, the texts, the
labels and which pairs were left out. So the same command takes up what an interrupted one has left, and no other does.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.executors.probe import describe_node
from goldlabel.files import atomic_file, home
from goldlabel.pairs.gold import digest_texts


class Folds:
    """Answers of folds, each in a file under ``GOLDLABEL_HOME``."""

    def __init__(self) -> None:
        self.folder = home() / "folds"
        self._asked: set[Path] = set()

    def paths(
        self,
        texts: pl.DataFrame,
        labels: NDArray[np.str_],
        fold: NDArray[np.int64],
        folds: int,
        **settings: Any,
    ) -> list[Path]:
        """Return where the answers of each fold lie, or will."""
        about = {
            "node": describe_node({}, []),
            "settings": settings,
            "texts": digest_texts(texts),
            "labels": hashlib.sha256("\n".join(labels.tolist()).encode()).hexdigest(),
            "fold": hashlib.sha256(fold.astype(np.int64).tobytes()).hexdigest(),
        }
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        paths = [self.folder / f"{digest[:32]}-{number}-of-{folds}.npy" for number in range(folds)]
        self._asked.update(paths)
        return paths

    def clear(self) -> None:
        """Delete what was asked for: the audit is done."""
        for path in self._asked:
            path.unlink(missing_ok=True)


def write_fold(path: Path, probabilities: NDArray[np.float64]) -> None:
    """Write the answers of a fold, whole or not at all."""
    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        np.save(stream, probabilities, allow_pickle=False)


def read_fold(path: Path) -> NDArray[np.float64]:
    """Read the answers of a fold."""
    probabilities: NDArray[np.float64] = np.load(path, allow_pickle=False)
    return probabilities
