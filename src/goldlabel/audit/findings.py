"""Findings: the most telling artifacts, ranked, each with example ids and what to do about it.

Every feature a shortcut could use (a word, two neighbouring words, a word at a place, a tag, a length, an overlap)
is a yes or no per pair. Features are ranked by the information they give about the label, in bits per pair:

    I(feature; label) = sum over both of p(f, l) log2( p(f, l) / (p(f) p(l)) ).

Significance is that of the G-test, with the false-discovery rate over all features controlled. Two choices of ours:
that hypotheses which repeat the premise are entailed more often lies in what entailment means, so overlap in favour
of entailment counts for a tenth; and a feature is passed over if most of its carriers carry one already named for
the same label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.competency import Features, holding_key
from goldlabel.audit.corpus import Corpus
from goldlabel.audit.overlap import CONSTITUENT, LEXICAL, RULE, SUBSEQUENCE
from goldlabel.audit.tags import TAGS, carries, words_of_tag
from goldlabel.pairs.lexicon import LEXICONS

MOST = 10
LEAST_CARRIERS = 20
LEAST_EFFECT = 0.02
NATURAL = 0.1
"""The weight of overlap that speaks for entailment."""
EXAMPLES = 5
_LOOKED_AT = 60
_SIMPLEST = ("negation", "number", "quantifier", "word", "length", "overlap", "tag", "position", "bigram")

Rows = Callable[[], NDArray[np.bool_]]


@dataclass(frozen=True)
class Candidate:
    """A feature with its counts per label, and a way to find its carriers."""

    kind: str
    name: str
    counts: NDArray[np.int64]
    rows: Rows
    phrase: str
    remedy: str
    premise_needed: bool = False
    family: str = ""
    """Of features that cut the same thing at other places, one is enough."""


def information(counts: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mutual information with the label, in bits, of features with these counts per label."""
    pairs = totals.sum()
    with_it, without = counts / pairs, (totals - counts) / pairs
    bits = np.zeros(len(counts))
    for part in (with_it, without):
        expected = part.sum(axis=1, keepdims=True) * (totals / pairs)
        ratio = np.divide(part, expected, out=np.ones_like(part), where=(part > 0) & (expected > 0))
        bits += (part * np.log2(ratio)).sum(axis=1)
    return np.maximum(bits, 0.0)


def rank_artifacts(
    corpus: Corpus, features: Sequence[Features], *, level: float, most: int = MOST
) -> list[dict[str, Any]]:
    """Return the most telling artifacts, the first the most; none if nothing is significant."""
    names = corpus.space.labels
    ranking = _rank(corpus, [part for part in features if len(part)], level)
    found: list[dict[str, Any]] = []
    named: set[str] = set()
    covered = np.zeros((len(names), len(corpus)), dtype=bool)
    for number in ranking.order[:_LOOKED_AT]:
        one, code = ranking.candidate(number), int(ranking.label[number])
        if one.family in named:
            continue
        carried = one.rows() & corpus.gold
        if (carried & covered[code]).sum() > carried.sum() / 2:
            continue
        covered[code] |= carried
        named.add(one.family or one.name)
        examples = np.flatnonzero(carried & (corpus.labels == code))[:EXAMPLES]
        figures = (ranking.base[code], ranking.bits[number], ranking.q_values[number])
        found.append(_finding(one, names[code], code, *figures, examples))
        if len(found) == most:
            break
    return found


@dataclass(frozen=True)
class _Ranking:
    """All features in order of what they tell; those of tokens are put into words only when asked for."""

    order: NDArray[np.int64]
    label: NDArray[np.int64]
    base: NDArray[np.float64]
    bits: NDArray[np.float64]
    q_values: NDArray[np.float64]
    candidate: Callable[[int], Candidate]


def _rank(corpus: Corpus, features: Sequence[Features], level: float) -> _Ranking:
    from scipy.stats import chi2, false_discovery_control

    totals = np.bincount(corpus.labels[corpus.gold], minlength=len(corpus.space))
    pairwise = [one for one in _pair_candidates(corpus, len(totals)) if one.counts.sum() >= LEAST_CARRIERS]
    owner = np.repeat(np.arange(len(features)), [len(part) for part in features])
    starts = np.concatenate([[0], np.cumsum([len(part) for part in features])]).astype(int)
    counts = np.concatenate([np.empty((0, len(totals)), dtype=np.int64), *(part.counts for part in features)])
    counts = np.concatenate([counts, np.array([one.counts for one in pairwise]).reshape(-1, len(totals))])

    def candidate(number: int) -> Candidate:
        if number >= len(owner):
            return pairwise[number - len(owner)]
        part = features[owner[number]]
        return _token_candidate(corpus, part, int(number - starts[owner[number]]))

    bits = information(counts, totals)
    p_values = chi2.sf(2 * np.log(2) * totals.sum() * bits, (totals > 0).sum() - 1)
    q_values = false_discovery_control(p_values) if len(p_values) else p_values
    shares, base = counts / counts.sum(axis=1, keepdims=True), totals / totals.sum()
    label = (shares - base).argmax(axis=1)
    effect = (shares - base)[np.arange(len(label)), label]
    natural = np.array([False] * len(owner) + [one.premise_needed for one in pairwise], dtype=bool)
    natural &= np.array(corpus.space.labels)[label] == "entailment"
    score = np.round(np.where(natural, NATURAL, 1.0) * bits, 9)
    kinds = [features[place].kind for place in range(len(features))]
    simple = np.concatenate(
        [np.array([_rank_of(kind) for kind in kinds], dtype=int)[owner], *([_rank_of(one.kind)] for one in pairwise)]
    )
    telling = np.flatnonzero((q_values <= level) & (effect >= LEAST_EFFECT))
    order = telling[np.lexsort((-effect[telling], simple[telling], -score[telling]))]
    return _Ranking(order, label, base, bits, q_values, candidate)


def _rank_of(kind: str) -> int:
    """Of equally telling features, the simplest to act on comes first."""
    return _SIMPLEST.index(kind if kind in _SIMPLEST else "tag")


def _finding(
    one: Candidate, label: str, code: int, base: float, bits: float, q_value: float, examples: NDArray[np.int64]
) -> dict[str, Any]:
    count, total = int(one.counts[code]), int(one.counts.sum())
    return {
        "kind": one.kind,
        "text": (
            f"{one.phrase} are {label} in {count / total:.0%} of {total:,} cases, where {base:.0%} of all pairs are. "
            f"{one.remedy}"
        ).replace("%", " %"),
        "evidence": {
            "feature": one.name,
            "label": label,
            "count": count,
            "total": total,
            "share": count / total,
            "expected": float(base),
            "bits": float(bits),
            "q_value": float(q_value),
            "examples": examples.tolist(),
        },
    }


def _token_candidate(corpus: Corpus, part: Features, number: int) -> Candidate:
    name, key = part.names[number], int(part.keys[number])
    word, _, place = name.rpartition(" (") if part.kind == "position" else (name, "", "")
    phrase = f"Hypotheses with the {'words' if part.kind == 'bigram' else 'word'} “{word}”"
    if place:
        phrase += f" in {place.rstrip(')')} place"
    return Candidate(
        part.kind,
        name,
        part.counts[number],
        lambda: holding_key(corpus.words, part.kind, key),
        phrase,
        "Ask writers for it under the other labels too, or cap its use.",
    )


def _pair_candidates(corpus: Corpus, classes: int) -> list[Candidate]:
    found = []

    def add(kind: str, name: str, rows: NDArray[np.bool_], phrase: str, remedy: str, family: str = "") -> None:
        counts = np.bincount(corpus.labels[rows & corpus.gold], minlength=classes)
        packed = np.packbits(rows)
        found.append(
            Candidate(
                kind,
                name,
                counts,
                lambda: np.unpackbits(packed, count=len(corpus)).astype(bool),
                phrase,
                remedy,
                kind == "overlap",
                family,
            )
        )

    for tag in TAGS[:-1]:
        phrase = f"Hypotheses with a word of {tag.replace('_', '-')}{_such_as(corpus, tag)}"
        remedy = "Ask writers for it under the other labels too, or cap its use per writer."
        add(tag, tag, carries(corpus.hypothesis_tags, tag), phrase, remedy)
    for name, rows, phrase in _lengths(corpus):
        add("length", name, rows, phrase, "Even out the lengths per label.", f"length{name.partition(' in ')[2]}")
    remedy = "Ask for paraphrase, and for shared words under every label."
    for name, rows, phrase in _overlaps(corpus):
        add("overlap", name, rows, phrase, remedy, "overlap")
    return found


def _such_as(corpus: Corpus, tag: str) -> str:
    present = [code for code in np.unique(corpus.languages) if corpus.language_names[code] in LEXICONS]
    words = [word for code in present for word in words_of_tag(corpus.language_names[code], tag)[:4]]
    return f" ({', '.join(words)} …)" if words and tag not in words else ""


def _lengths(corpus: Corpus) -> list[tuple[str, NDArray[np.bool_], str]]:
    """Return a feature for each length that a twentieth of a language's pairs is above and below."""
    found = []
    for code, language in enumerate(corpus.language_names):
        rows = corpus.languages == code
        lengths = corpus.hypothesis_lengths
        if not (rows & corpus.gold).any():
            continue
        low, high = np.quantile(lengths[rows], [0.05, 0.95]).astype(int)
        unit = "characters" if language in ("zh", "ja") else "words"
        where = f" in {language}" if len(corpus.language_names) > 1 else ""
        for bound in np.unique(np.linspace(low + 1, high, num=min(30, max(high - low, 0)), dtype=int)):
            found.append(
                (
                    f"length >= {bound}{where}",
                    rows & (lengths >= bound),
                    f"Long hypotheses ({bound} {unit} or more{where})",
                )
            )
            found.append(
                (
                    f"length < {bound}{where}",
                    rows & (lengths < bound),
                    f"Short hypotheses (under {bound} {unit}{where})",
                )
            )
    return found


def _overlaps(corpus: Corpus) -> list[tuple[str, NDArray[np.bool_], str]]:
    with np.errstate(invalid="ignore"):
        over = corpus.overlap > RULE
    return [
        (
            "lexical overlap",
            (corpus.heuristics & LEXICAL) != 0,
            "Hypotheses all of whose words are in the premise (overlap)",
        ),
        (
            "subsequence",
            (corpus.heuristics & SUBSEQUENCE) != 0,
            "Hypotheses that are a stretch of the premise (overlap)",
        ),
        (
            "constituent",
            (corpus.heuristics & CONSTITUENT) != 0,
            "Hypotheses that are a clause of the premise (overlap)",
        ),
        (
            f"overlap > {RULE}",
            over,
            f"Hypotheses that share more than {RULE:.0%} of their words with the premise (overlap)",
        ),
    ]
