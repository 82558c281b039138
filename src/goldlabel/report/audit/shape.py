"""The form of texts: how much of the hypothesis the premise has, and how long they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goldlabel.audit.figures import Lengths, Overlap
from goldlabel.metrics import percent
from goldlabel.report.audit.cards import label_of, shaped
from goldlabel.report.figure import Figure
from goldlabel.report.language import N_, say
from goldlabel.report.page import Section
from goldlabel.report.plots import draw_histogram
from goldlabel.report.table import Column, Table

_HEURISTICS = {"lexical_overlap": N_("all words shared"), "subsequence": N_("a stretch"), "constituent": N_("a clause")}


def overlap_section(overlap: Overlap) -> Section:
    """Return the overlap of premise and hypothesis by label."""
    rows = [
        (label, part.mean, part.over_rule, *(part.heuristics[name] for name in _HEURISTICS))
        for label, part in _by_label(overlap)
    ]
    heads = (say("mean overlap"), say("over 70 %"), *map(say, _HEURISTICS.values()))
    columns = [Column(say("label")), *(Column(head, percent=True) for head in heads)]
    return Section(
        heading=say("Overlap with the premise"),
        text=say(
            "The share of the hypothesis's words (in Chinese, characters) that the premise has; grey is all pairs."
        ),
        figures=_histograms(
            overlap,
            ("0 %", "50 %", "100 %"),
            say("shared"),
            lambda part: say("mean {value}", value=percent(part.mean.value)),
        ),
        table=Table(name="overlap", columns=columns, rows=rows),
    )


def length_section(lengths: Lengths) -> Section:
    """Return the lengths of hypotheses and premises by label."""
    rows = [
        (label, part.hypothesis, part.hypothesis_sd, part.hypothesis_median, part.premise, part.difference)
        for label, part in _by_label(lengths)
    ]
    last = len(lengths.histogram) - 1
    columns = (
        say("label"),
        say("hypothesis, mean"),
        say("sd"),
        say("median"),
        say("premise, mean"),
        Column(say("difference"), signed=True),
    )
    return Section(
        heading=say("Length"),
        text=say("Of the hypothesis in words (in Chinese, characters); grey is all pairs."),
        figures=_histograms(
            lengths,
            ("0", f"{last // 2}", f"{last}+"),
            say("length"),
            lambda part: say("mean {value}", value=f"{part.hypothesis.value or 0:.1f}"),
        ),
        table=Table(name="length", columns=columns, rows=rows),
    )


def _by_label(figures: Any) -> list[tuple[str, Any]]:
    return [(say("all"), figures), *((shaped(label), part) for label, part in figures.by_label.items())]


def _histograms(figures: Any, ticks: tuple[str, ...], x_name: str, note: Callable[[Any], str]) -> list[Figure]:
    whole = _shares(figures.histogram)
    parts = {label: part for label, part in figures.by_label.items() if sum(part.histogram)}
    top = max([*whole, *(share for part in parts.values() for share in _shares(part.histogram))])
    return [
        draw_histogram(
            label_of(label),
            _shares(part.histogram),
            whole,
            ticks=ticks,
            x_name=x_name,
            top=top,
            note=note(part),
            shows=f"{label_of(label)}: {note(part)}",
        )
        for label, part in parts.items()
    ]


def _shares(counts: list[int]) -> list[float]:
    return [count / max(sum(counts), 1) for count in counts]
