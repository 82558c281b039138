"""How well labels are told without the premise: bars, the learning curve, and the figures of each label and slice."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.audit.hypothesis_only import CurvePoint, Judgement
from goldlabel.metrics import Estimate, p_value, percent
from goldlabel.report.audit.cards import shaped
from goldlabel.report.audit.words import word_cell
from goldlabel.report.figure import Figure
from goldlabel.report.page import Bar, Section
from goldlabel.report.plots import draw_curve
from goldlabel.report.table import Cell, Column, Table, Value


def blind_section(audit: Audit) -> Section:
    """Return what a model that never sees the premise gets right."""
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
    labels = [(shaped(name), figure.n, figure, None) for name, figure in judgement.by_label.items() if figure.n]
    slices = [
        (f"{column} {value}", part.accuracy.n, part.accuracy, part.gain)
        for column, parts in audit.slices.items()
        for value, part in parts.items()
    ]
    rows: list[tuple[str, int, Estimate, Estimate | None]] = [*labels, *slices]
    columns = ("pairs of", "pairs", Column("accuracy", percent=True), Column("gain, points", percent=True, signed=True))
    return Section(
        heading="Without the premise",
        text=(
            f"Accuracy over {judgement.accuracy.n:,} pairs of {judgement.accuracy.units:,} premises or groups, each "
            f"labelled by a model that saw neither it nor its premise; intervals at {100 * audit.options.level:g} %."
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
        "group",
        "pairs",
        Column("hypothesis only", percent=True),
        Column("gain, points", percent=True, signed=True),
        "p",
        "top word",
        Column("overlap", percent=True),
        "length",
    )
    text = (
        "Accuracy without the premise, its gain over the most frequent label, overlap, and length in words (in "
        "Chinese, characters); p-values are adjusted for the number of groups (Holm)."
    )
    return Section(heading=f"By {audit.options.by}", text=text, table=Table(name="groups", columns=columns, rows=rows))


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
        shows=f"Hypothesis-only accuracy grows from {percent(points[0][1])} to {percent(points[-1][1])}",
    )
