"""Counterfactuals: does an answer change where it must, and stay where it must not?

Each edit (``edits.py``) is made of every pair that allows it, and the model is asked again. Told are, per gold label,
how often the answer flips, and where the edit settles the label, how often the new answer is one that it allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.explanation.asking import Ask
from goldlabel.evaluate.explanation.edits import EDITS, Edit
from goldlabel.metrics import Estimate, share
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.tokens import UNKNOWN, language_of


@dataclass(frozen=True)
class EditEffect:
    """What an edit does to a model's answers to the pairs of one gold label."""

    edit: str
    label: str
    pairs: int
    """Pairs of this label, whether they allow the edit or not."""
    flips: Estimate
    """The share of edited pairs whose answer is another than before; ``n`` are those that allow the edit."""
    allowed: tuple[str, ...]
    """The labels one of which must follow; empty where the edit settles nothing."""
    right: Estimate | None
    """The share of edited pairs with such an answer."""

    @property
    def must_change(self) -> bool:
        """Whether the gold label itself cannot stay."""
        return bool(self.allowed) and self.label not in self.allowed

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "edit": self.edit,
            "label": self.label,
            "pairs": self.pairs,
            "flips": self.flips.to_dict(),
            "allowed": list(self.allowed),
            "must_change": self.must_change,
            "right": self.right and self.right.to_dict(),
        }


def measure_edits(
    gold: GoldPairs, answers: NDArray[np.str_], ask: Ask, *, edits: Sequence[Edit] = EDITS, level: float = 0.95
) -> list[EditEffect]:
    """Ask the model about every pair that allows an edit, after it."""
    true, units = gold.frame["label"].to_numpy(), gold.units
    effects = []
    for edit in edits:
        frame, rows = edit_pairs(gold, edit)
        edited = ask(frame) if len(rows) else np.empty(0, dtype=np.str_)
        flipped = edited != answers[rows]
        for label in gold.space.labels:
            chosen = true[rows] == label
            unit = units[rows][chosen]
            allowed = edit.allowed(label, gold.space)
            right = share(np.isin(edited[chosen], list(allowed)), units=unit, level=level) if allowed else None
            if chosen.any():
                flips = share(flipped[chosen], units=unit, level=level)
                named = tuple(word for word in gold.space.labels if word in allowed)
                effects.append(EditEffect(edit.name, label, int((true == label).sum()), flips, named, right))
    return effects


def edit_pairs(gold: GoldPairs, edit: Edit) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Return the pairs that allow an edit, after it, and their rows."""
    columns = (gold.frame["premise"], gold.frame["hypothesis"], language_of(gold.frame).fill_null(UNKNOWN))
    changed = [edit.change(*texts) for texts in zip(*columns, strict=True)]
    rows = np.array([row for row, texts in enumerate(changed) if texts is not None], dtype=np.int64)
    texts = [pair for pair in changed if pair is not None]
    frame = gold.frame[rows].with_columns(
        pl.Series(name, [pair[side] for pair in texts], dtype=pl.String)
        for side, name in enumerate(("premise", "hypothesis"))
    )
    return frame, rows
