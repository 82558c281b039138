"""``audit``: every statistic of this room over one dataset, and what to make of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit import hypothesis_only as blind
from goldlabel.audit.competency import (
    Features,
    bigram_features,
    competency,
    position_features,
    word_features,
)
from goldlabel.audit.corpus import MOST_GROUPS, Corpus, read_corpus, read_rows
from goldlabel.audit.findings import LEAST_CARRIERS, MOST, rank_artifacts
from goldlabel.audit.foreign_text import ROMAN, count_foreign
from goldlabel.audit.hygiene import find_faults
from goldlabel.audit.label_errors import LabelErrors, find_label_errors
from goldlabel.audit.leakage import MOST_NEAR, compare, count_leakage, find_near
from goldlabel.audit.negators import count_negators
from goldlabel.audit.overlap import count_lengths, count_overlap
from goldlabel.audit.pmi import COUNTS, SMOOTHING, count_words, rank_words
from goldlabel.audit.result import ALL, Audit
from goldlabel.audit.tags import count_tags
from goldlabel.errors import InputError
from goldlabel.models import MODELS
from goldlabel.pairs import Pairs
from goldlabel.pairs.lexicon import LEXICONS
from goldlabel.seeds import check_seed
from goldlabel.verify import verify

_SLICES = ("level", "genre")
_WORDS_PER_LABEL = 6
_RESAMPLES = 200

Advance = Callable[[str], None]
"""Called with the name of each step when it begins."""


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What is audited and how."""

    by: str | None = None
    tokenizer: str | None = None
    top: int = 10
    level: float = 0.05
    smoothing: float = SMOOTHING
    count: str = "documents"
    null: str = "uniform"
    folds: int = blind.FOLDS
    models: tuple[str, ...] = ()
    label_errors: str | None = None
    curve: bool = False
    agreement: bool = False
    near: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not 0 < self.level < 1:
            raise InputError(f"level {self.level} is not between 0 and 1")
        if self.top < 1:
            raise InputError(f"top {self.top} is not a number of words; ask for 1 or more")
        if self.count not in COUNTS:
            raise InputError(f"words cannot be counted by {self.count!r}; allowed: {', '.join(COUNTS)}")
        for name in (*self.models, *([self.label_errors] if self.label_errors else [])):
            MODELS.get(name)


def audit(
    pairs: Pairs,
    by: str | None = None,
    against: Sequence[Pairs] = (),
    *,
    options: AuditOptions | None = None,
    advance: Advance | None = None,
    **changes: Any,
) -> Audit:
    """Audit all pairs and each value of ``by``, and look for leaks into ``against``.

    ``changes`` are fields of ``AuditOptions``, such as ``tokenizer="characters"``.
    """
    if by is not None:
        changes["by"] = by
    chosen = dataclasses.replace(options or AuditOptions(), **changes)
    return _Auditor(pairs, against, chosen, advance or (lambda step: None)).run()


class _Auditor:
    """One audit on its way."""

    def __init__(self, pairs: Pairs, against: Sequence[Pairs], options: AuditOptions, advance: Advance) -> None:
        self.pairs, self.against, self.options, self.advance = pairs, against, options, advance
        by = [options.by] if options.by else []
        advance("reading")
        self.corpus = read_corpus(pairs, tokenizer=options.tokenizer, columns=[*by, *_SLICES])
        self.names = pairs.card.label_space.labels
        _check_labels(self.corpus, pairs.card.name)
        self.groups = self._groups()

    def run(self) -> Audit:
        corpus, options = self.corpus, self.options
        self.advance("hypothesis-only")
        self.units = blind.units_of(corpus)
        validate: dict[str, Any] = {"folds": options.folds, "seed": options.seed}
        found = blind.cross_validate(corpus.words, corpus.labels, self.units, len(self.names), **validate)
        self.advance("words and their neighbours")
        counts = count_words(corpus.words, corpus.labels, len(self.names))
        features = self._features(counts)
        self.advance("groups")
        groups = {value: self._group(rows, counts if rows is None else None, found) for value, rows in self.groups}
        whole = groups[ALL]
        whole["pmi_by_label"] = self._pmi_by_label(counts)
        self.advance("leakage")
        self._compare_others(whole["leakage"])
        self._hypothesis_only_details(whole["hypothesis_only"], found)
        whole["premise_only"] = self._premise_only()
        whole["agreement"] = self._agreement() if options.agreement else None
        self.advance("findings")
        faults = find_faults(whole)
        artifacts = rank_artifacts(corpus, features, level=options.level, most=MOST - len(faults))
        return Audit(
            pairs=self.pairs,
            options=options,
            groups=groups,
            findings=self._with_ids([*artifacts, *faults]),
            competency=competency(
                features,
                np.bincount(corpus.labels[corpus.gold], minlength=len(self.names)),
                self.names,
                null=options.null,
                level=options.level,
            ),
            out_of_fold=found,
            label_errors=self._label_errors(),
        )

    def _features(self, counts: NDArray[np.int64]) -> list[Features]:
        arguments = (self.corpus.words, self.corpus.labels, len(self.names))
        return [
            word_features(*arguments, least=LEAST_CARRIERS, counts=counts),
            position_features(*arguments, least=LEAST_CARRIERS),
            bigram_features(*arguments, least=LEAST_CARRIERS),
        ]

    def _groups(self) -> list[tuple[str, NDArray[np.bool_] | None]]:
        """Return each group's name and rows; all pairs come first, with no rows to choose."""
        found: list[tuple[str, NDArray[np.bool_] | None]] = [(ALL, None)]
        if self.options.by is None:
            return found
        codes, values = self.corpus.columns[self.options.by]
        if not values:
            raise InputError(f"{self.pairs.card.name}: column {self.options.by!r} is empty in all pairs")
        if len(values) > MOST_GROUPS:
            raise InputError(
                f"{self.pairs.card.name}: column {self.options.by!r} has {len(values):,} values; an audit compares at "
                f"most {MOST_GROUPS} groups"
            )
        for code in sorted(range(len(values)), key=lambda code: values[code]):
            name = values[code] if values[code] != ALL else f"{self.options.by}={ALL}"
            found.append((name, codes == code))
        return found

    def _group(
        self, rows: NDArray[np.bool_] | None, counts: NDArray[np.int64] | None, found: blind.OutOfFold
    ) -> dict[str, Any]:
        corpus, names = self.corpus, self.names
        taken = slice(None) if rows is None else rows
        labels = corpus.labels[taken]
        label_counts = np.bincount(labels[labels >= 0], minlength=len(names))
        if counts is None or self.options.count != "documents":
            counts = count_words(corpus.words, corpus.labels, len(names), rows=rows, count=self.options.count)
        known, foreign = corpus.in_languages(LEXICONS)[taken], ~corpus.in_languages(ROMAN)[taken]
        return {
            "pairs": len(labels),
            "labels": dict(zip(names, label_counts.tolist(), strict=True)),
            "pmi": self._pmi(counts, label_counts),
            "hypothesis_only": blind.judge(found, names, rows=rows, level=self.options.level),
            "overlap": count_overlap(corpus.overlap[taken], corpus.heuristics[taken], labels, names),
            "length": count_lengths(corpus.premise_lengths[taken], corpus.hypothesis_lengths[taken], labels, names),
            "negators": count_negators(
                corpus.hypothesis_tags[taken], corpus.languages[taken], corpus.language_names, labels, names
            ),
            "leakage": count_leakage(corpus, rows),
            "tags": count_tags(corpus.premise_tags[taken], corpus.hypothesis_tags[taken], known),
            "foreign_text": count_foreign(corpus.letters[taken], foreign),
        }

    def _pmi(self, counts: NDArray[np.int64], label_counts: NDArray[np.int64]) -> list[dict[str, Any]]:
        if not label_counts.any():
            return []
        options = self.options
        table = rank_words(
            counts, label_counts, self.corpus.words.vocabulary, self.names, top=options.top, smoothing=options.smoothing
        )
        return table.to_dicts()

    def _pmi_by_label(self, counts: NDArray[np.int64]) -> dict[str, list[dict[str, Any]]]:
        totals = np.bincount(self.corpus.labels[self.corpus.gold], minlength=len(self.names))
        arguments = (counts, totals, self.corpus.words.vocabulary, self.names)
        smoothing = self.options.smoothing
        return {
            name: rank_words(*arguments, top=_WORDS_PER_LABEL, smoothing=smoothing, label=name).to_dicts()
            for name in self.names
        }

    def _compare_others(self, leakage: dict[str, Any]) -> None:
        wanted = self.options.near
        near = len(self.corpus) <= MOST_NEAR if wanted is None else wanted
        if near:
            leakage["near"] = find_near(self.pairs)
        for other in self.against:
            figures = compare(self.corpus, read_corpus(other, tokenizer="characters"))
            if near and (wanted or len(other) <= MOST_NEAR):
                figures["near"] = find_near(self.pairs, [other])
            leakage["against"][other.card.name] = figures

    def _hypothesis_only_details(self, figures: dict[str, Any], found: blind.OutOfFold) -> None:
        options, corpus = self.options, self.corpus
        for column in _SLICES:
            codes, values = corpus.columns[column]
            figures[f"by_{column}"] = {
                value: _brief(blind.judge(found, self.names, rows=codes == code, level=options.level))
                for code, value in enumerate(values[:MOST_GROUPS])
            }
        validate: dict[str, Any] = {"folds": options.folds, "seed": options.seed}
        if options.curve:
            figures["curve"] = blind.learning_curve(
                corpus.words, corpus.labels, self.units, len(self.names), **validate
            )
        figures["models"] = {
            name: blind.judge(
                blind.cross_validate_model(self.pairs, corpus, self.units, name, **validate),
                self.names,
                level=options.level,
            )
            for name in options.models
        }

    def _premise_only(self) -> dict[str, Any] | None:
        """Cross-validate on premises alone, over a sample of them if there are many."""
        options, corpus = self.options, self.corpus
        labels, units = corpus.labels[corpus.premise_rows], self.units[corpus.premise_rows]
        if len(np.unique(units[labels >= 0])) < options.folds:
            return None
        found = blind.cross_validate(
            corpus.premises, labels, units, len(self.names), folds=options.folds, seed=options.seed
        )
        return blind.judge(found, self.names, level=options.level)

    def _agreement(self) -> dict[str, Any] | None:
        """Return the annotators' agreement, where pairs have votes enough."""
        several = self.pairs.frame.select((pl.col("votes").list.len() > 1).any()).collect(engine="streaming").item()
        if not several:
            return None
        found: dict[str, Any] = verify(self.pairs, resamples=_RESAMPLES, seed=self.options.seed).to_dict()
        agreement: dict[str, Any] = found["groups"][ALL]
        return agreement

    def _label_errors(self) -> LabelErrors | None:
        options, corpus = self.options, self.corpus
        if options.label_errors is None:
            return None
        self.advance("label errors")
        found = blind.cross_validate_model(
            self.pairs,
            corpus,
            self.units,
            options.label_errors,
            with_premise=True,
            folds=options.folds,
            seed=options.seed,
        )
        errors = find_label_errors(found.labels, found.probabilities, self.names)
        ids = self.pairs.frame.select("id").collect(engine="streaming").to_series()
        places = found.rows[errors.candidates["row"].to_numpy()]
        named = errors.candidates.select(ids.gather(places).alias("id"), "label", "suggested", "probability")
        return dataclasses.replace(errors, candidates=named)

    def _with_ids(self, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Put ids in the place of the examples' row numbers."""
        rows = sorted({row for finding in findings for row in finding["evidence"]["examples"]})
        named = read_rows(self.pairs, ["id"], np.array(rows, dtype=np.int64))
        ids = dict(zip(rows, named["id"], strict=True))
        for finding in findings:
            finding["evidence"]["examples"] = [ids[row] for row in finding["evidence"]["examples"]]
        return findings


def _check_labels(corpus: Corpus, name: str) -> None:
    seen = np.unique(corpus.labels[corpus.gold])
    if not len(seen):
        raise InputError(f"{name}: none of the {len(corpus):,} pairs has a gold label; an audit needs labels")
    if len(seen) == 1:
        label = corpus.space.labels[seen[0]]
        raise InputError(f"{name}: all pairs with a gold label are {label!r}; an audit compares two labels or more")


def _brief(figures: dict[str, Any] | None) -> dict[str, Any] | None:
    kept = ("accuracy", "interval", "n", "majority", "gain", "gain_interval", "p_value")
    return None if figures is None else {name: figures[name] for name in kept}
