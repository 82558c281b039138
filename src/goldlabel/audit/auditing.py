"""``audit``: every statistic of this room over one dataset, and what to make of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit import hypothesis_only as blind
from goldlabel.audit.cartography import Cartography, cartography
from goldlabel.audit.competency import competency
from goldlabel.audit.corpus import MOST_GROUPS, Corpus, read_corpus, read_rows
from goldlabel.audit.examples import Example, mark_pair
from goldlabel.audit.features import KINDS, Features, Sample, count_features, take_sample
from goldlabel.audit.figures import ALL_ROWS, count_foreign, count_lengths, count_negators, count_overlap, count_tags
from goldlabel.audit.findings import EXAMPLES, LEAST_CARRIERS, MOST, Artifact, Finding, rank_artifacts
from goldlabel.audit.folds import Folds
from goldlabel.audit.foreign_text import MORE_THAN
from goldlabel.audit.hygiene import find_faults, find_leaks
from goldlabel.audit.label_errors import LabelErrors, find_label_errors
from goldlabel.audit.leakage import MOST_NEAR, Leakage, compare, count_leakage, find_near
from goldlabel.audit.overlap import RULE
from goldlabel.audit.pmi import COUNTS, SMOOTHING, Word, count_words, rank_words
from goldlabel.audit.probabilities import WHOLE, mean_probabilities, read_probabilities
from goldlabel.audit.result import ALL, Audit, Group
from goldlabel.errors import InputError
from goldlabel.executors import Executor, Here
from goldlabel.messages import option
from goldlabel.metrics import check_level
from goldlabel.models import MODELS
from goldlabel.pairs import Pairs
from goldlabel.pairs.groups import group_columns, group_name
from goldlabel.pairs.tokens import UNKNOWN, language_of
from goldlabel.seeds import check_seed
from goldlabel.verify import verify
from goldlabel.verify.agreement import Agreement

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
    level: float = 0.95
    """The confidence of every interval; a gain is significant at 1 less this."""
    fdr: float = 0.05
    """The rate of false discoveries among features."""
    smoothing: float = SMOOTHING
    count: str = "documents"
    null: str = "uniform"
    folds: int = blind.FOLDS
    models: tuple[str, ...] = ()
    label_errors: str | None = None
    """The model that is cross-validated to find them."""
    probabilities: str | None = None
    """Where those of a model lie (see ``probabilities``), for label errors, and of several epochs for cartography."""
    curve: bool = False
    agreement: bool = False
    near: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_level(self.level)
        if not 0 < self.fdr < 1:
            raise InputError(f"rate of false discoveries {self.fdr} is not between 0 and 1")
        if self.top < 1:
            raise InputError(f"top {self.top} is not a number of words; ask for 1 or more")
        if self.count not in COUNTS:
            raise InputError(f"words cannot be counted by {self.count!r}; allowed: {', '.join(COUNTS)}")
        for name in self.trained:
            MODELS.get(name)
        if self.label_errors and self.probabilities:
            raise InputError(
                f"label errors come from a model that is cross-validated ({option('label_errors')}) or from "
                f"probabilities that it gave ({option('probabilities')}), not from both"
            )

    @property
    def trained(self) -> tuple[str, ...]:
        """Return the models that are to be fitted."""
        return (*self.models, *([self.label_errors] if self.label_errors else []))


def audit(
    pairs: Pairs,
    by: str | None = None,
    against: Sequence[Pairs] = (),
    *,
    options: AuditOptions | None = None,
    fit: blind.Fit | None = None,
    advance: Advance | None = None,
    executor: Executor | None = None,
    resume: bool = False,
    **changes: Any,
) -> Audit:
    """Audit all pairs and each value of ``by``, and look for leaks into ``against``.

    ``changes`` are fields of ``AuditOptions``, such as ``tokenizer="characters"``. ``fit`` fits the models that are
    asked for; without it, those that need no trainer fit themselves. ``executor`` says where they are fitted, one for
    each fold. ``resume`` keeps what each has answered until the audit is done, and takes up what another left that was
    interrupted: for a ``fit`` that is a function of its arguments and of Goldlabel alone.
    """
    if by is not None:
        changes["by"] = by
    chosen = dataclasses.replace(options or AuditOptions(), **changes)
    blind.check_trainable(chosen.trained, fit)
    kept = Folds() if resume and chosen.trained else None
    result = _Auditor(pairs, against, chosen, fit, advance or (lambda step: None), executor or Here(), kept).run()
    if kept is not None:
        kept.clear()
    return result


class _Auditor:
    """One audit on its way."""

    def __init__(
        self,
        pairs: Pairs,
        against: Sequence[Pairs],
        options: AuditOptions,
        fit: blind.Fit | None,
        advance: Advance,
        executor: Executor,
        kept: Folds | None,
    ) -> None:
        self.pairs, self.against, self.options, self.fit, self.advance = pairs, against, options, fit, advance
        self.executor, self.kept = executor, kept
        by = group_columns(options.by)
        advance("reading")
        self.probabilities = read_probabilities(options.probabilities, pairs) if options.probabilities else None
        self.corpus = read_corpus(pairs, tokenizer=options.tokenizer, columns=[*by, *_SLICES])
        self.names = pairs.card.label_space.labels
        _check_labels(self.corpus, pairs.card.name)
        self.rows = self._rows_of_groups()

    def run(self) -> Audit:
        corpus, options = self.corpus, self.options
        self.advance("words and their neighbours")
        with ThreadPoolExecutor(2) as pool:  # NumPy leaves Python alone while it works
            validation, control = pool.submit(self._hypothesis_only), pool.submit(self._premise_only)
            sample = take_sample(corpus.words, corpus.labels, corpus.units, len(self.names))
            features = [count_features(sample, kind, least=LEAST_CARRIERS) for kind in KINDS]
            counts = count_words(corpus.words, corpus.labels, len(self.names), count=options.count)
            self.advance("hypothesis-only")
            out_of_fold, premise_only = validation.result(), control.result()
        self.advance("groups")
        groups = self._groups(counts, out_of_fold)
        self.advance("leakage")
        whole = groups[ALL] = replace(groups[ALL], leakage=self._leakage(groups[ALL].leakage))
        self.advance("findings")
        findings = self._findings(whole, sample, features)
        return Audit(
            pairs=self.pairs,
            options=options,
            groups=groups,
            findings=self._with_examples(findings),
            competency=competency(features, sample.clusters.totals, self.names, null=options.null, fdr=options.fdr),
            out_of_fold=out_of_fold,
            words_by_label={name: self._words(counts, top=_WORDS_PER_LABEL, label=name) for name in self.names},
            slices={column: self._judge_slices(column, out_of_fold) for column in _SLICES},
            curve=self._curve() if options.curve else None,
            models={name: self._judge_model(name) for name in options.models},
            premise_only=premise_only,
            agreement=self._agreement() if options.agreement else None,
            label_errors=self._label_errors(),
            cartography=self._cartography(),
            without_language=corpus.rows_without_language,
        )

    def _rows_of_groups(self) -> dict[str, NDArray[np.bool_]]:
        """Return which pairs are in each group that was asked for."""
        columns = group_columns(self.options.by)
        if not columns:
            return {}
        parts = [self.corpus.columns[name] for name in columns]
        for name, (_, values) in zip(columns, parts, strict=True):
            if not values:
                raise InputError(f"{self.pairs.card.name}: column {name!r} is empty in all pairs")
        codes = np.stack([own for own, _ in parts])
        groups = [group for group in np.unique(codes, axis=1).T if (group >= 0).all()]
        if len(groups) > MOST_GROUPS:
            raise InputError(
                f"{self.pairs.card.name}: column {self.options.by!r} has {len(groups):,} values; an audit compares at "
                f"most {MOST_GROUPS} groups"
            )
        named = {tuple(values[code] for code, (_, values) in zip(group, parts, strict=True)): group for group in groups}
        return {group_name(key): (codes == named[key][:, None]).all(axis=0) for key in sorted(named)}

    def _groups(self, counts: NDArray[np.int64], out_of_fold: blind.OutOfFold) -> dict[str, Group]:
        """Return the figures of all pairs and of each group; the gains of groups are tested as several."""
        level = self.options.level
        whole = blind.judge(out_of_fold, self.names, level=level)
        judged = blind.judge_groups(out_of_fold, self.names, self.rows, level=level)
        groups = {ALL: self._group(None, whole, self._words(counts))}
        for value, rows in self.rows.items():
            groups[value] = self._group(rows, judged[value], self._words(rows=rows))
        return groups

    def _group(self, chosen: NDArray[np.bool_] | None, judgement: blind.Judgement | None, words: list[Word]) -> Group:
        corpus, level = self.corpus, self.options.level
        rows = ALL_ROWS if chosen is None else chosen
        labels = corpus.labels[rows]
        label_counts = np.bincount(labels[labels >= 0], minlength=len(self.names))
        return Group(
            pairs=len(labels),
            labels=dict(zip(self.names, label_counts.tolist(), strict=True)),
            words=words,
            hypothesis_only=judgement,
            overlap=count_overlap(corpus, rows, level=level),
            length=count_lengths(corpus, rows, level=level),
            negators=count_negators(corpus, rows, level=level),
            leakage=count_leakage(corpus, rows, level=level),
            tags=count_tags(corpus, rows, level=level),
            foreign_text=count_foreign(corpus, rows, level=level),
        )

    def _words(
        self,
        counts: NDArray[np.int64] | None = None,
        *,
        rows: NDArray[np.bool_] | None = None,
        top: int | None = None,
        label: str | None = None,
    ) -> list[Word]:
        options = self.options
        return rank_words(
            self.corpus,
            rows,
            counts=counts,
            count=options.count,
            top=top or options.top,
            smoothing=options.smoothing,
            label=label,
            level=options.level,
        )

    def _leakage(self, leakage: Leakage) -> Leakage:
        """Add near-duplicates, and what is shared with other datasets."""
        wanted, pairs = self.options.near, len(self.corpus)
        near, note = None, None
        if wanted or (wanted is None and pairs <= MOST_NEAR):
            near = find_near(self.pairs)
        elif wanted is None:
            note = f"not looked for in more than {MOST_NEAR:,} pairs unless asked for (--near)"
        else:
            note = "not looked for, as was asked (--no-near)"
        against = {}
        for other in self.against:
            shared = compare(self.corpus, other, level=self.options.level)
            if near and (wanted or shared.pairs <= MOST_NEAR):
                shared = replace(shared, near=find_near(self.pairs, other))
            against[other.card.name] = shared
        return replace(leakage, near=near, near_note=note, against=against)

    def _findings(self, whole: Group, sample: Sample, features: list[Features]) -> list[Finding]:
        """Return leaks, which make every score untrue, then artifacts, then other faults."""
        leaks = find_leaks(whole.leakage)
        faults = find_faults(whole.leakage, whole.overlap, whole.foreign_text, self._faulty_rows())
        artifacts = rank_artifacts(
            self.corpus,
            sample,
            features,
            fdr=self.options.fdr,
            level=self.options.level,
            most=MOST - len(leaks) - len(faults),
        )
        return [*leaks, *artifacts, *faults]

    def _judge_slices(self, column: str, out_of_fold: blind.OutOfFold) -> dict[str, blind.Judgement]:
        codes, values = self.corpus.columns[column]
        rows = {value: codes == code for code, value in enumerate(values[:MOST_GROUPS])}
        judged = blind.judge_groups(out_of_fold, self.names, rows, level=self.options.level)
        return {value: judgement for value, judgement in judged.items() if judgement}

    def _curve(self) -> list[blind.CurvePoint]:
        options, corpus = self.options, self.corpus
        return blind.learning_curve(
            corpus.words,
            corpus.labels,
            corpus.units,
            len(self.names),
            folds=options.folds,
            seed=options.seed,
            level=options.level,
        )

    def _judge_model(self, name: str) -> blind.Judgement | None:
        return blind.judge(self._cross_validate(name), self.names, level=self.options.level)

    def _cross_validate(self, name: str, *, with_premise: bool = False) -> blind.OutOfFold:
        return blind.cross_validate_model(
            self.pairs,
            self.corpus,
            name,
            fit=self.fit,
            with_premise=with_premise,
            folds=self.options.folds,
            seed=self.options.seed,
            executor=self.executor,
            kept=self.kept,
        )

    def _hypothesis_only(self) -> blind.OutOfFold:
        options, corpus = self.options, self.corpus
        return blind.cross_validate(
            corpus.words, corpus.labels, corpus.units, len(self.names), folds=options.folds, seed=options.seed
        )

    def _premise_only(self) -> blind.Judgement | None:
        """Cross-validate on premises alone, over a sample of them if there are many."""
        options, corpus = self.options, self.corpus
        labels, units = corpus.labels[corpus.premise_rows], corpus.units[corpus.premise_rows]
        if len(np.unique(units[labels >= 0])) < options.folds:
            return None
        out_of_fold = blind.cross_validate(
            corpus.premises, labels, units, len(self.names), folds=options.folds, seed=options.seed
        )
        return blind.judge(out_of_fold, self.names, level=options.level)

    def _agreement(self) -> Agreement | None:
        """Return the annotators' agreement, where pairs have votes enough."""
        several = self.pairs.frame.select((pl.col("votes").list.len() > 1).any()).collect(engine="streaming").item()
        if not several:
            return None
        options = self.options
        return verify(self.pairs, resamples=_RESAMPLES, level=options.level, seed=options.seed).whole

    def _label_errors(self) -> LabelErrors | None:
        if self.options.label_errors is None and self.probabilities is None:
            return None
        self.advance("label errors")
        ids = self.pairs.frame.select("id").collect(engine="streaming").to_series()
        if self.options.label_errors is None:
            rows, errors = self._errors_by_probabilities(ids)
        else:
            rows, errors = self._errors_by_model(self.options.label_errors)
        if errors is None:
            return None
        places = rows[errors.candidates["row"].to_numpy()]
        named = errors.candidates.select(ids.gather(places).alias("id"), pl.exclude("row"))
        return replace(errors, candidates=named)

    def _errors_by_model(self, model: str) -> tuple[NDArray[np.int64], LabelErrors]:
        out_of_fold = self._cross_validate(model, with_premise=True)
        errors = find_label_errors(out_of_fold.labels, out_of_fold.probabilities, self.names, model=model)
        judgement = blind.judge(out_of_fold, self.names, level=self.options.level)
        assert judgement is not None
        return out_of_fold.rows, replace(errors, accuracy=judgement.accuracy, gain=judgement.gain)

    def _errors_by_probabilities(self, ids: pl.Series) -> tuple[NDArray[np.int64], LabelErrors | None]:
        table = self.probabilities
        assert table is not None
        if WHOLE not in table.columns:
            return np.empty(0, dtype=np.int64), None
        corpus, matrix = self.corpus, mean_probabilities(table, ids)
        rows = np.flatnonzero(corpus.gold & ~np.isnan(matrix[:, 0]))
        if not len(rows):
            return rows, None
        epochs = table["epoch"].n_unique()
        name = Path(str(self.options.probabilities)).name + (f", the mean of {epochs} epochs," if epochs > 1 else "")
        return rows, find_label_errors(
            corpus.labels[rows],
            matrix[rows],
            self.names,
            units=corpus.units[rows],
            level=self.options.level,
            model=name,
        )

    def _cartography(self) -> Cartography | None:
        """Place the pairs on a map, where there are probabilities of several epochs."""
        table = self.probabilities
        return cartography(table, self.pairs) if table is not None and table["epoch"].n_unique() > 1 else None

    def _faulty_rows(self) -> dict[str, tuple[int, ...]]:
        """Return where the first pairs stand that break a rule for hypotheses, by the kind of the finding."""
        corpus = self.corpus
        with np.errstate(invalid="ignore"):
            broken = {"overlap_rule": corpus.overlap > RULE, "foreign_text": corpus.letters > MORE_THAN}
        return {kind: tuple(np.flatnonzero(rows)[:EXAMPLES].tolist()) for kind, rows in broken.items()}

    def _with_examples(self, findings: list[Finding]) -> list[Finding]:
        """Read the pairs where examples stand, and find what to mark in them."""
        rows = sorted({row for finding in findings for row in finding.rows})
        texts = read_rows(self.pairs, ["id", "premise", "hypothesis", "language"], np.array(rows, dtype=np.int64))
        texts = texts.with_columns(language_of(texts).fill_null(UNKNOWN))
        read = dict(zip(rows, texts.iter_rows(), strict=True))

        def example(finding: Finding, row: int) -> Example:
            pair_id, premise, hypothesis, language = read[row]
            feature = finding.evidence.feature if isinstance(finding.evidence, Artifact) else ""
            tokenizer = self.options.tokenizer
            return Example(
                pair_id,
                *mark_pair(finding.kind, feature, premise, hypothesis, language=language, tokenizer=tokenizer),
            )

        return [
            replace(finding, examples=(*finding.examples, *(example(finding, row) for row in finding.rows)))
            for finding in findings
        ]


def _check_labels(corpus: Corpus, name: str) -> None:
    seen = np.unique(corpus.labels[corpus.gold])
    if not len(seen):
        raise InputError(f"{name}: none of the {len(corpus):,} pairs has a gold label; an audit needs labels")
    if len(seen) == 1:
        label = corpus.space.labels[seen[0]]
        raise InputError(f"{name}: all pairs with a gold label are {label!r}; an audit compares two labels or more")
