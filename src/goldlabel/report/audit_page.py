"""The page and the files of an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.audit import Audit
from goldlabel.errors import InputError
from goldlabel.files import atomic_file, write_text
from goldlabel.metrics import Estimate
from goldlabel.report.page import Bar, Figure, Item, Page, Section, render_page
from goldlabel.report.plots import draw_bars, draw_curve, draw_histogram

HARD = "hard"
FIGURES = "audit.json"


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an audit."""
    if folder.exists() and not (folder / FIGURES).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is not empty and no audit; choose another folder for the output")


def write_audit(audit: Audit, folder: Path, **more: Any) -> Path:
    """Write index.html, audit.json, the tables as CSV and the hard subset; return the page's path."""
    check_folder(folder)
    audit.hard_subset().write(folder / HARD)
    for name, table in _tables(audit).items():
        with atomic_file(folder / f"{name}.csv") as temporary:
            table.write_csv(temporary)
    render_page(audit_page(audit), folder / "index.html")
    write_text(folder / FIGURES, json.dumps(audit.to_dict() | more, ensure_ascii=False, indent=2, default=str) + "\n")
    return folder / "index.html"


def audit_page(audit: Audit) -> Page:
    """Turn an audit into a page: the verdict, the findings, then what they rest on."""
    whole = audit.whole
    sections = [
        _findings(audit),
        _hypothesis_only(audit),
        _words(whole),
        _overlap(whole),
        _lengths(whole),
        *([_agreement(whole)] if whole["agreement"] else []),
        *([_groups(audit)] if len(audit.groups) > 1 else []),
        _leakage(whole),
        *([_tags(whole)] if whole["tags"] else []),
        *([_negators(whole)] if whole["negators"] else []),
        _competency(audit),
        *([_label_errors(audit)] if audit.label_errors else []),
    ]
    return Page(
        title=f"Audit of {audit.pairs.card.name}, {whole['pairs']:,} pairs",
        lead=_unbroken(audit.verdict),
        sections=sections,
        footer=(
            f"Made by goldlabel audit, seed {audit.options.seed}. audit.json, the tables as CSV and the hard subset "
            f"({HARD}/, the pairs labelled wrongly without the premise) lie beside this page."
        ),
    )


def _findings(audit: Audit) -> Section:
    text = "The most telling first, with pairs to look at."
    if not audit.findings:
        return Section(heading="Findings", text="Nothing stands out.")
    items = [Item(_unbroken(one["text"]), ", ".join(one["evidence"]["examples"][:3])) for one in audit.findings]
    return Section(heading="Findings", text=text, items=items)


def _unbroken(text: str) -> str:
    """Keep a number and its per cent sign on one line."""
    return text.replace(" %", "\u00a0%")


def _hypothesis_only(audit: Audit) -> Section:
    figures, control = audit.whole["hypothesis_only"], audit.whole["premise_only"]
    bars = [
        Bar("hypothesis only", _estimate(figures), "linear, words and bigrams"),
        Bar(
            "most frequent label",
            _estimate({**figures, "accuracy": figures["majority"], "interval": (None, None)}),
            figures["majority_label"],
        ),
    ]
    if control:
        bars.append(Bar("premise only", _estimate(control), "the control"))
    for name, other in figures["models"].items():
        bars.append(Bar(f"{name}, no premise", _estimate(other)))
    curve = figures.get("curve")
    drawings = [_curve(curve, figures)] if curve else []
    slices = [
        {"pairs of": f"{column} {value}", **_accuracy_row(part)}
        for column in ("level", "genre")
        for value, part in figures[f"by_{column}"].items()
        if part
    ]
    labels = [{"pairs of": name, **_accuracy_row(part)} for name, part in figures["by_label"].items() if part]
    return Section(
        heading="Without the premise",
        text=(
            f"Accuracy over {figures['n']:,} pairs, each labelled by a model that saw neither it nor its premise, with "
            "95 % Wilson intervals."
        ),
        bars=bars,
        figures=drawings,
        table=pl.DataFrame([*labels, *slices], infer_schema_length=None),
    )


def _estimate(figures: dict[str, Any]) -> Estimate:
    low, high = figures["interval"]
    return Estimate(figures["accuracy"], low, high, 0.95, figures["n"], figures["n"], "")


def _accuracy_row(part: dict[str, Any]) -> dict[str, Any]:
    low, high = part["interval"]
    row = {"pairs": part["n"], "accuracy": part["accuracy"], "from": low, "to": high}
    return row | ({"gain": part["gain"]} if "gain" in part else {})


def _curve(curve: list[dict[str, Any]], figures: dict[str, Any]) -> Figure:
    return draw_curve(
        "Accuracy without the premise",
        [(point["pairs"], point["accuracy"], *point["interval"]) for point in curve],
        floor=figures["majority"],
        floor_name="most frequent label",
        shows=f"Hypothesis-only accuracy grows from {curve[0]['accuracy']:.0%} to {curve[-1]['accuracy']:.0%}",
    )


def _words(whole: dict[str, Any]) -> Section:
    by_label = whole["pmi_by_label"]
    top = max([row["pmi"] for rows in by_label.values() for row in rows] or [1.0])
    drawings = [
        draw_bars(
            label,
            [(row["word"][:12], row["pmi"], f"{row['count']:,}/{row['total']:,}") for row in rows],
            top=max(top, 0.1),
            shows=f"Words of the highest PMI with {label}: {', '.join(row['word'] for row in rows)}",
        )
        for label, rows in by_label.items()
        if rows
    ]
    return Section(
        heading="Words and labels",
        text="Pointwise mutual information; beside each bar, hypotheses of the label with the word out of all with it.",
        figures=drawings,
        table=pl.DataFrame(whole["pmi"], infer_schema_length=None) if whole["pmi"] else None,
    )


def _overlap(whole: dict[str, Any]) -> Section:
    figures = whole["overlap"]
    names = ("mean", "over_rule_share", "lexical_overlap_share", "subsequence_share", "constituent_share")
    heads = ("mean overlap", "over 70 %", "all words shared", "a stretch", "a clause")
    return Section(
        heading="Overlap with the premise",
        text="Share of the hypothesis's words (in Chinese, characters) that the premise has; grey is all pairs.",
        figures=_histograms(figures, ("0 %", "100 %"), lambda part: f"mean {100 * part['mean']:.0f} %"),
        table=_by_label(figures, names, heads),
    )


def _lengths(whole: dict[str, Any]) -> Section:
    figures = whole["length"]
    names = ("hypothesis_mean", "hypothesis_sd", "hypothesis_median", "premise_mean", "difference_mean")
    heads = ("hypothesis, mean", "sd", "median", "premise, mean", "difference")
    ends = ("0", f"{len(figures['histogram']) - 1}+")
    return Section(
        heading="Length",
        text="Of the hypothesis in words (in Chinese, characters); grey is all pairs.",
        figures=_histograms(figures, ends, lambda part: f"mean {part['hypothesis_mean']:.1f}"),
        table=_by_label(figures, names, heads),
    )


def _histograms(figures: dict[str, Any], ends: tuple[str, str], note: Any) -> list[Figure]:
    whole = _shares(figures["histogram"])
    return [
        draw_histogram(
            label, _shares(part["histogram"]), whole, ends=ends, note=note(part), shows=f"{label}: {note(part)}"
        )
        for label, part in figures["by_label"].items()
        if sum(part["histogram"])
    ]


def _shares(counts: list[int]) -> list[float]:
    return [count / max(sum(counts), 1) for count in counts]


def _by_label(figures: dict[str, Any], names: tuple[str, ...], heads: tuple[str, ...]) -> pl.DataFrame:
    rows = [("all", figures), *figures["by_label"].items()]
    return pl.DataFrame(
        [
            {"label": label, **{head: part[name] for head, name in zip(heads, names, strict=True)}}
            for label, part in rows
        ],
        infer_schema_length=None,
    )


def _groups(audit: Audit) -> Section:
    return Section(heading=f"By {audit.options.by}", text="The same figures per group.", table=audit.table)


_AGREEMENT = {
    "agree5": "all five agree",
    "agree4": "four or more agree",
    "agree3": "three or more agree",
    "individual_gold": "a vote is the gold label",
    "gold_author": "the gold label is the author's",
    "no_gold": "no gold label",
}


def _agreement(whole: dict[str, Any]) -> Section:
    figures = whole["agreement"]
    bars = [
        Bar(
            words,
            Estimate(
                figures[name] / 100,
                figures["intervals"][name][0] / 100,
                figures["intervals"][name][1] / 100,
                level=0.95,
                n=figures["relabelled"],
                units=figures["relabelled"],
                method="",
            ),
        )
        for name, words in _AGREEMENT.items()
        if figures[name] is not None and figures["intervals"][name]
    ]
    text = f"Of the {figures['relabelled']:,} pairs with two votes or more, with 95 % intervals."
    return Section(heading="Agreement of annotators", text=text, bars=bars)


def _leakage(whole: dict[str, Any]) -> Section:
    figures = whole["leakage"]
    rows = [
        {"what": name.replace("_", " "), "count": figures[name]}
        for name in (
            "shared_premises",
            "held_out_pairs_with_premise_in_train",
            "duplicates",
            "duplicates_across_splits",
            "contradictory_duplicates",
        )
    ]
    if figures["near"]:
        rows.append({"what": "clusters of exact and near duplicates", "count": figures["near"]["clusters"]})
    for other, found in figures["against"].items():
        rows.append({"what": f"pairs also in {other}", "count": found["shared_pairs"]})
        rows.append({"what": f"premises also in {other}", "count": found["shared_premises"]})
    if whole["foreign_text"]:
        rows.append({"what": "pairs with more than ten Roman letters", "count": whole["foreign_text"]["pairs"]})
    text = "Counts of identical texts; an empty cell is undefined, as where there is one split only."
    return Section(heading="Leaks and duplicates", text=text, table=pl.DataFrame(rows, infer_schema_length=None))


def _tags(whole: dict[str, Any]) -> Section:
    rows = [
        {"tag": name.replace("_", "-"), "premises": part["premise"], "hypotheses": part["hypothesis"]}
        for name, part in whole["tags"].items()
    ]
    return Section(heading="Linguistic tags", text="Share of texts with each.", table=pl.DataFrame(rows))


def _negators(whole: dict[str, Any]) -> Section:
    rows = [
        {"language": language, "label": label, "pairs": part["pairs"], "negated": part["share"]}
        for language, figures in whole["negators"].items()
        for label, part in (("all", figures), *figures["by_label"].items())
    ]
    text = "Share of hypotheses with a negator."
    return Section(heading="Negators", text=text, table=pl.DataFrame(rows, infer_schema_length=None))


def _competency(audit: Audit) -> Section:
    text = (
        "Features that go with a label more often than chance, by z-score; the false-discovery rate is held at "
        f"{audit.options.level:g}."
    )
    return Section(heading="Competency statistics", text=text, table=audit.competency.head(15))


def _label_errors(audit: Audit) -> Section:
    assert audit.label_errors is not None
    text = f"{audit.label_errors.title}, by confident learning; the least probable first."
    return Section(heading="Label errors", text=text, table=audit.label_errors.candidates.head(15))


def _tables(audit: Audit) -> dict[str, pl.DataFrame]:
    tables = {
        "groups": audit.table,
        "findings": pl.DataFrame(
            [
                {"kind": one["kind"], "text": one["text"], "examples": " ".join(one["evidence"]["examples"])}
                for one in audit.findings
            ],
            schema={"kind": pl.String, "text": pl.String, "examples": pl.String},
        ),
        "pmi": pl.DataFrame(
            [{"group": value, **row} for value, group in audit.groups.items() for row in group["pmi"]],
            infer_schema_length=None,
        ),
        "competency": audit.competency,
    }
    if audit.label_errors:
        tables["label_errors"] = audit.label_errors.candidates
    return tables
