"""Findings: the most telling artifacts, ranked, each with example ids and what to do about it.

Every feature a shortcut could use (a word, two neighbouring words, a word at a place, a tag, a length, an overlap)
is a yes or no per pair. Features are ranked by the information they give about the label, in bits per pair:

    I(feature; label) = sum over both of p(f, l) log2( p(f, l) / (p(f) p(l)) ).

Only what is significant is named: the test is that of ``association``, which takes pairs of one unit as dependent, with
the false-discovery rate over all features controlled (Benjamini and Hochberg 1995). Two choices of ours: that
hypotheses which repeat the premise are entailed more often lies in what entailment means, so overlap in favour of
entailment counts for a tenth; and a feature is passed over if most of its carriers carry one already named for the
same label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.association import Moments, association, concatenate, moments_of, p_values
from goldlabel.audit.corpus import Corpus
from goldlabel.audit.examples import Example
from goldlabel.audit.features import Features, Sample, holding_key
from goldlabel.audit.figures import ends_of
from goldlabel.audit.messages import message
from goldlabel.audit.overlap import CONSTITUENT, LEXICAL, RULE, SUBSEQUENCE
from goldlabel.audit.tags import TAGS, carries, words_of_tag
from goldlabel.messages import Message, Word
from goldlabel.metrics import Estimate, benjamini_hochberg, in_percent, percent, share
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
class Artifact:
    """A feature that goes with a label: ``count`` of its ``total`` carriers have it."""

    feature: str
    label: str
    count: int
    total: int
    share: Estimate
    expected: float
    """The share of all pairs that have the label."""
    bits: float
    q_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "feature": self.feature,
            "label": self.label,
            "count": self.count,
            "total": self.total,
            "share": self.share.value,
            "interval": ends_of(self.share),
            "units": self.share.units,
            "expected": self.expected,
            "bits": self.bits,
            "q_value": self.q_value,
        }


@dataclass(frozen=True)
class Fault:
    """Something wrong with the data: how many pairs it concerns, and in which other dataset, if in one."""

    count: int
    share: Estimate | None = None
    dataset: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what there is not is left out."""
        figures: dict[str, Any] = {"count": self.count}
        if self.share is not None:
            figures |= {"share": self.share.value, "interval": ends_of(self.share)}
        return figures | ({"dataset": self.dataset} if self.dataset is not None else {})


@dataclass(frozen=True)
class Finding:
    """What was found, in words, and what it rests on."""

    kind: str
    message: Message
    evidence: Artifact | Fault
    rows: tuple[int, ...] = ()
    """Where examples stand in the dataset."""
    examples: tuple[Example, ...] = ()
    """They themselves, once they are read."""
    carriers: NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)
    """Of an artifact, which pairs carry it."""

    @property
    def text(self) -> str:
        """The finding in English."""
        return str(self.message)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        evidence = self.evidence.to_dict() | {
            "examples": [example.id for example in self.examples],
            "marks": [example.marks() for example in self.examples],
        }
        return {"kind": self.kind, "text": self.text, "message": self.message.to_dict(), "evidence": evidence}


@dataclass(frozen=True)
class Candidate:
    """A feature, and a way to find its carriers."""

    kind: str
    name: str
    rows: Rows
    phrase: Message
    remedy: Message
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
    corpus: Corpus,
    sample: Sample,
    features: Sequence[Features],
    *,
    fdr: float = 0.05,
    level: float = 0.95,
    most: int = MOST,
) -> list[Finding]:
    """Return the most telling artifacts as findings, the first the most; none if nothing is significant."""
    findings = []
    for candidate, artifact, carried in choose_artifacts(corpus, sample, features, fdr=fdr, level=level, most=most):
        has_label = corpus.labels == corpus.space.index(artifact.label)
        findings.append(_finding(candidate, artifact, np.flatnonzero(carried & has_label)[:EXAMPLES], carried))
    return findings


def choose_artifacts(
    corpus: Corpus,
    sample: Sample,
    features: Sequence[Features],
    *,
    others: bool = True,
    fdr: float = 0.05,
    level: float = 0.95,
    most: int = MOST,
) -> Iterator[tuple[Candidate, Artifact, NDArray[np.bool_]]]:
    """Yield the most telling artifacts, each with the pairs that carry it, whether these have a gold label or not.

    ``others`` are those that are no tokens: tags, lengths and overlaps.
    """
    names = corpus.space.labels
    ranking = _rank(corpus, sample, features, fdr, others)
    named: set[str] = set()
    covered = np.zeros((len(names), len(corpus)), dtype=bool)
    chosen = 0
    for number in ranking.order[:_LOOKED_AT]:
        if chosen == most:
            break
        candidate, code = ranking.candidate(number), int(ranking.label[number])
        if candidate.family in named:
            continue
        carriers = candidate.rows()
        carried = carriers & corpus.gold
        if (carried & covered[code]).sum() > carried.sum() / 2:
            continue
        covered[code] |= carried
        named.add(candidate.family or candidate.name)
        chosen += 1
        hits = corpus.labels[carried] == code
        artifact = Artifact(
            feature=candidate.name,
            label=names[code],
            count=int(hits.sum()),
            total=len(hits),
            share=share(hits, units=corpus.units[carried], level=level),
            expected=float(ranking.base[code]),
            bits=float(ranking.bits[number]),
            q_value=float(ranking.q_values[number]),
        )
        yield candidate, artifact, carriers


@dataclass(frozen=True)
class _Ranking:
    """All features in order of what they tell; those of tokens are put into words only when asked for."""

    order: NDArray[np.int64]
    label: NDArray[np.int64]
    base: NDArray[np.float64]
    bits: NDArray[np.float64]
    q_values: NDArray[np.float64]
    candidate: Callable[[int], Candidate]


def _rank(corpus: Corpus, sample: Sample, features: Sequence[Features], fdr: float, others: bool) -> _Ranking:
    totals = sample.clusters.totals
    pairwise = _pair_candidates(corpus, sample) if others else []
    parts = [part for part in features if len(part)]
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(int)
    moments = concatenate([*(part.moments for part in parts), *(moments for _, moments in pairwise)], len(totals))

    def candidate(number: int) -> Candidate:
        if number >= len(owner):
            return pairwise[number - len(owner)][0]
        return _token_candidate(corpus, parts[owner[number]], int(number - starts[owner[number]]))

    bits = information(moments.counts, totals)
    chances = p_values(association(moments, sample.clusters), sample.clusters)
    q_values = np.asarray(benjamini_hochberg(chances))
    carriers = np.maximum(moments.counts.sum(axis=1, keepdims=True), 1)
    base = totals / totals.sum()
    above = moments.counts / carriers - base
    label = above.argmax(axis=1)
    effect = above[np.arange(len(label)), label]
    natural = np.array([False] * len(owner) + [pair.premise_needed for pair, _ in pairwise], dtype=bool)
    natural &= np.array(corpus.space.labels)[label] == "entailment"
    score = np.round(np.where(natural, NATURAL, 1.0) * bits, 9)
    token_kinds = np.array([_rank_of(part.kind) for part in parts], dtype=int)[owner]
    simple = np.concatenate([token_kinds, [_rank_of(pair.kind) for pair, _ in pairwise]])
    telling = np.flatnonzero((q_values <= fdr) & (effect >= LEAST_EFFECT))
    order = telling[np.lexsort((-effect[telling], simple[telling], -score[telling]))]
    return _Ranking(order, label, base, bits, q_values, candidate)


def _rank_of(kind: str) -> int:
    """Of equally telling features, the simplest to act on comes first."""
    return _SIMPLEST.index(kind if kind in _SIMPLEST else "tag")


def _finding(candidate: Candidate, artifact: Artifact, rows: NDArray[np.int64], carriers: NDArray[np.bool_]) -> Finding:
    said = message(
        "artifact",
        carriers=candidate.phrase,
        label=Word(artifact.label),
        share=in_percent(artifact.share),
        total=f"{artifact.total:,}",
        expected=percent(artifact.expected),
        remedy=candidate.remedy,
    )
    return Finding(candidate.kind, said, artifact, tuple(rows.tolist()), carriers=carriers)


def _token_candidate(corpus: Corpus, part: Features, number: int) -> Candidate:
    name, key = part.name(number), int(part.keys[number])
    word, _, place = name.rpartition(" (") if part.kind == "position" else (name, "", "")
    if place:
        phrase = message("word_in_place", word=word, place=Word(place.rstrip(")")))
    else:
        phrase = message("with_words" if part.kind == "bigram" else "with_word", word=word)
    return Candidate(
        part.kind,
        name,
        lambda: holding_key(corpus.words, part.kind, key),
        phrase,
        message("cap_use"),
    )


def _pair_candidates(corpus: Corpus, sample: Sample) -> list[tuple[Candidate, Moments]]:
    """Return the features that are no tokens, with their moments; those that few pairs carry are left out."""
    candidates: list[tuple[Candidate, Moments]] = []

    def add(kind: str, name: str, rows: NDArray[np.bool_], phrase: Message, remedy: Message, family: str = "") -> None:
        carried = rows[sample.rows]
        if carried.sum() < LEAST_CARRIERS:
            return
        packed = np.packbits(rows)
        candidate = Candidate(
            kind,
            name,
            lambda: np.unpackbits(packed, count=len(corpus)).astype(bool),
            phrase,
            remedy,
            kind == "overlap",
            family,
        )
        candidates.append((candidate, moments_of(carried, sample.clusters)))

    for tag in TAGS[:-1]:
        phrase, remedy = _with_tag(corpus, tag), message("cap_use_per_writer")
        add(tag, tag, carries(corpus.hypothesis_tags, tag), phrase, remedy)
    for name, rows, phrase in _lengths(corpus):
        add("length", name, rows, phrase, message("even_lengths"), f"length{name.partition(' in ')[2]}")
    remedy = message("ask_paraphrase")
    for name, rows, phrase in _overlaps(corpus):
        add("overlap", name, rows, phrase, remedy, "overlap")
    return candidates


def _with_tag(corpus: Corpus, tag: str) -> Message:
    present = [language for language in corpus.language_names if language in LEXICONS]
    words = [word for language in present for word in words_of_tag(language, tag)[:4]]
    name = Word(tag.replace("_", "-"))
    if not words or tag in words:
        return message("with_tag", tag=name)
    return message("with_tag_such_as", tag=name, words=words)


def _lengths(corpus: Corpus) -> list[tuple[str, NDArray[np.bool_], Message]]:
    """Return a feature for each length that a twentieth of a language's pairs is above and below."""
    lengths = corpus.hypothesis_lengths
    several = len(corpus.language_names) > 1
    features = []
    for code, language in [*enumerate(corpus.language_names), (-1, "")]:
        rows = corpus.languages == code
        if not (rows & corpus.gold).any():
            continue
        low, high = np.quantile(lengths[rows], [0.05, 0.95]).astype(int)
        where, named = (f" in {language}", {"language": language}) if several and language else ("", {})
        unit = ("characters" if language in ("zh", "ja") else "words") + "_in" * bool(named)
        for bound in np.unique(np.linspace(low + 1, high, num=min(30, max(high - low, 0)), dtype=int)):
            long, short = rows & (lengths >= bound), rows & (lengths < bound)
            features += [
                (f"length >= {bound}{where}", long, message(f"long_{unit}", bound=int(bound), **named)),
                (f"length < {bound}{where}", short, message(f"short_{unit}", bound=int(bound), **named)),
            ]
    return features


def _overlaps(corpus: Corpus) -> list[tuple[str, NDArray[np.bool_], Message]]:
    with np.errstate(invalid="ignore"):
        over = corpus.overlap > RULE
    return [
        ("lexical overlap", (corpus.heuristics & LEXICAL) != 0, message("lexical_overlap")),
        ("subsequence", (corpus.heuristics & SUBSEQUENCE) != 0, message("subsequence")),
        ("constituent", (corpus.heuristics & CONSTITUENT) != 0, message("constituent")),
        (f"overlap > {RULE}", over, message("over_rule", bound=f"{100 * RULE:g}")),
    ]
