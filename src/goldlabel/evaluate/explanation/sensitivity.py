"""Does a model lean on an artifact? Its answers with and without it, at the same gold label.

Among pairs of one gold label, those that carry an artifact (a word, a negator, high overlap) should be answered like
those that do not. So the accuracy and the answers of both are put side by side for each gold label. Over all labels,
each counts by its share of the carriers (direct standardisation): the *shift* is how much more often the artifact's own
label is said of carriers, and the *loss or gain* how much more often they are answered rightly. A model that leans on
the artifact says its label more often, which is right where the gold label is the same and wrong elsewhere. Shifts are
tested; p-values are Holm's over all artifacts. A shift is no proof: carriers may differ in other ways, too.

A single word can also be taken out of the hypotheses that have it, and be put before others as a trigger is (Wallace et
al. 2019); nothing else differs then. What is measured is the change of the probability of the artifact's label. Such
hypotheses are no longer well written, and the gold label may change with them: this is about the model, not about who
is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.explanation.cues import LEAST, Cue
from goldlabel.metrics import Estimate, Gap, gap, holm, mean, share
from goldlabel.pairs.gold import GoldPairs
from goldlabel.seeds import random_state

MOST_EDITED = 200
"""Pairs that a word is taken out of, and pairs that it is put into."""

AskProbabilities = Callable[[pl.DataFrame], NDArray[np.float64]]
"""Gives a model's probabilities over the labels of the gold pairs, a row of NaN where it has no answer."""

Parts = dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]
"""By gold label, which pairs carry an artifact and which do not."""


@dataclass(frozen=True)
class Side:
    """How pairs of one gold label are answered that carry an artifact, or that do not."""

    accuracy: Estimate
    answers: dict[str, Estimate]
    """The share of each label among the answers."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        answers = {label: figure.to_dict() for label, figure in self.answers.items()}
        return {"accuracy": self.accuracy.to_dict(), "answers": answers}


@dataclass(frozen=True)
class AtLabel:
    """Pairs of one gold label, with an artifact and without."""

    carriers: Side
    others: Side
    accuracy: Gap
    """How much more often carriers are answered rightly."""
    shift: Gap
    """How much more often the artifact's label is said of carriers."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "carriers": self.carriers.to_dict(),
            "others": self.others.to_dict(),
            "accuracy": self.accuracy.to_dict(),
            "shift": self.shift.to_dict(),
        }


@dataclass(frozen=True)
class Sensitivity:
    """What an artifact does to a model's answers."""

    cue: Cue
    by_label: dict[str, AtLabel]
    """By gold label, where enough pairs carry the artifact and enough do not."""
    accuracy: Gap
    shift: Gap
    """Both at the same gold label, over all; the p-value of the shift is corrected for the number of artifacts."""
    taken_out: Estimate | None = None
    """How much less probable the artifact's label becomes when the word is taken out."""
    put_in: Estimate | None = None
    """How much more probable it becomes when the word is put before other hypotheses."""

    @property
    def leaned_on(self) -> bool:
        """Whether the artifact's label is said more often of carriers, at the level of the intervals."""
        return (self.shift.value.value or 0) > 0 and self.shift.p_value <= 1 - self.shift.value.level

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "kind": self.cue.kind,
            "feature": self.cue.feature,
            "label": self.cue.label,
            "shift": self.shift.to_dict(),
            "accuracy": self.accuracy.to_dict(),
            "by_label": {label: part.to_dict() for label, part in self.by_label.items()},
            "taken_out": self.taken_out and self.taken_out.to_dict(),
            "put_in": self.put_in and self.put_in.to_dict(),
            "leaned_on": self.leaned_on,
        }


def measure_sensitivity(
    gold: GoldPairs, answers: NDArray[np.str_], cues: Sequence[Cue], *, level: float = 0.95
) -> list[Sensitivity]:
    """Return how each artifact that enough pairs carry changes the answers, in the order given."""
    true, units = gold.frame["label"].to_numpy(), gold.units
    right = answers == true
    results = []
    for cue in cues:
        says = answers == cue.label
        parts: Parts = {}
        for label in gold.space.labels:
            pair = (cue.carried & (true == label), ~cue.carried & (true == label))
            if min(int(part.sum()) for part in pair) >= LEAST:
                parts[label] = pair
        if not parts:
            continue
        by_label = {
            label: AtLabel(
                carriers=_side(gold, answers, right, pair[0], level),
                others=_side(gold, answers, right, pair[1], level),
                accuracy=gap(right, pair, units=units, level=level),
                shift=gap(says, pair, units=units, level=level),
            )
            for label, pair in parts.items()
        }
        accuracy, shift = (_standardised(hits, parts, units, level) for hits in (right, says))
        results.append(Sensitivity(cue, by_label, accuracy, shift))
    adjusted = holm([result.shift.p_value for result in results])
    return [
        replace(result, shift=replace(result.shift, p_value=p_value))
        for result, p_value in zip(results, adjusted, strict=True)
    ]


def edit_words(
    gold: GoldPairs,
    probabilities: NDArray[np.float64],
    results: Sequence[Sensitivity],
    ask: AskProbabilities,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> list[Sensitivity]:
    """Take each artifact that is a word out of some hypotheses and put it before some; others stay as they are."""
    edited = []
    for result in results:
        cue = result.cue
        if cue.kind == "word":
            random = random_state(seed)
            taken_out = _change(gold, probabilities, cue, cue.carried, take_out, ask, random, level)
            put_in = _change(gold, probabilities, cue, ~cue.carried, put_before, ask, random, level)
            result = replace(result, taken_out=taken_out and -taken_out, put_in=put_in)
        edited.append(result)
    return edited


def take_out(word: str, text: str) -> str | None:
    """Return a text without a word, or None where it is not found as one or nothing is left."""
    bound = (r"(?<!\w)", r"(?!\w)") if word.isascii() else ("", "")  # Chinese words stand side by side
    left, count = re.subn(f"{bound[0]}{re.escape(word)}{bound[1]}", " ", text, flags=re.IGNORECASE)
    left = re.sub(r"\s+", " " if word.isascii() else "", left).strip() if count else ""
    return left if any(sign.isalnum() for sign in left) else None


def put_before(word: str, text: str) -> str | None:
    """Return a text with a word before it."""
    return f"{word} {text}" if word.isascii() else f"{word}{text}"


def _change(
    gold: GoldPairs,
    probabilities: NDArray[np.float64],
    cue: Cue,
    among: NDArray[np.bool_],
    edit: Callable[[str, str], str | None],
    ask: AskProbabilities,
    random: np.random.RandomState,
    level: float,
) -> Estimate | None:
    """Return by how much an edit of some hypotheses changes the probability of the artifact's label, on average."""
    column = gold.space.index(cue.label)
    candidates = np.flatnonzero(among & ~np.isnan(probabilities[:, column]))
    rows = np.sort(random.permutation(candidates)[:MOST_EDITED])
    texts = [edit(cue.feature, text) for text in gold.frame["hypothesis"].gather(rows)]
    kept = np.array([text is not None for text in texts], dtype=bool)
    if kept.sum() < LEAST:
        return None
    rows = rows[kept]
    changed = gold.frame[rows].with_columns(pl.Series("hypothesis", [text for text in texts if text is not None]))
    after = ask(changed)[:, column]
    answered = ~np.isnan(after)
    change = after[answered] - probabilities[rows[answered], column]
    return mean(change, units=gold.units[rows[answered]], level=level) if len(change) else None


def _standardised(hits: NDArray[np.bool_], parts: Parts, units: NDArray[np.int64], level: float) -> Gap:
    """Return how much more often something holds of carriers, each gold label counting by its share of them."""
    carriers = sum(int(pair[0].sum()) for pair in parts.values())
    weights = [sign * int(pair[0].sum()) / carriers for pair in parts.values() for sign in (1, -1)]
    return gap(hits, [part for pair in parts.values() for part in pair], weights, units=units, level=level)


def _side(
    gold: GoldPairs, answers: NDArray[np.str_], right: NDArray[np.bool_], part: NDArray[np.bool_], level: float
) -> Side:
    units = gold.units[part]
    return Side(
        share(right[part], units=units, level=level),
        {label: share(answers[part] == label, units=units, level=level) for label in gold.space.labels},
    )
