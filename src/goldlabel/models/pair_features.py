"""The 19 features by which a random forest compares hypothesis and premise, as numbers that are always finite.

They are those of Zhang et al. (2020), "Reliable Evaluations for Natural Language Inference based on a Unified
Cross-dataset Benchmark", appendix B.1. What it leaves open is settled here. Words are those of
``goldlabel.pairs.tokens``: Chinese and Japanese characters count as words.

``bleu_1`` to ``bleu_4``
    BLEU of the hypothesis against the premise up to that n-gram length: uniform weights, brevity penalty, no
    smoothing. 0 where some length has no match, and so for an empty sentence.
``words``, ``characters``
    Length of the hypothesis less that of the premise, divided by the longer of the two; 0 if both are empty.
``QRatio`` to ``partial_token_sort_ratio``
    Fuzzy matching by RapidFuzz, 0 to 100. Both texts are brought to lower case and lose their signs, except for
    ``partial_ratio``: so did FuzzyWuzzy, which the paper used. Words are what spaces separate, and Chinese and
    Japanese characters. An empty text gives 0; of two empty texts, ``partial_ratio`` and the two sorting ratios give
    100. The partial ratios take a time that grows with the cube of the length, so where both texts exceed 1,000
    characters the ratios compare the first 1,000 of each.
``word_mover``
    Word mover's distance (Kusner et al. 2015): the least distance that the words of one sentence travel to become
    the other's.
``cosine``, ``cityblock``, ``canberra``, ``euclidean``, ``braycurtis``
    Distances between the means of the sentences' word vectors.

Words without a vector are left out of the last six; a sentence with none counts as one word at the origin. From the
origin, the cosine distance is 0 to itself and 1 to anything else, and so is Bray–Curtis where two means add up to
zero. Without vectors, the last six are 0.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.pairs.tokens import space_characters, split_texts
from goldlabel.registry import import_extra

if TYPE_CHECKING:
    from goldlabel.models.vectors import Vectors

FUZZY = (
    "QRatio",
    "WRatio",
    "token_set_ratio",
    "token_sort_ratio",
    "partial_ratio",
    "partial_token_set_ratio",
    "partial_token_sort_ratio",
)
DISTANCES = ("cosine", "cityblock", "canberra", "euclidean", "braycurtis")
FEATURES = (
    *("bleu_1", "bleu_2", "bleu_3", "bleu_4"),
    *("words", "characters"),
    *FUZZY,
    "word_mover",
    *DISTANCES,
)

_FUZZY_LENGTH = 1_000
_BATCH = 1_000
_PAIRS_PER_PROCESS = 10_000

Batch = tuple[Sequence[str], Sequence[str], "Vectors | None"]
Cloud = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The share of each distinct word in a sentence, and its vector."""


def pair_features(
    premises: Sequence[str], hypotheses: Sequence[str], vectors: Vectors | None = None, *, jobs: int | None = None
) -> NDArray[np.float64]:
    """Return one row per pair, columns in the order of ``FEATURES``.

    ``jobs`` processes share the work; by default as many as there are processors, if there are pairs enough to
    repay their start. A row depends on its pair alone.
    """
    from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]

    if jobs is None:
        jobs = min(cpu_count(), len(premises) // _PAIRS_PER_PROCESS + 1)
    batches = _batches(premises, hypotheses, vectors)
    if jobs == 1:
        parts = [_features(*batch) for batch in batches]
    else:
        parts = Parallel(n_jobs=jobs, max_nbytes=None)(delayed(_features_elsewhere)(*batch) for batch in batches)
    return np.concatenate([np.empty((0, len(FEATURES))), *parts])


def _batches(premises: Sequence[str], hypotheses: Sequence[str], vectors: Vectors | None) -> Iterator[Batch]:
    """Cut the pairs into batches, each with the vectors that it needs."""
    rows = {word: row for row, word in enumerate(vectors.words)} if vectors else {}
    for start in range(0, len(premises), _BATCH):
        part = premises[start : start + _BATCH], hypotheses[start : start + _BATCH]
        if vectors is None:
            yield *part, None
        else:
            words = {word for side in part for tokens in split_texts(side) for word in tokens}
            known = [word for word in words if word in rows]
            yield *part, replace(vectors, words=known, matrix=vectors.matrix[[rows[word] for word in known]])


def _features_elsewhere(*batch: Any) -> NDArray[np.float64]:
    """Compute in a process of its own, where POT need not load every array library that is installed."""
    for library in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ[f"POT_BACKEND_DISABLE_{library}"] = "1"
    return _features(*batch)


def _features(premises: Sequence[str], hypotheses: Sequence[str], vectors: Vectors | None) -> NDArray[np.float64]:
    split = list(zip(split_texts(premises), split_texts(hypotheses), strict=True))
    lengths = [
        (_relative(len(p), len(h)), _relative(len(premise), len(hypothesis)))
        for (p, h), premise, hypothesis in zip(split, premises, hypotheses, strict=True)
    ]
    meaning = np.zeros((len(split), 1 + len(DISTANCES))) if vectors is None else _meaning(split, vectors)
    return np.hstack([_bleu(split), lengths, _fuzzy(premises, hypotheses), meaning])


def _bleu(split: Sequence[tuple[list[str], list[str]]]) -> NDArray[np.float64]:
    bleu = import_extra("sacrebleu", "baselines").BLEU
    metric = bleu(tokenize="none", smooth_method="none", force=True)
    rows = []
    for premise, hypothesis in split:
        # As a corpus of one sentence, which is the same and comes without advice about smoothing.
        full = metric.corpus_score([" ".join(hypothesis)], [[" ".join(premise)]])
        rows.append(
            [
                bleu.compute_bleu(full.counts[:n], full.totals[:n], full.sys_len, full.ref_len, max_ngram_order=n).score
                for n in (1, 2, 3, 4)
            ]
        )
    return np.array(rows) / 100


def _relative(premise: int, hypothesis: int) -> float:
    return (hypothesis - premise) / max(premise, hypothesis, 1)


def _fuzzy(premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[float]]:
    rapidfuzz = import_extra("rapidfuzz", "baselines")
    prepare = rapidfuzz.utils.default_process
    ratios = [(name, getattr(rapidfuzz.fuzz, name)) for name in FUZZY]
    pairs = [
        (premise[:_FUZZY_LENGTH], hypothesis[:_FUZZY_LENGTH])
        if min(len(premise), len(hypothesis)) > _FUZZY_LENGTH
        else (premise, hypothesis)
        for premise, hypothesis in zip(premises, hypotheses, strict=True)
    ]
    spaced = zip(*(space_characters([pair[side] for pair in pairs]) for side in (0, 1)), strict=True)
    rows = []
    for pair, apart in zip(pairs, spaced, strict=True):
        whole, words = ([prepare(text) for text in texts] for texts in (pair, apart))
        texts = {name: words if "token" in name else whole for name in FUZZY} | {"partial_ratio": list(pair)}
        rows.append([ratio(*texts[name]) for name, ratio in ratios])
    return rows


def _meaning(split: Sequence[tuple[list[str], list[str]]], vectors: Vectors) -> NDArray[np.float64]:
    rows = {word: row for row, word in enumerate(vectors.words)}
    clouds = [(_cloud(premise, rows, vectors), _cloud(hypothesis, rows, vectors)) for premise, hypothesis in split]
    means = [np.array([weights @ points for weights, points in side]) for side in zip(*clouds, strict=True)]
    return np.column_stack([_word_mover(clouds), *_distances(*means)])


def _cloud(words: list[str], rows: dict[str, int], vectors: Vectors) -> Cloud:
    counts = Counter(rows[word] for word in words if word in rows)
    if not counts:
        return np.ones(1), np.zeros((1, vectors.size))
    weights = np.array(list(counts.values()), dtype=np.float64)
    return weights / weights.sum(), vectors.matrix[list(counts)].astype(np.float64)


def _word_mover(clouds: Sequence[tuple[Cloud, Cloud]]) -> list[float]:
    from scipy.spatial.distance import cdist

    emd2 = import_extra("ot", "baselines").emd2
    # Long texts need more iterations than POT's 100,000; dual prices and checks of the shares are of no use here.
    settings = {"numItermax": 10_000_000, "center_dual": False, "check_marginals": False}
    return [
        float(emd2(premise[0], hypothesis[0], cdist(premise[1], hypothesis[1]), **settings))
        for premise, hypothesis in clouds
    ]


def _distances(u: NDArray[np.float64], v: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    apart, together = np.abs(u - v), np.abs(u + v)
    norms = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    differ = apart.any(axis=1).astype(np.float64)
    return [
        np.clip(1 - _ratio((u * v).sum(axis=1), norms, 1 - differ), 0, 2),
        apart.sum(axis=1),
        _ratio(apart, np.abs(u) + np.abs(v), 0).sum(axis=1),
        np.linalg.norm(u - v, axis=1),
        _ratio(apart.sum(axis=1), together.sum(axis=1), differ),
    ]


def _ratio(
    above: NDArray[np.float64], below: NDArray[np.float64], otherwise: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Divide, and give ``otherwise`` where nothing stands below."""
    return np.where(below > 0, above / np.where(below > 0, below, 1), otherwise)
