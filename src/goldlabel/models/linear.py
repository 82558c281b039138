"""``linear``: logistic regression on hashed word n-grams.

Hypothesis-only or premise-only, it sees that sentence's unigrams and bigrams. On pairs it sees the hypothesis's, the
premise's unigrams and, for each hypothesis n-gram, whether the premise holds all of its words. Chinese and Japanese are
taken character by character, so no word segmenter is needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.models.model import (
    Baseline,
    check_sides,
    label_indices,
    read_space,
    read_tensors,
    write_config,
    write_tensors,
)
from goldlabel.models.options import Positive, checked
from goldlabel.pairs.labels import LabelSpace
from goldlabel.pairs.tokens import split_texts

BITS = 18
PASSES_AT_ONCE = 100
MOST_PASSES = 5_000
"""On 20,000 pairs of SNLI it takes some 250."""

ONE_THREAD = 1
"""L-BFGS walks vectors that no cache holds: more threads wait for memory, and round otherwise than one does."""

OnPass = Callable[[int, int, float], object]
"""Told the passes over the pairs so far, the most there can be, and the loss."""


@dataclass(frozen=True)
class Linear(Baseline):
    """Logistic regression on hashed word n-grams."""

    paper = "Gururangan et al. 2018"
    debiased: ClassVar[bool] = True

    label_space: LabelSpace
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    hypothesis_only: bool
    premise_only: bool = False

    @classmethod
    @checked("linear")
    def fit(
        cls,
        premises: Sequence[str],
        hypotheses: Sequence[str],
        labels: Sequence[str],
        space: LabelSpace,
        on_pass: OnPass | None = None,
        weights: NDArray[np.float64] | None = None,
        offsets: NDArray[np.float64] | None = None,
        *,
        hypothesis_only: bool = False,
        premise_only: bool = False,
        regularisation: Positive = 1.0,
    ) -> Self:
        """Fit by L-BFGS; the result is a function of the data alone.

        To be debiased by another model it may be told how much each pair counts (``weights``), or log-probabilities
        that are added to its scores while it is fitted, and not later (``offsets``): it learns what they leave over.
        """
        if hypothesis_only and premise_only:
            raise InputError("a model reads the hypothesis only or the premise only, not both only")
        gold = label_indices(labels, space)
        fitted = np.zeros((2**BITS, len(space)), dtype=np.float32)
        bias = np.full(len(space), -np.inf, dtype=np.float32)
        seen, classes = np.unique(gold, return_inverse=True)
        if len(seen) == 1:
            bias[seen[0]] = 0.0
            return cls(space, fitted, bias, hypothesis_only, premise_only)
        features = _features(premises, hypotheses, hypothesis_only, premise_only)
        used = np.unique(features.indices)  # L-BFGS walks every weight, so it gets only those that can move
        if offsets is not None:
            fitted[np.ix_(used, seen)], bias[seen] = _regress_beside(
                features[:, used], classes, offsets[:, seen], regularisation, on_pass
            )
            return cls(space, fitted, bias, hypothesis_only, premise_only)
        regression = _regress(features[:, used], gold, regularisation, on_pass, weights)
        if len(seen) == 2:  # scikit-learn keeps one row for two classes
            fitted[used, seen[1]], bias[seen] = regression.coef_[0], (0.0, regression.intercept_[0])
        else:
            fitted[np.ix_(used, seen)], bias[seen] = regression.coef_.T, regression.intercept_
        return cls(space, fitted, bias, hypothesis_only, premise_only)

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return the softmax over the labels' scores."""
        check_sides(premises, hypotheses)
        if not len(hypotheses):
            return np.empty((0, len(self.label_space)))
        scores = _features(premises, hypotheses, self.hypothesis_only, self.premise_only) @ self.weights + self.bias
        shifted = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))

    def save(self, folder: Path) -> None:
        """Write the weights."""
        partial = {"hypothesis_only": self.hypothesis_only, "premise_only": self.premise_only}
        write_config(folder, "linear", self.label_space, **partial)
        write_tensors(folder, {"weights": self.weights, "bias": self.bias})

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read the weights."""
        tensors = read_tensors(folder)
        partial = config["hypothesis_only"], config.get("premise_only", False)
        return cls(read_space(config), tensors["weights"], tensors["bias"], *partial)


def _regress(
    features: Any,
    gold: NDArray[np.int64],
    regularisation: float,
    on_pass: OnPass | None,
    weights: NDArray[np.float64] | None,
) -> Any:
    """Return scikit-learn's regression once L-BFGS has converged, telling every so often how far it is."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from threadpoolctl import threadpool_limits

    regression = LogisticRegression(C=1 / regularisation, max_iter=PASSES_AT_ONCE, warm_start=True)
    for passes in range(PASSES_AT_ONCE, MOST_PASSES + 1, PASSES_AT_ONCE):
        with warnings.catch_warnings(), threadpool_limits(ONE_THREAD, "blas"):
            warnings.simplefilter("ignore", ConvergenceWarning)
            regression.fit(features, gold, sample_weight=weights)
        if on_pass:
            on_pass(passes, MOST_PASSES, float(log_loss(gold, regression.predict_proba(features))))
        if regression.n_iter_[0] < PASSES_AT_ONCE:
            return regression
    raise _no_end(regularisation)


def _regress_beside(
    features: Any,
    classes: NDArray[np.int64],
    offsets: NDArray[np.float64],
    regularisation: float,
    on_pass: OnPass | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights and biases of the regression whose scores have offsets, which scikit-learn's cannot have.

    What is minimised is the same: the sum of the losses and half of the squared weights, times the regularisation.
    """
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    count, width = features.shape[1], offsets.shape[1]
    truth = np.eye(width)[classes]
    passes = 0

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coefficients, bias = flat[:-width].reshape(count, width), flat[-width:]
        scores = features @ coefficients + bias + offsets
        scores = scores - scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        totals = shares.sum(axis=1)
        losses = np.log(totals) - (scores * truth).sum(axis=1)
        left = shares / totals[:, None] - truth
        gradient = np.concatenate([(features.T @ left + regularisation * coefficients).ravel(), left.sum(axis=0)])
        return float(losses.sum() + 0.5 * regularisation * (coefficients**2).sum()), gradient

    def tell(flat: NDArray[np.float64]) -> None:
        nonlocal passes
        passes += 1
        if on_pass and passes % PASSES_AT_ONCE == 0:
            on_pass(passes, MOST_PASSES, loss_and_gradient(flat)[0] / len(classes))

    start = np.zeros((count + 1) * width)
    options = {"maxiter": MOST_PASSES, "maxfun": 2 * MOST_PASSES}
    with threadpool_limits(ONE_THREAD, "blas"):
        found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", callback=tell, options=options)
    if found.status == 1:  # out of passes
        raise _no_end(regularisation)
    return found.x[:-width].reshape(count, width), found.x[-width:]


def _no_end(regularisation: float) -> GoldlabelError:
    return GoldlabelError(
        f"linear: did not converge in {MOST_PASSES:,} passes over the pairs; "
        f"pass a higher regularisation than {regularisation:g}"
    )


def _features(premises: Sequence[str], hypotheses: Sequence[str], hypothesis_only: bool, premise_only: bool) -> Any:
    from sklearn.feature_extraction import FeatureHasher

    hasher = FeatureHasher(n_features=2**BITS, input_type="string", alternate_sign=False, dtype=np.float32)
    if hypothesis_only or premise_only:
        rows = (_sentence_features(words) for words in split_texts(premises if premise_only else hypotheses))
    else:
        sides = split_texts(premises), split_texts(hypotheses)
        rows = (_pair_features(premise, hypothesis) for premise, hypothesis in zip(*sides, strict=True))
    return hasher.transform(rows)


def _sentence_features(words: list[str]) -> Iterator[str]:
    yield from words
    yield from (f"{first} {second}" for first, second in pairwise(words))


def _pair_features(premise: list[str], hypothesis: list[str]) -> Iterator[str]:
    words = set(premise)
    yield from (f"p {word}" for word in premise)
    for feature in _sentence_features(hypothesis):
        yield feature
        yield f"{'shared' if words.issuperset(feature.split()) else 'new'} {feature}"
    new = sum(word not in words for word in hypothesis)
    yield f"new words {min(new, 5)}"
