"""The sections of an audit's page about a model: half of the input, and the artifacts it leans on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from goldlabel.evaluate.model_audit import ModelAudit
from goldlabel.metrics import in_percent
from goldlabel.report.language import say, sentences
from goldlabel.report.page import Bar, Section
from goldlabel.report.table import Cell, Table


def model_sections(audited: ModelAudit, places: Mapping[str, str]) -> Iterator[Section]:
    """Yield what is known of a model on the pairs of the page; ``places`` is where the page tells of each artifact."""
    bars = [Bar(say("both sides"), audited.accuracy), Bar(say("most frequent label"), audited.majority)]
    bars[1:1] = [Bar(say(name.replace("_", " ")), part.accuracy) for name, part in audited.partial.items()]
    text = say(
        "{model}, judged by {pairs:,} pairs of {units:,} premises or groups (split {split}): accuracy with both "
        "sides, and with one of them blank.",
        model=audited.model,
        pairs=audited.accuracy.n,
        units=audited.accuracy.units,
        split=audited.split,
    )
    yield Section(
        heading=say("The model, with half of the input"),
        text=sentences(text, *audited.findings, *audited.notes),
        bars=bars,
        table=audited.table if len(audited.table) else None,
    )
    if audited.artifacts:
        names = {result.cue.name: places.get(result.cue.feature, "") for result in audited.artifacts}
        text = say(
            "At the same gold label, in points: how much more often the artifact's label is said of pairs that carry "
            "it, and how much more often they are answered rightly; for a word, how its label's probability changes "
            "when the word alone is taken out of hypotheses, or put before others."
        )
        yield Section(
            heading=say("The model and the artifacts"), text=text, table=_linked(audited.artifact_table, names)
        )
        text = say(
            "Of pairs with each gold label, the share that the model answers with each artifact's label, in per cent."
        )
        yield Section(
            heading=say("Its answers with and without each artifact"),
            text=text,
            table=_linked(_answers(audited), names),
        )


def _linked(frame: pl.DataFrame, addresses: Mapping[str, str]) -> Table:
    """Return a table whose first cells lead to the findings that they name."""
    table = Table.of(frame)
    return replace(table, rows=[(Cell(row[0], link=addresses[row[0]]), *row[1:]) for row in frame.rows()])


def _answers(audited: ModelAudit) -> pl.DataFrame:
    rows = [
        {
            "artifact": result.cue.name,
            "says": result.cue.label,
            "gold label": label,
            "with it": in_percent(part.carriers.answers[result.cue.label]),
            "without": in_percent(part.others.answers[result.cue.label]),
            "right with it": in_percent(part.carriers.accuracy),
            "right without": in_percent(part.others.accuracy),
        }
        for result in audited.artifacts
        for label, part in result.by_label.items()
    ]
    return pl.DataFrame(rows)
