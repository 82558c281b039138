"""The page and the files of an audit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.audit import Audit
from goldlabel.audit.figures import Lengths, Overlap
from goldlabel.audit.hypothesis_only import CurvePoint, Judgement
from goldlabel.errors import InputError
from goldlabel.evaluate.model_audit import ModelAudit
from goldlabel.files import atomic_folder
from goldlabel.metrics import Estimate, p_in_words
from goldlabel.pairs import Pairs
from goldlabel.pairs.review import review_sheet
from goldlabel.report.figure import Figure
from goldlabel.report.model_section import model_sections
from goldlabel.report.page import Bar, Item, Page, Section, render_page
from goldlabel.report.plots import draw_bars, draw_curve, draw_histogram

HARD, AFLITE = "hard", "aflite"
PAGE, FIGURES = "index.html", "audit.json"
LABEL_ERRORS = "label_errors.csv"
TABLES = ("groups", "findings", "pmi", "competency")
_OWN = {PAGE, FIGURES, LABEL_ERRORS, HARD, AFLITE, *(f"{name}.csv" for name in TABLES)}


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an audit."""
    if folder.exists() and not (folder / FIGURES).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is not empty and no audit; choose another folder for the output")


def write_audit(
    audit: Audit, folder: Path, *, model: ModelAudit | None = None, filtered: Pairs | None = None, **more: Any
) -> Path:
    """Write index.html, audit.json, the tables as CSV and the hard subset; return the page's path.

    ``model`` is what was found about a model, ``filtered`` what AFLite leaves. What an earlier audit wrote goes, all at
    once; files of others stay.
    """
    check_folder(folder)
    with atomic_folder(folder.resolve()) as temporary:
        for entry in folder.iterdir() if folder.exists() else ():
            if entry.name not in _OWN:
                (shutil.copytree if entry.is_dir() else shutil.copy2)(entry, temporary / entry.name)
        audit.hard_subset().write(temporary / HARD)
        if filtered is not None:
            filtered.write(temporary / AFLITE)
        for name, table in _tables(audit).items():
            table.write_csv(temporary / f"{name}.csv")
        if audit.label_errors:
            sheet = review_sheet(audit.pairs, audit.label_errors.candidates)
            sheet.write_csv(temporary / LABEL_ERRORS, include_bom=True)  # without it, Excel takes UTF-8 for latin-1
        render_page(audit_page(audit, model), temporary / PAGE)
        figures = json.dumps(
            audit.to_dict() | ({"model": model.to_dict()} if model else {}) | more,
            ensure_ascii=False,
            indent=2,
            default=str,
        )
        (temporary / FIGURES).write_text(figures + "\n", encoding="utf-8")
    return folder / PAGE


def audit_page(audit: Audit, model: ModelAudit | None = None) -> Page:
    """Turn an audit into a page: the verdict, the findings, then what they rest on."""
    return Page(
        title=f"Audit of {audit.pairs.card.name}, {audit.whole.pairs:,} pairs",
        lead=_unbroken(audit.verdict),
        sections=[*_sections(audit), *(model_sections(model) if model else ())],
        footer=(
            f"Made by goldlabel audit, seed {audit.options.seed}. Intervals are at {_level(audit)} and take pairs of "
            "one premise or group as dependent. audit.json, the tables as CSV and the hard subset "
            f"({HARD}/, the pairs labelled wrongly without the premise) lie beside this page."
        ),
    )


def _sections(audit: Audit) -> Iterator[Section]:
    yield _findings(audit)
    yield _hypothesis_only(audit)
    yield _words(audit)
    yield _overlap(audit.whole.overlap)
    yield _lengths(audit.whole.length)
    if audit.agreement:
        yield _agreement(audit)
    if len(audit.groups) > 1:
        yield _groups(audit)
    yield _leakage(audit)
    yield _tags(audit)
    if audit.whole.negators:
        yield _negators(audit)
    yield _competency(audit)
    if audit.label_errors:
        yield _label_errors(audit)


def _findings(audit: Audit) -> Section:
    if not audit.findings:
        return Section(heading="Findings", text="Nothing stands out.")
    items = [
        Item(_unbroken(finding.text), ", ".join(example.id for example in finding.examples[:3]))
        for finding in audit.findings
    ]
    return Section(heading="Findings", text="The gravest first, with pairs to look at.", items=items)


def _unbroken(text: str) -> str:
    """Keep a number and its per cent sign on one line."""
    return text.replace(" %", "\u00a0%")


def _level(audit: Audit) -> str:
    return f"{100 * audit.options.level:g}\u00a0%"


def _percent(figure: Estimate) -> str:
    return figure.percent().text()


def _hypothesis_only(audit: Audit) -> Section:
    judgement, control = audit.hypothesis_only, audit.premise_only
    bars = [
        Bar("hypothesis only", judgement.accuracy, "linear, words and bigrams"),
        Bar("most frequent label", judgement.majority, judgement.majority_label),
    ]
    if control:
        bars.append(Bar("premise only", control.accuracy, "the control"))
    for name, other in audit.models.items():
        if other:
            bars.append(Bar(f"{name}, no premise", other.accuracy))
    labels = [_accuracy_row(name, figure) for name, figure in judgement.by_label.items() if figure.n]
    slices = [
        _accuracy_row(f"{column} {value}", part.accuracy) | {"gain": _percent(part.gain)}
        for column, parts in audit.slices.items()
        for value, part in parts.items()
    ]
    return Section(
        heading="Without the premise",
        text=(
            f"Accuracy in per cent over {judgement.accuracy.n:,} pairs of {judgement.accuracy.units:,} premises or "
            f"groups, each labelled by a model that saw neither it nor its premise; intervals at {_level(audit)}."
        ),
        bars=bars,
        figures=[_curve(audit.curve, judgement)] if audit.curve else [],
        table=pl.DataFrame([*labels, *slices], infer_schema_length=None),
    )


def _accuracy_row(name: str, accuracy: Estimate) -> dict[str, Any]:
    return {"pairs of": name, "pairs": accuracy.n, "accuracy": _percent(accuracy)}


def _curve(curve: list[CurvePoint], judgement: Judgement) -> Figure:
    points = [
        (point.pairs, point.accuracy.value or 0.0, *(point.accuracy.interval or (point.accuracy.value or 0.0,) * 2))
        for point in curve
    ]
    return draw_curve(
        "Accuracy without the premise",
        points,
        floor=judgement.majority.value or 0.0,
        floor_name="most frequent label",
        shows=f"Hypothesis-only accuracy grows from {points[0][1]:.0%} to {points[-1][1]:.0%}",
    )


def _words(audit: Audit) -> Section:
    by_label = audit.words_by_label
    top = max([word.pmi.value or 0.0 for words in by_label.values() for word in words] or [1.0])
    drawings = [
        draw_bars(
            label,
            [(word.word[:12], word.pmi.value or 0.0, f"{word.count:,}/{word.total:,}") for word in words],
            top=max(top, 0.1),
            shows=f"Words of the highest PMI with {label}: {', '.join(word.word for word in words)}",
        )
        for label, words in by_label.items()
        if words
    ]
    rows = [
        {
            "word": word.word,
            "label": word.label,
            "pmi": word.pmi.text(2),
            "with the label": word.count,
            "of": word.total,
        }
        for word in audit.whole.words
    ]
    return Section(
        heading="Words and labels",
        text="Pointwise mutual information; beside each bar, hypotheses of the label with the word out of all with it.",
        figures=drawings,
        table=pl.DataFrame(rows, infer_schema_length=None) if rows else None,
    )


def _overlap(overlap: Overlap) -> Section:
    heads = {"lexical_overlap": "all words shared", "subsequence": "a stretch", "constituent": "a clause"}
    rows = [
        {
            "label": label,
            "mean overlap": _percent(part.mean),
            "over 70 %": _percent(part.over_rule),
            **{head: _percent(part.heuristics[name]) for name, head in heads.items()},
        }
        for label, part in (("all", overlap), *overlap.by_label.items())
    ]
    return Section(
        heading="Overlap with the premise",
        text="Per cent of the hypothesis's words (in Chinese, characters) that the premise has; grey is all pairs.",
        figures=_histograms(overlap, ("0 %", "100 %"), lambda part: f"mean {100 * (part.mean.value or 0):.0f} %"),
        table=pl.DataFrame(rows),
    )


def _lengths(lengths: Lengths) -> Section:
    rows = [
        {
            "label": label,
            "hypothesis, mean": part.hypothesis.text(),
            "sd": part.hypothesis_sd,
            "median": part.hypothesis_median,
            "premise, mean": part.premise.text(),
            "difference": part.difference.text(),
        }
        for label, part in (("all", lengths), *lengths.by_label.items())
    ]
    return Section(
        heading="Length",
        text="Of the hypothesis in words (in Chinese, characters); grey is all pairs.",
        figures=_histograms(
            lengths, ("0", f"{len(lengths.histogram) - 1}+"), lambda part: f"mean {part.hypothesis.value or 0:.1f}"
        ),
        table=pl.DataFrame(rows, infer_schema_length=None),
    )


def _histograms(figures: Any, ends: tuple[str, str], note: Callable[[Any], str]) -> list[Figure]:
    whole = _shares(figures.histogram)
    return [
        draw_histogram(
            label, _shares(part.histogram), whole, ends=ends, note=note(part), shows=f"{label}: {note(part)}"
        )
        for label, part in figures.by_label.items()
        if sum(part.histogram)
    ]


def _shares(counts: list[int]) -> list[float]:
    return [count / max(sum(counts), 1) for count in counts]


_AGREEMENT = {
    "agree5": "all five agree",
    "agree4": "four or more agree",
    "agree3": "three or more agree",
    "individual_gold": "a vote is the gold label",
    "gold_author": "the gold label is the author's",
    "no_gold": "no gold label",
}


def _agreement(audit: Audit) -> Section:
    agreement = audit.agreement
    assert agreement is not None
    figures = {words: agreement.figures[name] for name, words in _AGREEMENT.items()}
    bars = [Bar(words, _as_share(figure)) for words, figure in figures.items() if figure.value is not None]
    text = f"Of the {agreement.relabelled:,} pairs with two votes or more, with intervals at {_level(audit)}."
    return Section(heading="Agreement of annotators", text=text, bars=bars)


def _as_share(figure: Estimate) -> Estimate:
    """Agreement comes in per cent, bars are drawn from shares."""
    value, low, high = (None if part is None else part / 100 for part in (figure.value, figure.low, figure.high))
    return Estimate(value, low, high, figure.level, figure.n, figure.units, figure.method)


def _groups(audit: Audit) -> Section:
    rows = []
    for name, group in audit.groups.items():
        blind, top = group.hypothesis_only, group.words[0] if group.words else None
        rows.append(
            {
                "group": name,
                "pairs": group.pairs,
                "hypothesis only": _percent(blind.accuracy) if blind else None,
                "gain": _percent(blind.gain) if blind else None,
                "test": p_in_words(blind.p_value) if blind and blind.p_value is not None else None,
                "top word": f"{top.word} ({top.label})" if top else None,
                "overlap": _percent(group.overlap.mean),
                "length": group.length.hypothesis.text(),
            }
        )
    text = (
        "Accuracy without the premise, its gain over the most frequent label and overlap in per cent, length in words "
        "(in Chinese, characters); p-values are adjusted for the number of groups (Holm)."
    )
    return Section(heading=f"By {audit.options.by}", text=text, table=pl.DataFrame(rows, infer_schema_length=None))


def _leakage(audit: Audit) -> Section:
    leakage, foreign = audit.whole.leakage, audit.whole.foreign_text
    rows: list[tuple[str, int | None, Estimate | None]] = [
        ("premises in several splits", leakage.shared_premises, None),
        ("pairs of dev or test with a premise of train", leakage.held_out_pairs, leakage.held_out),
        ("pairs that repeat an earlier one", leakage.duplicates, leakage.duplicated),
        ("pairs in several splits", leakage.duplicates_across_splits, None),
        ("pairs with several labels", leakage.contradictory_duplicates, None),
    ]
    if near := leakage.near:
        rows.append(("clusters of exact and near duplicates", near.clusters, None))
        rows.append(("clusters of them across splits", near.across_splits, None))
    for other, shared in leakage.against.items():
        rows.append((f"pairs also in {other}", shared.shared_pairs, shared.share))
        rows.append((f"premises also in {other}", shared.shared_premises, None))
        if shared.near:
            rows.append((f"clusters of near duplicates that reach into {other}", shared.near.across_datasets, None))
    if foreign:
        figure = foreign.share
        rows.append(("pairs with more than ten Roman letters", round((figure.value or 0) * figure.n), figure))
    text = (
        "Texts that differ in case, spacing and punctuation only are the same. An empty cell is undefined, as where "
        "there is one split only."
    )
    if leakage.near_note:
        text += f" Near-duplicates were {leakage.near_note}."
    table = [
        {"what": what, "count": count, "per cent": _percent(figure) if figure else None} for what, count, figure in rows
    ]
    return Section(heading="Leaks and duplicates", text=text, table=pl.DataFrame(table, infer_schema_length=None))


def _tags(audit: Audit) -> Section:
    tags, unknown = audit.whole.tags, audit.without_language
    text = "Per cent of texts with each."
    if unknown:
        text += (
            f" The language of {unknown:,} pairs is not known: they have no tags, no negators and no foreign text. Say "
            "it in the column language."
        )
    if not tags:
        text = text if unknown else "There are word lists for English and Chinese only; tags are undefined."
        return Section(heading="Linguistic tags", text=text)
    rows = [
        {"tag": name.replace("_", "-"), "premises": _percent(part.premise), "hypotheses": _percent(part.hypothesis)}
        for name, part in tags.items()
    ]
    return Section(heading="Linguistic tags", text=text, table=pl.DataFrame(rows))


def _negators(audit: Audit) -> Section:
    rows = [
        {"language": language, "label": label, "pairs": figure.n, "negated": _percent(figure)}
        for language, negators in (audit.whole.negators or {}).items()
        for label, figure in (("all", negators.negated), *negators.by_label.items())
    ]
    text = "Per cent of hypotheses with a negator."
    return Section(heading="Negators", text=text, table=pl.DataFrame(rows, infer_schema_length=None))


def _competency(audit: Audit) -> Section:
    text = (
        "Features that go with a label more often than chance, by z-score over premises or groups; the false-discovery "
        f"rate is held at {audit.options.fdr:g}."
    )
    if audit.competency.is_empty():
        return Section(heading="Competency statistics", text=f"{text} None does.")
    return Section(heading="Competency statistics", text=text, table=audit.competency.head(15))


def _label_errors(audit: Audit) -> Section:
    errors = audit.label_errors
    assert errors is not None
    if errors.too_weak:
        return Section(heading="Label errors", text=f"{_unbroken(errors.title)}; see label_errors.csv.")
    text = f"{_unbroken(errors.title)} (confident learning); the least probable first."
    return Section(heading="Label errors", text=text, table=errors.table.head(15))


def _tables(audit: Audit) -> dict[str, pl.DataFrame]:
    return {
        "groups": audit.table,
        "findings": pl.DataFrame(
            [
                {
                    "kind": finding.kind,
                    "text": finding.text,
                    "examples": " ".join(example.id for example in finding.examples),
                }
                for finding in audit.findings
            ],
            schema={"kind": pl.String, "text": pl.String, "examples": pl.String},
        ),
        "pmi": pl.DataFrame(
            [
                {
                    "group": value,
                    "word": word.word,
                    "label": word.label,
                    "pmi": word.pmi.value,
                    "low": word.pmi.low,
                    "high": word.pmi.high,
                    "count": word.count,
                    "total": word.total,
                }
                for value, group in audit.groups.items()
                for word in group.words
            ],
            infer_schema_length=None,
        ),
        "competency": audit.competency,
    }
