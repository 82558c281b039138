"""Folders of audits: what the labels of a dataset give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.audit.messages import read_message
from goldlabel.messages import Word
from goldlabel.metrics import Estimate
from goldlabel.report.figure import Figure
from goldlabel.report.language import N_, comma, say, sentences, translate
from goldlabel.report.page import Bar, Item, Section
from goldlabel.report.parts.reading import as_written, flat_estimate, read_json
from goldlabel.report.plots import draw_bars
from goldlabel.report.table import Column, Table

FIGURES = "audit.json"
MOST_FINDINGS = 8


@dataclass(frozen=True)
class AuditWord:
    """A word that goes with a label."""

    word: str
    label: str
    pmi: Estimate
    count: int
    total: int


@dataclass(frozen=True, kw_only=True)
class AuditFolder:
    """The audit of one dataset."""

    folder: Path
    name: str
    verdict: str
    pairs: int
    hypothesis_only: Estimate
    majority: Estimate
    premise_only: Estimate | None
    words: Mapping[str, Sequence[AuditWord]]
    """By label, those of the highest PMI."""
    findings: Sequence[str]
    measures: Mapping[str, float | None]
    agreement: Mapping[str, Estimate]
    options: Mapping[str, Any]

    @property
    def manifest(self) -> dict[str, str]:
        """What the figures are a function of."""
        chosen = (f"{name} {value}" for name, value in self.options.items() if value not in (None, False, [], ""))
        return {
            "dataset": say("{dataset}, {pairs:,} pairs", dataset=self.name, pairs=self.pairs),
            "options": ", ".join(chosen),
        }


def read_audit(folder: Path) -> AuditFolder:
    """Read the folder of an audit."""
    content = read_json(folder / FIGURES)
    with as_written(folder / FIGURES):
        whole, level = content["groups"]["all"], content["options"].get("level", 0.95)
        blind, control = whole["hypothesis_only"], whole.get("premise_only")
        return AuditFolder(
            folder=folder,
            name=content["name"],
            verdict=translate(read_message(content["verdict_message"])),
            pairs=whole["pairs"],
            hypothesis_only=flat_estimate(blind, level=level),
            majority=flat_estimate(blind, "majority", "majority_interval", level=level),
            premise_only=flat_estimate(control, level=level) if control else None,
            words={
                label: [
                    AuditWord(own["word"], label, flat_estimate(own, "pmi", level=level), own["count"], own["total"])
                    for own in words
                ]
                for label, words in whole["pmi_by_label"].items()
            },
            findings=[translate(read_message(own["message"])) for own in content["findings"]],
            measures=content["measures"],
            agreement=agreement_figures(whole["agreement"], level) if whole.get("agreement") else {},
            options=content["options"],
        )


AGREEMENT = {
    "agree5": N_("all five agree"),
    "agree4": N_("four or more agree"),
    "agree3": N_("three or more agree"),
    "individual_gold": N_("a vote is the gold label"),
    "individual_author": N_("a vote is the author's label"),
    "gold_author": N_("the gold label is the author's"),
    "no_gold": N_("no gold label"),
}


def agreement_figures(group: Mapping[str, Any], level: float) -> dict[str, Estimate]:
    """Return the shares of one group that are defined, between 0 and 1, by what they are called."""
    figures = {}
    for name, words in AGREEMENT.items():
        if group.get(name) is not None:
            low, high = group["intervals"].get(name) or (None, None)
            value, low, high = (None if end is None else end / 100 for end in (group[name], low, high))
            figures[say(words)] = Estimate(value, low, high, level, group["relabelled"], group["units"], "as written")
    return figures


def audit_sections(audits: Sequence[AuditFolder]) -> Iterator[Section]:
    """Yield for each dataset what its labels give away."""
    for audit in audits:
        bars = [
            Bar(say("hypothesis only"), audit.hypothesis_only, say("linear, words and bigrams")),
            Bar(say("most frequent label"), audit.majority),
            *([Bar(say("premise only"), audit.premise_only, say("the control"))] if audit.premise_only else []),
        ]
        yield Section(
            heading=say("What {dataset} gives away", dataset=audit.name),
            text=sentences(
                audit.verdict, say("Beside each bar below, hypotheses of the label with the word out of all with it.")
            ),
            bars=bars,
            figures=list(_words(audit)),
            items=[Item(text) for text in audit.findings[:MOST_FINDINGS]],
            table=_pmi_table(audit),
        )


def _words(audit: AuditFolder) -> Iterator[Figure]:
    top = max([word.pmi.value or 0.0 for words in audit.words.values() for word in words], default=0.1)
    for label, words in audit.words.items():
        rows = [(word.word[:12], word.pmi.value or 0.0, f"{word.count:,}/{word.total:,}") for word in words]
        if rows:
            name = translate(Word(label))
            shows = say(
                "{dataset}: words of the highest PMI with {label}: {words}",
                dataset=audit.name,
                label=name,
                words=comma().join(word.word for word in words),
            )
            yield draw_bars(name, rows, top=max(top, 0.1), shows=shows)


def _pmi_table(audit: AuditFolder) -> Table | None:
    rows = [
        (word.word, translate(Word(word.label)), word.pmi, word.count, word.total)
        for words in audit.words.values()
        for word in words
    ]
    columns = (say("word"), say("label"), Column("PMI", 2), say("with the label"), say("of all"))
    return Table(name=f"pmi-{audit.name}", columns=columns, rows=rows) if rows else None
