"""Planted truth for debiasing: generated pairs whose hypotheses begin with a word that tells the label, or seems to.

The labels of generated pairs are true by construction and cannot be told from the hypothesis. Here every hypothesis
gets one of three words before it. In the biased training set it is its own label's in four of five pairs, in the
*reversed* test set never; where no artifact is planted, it is drawn at random. The tests train on few pairs,
``benchmarks/debias.py`` on more, with more seeds.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import goldlabel as gl
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import take_gold
from goldlabel.pairs.labels import NLI3
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.train import TrainOptions
from tests.train.samples import write_vectors

WORDS = ("Well", "So", "Now")
"""Before the hypotheses of each label, in the order of the label space."""
STRENGTH = 0.8
SMALL = {"hidden": 32, "dropout": 0.0, "batch": 64}
"""Of ``cbow``, which learns these pairs in a second or two."""


@dataclass(frozen=True)
class Planted:
    """Two training sets that differ by the artifact alone, and test pairs where it misleads."""

    biased: Pairs
    clean: Pairs
    reversed: Pairs


def make_planted(train: int, test: int, seed: int) -> Planted:
    """Draw pairs, all different, and plant the artifact."""
    pairs = fragment_pairs("en", train + test, seed=seed, phenomena=["quantifiers"])
    frame = pairs.frame.collect()
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(frame))
    parts = [Pairs(frame[rows].lazy(), pairs.card) for rows in (order[:train], order[train:])]
    return Planted(plant(parts[0], STRENGTH, seed), plant(parts[0], 1 / 3, seed), plant(parts[1], 0.0, seed))


def plant(pairs: Pairs, share: float, seed: int) -> Pairs:
    """Begin this share of the hypotheses with their label's word, the others with another's."""
    frame, random = pairs.frame.collect(), np.random.Generator(np.random.PCG64([seed, 1]))
    label = np.array([NLI3.labels.index(word) for word in frame["label"]])
    other = (label + random.integers(1, 3, len(label))) % 3
    chosen = np.where(random.random(len(label)) < share, label, other)
    texts = [f"{WORDS[number]}, {text}" for number, text in zip(chosen, frame["hypothesis"], strict=True)]
    return Pairs(frame.with_columns(pl.Series("hypothesis", texts)).lazy(), pairs.card)


def score(train: Pairs, test: Pairs, options: TrainOptions) -> Estimate:
    """Train a small model without a dev set and return its accuracy on the test pairs."""
    with tempfile.TemporaryDirectory() as folder:
        vectors = Path(folder) / "vectors.txt"
        write_vectors(vectors, _words(train, test), 30, scale=0.3)
        run = gl.train("cbow", train, Path(folder) / "run", options=options, vectors=str(vectors), train_vectors=True)
        model = gl.load_model(run.run, "cpu")
        gold = take_gold(test, default="none", advice="")
        shares = model.predict(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list())
        return gold.score(shares, model.label_space)


def make_options(**changes: Any) -> TrainOptions:
    """Options of a small model; ``changes`` are fields of ``TrainOptions``."""
    own = {name: SMALL[name] for name in ("hidden", "dropout")}
    return TrainOptions(**{"device": "cpu", "batch": SMALL["batch"], "options": own, **changes})


def _words(*parts: Pairs) -> list[str]:
    texts = pl.concat([part.frame.select(pl.concat_str("premise", "hypothesis", separator=" ")) for part in parts])
    tokens = texts.select(pl.first().str.extract_all(r"[\w'-]+").explode().unique().sort()).collect()
    return tokens.to_series().to_list()
