"""Small drawings as SVG: one per panel, labelled directly, in the colours of the page they stand in.

Drawings are made in placeholder colours that become the page's own (``--ink`` and so on), so that they follow
light and dark. Text stays text, set in the page's fonts.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from goldlabel.report.page import Figure

INK, SOFT, BAR, LINE, SECOND = "#010203", "#010204", "#010205", "#010206", "#010207"
_COLOURS = {INK: "--ink", SOFT: "--soft", BAR: "--bar", LINE: "--line", SECOND: "--second"}
_FONT_SIZE = 9.5


def draw_bars(title: str, rows: Sequence[tuple[str, float, str]], *, top: float, shows: str) -> Figure:
    """Draw horizontal bars: name, value, and a note at the bar's end."""
    with _panel(2.6, 0.62 + 0.27 * max(len(rows), 1)) as (figure, axes):
        _title(axes, title)
        for place, (name, value, note) in enumerate(rows):
            axes.barh(-place, max(value, 0), height=0.62, color=BAR)
            axes.text(-0.02 * top, -place, name, ha="right", va="center", color=INK)
            axes.text(max(value, 0) + 0.02 * top, -place, note, ha="left", va="center", color=SOFT, fontsize=8)
        axes.set_xlim(-0.5 * top, 1.65 * top)
        axes.set_ylim(-max(len(rows), 1) + 0.4, 0.6)
        axes.axis("off")
        return Figure(_svg(figure), shows)


def draw_histogram(
    title: str, heights: Sequence[float], grey: Sequence[float], *, ends: tuple[str, str], note: str, shows: str
) -> Figure:
    """Draw one label's shares per bin over those of all pairs in grey."""
    with _panel(2.4, 1.5) as (figure, axes):
        _title(axes, title)
        places = range(len(heights))
        axes.bar(places, grey, width=0.94, color=LINE)
        axes.bar(places, heights, width=0.5, color=BAR)
        most = max([*heights, *grey, 1e-9])
        axes.set_ylim(0, 1.35 * most)
        axes.text(0.98, 0.96, note, transform=axes.transAxes, ha="right", va="top", color=SOFT, fontsize=8)
        _bare(axes)
        axes.set_xticks([0, len(heights) - 1], ends)
        return Figure(_svg(figure), shows)


def draw_curve(
    title: str, points: Sequence[tuple[float, float, float, float]], *, floor: float, floor_name: str, shows: str
) -> Figure:
    """Draw accuracy over training size (size, accuracy, low, high), and a floor as a line."""
    with _panel(3.6, 2.1) as (figure, axes):
        _title(axes, title)
        sizes = [point[0] for point in points]
        axes.set_xscale("log")
        axes.axhline(floor, color=SECOND, linewidth=1.2)
        axes.fill_between(sizes, [point[2] for point in points], [point[3] for point in points], color=LINE)
        axes.plot(sizes, [point[1] for point in points], color=BAR, linewidth=1.8, marker="o", markersize=4)
        axes.text(sizes[0], floor, f"{floor_name} {100 * floor:.0f} %\n", color=SECOND, va="center", fontsize=8)
        for size, accuracy, *_ in (points[0], points[-1]):
            axes.annotate(
                f"{100 * accuracy:.0f} %", (size, accuracy), (0, 6), textcoords="offset points", ha="center", color=INK
            )
        values = [floor, *(bound for point in points for bound in point[2:])]
        room = max(0.02, 0.18 * (max(values) - min(values)))
        axes.set_ylim(min(values) - room, max(values) + room)
        axes.set_xlim(sizes[0] / 1.4, sizes[-1] * 1.4)
        _bare(axes)
        axes.set_xticks(sizes, [_short(size) for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel("pairs trained on", color=SOFT, fontsize=8)
        return Figure(_svg(figure), shows)


def draw_reliability(
    title: str, bins: Sequence[tuple[float, float, float | None, float | None, int]], *, shows: str
) -> Figure:
    """Draw how often a model is right over how sure it is: confidence, accuracy, its low and high end, and pairs.

    On the line it is as right as it is sure. Below, grey bars are the shares of pairs.
    """
    with _panel(2.9, 2.9) as (figure, axes):
        _title(axes, title)
        axes.plot([0, 1], [0, 1], color=SECOND, linewidth=1.2)
        axes.text(0.02, 0.06, "as right as sure", color=SECOND, fontsize=8, rotation=45, rotation_mode="anchor")
        total = sum(own[4] for own in bins)
        for confidence, accuracy, low, high, pairs in bins:
            axes.bar(confidence, 0.3 * pairs / total, width=0.03, bottom=0, color=LINE)
            if low is not None and high is not None:
                axes.plot([confidence, confidence], [low, high], color=BAR, linewidth=1.2)
            axes.plot([confidence], [accuracy], color=BAR, marker="o", markersize=4)
        axes.plot([own[0] for own in bins], [own[1] for own in bins], color=BAR, linewidth=1.8)
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.set_aspect("equal")
        _bare(axes)
        ticks = [0, 0.5, 1]
        axes.set_xticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])
        axes.set_yticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])
        axes.tick_params(axis="y", colors=SOFT, labelsize=8, length=0)
        axes.set_xlabel("sure", color=SOFT, fontsize=8)
        axes.set_ylabel("right", color=SOFT, fontsize=8)
        return Figure(_svg(figure), shows)


@contextmanager
def _panel(width: float, height: float) -> Iterator[tuple[Any, Any]]:
    import matplotlib
    from matplotlib.figure import Figure as Drawing

    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "goldlabel", "font.size": _FONT_SIZE}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The page's fonts draw the text; that matplotlib's own lack CJK does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        drawing = Drawing(figsize=(width, height), layout="constrained")
        yield drawing, drawing.subplots()


def _title(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", color=INK, fontsize=_FONT_SIZE, fontweight="bold")


def _bare(axes: Any) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
    axes.set_yticks([])
    axes.tick_params(axis="x", colors=SOFT, labelsize=8, length=0)


def _svg(drawing: Any) -> str:
    stream = io.StringIO()
    drawing.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    for colour, variable in _COLOURS.items():
        text = text.replace(colour, f"var({variable})")
    return text


def _short(size: float) -> str:
    return f"{size / 1e6:.3g}M" if size >= 1e6 else f"{size / 1e3:.3g}k" if size >= 1e3 else f"{size:.0f}"
