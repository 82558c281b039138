"""``random-forest``: Breiman's random forest (2001) on 19 features that compare hypothesis and premise.

The features are those of ``goldlabel.models.pair_features``. The size of the published baseline's forest is not
known; here it is 100 trees of any depth whose leaves hold 20 training pairs or more. On part of SNLI, smaller leaves
and more trees only made it larger.

A saved forest is the arrays of its trees and the word vectors that it uses, at most the first 50,000 of their file,
which files sorted by frequency begin with. Training and prediction look words up in the same 50,000, so the run
folder is all that a prediction depends on. scikit-learn only grows the trees: ``predict`` walks them itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import sha256
from goldlabel.models.model import (
    Baseline,
    check_sides,
    label_indices,
    read_space,
    read_tensors,
    write_config,
    write_tensors,
)
from goldlabel.models.options import Count, checked
from goldlabel.models.pair_features import pair_features
from goldlabel.models.vectors import Vectors, read_vectors
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.tokens import split_texts

KEPT_VECTORS = 50_000
OTHER = "other"
"""Stands for the sentence that a partial-input model does not see: one token, never an empty text."""
_WALKS = 1_000_000
"""How many walks, pairs times trees, are under way at once."""


@dataclass(frozen=True)
class Trees:
    """The nodes of all trees in one table; a leaf leads to itself."""

    roots: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int8]
    threshold: NDArray[np.float64]
    shares: NDArray[np.float64]
    """Of the labels among the training pairs at a node."""

    @classmethod
    def grow(
        cls, features: NDArray[np.float32], gold: NDArray[np.int64], labels: int, *, trees: int, leaf: int, seed: int
    ) -> Self:
        """Grow a forest with scikit-learn."""
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(trees, min_samples_leaf=leaf, random_state=seed, n_jobs=-1).fit(features, gold)
        grown = [tree.tree_ for tree in forest.estimators_]
        roots = np.cumsum([0, *(tree.node_count for tree in grown)])[:-1]
        shares = np.zeros((sum(tree.node_count for tree in grown), labels))
        shares[:, forest.classes_] = np.concatenate([tree.value[:, 0] for tree in grown])
        itself = [np.arange(tree.node_count) for tree in grown]
        left, right = (
            np.concatenate(
                [
                    np.where(child < 0, own, child) + root
                    for child, own, root in zip((getattr(tree, side) for tree in grown), itself, roots, strict=True)
                ]
            )
            for side in ("children_left", "children_right")
        )
        feature = np.concatenate([np.maximum(tree.feature, 0) for tree in grown])
        threshold = np.concatenate([tree.threshold for tree in grown])
        return cls(
            roots.astype(np.int32),
            left.astype(np.int32),
            right.astype(np.int32),
            feature.astype(np.int8),
            threshold,
            shares,
        )

    def average(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the mean over all trees of the shares at the leaf that each row reaches."""
        size = max(_WALKS // len(self.roots), 1)
        parts = [self._walk(features[start : start + size]) for start in range(0, len(features), size)]
        return np.concatenate([np.empty((0, self.shares.shape[1])), *parts])

    def _walk(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        rows = np.arange(len(features))[:, None]
        node, after = None, np.tile(self.roots, (len(features), 1))
        while node is None or not np.array_equal(node, after):
            node = after
            smaller = features[rows, self.feature[node]] <= self.threshold[node]
            after = np.where(smaller, self.left[node], self.right[node])
        mean: NDArray[np.float64] = self.shares[node].mean(axis=1)
        return mean


@dataclass(frozen=True)
class RandomForest(Baseline):
    """A random forest on features that compare the two sentences."""

    paper = "Breiman 2001"

    label_space: LabelSpace
    trees: Trees
    vectors: Vectors | None
    vectors_file: dict[str, str] | None
    """Path and SHA-256 of the file that the vectors come from."""
    hypothesis_only: bool
    premise_only: bool

    @classmethod
    @checked("random-forest")
    def fit(
        cls,
        premises: Sequence[str],
        hypotheses: Sequence[str],
        labels: Sequence[str],
        space: LabelSpace,
        *,
        vectors: str | Path | None = None,
        hypothesis_only: bool = False,
        premise_only: bool = False,
        trees: Count = 100,
        leaf: Count = 20,
        seed: int = 0,
    ) -> Self:
        """Grow the trees; the result is a function of the data, the vectors and the seed."""
        if hypothesis_only and premise_only:
            raise InputError("random-forest: hypothesis_only and premise_only exclude each other; choose one")
        gold = label_indices(labels, space)
        kept = None if vectors is None else _kept(Path(vectors))
        file = None if vectors is None else {"path": str(vectors), "sha256": sha256(Path(vectors))}
        features = _features(premises, hypotheses, kept, hypothesis_only, premise_only)
        grown = Trees.grow(features, gold, len(space), trees=trees, leaf=leaf, seed=seed)
        return cls(space, grown, kept, file, hypothesis_only, premise_only)

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean of the trees' label shares."""
        check_sides(premises, hypotheses)
        features = _features(premises, hypotheses, self.vectors, self.hypothesis_only, self.premise_only)
        return self.trees.average(features)

    def save(self, folder: Path) -> None:
        """Write the trees and the vectors."""
        tensors: dict[str, NDArray[Any]] = dict(vars(self.trees))
        if self.vectors is not None:
            tensors["vectors"] = self.vectors.matrix
            tensors["words"] = np.frombuffer("\n".join(self.vectors.words).encode(), dtype=np.uint8)
        write_config(
            folder,
            "random-forest",
            self.label_space,
            vectors=self.vectors_file,
            hypothesis_only=self.hypothesis_only,
            premise_only=self.premise_only,
        )
        write_tensors(folder, tensors)

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read the trees and the vectors."""
        tensors = read_tensors(folder)
        vectors = None
        if config["vectors"] is not None:
            vectors = Vectors(tensors.pop("words").tobytes().decode().split("\n"), tensors.pop("vectors"))
        return cls(
            read_space(config),
            Trees(**tensors),
            vectors,
            config["vectors"],
            config["hypothesis_only"],
            config["premise_only"],
        )


def _kept(path: Path) -> Vectors:
    """Return the first vectors of words that a text can hold: no capitals, no spaces."""
    vectors = read_vectors(path)
    tokens = split_texts(vectors.words)
    reachable = (row for row, word in enumerate(vectors.words) if tokens[row] == [word])
    rows = list(islice(reachable, KEPT_VECTORS))
    if not rows:
        raise InputError(
            f"{path}: has no word in lower case, and texts are brought to lower case; choose other vectors"
        )
    kept = Vectors([vectors.words[row] for row in rows], vectors.matrix[rows])
    if not np.isfinite(kept.matrix).all():
        raise InputError(f"{path}: has vectors that are not finite; choose other vectors")
    return kept


def _features(
    premises: Sequence[str],
    hypotheses: Sequence[str],
    vectors: Vectors | None,
    hypothesis_only: bool,
    premise_only: bool,
) -> NDArray[np.float32]:
    """Return the features in the precision that trees compare in; a sentence that is not read is one fixed token."""
    if hypothesis_only:
        premises = [OTHER] * len(hypotheses)
    if premise_only:
        hypotheses = [OTHER] * len(premises)
    return pair_features(premises, hypotheses, vectors).clip(max=np.finfo(np.float32).max).astype(np.float32)
