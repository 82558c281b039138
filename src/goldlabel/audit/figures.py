"""What some pairs look like, summed up: overlap, lengths, tags, negators, foreign text.

Each figure is an ``Estimate`` over pairs whose interval takes those of one unit as dependent. Counts and histograms
tell what is there and have none; nor have the median and the standard deviation, which only describe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.corpus import Corpus, Rows
from goldlabel.audit.foreign_text import MORE_THAN, NOT_ROMAN
from goldlabel.audit.overlap import HEURISTICS, RULE
from goldlabel.audit.tags import TAGS, carries
from goldlabel.metrics import Estimate, mean, share
from goldlabel.pairs.lexicon import LEXICONS

BINS = 10
LENGTH_BINS = 40
ALL_ROWS = slice(None)


def flatten(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    """Return the values by name and, under ``intervals``, their intervals."""
    values = {name: figure.value for name, figure in estimates.items()}
    return values | {"intervals": {name: ends_of(figure) for name, figure in estimates.items()}}


def ends_of(figure: Estimate) -> list[float] | None:
    """Return an interval as JSON has it."""
    return list(figure.interval) if figure.interval else None


def count_of(figure: Estimate) -> int:
    """Return how many pairs a share is of."""
    return 0 if figure.value is None else round(figure.value * figure.n)


@dataclass(frozen=True)
class Overlap:
    """The overlap of premise and hypothesis; ``by_label`` is empty in the parts of it."""

    mean: Estimate
    over_rule: Estimate
    """The share of pairs that break the 70 % rule."""
    heuristics: dict[str, Estimate]
    """The share of pairs for which each of HANS's heuristics holds."""
    histogram: list[int]
    by_label: dict[str, Overlap]

    @property
    def shares(self) -> dict[str, Estimate]:
        """Return the shares of pairs by name."""
        return {"over_rule": self.over_rule, **self.heuristics}

    def to_dict(self) -> dict[str, Any]:
        """Return shares, counts and intervals."""
        shares = {f"{name}_share": figure for name, figure in self.shares.items()}
        figures = {
            "pairs": self.mean.n,
            **{name: count_of(figure) for name, figure in self.shares.items()},
            **flatten({"mean": self.mean, **shares}),
            "histogram": self.histogram,
        }
        if self.by_label:
            figures |= {"rule": RULE, "by_label": {name: part.to_dict() for name, part in self.by_label.items()}}
        return figures


@dataclass(frozen=True)
class Lengths:
    """The lengths of both texts, in tokens; ``by_label`` is empty in the parts of it."""

    premise: Estimate
    hypothesis: Estimate
    difference: Estimate
    """The mean of the hypothesis's length less the premise's."""
    hypothesis_sd: float | None
    hypothesis_median: float | None
    histogram: list[int]
    by_label: dict[str, Lengths]

    def to_dict(self) -> dict[str, Any]:
        """Return means, their intervals, and what describes the hypotheses."""
        means = {"premise_mean": self.premise, "hypothesis_mean": self.hypothesis, "difference_mean": self.difference}
        figures = {
            "pairs": self.hypothesis.n,
            **flatten(means),
            "hypothesis_sd": self.hypothesis_sd,
            "hypothesis_median": self.hypothesis_median,
            "histogram": self.histogram,
        }
        if self.by_label:
            figures["by_label"] = {name: part.to_dict() for name, part in self.by_label.items()}
        return figures


@dataclass(frozen=True)
class TagShare:
    """The share of premises and of hypotheses that carry a tag."""

    premise: Estimate
    hypothesis: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return both shares with their intervals."""
        return {"pairs": self.premise.n, **flatten({"premise": self.premise, "hypothesis": self.hypothesis})}


@dataclass(frozen=True)
class Negators:
    """The share of one language's hypotheses that carry a negator, of all and per label."""

    negated: Estimate
    by_label: dict[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Return shares, counts and intervals."""
        whole, *parts = (
            {"pairs": figure.n, "negated": count_of(figure), "share": figure.value, "interval": ends_of(figure)}
            for figure in (self.negated, *self.by_label.values())
        )
        return whole | {"by_label": dict(zip(self.by_label, parts, strict=True))}


@dataclass(frozen=True)
class ForeignText:
    """The share of pairs with many Roman letters, of those in languages written otherwise."""

    share: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return the share, its counts and its interval."""
        figure = self.share
        counts = {"pairs": count_of(figure), "total": figure.n, "more_than": MORE_THAN}
        return counts | {"share": figure.value, "interval": ends_of(figure)}


def count_overlap(corpus: Corpus, rows: Rows = ALL_ROWS, *, level: float = 0.95) -> Overlap:
    """Return mean overlap, the 70 % rule's violations and the heuristics, for all pairs and per label."""
    known = ~np.isnan(corpus.overlap[rows])
    overlap, heuristics = corpus.overlap[rows][known], corpus.heuristics[rows][known]
    labels, units = corpus.labels[rows][known], corpus.units[rows][known]

    def count(chosen: Rows, by_label: dict[str, Overlap]) -> Overlap:
        shares, unit = overlap[chosen], units[chosen]
        return Overlap(
            mean(shares, units=unit, level=level),
            share(shares > RULE, units=unit, level=level),
            {name: share((heuristics[chosen] & bit) != 0, units=unit, level=level) for name, bit in HEURISTICS.items()},
            np.histogram(shares, bins=BINS, range=(0, 1))[0].tolist(),
            by_label,
        )

    return count(ALL_ROWS, {name: count(labels == code, {}) for code, name in enumerate(corpus.space.labels)})


def count_lengths(corpus: Corpus, rows: Rows = ALL_ROWS, *, level: float = 0.95) -> Lengths:
    """Return the mean lengths and their difference, for all pairs and per label."""
    premises, hypotheses = corpus.premise_lengths[rows], corpus.hypothesis_lengths[rows]
    labels, units = corpus.labels[rows], corpus.units[rows]

    def count(chosen: Rows, by_label: dict[str, Lengths]) -> Lengths:
        premise, hypothesis, unit = premises[chosen], hypotheses[chosen], units[chosen]
        return Lengths(
            mean(premise, units=unit, level=level),
            mean(hypothesis, units=unit, level=level),
            mean(hypothesis - premise, units=unit, level=level),
            float(hypothesis.std(ddof=1)) if len(hypothesis) > 1 else None,
            float(np.median(hypothesis)) if len(hypothesis) else None,
            np.bincount(np.minimum(hypothesis, LENGTH_BINS), minlength=LENGTH_BINS + 1).tolist(),
            by_label,
        )

    return count(ALL_ROWS, {name: count(labels == code, {}) for code, name in enumerate(corpus.space.labels)})


def count_tags(corpus: Corpus, rows: Rows = ALL_ROWS, *, level: float = 0.95) -> dict[str, TagShare] | None:
    """Return the shares of each tag over pairs whose language is known to have a lexicon; ``None`` without any."""
    known = corpus.in_languages(LEXICONS)[rows]
    if not known.any():
        return None
    units = corpus.units[rows][known]
    premises, hypotheses = corpus.premise_tags[rows][known], corpus.hypothesis_tags[rows][known]
    return {
        tag: TagShare(*(share(carries(tags, tag), units=units, level=level) for tags in (premises, hypotheses)))
        for tag in TAGS
    }


def count_negators(corpus: Corpus, rows: Rows = ALL_ROWS, *, level: float = 0.95) -> dict[str, Negators] | None:
    """Return the negators of each language; ``None`` if no pair's language is known to have a lexicon."""
    negated = carries(corpus.hypothesis_tags[rows], "negation")
    languages, labels, units = corpus.languages[rows], corpus.labels[rows], corpus.units[rows]

    def count(chosen: NDArray[np.bool_]) -> Estimate:
        return share(negated[chosen], units=units[chosen], level=level)

    counted = {}
    for code, language in enumerate(corpus.language_names):
        spoken = languages == code
        if language in LEXICONS and spoken.any():
            by_label = {name: count(spoken & (labels == number)) for number, name in enumerate(corpus.space.labels)}
            counted[language] = Negators(count(spoken), by_label)
    return counted or None


def count_foreign(corpus: Corpus, rows: Rows = ALL_ROWS, *, level: float = 0.95) -> ForeignText | None:
    """Return the share of pairs with more than ten Roman letters; ``None`` if no language is known not to be Roman."""
    eligible = corpus.in_languages(NOT_ROMAN)[rows]
    if not eligible.any():
        return None
    many, units = corpus.letters[rows][eligible] > MORE_THAN, corpus.units[rows][eligible]
    return ForeignText(share(many, units=units, level=level))
