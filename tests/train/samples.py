"""Invented pairs whose labels a small model can learn, and options that make training quick."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from goldlabel.models.vectors import Vectors
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NLI3, LabelSpace
from goldlabel.pairs.record import DTYPES

LABELS = ("entailment", "neutral", "contradiction")
SAYS = {"entailment": "stands open", "neutral": "was painted red", "contradiction": "is locked"}
SAYS_ZH = {"entailment": "开着", "neutral": "是红的", "contradiction": "锁着"}
THINGS = ("gate", "barn", "shed", "mill", "vault", "cabin", "tower", "chapel", "kiosk", "stable", "hangar", "lodge")

SMALL: dict[str, Any] = {"hidden": 8, "dropout": 0.0, "device": "cpu"}
"""For ``cbow``, which trains in no time."""


def make_rows(count: int, *, split: str = "none", language: str = "en", first: int = 0) -> list[dict[str, Any]]:
    """Pairs whose label the end of the hypothesis tells; lengths differ, so batches do."""
    rows = []
    for number in range(first, first + count):
        label = LABELS[number % 3]
        thing, often = THINGS[number % len(THINGS)], " ".join(["very"] * (number % 5))
        premise = f"The {often} old {thing} number {number} stands open.".replace("  ", " ")
        hypothesis = f"The {thing} {SAYS[label]}."
        if language == "zh":
            premise, hypothesis = f"第{number}号门开着。", f"那扇门{SAYS_ZH[label]}。"
        rows.append(
            {
                "id": f"p{number}",
                "premise": premise,
                "hypothesis": hypothesis,
                "label": label,
                "language": language,
                "split": split,
            }
        )
    return rows


def make_pairs(
    rows: list[dict[str, Any]] | int = 48, *, name: str = "doors", space: LabelSpace = NLI3, **changes: Any
) -> Pairs:
    """A dataset of rows, or of that many made ones."""
    held = make_rows(rows, **changes) if isinstance(rows, int) else rows
    filled = [{column: ({"votes": [], "tags": []} | row).get(column) for column in DTYPES} for row in held]
    return Pairs.from_frame(pl.DataFrame(filled, schema=DTYPES), Card(name=name, label_space=space))


def with_dev(train: int = 48, dev: int = 24, *, name: str = "doors") -> Pairs:
    """A dataset with a train and a dev split."""
    return make_pairs([*make_rows(train, split="train"), *make_rows(dev, split="dev", first=1000)], name=name)


def write_vectors(path: Path, words: list[str], size: int = 4, seed: int = 0, scale: float = 1.0) -> Vectors:
    """Write random vectors of words as text."""
    matrix = (scale * np.random.RandomState(seed).standard_normal((len(words), size))).astype(np.float32)
    lines = [" ".join([word, *(f"{value:.6f}" for value in row)]) for word, row in zip(words, matrix, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return Vectors(words, matrix)


def weights(run: Path) -> bytes:
    """A run's weights, to the bit."""
    return (run / "model.safetensors").read_bytes()
