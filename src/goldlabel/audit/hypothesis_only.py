"""Hypothesis-only: how well labels can be told without the premise (Poliak et al. 2018; Gururangan et al. 2018).

A linear model on words and bigrams is cross-validated over folds that keep units together (what shares a group or a
premise), so every pair gets a probability from a model that has seen neither it nor its premise. Its accuracy stands
beside that of always saying the most frequent label, learnt and tested on the same folds: the label that leads in these
very pairs leads by luck as well. Intervals and the one-sided test of the gain take pairs of one unit as dependent (see
``goldlabel.metrics``). Over several groups, the p-values of the gains are Holm's. The *hard subset* are the pairs it
gets wrong, as in SNLI-hard.

Cross-validated pairs are not independent tests, since each also taught the models that the others were tested on
(Bengio and Grandvalet 2004: no unbiased estimate of that variance exists). Where labels cannot be told at all, what a
pair teaches of another by chance is what that one teaches of it: both tests count the same chance, which would double
the variance if scores counted. Decisions add three quarters, as simulated over sizes, units and shares of labels, and
the less the more the model says one label only. That is what the accuracy's interval allows for, so it is a little wide
where there is something to learn. In the gain the most frequent label, which is learnt too, adds a little more.

*Premise only* is the control: premises come with every label, so it should gain nothing. Any trainable model takes
the same test with every premise replaced by one fixed non-word (Hu et al. 2020, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags
from goldlabel.audit.corpus import Corpus, read_corpus
from goldlabel.audit.figures import ends_of
from goldlabel.audit.folds import Folds, read_fold, write_fold
from goldlabel.audit.logistic import fit_models, hashed_ngrams
from goldlabel.errors import InputError
from goldlabel.executors import Executor, Here, Tell, collect
from goldlabel.metrics import Estimate, holm, mean, mean_test, share
from goldlabel.models import Model
from goldlabel.models.model import find_member
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.lexicon import NON_WORD
from goldlabel.seeds import random_state

FOLDS = 5
Fit = Callable[..., Model]
"""Fits a model by its name: ``fit(name, premises, hypotheses, labels, space, seed=0)``, as ``train.fit_model`` does."""
TAUGHT = 0.75
"""What is added to the variance of an accuracy where each pair is tested and taught from (see above)."""
BOTH_TAUGHT = 0.9
"""The same for the difference of two accuracies."""
CURVE = (0.01, 0.03, 0.1, 0.3, 1.0)
_LEAST_TRAINED = 20


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold probabilities of all pairs with a gold label."""

    rows: NDArray[np.int64]
    """Where these pairs stand in the corpus."""
    labels: NDArray[np.int8]
    units: NDArray[np.int64]
    folds: NDArray[np.int64]
    """Each pair is judged by what was learnt from the other folds."""
    probabilities: NDArray[np.float32]

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Return the most probable label of each pair."""
        best: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return best


@dataclass(frozen=True)
class Judgement:
    """How often some pairs are labelled right, beside always saying the most frequent label of the other folds."""

    accuracy: Estimate
    majority: Estimate
    majority_label: str
    gain: Estimate
    p_value: float | None
    """That of no gain, one-sided, adjusted where it is one of several groups'; ``None`` where it is undefined."""
    by_label: dict[str, Estimate]

    @property
    def significant(self) -> bool:
        """Whether the gain is above 0 at the level of the intervals."""
        return self.p_value is not None and self.p_value <= 1 - self.gain.level

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return self.brief() | {
            "majority_label": self.majority_label,
            "majority_interval": ends_of(self.majority),
            "significant": self.significant,
            "by_label": {name: _accuracy(figure) if figure.n else None for name, figure in self.by_label.items()},
        }

    def brief(self) -> dict[str, Any]:
        """Return the figures of all labels together."""
        return {
            **_accuracy(self.accuracy),
            "units": self.accuracy.units,
            "majority": self.majority.value,
            "gain": self.gain.value,
            "gain_interval": ends_of(self.gain),
            "p_value": self.p_value,
        }


@dataclass(frozen=True)
class CurvePoint:
    """The accuracy of a model trained on some of the pairs."""

    pairs: int
    accuracy: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"pairs": self.pairs, **_accuracy(self.accuracy)}


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
    return OutOfFold(rows, gold, units[rows], fold, models.predict(matrix, fold))


def learning_curve(
    bags: Bags,
    labels: NDArray[np.int8],
    units: NDArray[np.int64],
    classes: int,
    *,
    folds: int = FOLDS,
    seed: int = 0,
    level: float = 0.95,
) -> list[CurvePoint]:
    """Return the accuracy on one fold of models trained on growing shares of the others."""
    rows = np.flatnonzero(labels >= 0)
    fold = assign_folds(units[rows], folds, seed=seed)
    test = fold == 0
    # A unit's share of the line from 0 to 1 decides from which size on it is trained on: sizes nest.
    place = random_state(seed + 1).permutation(units.max() + 1)[units[rows]] / (units.max() + 1)
    sizes = [size for size in CURVE if size * (~test).sum() >= _LEAST_TRAINED]
    if not sizes:
        return []
    trained_on = np.stack([~test & (place < size) for size in sizes], axis=1)
    matrix = hashed_ngrams(bags)[rows]
    models = fit_models(matrix, labels[rows], classes, trained_on, seed=seed)
    points = []
    held_out, gold = matrix[test], labels[rows][test]
    for number in range(len(sizes)):
        predicted = models.predict(held_out, np.full(len(gold), number)).argmax(axis=1)
        accuracy = share(predicted == gold, units=units[rows][test], level=level)
        points.append(CurvePoint(int(trained_on[:, number].sum()), accuracy))
    return points


def judge(
    out_of_fold: OutOfFold, names: tuple[str, ...], *, rows: NDArray[np.bool_] | None = None, level: float = 0.95
) -> Judgement | None:
    """Return accuracy, majority and gain over some of the pairs; ``None`` if none has a gold label."""
    chosen = slice(None) if rows is None else rows[out_of_fold.rows]
    gold, predicted, units = out_of_fold.labels[chosen], out_of_fold.predicted[chosen], out_of_fold.units[chosen]
    if not len(gold):
        return None
    most = int(np.bincount(gold, minlength=len(names)).argmax())
    right = predicted == gold
    common = _learnt_majority(gold, out_of_fold.folds[chosen], len(names)) == gold
    difference = right.astype(np.int8) - common
    variety = _variety(predicted, len(names))
    inflation, both = 1 + TAUGHT * variety, 1 + BOTH_TAUGHT * variety
    return Judgement(
        accuracy=share(right, units=units, level=level, inflation=inflation),
        majority=share(common, units=units, level=level),
        majority_label=names[most],
        gain=mean(difference, units=units, level=level, inflation=both),
        p_value=mean_test(difference, units=units, alternative="greater", inflation=both),
        by_label={
            name: share(right[gold == code], units=units[gold == code], level=level, inflation=inflation)
            for code, name in enumerate(names)
        },
    )


def judge_groups(
    out_of_fold: OutOfFold, names: tuple[str, ...], groups: Mapping[str, NDArray[np.bool_]], *, level: float = 0.95
) -> dict[str, Judgement | None]:
    """Judge several groups, with p-values adjusted for their number (Holm 1979)."""
    judged = {name: judge(out_of_fold, names, rows=rows, level=level) for name, rows in groups.items()}
    tested = {name: part.p_value for name, part in judged.items() if part and part.p_value is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {name: part and replace(part, p_value=adjusted.get(name)) for name, part in judged.items()}


def hard_subset(pairs: Pairs, out_of_fold: OutOfFold) -> Pairs:
    """Return the pairs whose label the hypothesis-only model gets wrong."""
    wrong = np.zeros(int(out_of_fold.rows.max(initial=-1)) + 1, dtype=bool)
    wrong[out_of_fold.rows[out_of_fold.predicted != out_of_fold.labels]] = True
    marks = pl.LazyFrame({"_row": np.flatnonzero(wrong).astype(np.uint32)})
    frame = pairs.frame.with_row_index("_row").join(marks, on="_row", how="semi", maintain_order="left").drop("_row")
    return Pairs(frame, pairs.card.with_step("kept what a hypothesis-only linear model labels wrongly, out of fold"))


def judge_hypotheses(pairs: Pairs, *, folds: int = FOLDS, seed: int = 0, level: float = 0.95) -> Judgement:
    """Return how well labels are told without the premise, and nothing else of an audit."""
    corpus = read_corpus(pairs)
    out_of_fold = cross_validate(corpus.words, corpus.labels, corpus.units, len(corpus.space), folds=folds, seed=seed)
    judgement = judge(out_of_fold, corpus.space.labels, level=level)
    assert judgement is not None  # folds of no pairs are refused
    return judgement


def check_trainable(names: tuple[str, ...], fit: Fit | None) -> None:
    """Refuse a model that cannot be fitted, before anything is computed."""
    for name in names:
        if fit is None and not hasattr(find_member(name), "fit"):
            raise InputError(f"{name} is a network, which needs a trainer: pass fit=goldlabel.train.fit_model")


def cross_validate_model(
    pairs: Pairs,
    corpus: Corpus,
    name: str,
    *,
    fit: Fit | None = None,
    with_premise: bool = False,
    folds: int = FOLDS,
    seed: int = 0,
    executor: Executor | None = None,
    kept: Folds | None = None,
) -> OutOfFold:
    """Cross-validate any trainable model, with every premise replaced by one fixed non-word unless asked for.

    What is ``kept`` of an audit that was interrupted is taken as it is, and what is answered now is kept there.
    """
    check_trainable((name,), fit)
    rows = np.flatnonzero(corpus.gold)
    units = corpus.units[rows]
    fold = assign_folds(units, folds, seed=seed)
    texts = pairs.frame.select("premise", "hypothesis").collect(engine="streaming")[rows]
    if not with_premise:
        texts = without_premise(texts)
    gold = np.array(corpus.space.labels)[corpus.labels[rows]]
    probabilities = np.empty((len(rows), len(corpus.space)), dtype=np.float32)
    pieces = {f"{name} without fold {number + 1}": number for number in range(folds)}
    settings = {"model": name, "seed": seed, "space": corpus.space.labels}
    paths = None if kept is None else kept.paths(texts, gold, fold, folds, **settings)
    there = (
        {} if paths is None else {piece: paths[number] for piece, number in pieces.items() if paths[number].exists()}
    )
    work = {
        piece: (name, texts, gold, corpus.space, fold == number, fit, seed)
        for piece, number in pieces.items()
        if piece not in there
    }

    def keep(piece: str, shares: NDArray[np.float64]) -> None:
        if paths is not None:
            write_fold(paths[pieces[piece]], shares)

    answered = collect(executor or Here(), _predict_fold, work, on_done=keep)
    for piece, number in pieces.items():
        probabilities[fold == number] = answered[piece] if piece in answered else read_fold(there[piece])
    return OutOfFold(rows, corpus.labels[rows], units, fold, probabilities)


def _predict_fold(
    tell: Tell,
    name: str,
    texts: pl.DataFrame,
    labels: NDArray[np.str_],
    space: LabelSpace,
    unseen: NDArray[np.bool_],
    fit: Fit | None,
    seed: int,
) -> NDArray[np.float64]:
    return predict_fold(name, texts, labels, space, unseen, fit=fit, seed=seed)


def without_premise(texts: pl.DataFrame) -> pl.DataFrame:
    """Replace every premise by one fixed non-word."""
    return texts.with_columns(pl.lit(NON_WORD).alias("premise"))


def predict_fold(
    name: str,
    texts: pl.DataFrame,
    labels: NDArray[np.str_],
    space: LabelSpace,
    unseen: NDArray[np.bool_],
    *,
    fit: Fit | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the probabilities of the unseen pairs by a model that is fitted to the others."""
    train, test = texts.filter(pl.Series(~unseen)), texts.filter(pl.Series(unseen))
    texts_and_labels = (train["premise"].to_list(), train["hypothesis"].to_list(), labels[~unseen].tolist())
    model = (fit or _fit_itself)(name, *texts_and_labels, space, seed=seed)
    return model.predict(test["premise"].to_list(), test["hypothesis"].to_list())


def _fit_itself(
    name: str, premises: list[str], hypotheses: list[str], labels: list[str], space: LabelSpace, *, seed: int
) -> Model:
    """Fit a model that needs no trainer."""
    fit = find_member(name).fit
    options = {"seed": seed} if "seed" in signature(fit).parameters else {}
    model: Model = fit(premises, hypotheses, labels, space, **options)
    return model


def _learnt_majority(gold: NDArray[np.int8], folds: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Return for each pair the most frequent label of the other folds; of all pairs where there is no other fold."""
    cells = folds * classes + gold
    counts = np.bincount(cells, minlength=(int(folds.max()) + 1) * classes).reshape(-1, classes)
    others = counts.sum(axis=0) - counts
    others[others.sum(axis=1) == 0] = counts.sum(axis=0)
    majority: NDArray[np.int64] = others.argmax(axis=1)[folds]
    return majority


def _variety(predicted: NDArray[np.int64], classes: int) -> float:
    """Return 1 where all labels are said as often, 0 where one is said only (Gini and Simpson's index)."""
    shares = np.bincount(predicted, minlength=classes) / len(predicted)
    return float((1 - (shares**2).sum()) / (1 - 1 / classes))


def _accuracy(figure: Estimate) -> dict[str, Any]:
    return {"accuracy": figure.value, "interval": ends_of(figure), "n": figure.n}
