"""Hypothesis-only: how well labels can be told without the premise (Poliak et al. 2018; Gururangan et al. 2018).

A linear model on words and bigrams is cross-validated over folds that keep together what shares a premise or a
group, so every pair gets a probability from a model that has seen neither it nor its premise. Its accuracy stands
beside that of always saying the most frequent label. The gain's interval and one-sided test take pairs of one
premise as dependent (a sum of squares over groups, as in Liang and Zeger 1986). The *hard subset* are the pairs it
gets wrong, as in SNLI-hard.

``premise_only`` is the control: premises come with every label, so it should gain nothing. Any trainable model
takes the same test with every premise replaced by one fixed non-word (Hu et al. 2020, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags
from goldlabel.audit.corpus import Corpus
from goldlabel.audit.logistic import fit_models, hashed_ngrams
from goldlabel.errors import InputError
from goldlabel.metrics import wilson
from goldlabel.models import MODELS
from goldlabel.pairs import Pairs
from goldlabel.seeds import random_state

FOLDS = 5
NON_WORD = "xqzj"
"""Stands for every premise when a model is tested without it; in no language is it a word."""
CURVE = (0.01, 0.03, 0.1, 0.3, 1.0)
_LEAST_TRAINED = 20


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold probabilities of all pairs with a gold label."""

    rows: NDArray[np.int64]
    """Where these pairs stand in the corpus."""
    labels: NDArray[np.int8]
    units: NDArray[np.int64]
    probabilities: NDArray[np.float32]

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Return the most probable label of each pair."""
        best: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return best


def units_of(corpus: Corpus) -> NDArray[np.int64]:
    """Number what must stay together: pairs that share a group or a premise, directly or by steps."""
    groups = _numbered(corpus.group_keys)
    if not corpus.has_groups:
        return groups
    premises = _numbered(corpus.premise_keys)
    if _one_group_each(premises, groups):
        return groups
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = groups.max() + premises.max() + 2
    edges = (np.ones(len(groups), dtype=bool), (groups, premises + groups.max() + 1))
    parts: NDArray[np.int64] = connected_components(coo_array(edges, shape=(size, size)), directed=False)[1]
    return parts[groups].astype(np.int64)


def assign_folds(units: NDArray[np.int64], folds: int, *, seed: int = 0) -> NDArray[np.int64]:
    """Deal the units out to folds at random."""
    numbers, place = np.unique(units, return_inverse=True)
    if folds < 2:
        raise InputError(f"{folds} folds cannot be cross-validated; ask for 2 or more")
    if len(numbers) < folds:
        raise InputError(
            f"{len(units)} pairs with a gold label over {len(numbers)} premises or groups are too few for {folds} folds"
        )
    dealt = np.arange(len(numbers)) % folds
    return dealt[random_state(seed).permutation(len(numbers))][place]


def cross_validate(
    bags: Bags, labels: NDArray[np.int8], units: NDArray[np.int64], classes: int, *, folds: int = FOLDS, seed: int = 0
) -> OutOfFold:
    """Return the out-of-fold probabilities of the pairs that have a gold label."""
    rows = np.flatnonzero(labels >= 0)
    fold = assign_folds(units[rows], folds, seed=seed)
    matrix = hashed_ngrams(bags)
    matrix = matrix if len(rows) == len(labels) else matrix[rows]
    gold = labels[rows]
    trained_on = fold[:, None] != np.arange(folds)
    models = fit_models(matrix, gold, classes, trained_on, seed=seed)
    return OutOfFold(rows, gold, units[rows], models.predict(matrix, fold))


def learning_curve(
    bags: Bags, labels: NDArray[np.int8], units: NDArray[np.int64], classes: int, *, folds: int = FOLDS, seed: int = 0
) -> list[dict[str, Any]]:
    """Return the accuracy on one fold of models trained on growing shares of the others."""
    rows = np.flatnonzero(labels >= 0)
    fold = assign_folds(units[rows], folds, seed=seed)
    test = fold == 0
    # A unit's share of the line from 0 to 1 decides from which size on it is trained on: sizes nest.
    place = random_state(seed + 1).permutation(units.max() + 1)[units[rows]] / (units.max() + 1)
    sizes = [share for share in CURVE if share * (~test).sum() >= _LEAST_TRAINED]
    if not sizes:
        return []
    trained_on = np.stack([~test & (place < share) for share in sizes], axis=1)
    matrix = hashed_ngrams(bags)[rows]
    models = fit_models(matrix, labels[rows], classes, trained_on, seed=seed)
    points = []
    held_out, gold = matrix[test], labels[rows][test]
    for number in range(len(sizes)):
        predicted = models.predict(held_out, np.full(len(gold), number)).argmax(axis=1)
        points.append({"pairs": int(trained_on[:, number].sum())} | _accuracy(predicted == gold))
    return points


def judge(
    found: OutOfFold, names: tuple[str, ...], *, rows: NDArray[np.bool_] | None = None, level: float = 0.05
) -> dict[str, Any] | None:
    """Return accuracy, majority and gain over some of the pairs; ``None`` if none has a gold label."""
    chosen = np.ones(len(found.rows), dtype=bool) if rows is None else rows[found.rows]
    gold, predicted, units = found.labels[chosen], found.predicted[chosen], found.units[chosen]
    if not len(gold):
        return None
    counts = np.bincount(gold, minlength=len(names))
    most = int(counts.argmax())
    right = predicted == gold
    gain = _gain(right.astype(np.int8) - (gold == most), units, level)
    by_label = {name: _accuracy(right[gold == code]) if counts[code] else None for code, name in enumerate(names)}
    return {
        **_accuracy(right),
        "majority": float(counts[most] / len(gold)),
        "majority_label": names[most],
        **gain,
        "by_label": by_label,
    }


def hard_subset(pairs: Pairs, found: OutOfFold) -> Pairs:
    """Return the pairs whose label the hypothesis-only model gets wrong."""
    wrong = np.zeros(int(found.rows.max(initial=-1)) + 1, dtype=bool)
    wrong[found.rows[found.predicted != found.labels]] = True
    marks = pl.LazyFrame({"_row": np.flatnonzero(wrong).astype(np.uint32)})
    frame = pairs.frame.with_row_index("_row").join(marks, on="_row", how="semi", maintain_order="left").drop("_row")
    return Pairs(frame, pairs.card.with_step("kept what a hypothesis-only linear model labels wrongly, out of fold"))


def cross_validate_model(
    pairs: Pairs,
    corpus: Corpus,
    units: NDArray[np.int64],
    name: str,
    *,
    with_premise: bool = False,
    folds: int = FOLDS,
    seed: int = 0,
) -> OutOfFold:
    """Cross-validate any trainable model, with every premise replaced by one fixed non-word unless asked for."""
    model = MODELS.get(name)
    rows = np.flatnonzero(corpus.gold)
    fold = assign_folds(units[rows], folds, seed=seed)
    texts = pairs.frame.select("premise", "hypothesis").collect(engine="streaming")[rows]
    if not with_premise:
        texts = texts.with_columns(pl.lit(NON_WORD).alias("premise"))
    gold = np.array(corpus.space.labels)[corpus.labels[rows]]
    probabilities = np.empty((len(rows), len(corpus.space)), dtype=np.float32)
    for number in range(folds):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        seen, unseen = texts[train], texts[test]
        fitted = model.fit(seen["premise"].to_list(), seen["hypothesis"].to_list(), gold[train].tolist(), corpus.space)
        probabilities[test] = fitted.predict(unseen["premise"].to_list(), unseen["hypothesis"].to_list())
    return OutOfFold(rows, corpus.labels[rows], units[rows], probabilities)


def _accuracy(right: NDArray[np.bool_]) -> dict[str, Any]:
    hits, pairs = int(right.sum()), len(right)
    interval = wilson(hits, pairs)
    return {"accuracy": hits / pairs, "interval": [interval.low, interval.high], "n": pairs}


def _gain(difference: NDArray[np.int8], units: NDArray[np.int64], level: float) -> dict[str, Any]:
    """Return the mean difference with its interval and one-sided p-value, clustered by unit."""
    from scipy.stats import norm

    pairs = len(difference)
    gain = float(difference.mean())
    clusters = np.unique(units, return_inverse=True)[1]
    sums = np.bincount(clusters, weights=difference - gain)
    if len(sums) < 2 or not sums.any():
        return {"gain": gain, "gain_interval": None, "p_value": None, "significant": False}
    error = float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / pairs)
    half = float(norm.isf(0.025)) * error
    p_value = float(norm.sf(gain / error))
    return {
        "gain": gain,
        "gain_interval": [gain - half, gain + half],
        "p_value": p_value,
        "significant": bool(p_value < level),
    }


def _numbered(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    return pl.Series(keys).rank("dense").to_numpy().astype(np.int64) - 1


def _one_group_each(premises: NDArray[np.int64], groups: NDArray[np.int64]) -> bool:
    latest = np.full(premises.max() + 1, -1)
    latest[premises] = groups
    return bool((latest[premises] == groups).all())
