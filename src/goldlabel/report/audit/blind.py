"""How well labels are told without the premise: bars, the learning curve, and the figures of each label and slice."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.audit.hypothesis_only import CurvePoint, Judgement
from goldlabel.messages import Word
from goldlabel.metrics import Estimate, p_value, percent
from goldlabel.report.audit.cards import shaped
from goldlabel.report.audit.words import word_cell
from goldlabel.report.figure import Figure
from goldlabel.report.language import say, translate
from goldlabel.report.page import Bar, Section
from goldlabel.report.plots import draw_curve
from goldlabel.report.table import Cell, Column, Table, Value


def blind_section(audit: Audit) -> Section:
    """Return what a model that never sees the premise gets right."""
    judgement, control = audit.hypothesis_only, audit.premise_only
    bars = [
        Bar(say("hypothesis only"), judgement.accuracy, say("linear, words and bigrams")),
        Bar(say("most frequent label"), judgement.majority, translate(Word(judgement.majority_label))),
    ]
    if control:
        bars.append(Bar(say("premise only"), control.accuracy, say("the control")))
    for name, other in audit.models.items():
        if other:
            bars.append(Bar(say("{model}, no premise", model=name), other.accuracy))
    labels = [(shaped(name), figure.n, figure, None) for name, figure in judgement.by_label.items() if figure.n]
    slices = [
        (f"{translate(Word(column))} {value}", part.accuracy.n, part.accuracy, part.gain)
        for column, parts in audit.slices.items()
        for value, part in parts.items()
    ]
    rows: list[tuple[str, int, Estimate, Estimate | None]] = [*labels, *slices]
    columns = (
        say("pairs of"),
        say("pairs"),
        Column(say("accuracy"), percent=True),
        Column(say("gain, points"), percent=True, signed=True),
    )
    return Section(
        heading=say("Without the premise"),
        text=say(
            "Accuracy over {pairs:,} pairs of {units:,} premises or groups, each labelled by a model that saw neither "
            "it nor its premise; intervals at {level:g} %.",
            pairs=judgement.accuracy.n,
            units=judgement.accuracy.units,
            level=100 * audit.options.level,
        ),
        bars=bars,
        figures=[_curve(audit.curve, judgement)] if audit.curve else [],
        table=Table(name="without-the-premise", columns=columns[: 4 if slices else 3], rows=_cut(rows, bool(slices))),
    )


def _cut(rows: list[tuple[str, int, Estimate, Estimate | None]], with_gain: bool) -> list[tuple[Value, ...]]:
    return [row if with_gain else row[:3] for row in rows]


def groups_section(audit: Audit) -> Section:
    """Return the figures of each group that was asked for, side by side."""
    rows: list[tuple[Value | Cell, ...]] = []
    for name, group in audit.groups.items():
        blind, top = group.hypothesis_only, group.words[0] if group.words else None
        rows.append(
            (
                name,
                group.pairs,
                blind.accuracy if blind else None,
                blind.gain if blind else None,
                p_value(blind.p_value) if blind else None,
                word_cell(audit, top.word, top.label) if top else None,
                group.overlap.mean,
                group.length.hypothesis,
            )
        )
    columns = (
        say("group"),
        say("pairs"),
        Column(say("hypothesis only"), percent=True),
        Column(say("gain, points"), percent=True, signed=True),
        "p",
        say("top word"),
        Column(say("overlap"), percent=True),
        say("length"),
    )
    text = say(
        "Accuracy without the premise, its gain over the most frequent label, overlap, and length in words (in "
        "Chinese, characters); p-values are adjusted for the number of groups (Holm)."
    )
    return Section(
        heading=say("By {column}", column=translate(Word(audit.options.by or ""))),
        text=text,
        table=Table(name="groups", columns=columns, rows=rows),
    )


def _curve(curve: list[CurvePoint], judgement: Judgement) -> Figure:
    points = [
        (point.pairs, point.accuracy.value or 0.0, *(point.accuracy.interval or (point.accuracy.value or 0.0,) * 2))
        for point in curve
    ]
    return draw_curve(
        say("Accuracy without the premise"),
        points,
        floor=judgement.majority.value or 0.0,
        floor_name=say("most frequent label"),
        shows=say(
            "Hypothesis-only accuracy grows from {first} to {last}",
            first=percent(points[0][1]),
            last=percent(points[-1][1]),
        ),
    )
