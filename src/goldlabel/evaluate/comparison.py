"""``compare``: is one model better than another on the same pairs, and where do they differ?

The two answer the same pairs, so the test is paired; pairs of one unit are not independent, so whole units are swapped
(``metrics.mcnemar``). A pair without an answer counts as wrong, as in ``score``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import OnPairs, answer_gold, judged_pairs, open_model, usage_of
from goldlabel.messages import many
from goldlabel.metrics import Estimate, accuracy_score, in_percent, in_points, mcnemar, p_in_words
from goldlabel.models import Model
from goldlabel.pairs import Pairs, Result, score_mapping
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.groups import ALL, Key, group_columns, group_name, group_rows, group_title
from goldlabel.pairs.labels import NO_GOLD

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

LABEL = "label"


@dataclass(frozen=True)
class Contrast:
    """Two models on the same pairs."""

    a: Estimate
    """The accuracy of the first."""
    b: Estimate
    difference: Estimate
    """The first's accuracy less the second's."""
    only_a: int
    """Pairs that only the first got right."""
    only_b: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, and their intervals beside them."""
        return {
            "a": self.a.value,
            "b": self.b.value,
            "difference": self.difference.value,
            "interval": self.difference.interval,
            "n": self.a.n,
            "units": self.a.units,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "a_interval": self.a.interval,
            "b_interval": self.b.interval,
        }


@dataclass(frozen=True)
class Example:
    """A pair that only one of the two got right."""

    right: str
    """``a`` or ``b``."""
    id: str
    premise: str
    hypothesis: str
    label: str
    a: str
    b: str


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Two models on one dataset, and whether the difference could be chance."""

    models: tuple[str, str]
    dataset: str
    split: str
    whole: Contrast
    p_value: float
    """Of no difference, two-sided."""
    unanswered: tuple[int, int]
    """Pairs to which the first and the second have no answer."""
    without_gold: int
    per_label: Mapping[str, Contrast]
    """By gold label."""
    groups: Mapping[Key, Contrast]
    examples: Sequence[Example]
    usage: tuple[EndpointSummary | None, EndpointSummary | None] = (None, None)

    @property
    def title(self) -> str:
        """Who is better by how much, and how surprising that is."""
        figure = in_points(self.whole.difference)
        return (
            f"{self.models[0]} less {self.models[1]} on {many(self.whole.a.n, 'pair')} of {self.dataset}: "
            f"{figure} points, {p_in_words(self.p_value)}"
        )

    @property
    def table(self) -> pl.DataFrame:
        """Accuracies and their difference in per cent, of the whole, of each gold label and of each group."""
        rows = [
            {
                "pairs": what,
                "n": contrast.a.n,
                "a": in_percent(contrast.a),
                "b": in_percent(contrast.b),
                "difference": in_points(contrast.difference),
                "only a": contrast.only_a,
                "only b": contrast.only_b,
            }
            for what, contrast in self._named()
        ]
        return pl.DataFrame(rows)

    def _named(self) -> Iterator[tuple[str, Contrast]]:
        yield group_title(ALL), self.whole
        yield from self.per_label.items()
        yield from ((group_title(key), contrast) for key, contrast in self.groups.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures; accuracies are from 0 to 1."""
        return {
            **self.whole.to_dict(),
            "p_value": self.p_value,
            "models": list(self.models),
            "dataset": self.dataset,
            "split": self.split,
            "unanswered": list(self.unanswered),
            "without_gold": self.without_gold,
            "per_label": {label: contrast.to_dict() for label, contrast in self.per_label.items()},
            "groups": {group_name(key): contrast.to_dict() for key, contrast in self.groups.items()},
            "examples": [asdict(example) for example in self.examples],
            "usage": [usage.to_dict() if usage else None for usage in self.usage],
        }


def compare(
    a: Model | str | Path,
    b: Model | str | Path,
    pairs: Pairs,
    *,
    split: str | None = None,
    limit: int | None = None,
    by: str | Sequence[str] | None = None,
    examples: int = 3,
    level: float = 0.95,
    on_pairs: OnPairs | None = None,
    **loading: Any,
) -> Comparison:
    """Compare two models on the same pairs, chosen as ``score`` chooses them.

    The p-value is that of McNemar's exact test, in which whole units are swapped, so that pairs of one premise or group
    do not count as independent; the interval of the difference takes units together too. ``examples`` pairs that only
    one of the two got right are given of each, those first on whose gold label the two are furthest apart. ``loading``
    is for both.
    """
    if examples < 0:
        raise InputError(f"{examples} examples cannot be given; give a number from 0 on")
    columns = group_columns(by)
    gold = judged_pairs(pairs, split, limit=limit, also=columns)
    sides = [_ask(model, pairs, gold, on_pairs, loading) for model in (a, b)]
    whole, p_value = _contrast(gold, sides, None, level)
    by_label = group_rows(gold.frame, (LABEL,))
    by_columns = group_rows(gold.frame, columns)
    return Comparison(
        models=(sides[0].name, sides[1].name),
        dataset=gold.name,
        split=gold.split,
        whole=whole,
        p_value=p_value,
        unanswered=(sides[0].unanswered, sides[1].unanswered),
        without_gold=gold.without_gold,
        per_label={str(key[0]): _contrast(gold, sides, rows, level)[0] for key, rows in by_label.items() if key != ALL},
        groups={key: _contrast(gold, sides, rows, level)[0] for key, rows in by_columns.items() if key != ALL},
        examples=_examples(gold, sides, examples),
        usage=(sides[0].usage, sides[1].usage),
    )


@dataclass(frozen=True)
class _Side:
    """What one of the two says."""

    name: str
    labels: NDArray[np.str_]
    of_gold: NDArray[np.float64]
    """The probability that it gives the gold label; 0 where it has no answer."""
    usage: EndpointSummary | None

    @property
    def unanswered(self) -> int:
        """The pairs to which it has no answer."""
        return int((self.labels == NO_GOLD).sum())


def _ask(
    model: Model | str | Path, pairs: Pairs, gold: GoldPairs, on_pairs: OnPairs | None, loading: Mapping[str, Any]
) -> _Side:
    with open_model(model, [pairs], **loading) as (name, opened):
        mapping = score_mapping(opened.label_space, gold.space)
        probabilities, labels = answer_gold(name, opened, gold, on_pairs)
        columns = np.array([gold.space.index(label) for label in gold.frame[LABEL]])
        of_gold = np.nan_to_num(mapping.apply(probabilities), nan=0.0)[np.arange(len(gold)), columns]
        return _Side(name, labels, of_gold, usage_of(opened))


def _contrast(
    gold: GoldPairs, sides: Sequence[_Side], chosen: NDArray[np.bool_] | None, level: float
) -> tuple[Contrast, float]:
    """Return two models' figures on gold pairs, or on some of them, and the p-value of no difference."""
    rows = slice(None) if chosen is None else chosen
    true, units = gold.frame[LABEL].to_numpy()[rows], gold.units[rows]
    first, second = (side.labels[rows] for side in sides)
    test = mcnemar(true, first, second, units=units, level=level)
    contrast = Contrast(
        accuracy_score(true, first, units=units, level=level),
        accuracy_score(true, second, units=units, level=level),
        test.difference,
        int(((first == true) & (second != true)).sum()),
        int(((first != true) & (second == true)).sum()),
    )
    return contrast, test.p_value


def _examples(gold: GoldPairs, sides: Sequence[_Side], count: int) -> list[Example]:
    """Return pairs that only one got right, those first on whose gold label the two are furthest apart."""
    true = gold.frame[LABEL].to_numpy()
    right = [side.labels == true for side in sides]
    apart = sides[0].of_gold - sides[1].of_gold
    chosen = []
    for who, alone, order in (("a", right[0] & ~right[1], -apart), ("b", right[1] & ~right[0], apart)):
        rows = np.flatnonzero(alone)
        for row in rows[np.argsort(order[rows], kind="stable")][:count].tolist():
            record = gold.frame.row(row, named=True)
            texts = {name: record[name] for name in ("id", "premise", "hypothesis", LABEL)}
            answers = {"a": str(sides[0].labels[row]), "b": str(sides[1].labels[row])}
            chosen.append(Example(right=who, **texts, **answers))
    return chosen
