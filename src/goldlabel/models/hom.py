"""``hom``: the hypothesis-only model of Gururangan et al. (2018), a fastText classifier (Joulin et al. 2017).

It never reads the premise, so what it gets right above the majority is what the hypotheses give away. The text is
the mean of the vectors of its words and word pairs, and one softmax layer stands on top.

Gururangan et al. publish no hyper-parameters but "a bag of words and bigrams". The defaults here are fastText's own
(5 epochs, learning rate 0.1) with bigrams and the 10 dimensions of Joulin et al.; with 100 dimensions the accuracy
on part of SNLI is the same. Word pairs share 2**18 vectors by hash. fastText takes the pairs in the order in which they
come, and a run of one label ruins it, so they are shuffled first. It trains in one thread: with more, no two runs
are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.models.model import (
    WEIGHTS,
    Baseline,
    check_sides,
    label_indices,
    read_space,
    read_tensors,
    write_config,
    write_tensors,
)
from goldlabel.models.options import Count, Positive, checked
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.tokens import split_texts
from goldlabel.registry import import_extra
from goldlabel.seeds import check_seed

BUCKETS = 2**18
_PREFIX = "=="
"""Marks labels in fastText's files. A sign is a token by itself, so no token of a text begins with two."""


@dataclass(frozen=True)
class HOM(Baseline):
    """A fastText classifier over one of the two sentences."""

    paper = "Gururangan et al. 2018"

    label_space: LabelSpace
    classifier: Any
    premise_only: bool

    @classmethod
    @checked("hom")
    def fit(
        cls,
        premises: Sequence[str],
        hypotheses: Sequence[str],
        labels: Sequence[str],
        space: LabelSpace,
        *,
        premise_only: bool = False,
        epochs: Count = 5,
        learning_rate: Positive = 0.1,
        ngrams: Count = 2,
        dimensions: Count = 10,
        seed: int = 0,
    ) -> Self:
        """Fit by stochastic gradient descent; the result is a function of the data and the seed."""
        fasttext = import_extra("fasttext", "baselines")
        gold = label_indices(labels, space)
        texts = premises if premise_only else hypotheses
        # Labels go by number, as a word of fastText cannot hold a space.
        lines = [f"{_PREFIX}{label} {line}\n" for label, line in zip(gold, _lines(texts), strict=True)]
        with TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            with file.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(lines[row] for row in np.random.default_rng(check_seed(seed)).permutation(len(lines)))
            try:
                classifier = fasttext.train_supervised(
                    input=str(file),
                    epoch=epochs,
                    lr=learning_rate,
                    wordNgrams=ngrams,
                    dim=dimensions,
                    bucket=BUCKETS,
                    seed=seed,
                    label=_PREFIX,
                    thread=1,
                    verbose=0,
                )
            except RuntimeError as error:
                if "NaN" not in str(error):
                    raise
                raise InputError(f"hom: training diverged; choose a learning_rate below {learning_rate}") from error
        return cls(space, classifier, premise_only)

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return fastText's probabilities, scaled to sum to one (it adds 0.00001 to each)."""
        check_sides(premises, hypotheses)
        scores = np.zeros((len(hypotheses), len(self.label_space)))
        if len(hypotheses):
            lines = _lines(premises if self.premise_only else hypotheses)
            names, shares = self.classifier.predict(lines, k=-1)
            columns = np.array([[int(name.removeprefix(_PREFIX)) for name in row] for row in names])
            np.put_along_axis(scores, columns, np.array(shares, dtype=np.float64), axis=1)
            scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def save(self, folder: Path) -> None:
        """Write fastText's own model file as the bytes of a tensor, so that a run folder looks as every other."""
        with TemporaryDirectory() as temporary:
            file = Path(temporary) / "model.bin"
            self.classifier.save_model(str(file))
            data = np.frombuffer(file.read_bytes(), dtype=np.uint8)
        write_config(folder, "hom", self.label_space, premise_only=self.premise_only)
        write_tensors(folder, {"fasttext": data})

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read fastText's model file back."""
        fasttext = import_extra("fasttext", "baselines")
        data = read_tensors(folder)["fasttext"]
        with TemporaryDirectory() as temporary:
            file = Path(temporary) / "model.bin"
            file.write_bytes(data.tobytes())
            try:
                classifier = fasttext.load_model(str(file))
            except ValueError as error:
                raise InputError(f"{folder / WEIGHTS}: holds no fastText model; train again") from error
        return cls(read_space(config), classifier, config["premise_only"])


def _lines(texts: Sequence[str]) -> list[str]:
    return [" ".join(tokens) for tokens in split_texts(texts)]
