"""The chart family: small drawings, labelled directly, in two colours beside grey that colour-blind readers tell apart.

Every function takes plain figures and returns a ``Figure``, which a ``Section`` shows and ``Figure.write`` leaves as
SVG and PNG. ``shows`` says in words what is to be seen. Shares are between 0 and 1 and printed in per cent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import fill
from typing import Any

from goldlabel.metrics import Estimate, percent
from goldlabel.report.figure import FONT_SIZE, SMALL, Figure, Palette, make_figure
from goldlabel.report.language import comma, say

LONGEST = 24
"""Characters of a row's name in one line."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LINES = ("-", "--", ":", "-.")
NARROW = 4.6
"""Inches; a wider drawing of dots takes the width of the page."""


def draw_bars(title: str, rows: Sequence[tuple[str, float, str]], *, top: float, shows: str) -> Figure:
    """Draw horizontal bars: name, value, and a note at the bar's end, which tells the value."""

    def draw(axes: Any, palette: Palette) -> None:
        _title(axes, title, palette)
        for place, (name, value, note) in enumerate(rows):
            axes.barh(-place, max(value, 0), height=0.62, color=palette.bar)
            axes.text(-0.03 * top, -place, name, ha="right", va="center", color=palette.ink)
            end = max(value, 0) + 0.03 * top
            axes.text(end, -place, note, ha="left", va="center", color=palette.soft, fontsize=SMALL)
        axes.set_xlim(-0.95 * top, 2.25 * top)  # an inch for the bars, the rest for names and notes
        axes.set_ylim(-max(len(rows), 1) + 0.4, 0.6)
        axes.axis("off")

    return make_figure(draw, 3.2, 0.62 + 0.27 * max(len(rows), 1), shows=shows)


def draw_histogram(
    title: str,
    heights: Sequence[float],
    grey: Sequence[float],
    *,
    ticks: Sequence[str],
    x_name: str,
    top: float,
    note: str,
    shows: str,
) -> Figure:
    """Draw one label's shares per bin over those of all pairs in grey; ``ticks`` are named from left to right."""

    def draw(axes: Any, palette: Palette) -> None:
        _title(axes, title, palette)
        places = range(len(heights))
        axes.bar(places, grey, width=0.94, color=palette.line)
        axes.bar(places, heights, width=0.5, color=palette.bar)
        axes.set_ylim(0, 1.08 * top)
        _bare(axes, palette)
        axes.set_yticks([0, top], ["0 %", percent(top)])
        axes.tick_params(axis="y", colors=palette.soft, labelsize=SMALL, length=0)
        last = len(heights) - 1
        axes.set_xticks([last * number / (len(ticks) - 1) for number in range(len(ticks))], ticks)
        axes.set_xlabel(f"{x_name}{comma()}{note}", color=palette.soft, fontsize=SMALL)
        axes.set_ylabel(say("pairs"), color=palette.soft, fontsize=SMALL)

    return make_figure(draw, 2.7, 1.9, shows=shows)


def draw_curve(
    title: str, points: Sequence[tuple[float, float, float, float]], *, floor: float, floor_name: str, shows: str
) -> Figure:
    """Draw accuracy over training size (size, accuracy, low, high), and a floor as a line."""

    def draw(axes: Any, palette: Palette) -> None:
        _title(axes, title, palette)
        sizes = [point[0] for point in points]
        axes.set_xscale("log")
        axes.axhline(floor, color=palette.second, linewidth=1.2)
        axes.fill_between(sizes, [point[2] for point in points], [point[3] for point in points], color=palette.line)
        axes.plot(sizes, [point[1] for point in points], color=palette.bar, linewidth=1.8, marker="o", markersize=4)
        values = [floor, *(bound for point in points for bound in point[2:])]
        spread = max(values) - min(values)
        room = max(0.02, 0.2 * spread)
        is_above = points[-1][1] >= floor
        side: Any = {"ha": "right", "va": "top" if is_above else "bottom", "color": palette.blue, "fontsize": SMALL}
        away = -0.02 * (spread + 2 * room)
        axes.text(sizes[-1], floor + (away if is_above else -away), f"{floor_name} {percent(floor)}", **side)
        above: Any = {"textcoords": "offset points", "ha": "center", "color": palette.ink}
        axes.annotate(percent(points[-1][1]), (sizes[-1], points[-1][3]), (0, 4), **above)
        axes.set_ylim(min(values) - room, max(values) + room)
        axes.set_xlim(sizes[0] / 1.4, sizes[-1] * 1.4)
        _framed(axes, palette, per_cent="y", minor=False)
        axes.set_xticks(sizes, [_short(size) for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel(say("pairs trained on"), color=palette.soft, fontsize=SMALL)
        axes.set_ylabel(say("accuracy, %"), color=palette.soft, fontsize=SMALL)

    return make_figure(draw, 4.2, 2.5, shows=shows)


def draw_reliability(
    title: str, bins: Sequence[tuple[float, float, float | None, float | None, int]], *, shows: str
) -> Figure:
    """Draw how often a model is right over how sure it is: confidence, accuracy, its low and high end, and pairs.

    On the line it is as right as it is sure. Below, grey bars are the shares of pairs.
    """

    def draw(axes: Any, palette: Palette) -> None:
        _title(axes, title, palette)
        axes.plot([0, 1], [0, 1], color=palette.second, linewidth=1.2)
        words: Any = {"rotation": 45, "rotation_mode": "anchor", "fontsize": SMALL}
        axes.text(0.02, 0.06, say("as right as sure"), color=palette.blue, **words)
        total = sum(own[4] for own in bins)
        for confidence, accuracy, low, high, pairs in bins:
            axes.bar(confidence, 0.3 * pairs / total, width=0.03, bottom=0, color=palette.line)
            if low is not None and high is not None:
                axes.plot([confidence, confidence], [low, high], color=palette.bar, linewidth=1.2)
            axes.plot([confidence], [accuracy], color=palette.bar, marker="o", markersize=4)
        axes.plot([own[0] for own in bins], [own[1] for own in bins], color=palette.bar, linewidth=1.8)
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.set_aspect("equal")
        _bare(axes, palette)
        for set_ticks in (axes.set_xticks, axes.set_yticks):
            set_ticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        axes.tick_params(axis="y", colors=palette.soft, labelsize=SMALL, length=0)
        axes.set_xlabel(say("sure"), color=palette.soft, fontsize=SMALL)
        axes.set_ylabel(say("right"), color=palette.soft, fontsize=SMALL)

    return make_figure(draw, 2.9, 2.9, shows=shows)


def draw_heat_map(
    rows: Sequence[str], columns: Sequence[str], shares: Mapping[tuple[str, str], float], *, shows: str
) -> Figure:
    """Draw a share for every row and column, darker where it is higher; a pair without a share is left empty."""
    name_width = 0.085 * max([*map(_width, rows), 8])
    head_height = 0.06 * max([*map(_width, columns), 8]) + 0.15

    def draw(axes: Any, palette: Palette) -> None:
        low, high = min(shares.values(), default=0.0), max(shares.values(), default=1.0)
        for (row, column), share in shares.items():
            x, y = columns.index(column), rows.index(row)
            # The lowest is not white: white is where nothing was measured.
            colour = palette.shade(0.1 + 0.9 * (share - low) / (high - low) if high > low else 0.5)
            axes.add_patch(_rectangle(x, y, colour))
            axes.text(x, y, f"{100 * share:.1f}", ha="center", va="center", color=palette.ink, fontsize=SMALL)
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.xaxis.tick_top()
        axes.set_xticks(range(len(columns)), columns, rotation=40, ha="left", rotation_mode="anchor")
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0, colors=palette.ink, labelsize=FONT_SIZE)
        axes.spines[:].set_visible(False)

    height = head_height + 0.36 * len(rows)
    return make_figure(draw, name_width + 0.62 * len(columns) + 0.4, height, shows=shows, wide=True)


def draw_scatter(
    points: Sequence[tuple[str, float, float]], *, x_name: str, y_name: str, shows: str, diagonal: str = ""
) -> Figure:
    """Draw named points of two shares; ``diagonal`` names the line on which both are the same."""

    def draw(axes: Any, palette: Palette) -> None:
        xs, ys = [own[1] for own in points], [own[2] for own in points]
        room = max(0.03, 0.12 * max(max(xs) - min(xs), max(ys) - min(ys)))
        (left, right), (bottom, top) = (min(xs) - room, max(xs) + room), (min(ys) - room, max(ys) + room)
        if diagonal and max(left, bottom) < min(right, top):
            ends = [max(left, bottom), min(right, top)]
            axes.plot(ends, ends, color=palette.second, linewidth=1.2)
            axes.annotate(diagonal, (ends[1], ends[1]), color=palette.blue, fontsize=SMALL, ha="right", va="bottom")
        axes.plot(xs, ys, color=palette.bar, marker="o", markersize=6, linestyle="none", clip_on=False)
        middle = (left + right) / 2
        labels = _apart([own[2] for own in points], 0.055 * (top - bottom))
        for (name, x, y), height in zip(points, labels, strict=True):
            is_left = x > middle
            beside = -0.018 * (right - left) if is_left else 0.018 * (right - left)
            axes.text(x + beside, height, name, ha="right" if is_left else "left", va="center", color=palette.ink)
            if abs(height - y) > 0.02 * (top - bottom):
                axes.plot([x, x + beside], [y, height], color=palette.soft, linewidth=0.6)
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        _framed(axes, palette)
        axes.set_xlabel(x_name, color=palette.soft)
        axes.set_ylabel(y_name, color=palette.soft)

    return make_figure(draw, 4.6, 3.6, shows=shows)


def draw_dots(
    rows: Sequence[tuple[str, Sequence[tuple[str, Estimate]]]],
    *,
    shows: str,
    title: str = "",
    x_name: str = "",
    zero: float | None = None,
    signed: bool = False,
    width: float = NARROW,
) -> Figure:
    """Draw for every row the shares of one or several series with their intervals, told apart by shape and colour.

    ``zero`` draws a line from which one sees which way a share lies.
    """
    series = list(dict.fromkeys(name for _, own in rows for name, _ in own))
    lines = [(row, place) for place, row in enumerate(rows)]
    step = 0.62 / max(len(series), 1) if len(series) > 1 else 0.0
    values = [end for _, own in rows for _, share in own for end in (share.low, share.value, share.high)]
    ends = [end for end in values if end is not None] + ([zero] if zero is not None else [])

    def draw(axes: Any, palette: Palette) -> None:
        axes.figure.suptitle(title, x=0.01, ha="left", color=palette.ink, fontsize=FONT_SIZE, fontweight="bold")
        if zero is not None:
            axes.axvline(zero, color=palette.line, linewidth=1.4)
        for (_, own), place in lines:
            axes.axhline(place + 0.5, color=palette.line, linewidth=0.5)
            for name, share in own:
                if share.value is None:
                    continue
                number = series.index(name)
                y = place + step * (number - (len(series) - 1) / 2)
                colour = (palette.bar, palette.second, palette.soft)[number % 3]
                if share.low is not None and share.high is not None:
                    axes.plot([share.low, share.high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
                axes.plot([share.value], [y], color=colour, marker=_MARKERS[number % 8], markersize=5, linestyle="none")
                if len(series) == 1:
                    text = f"{round(100 * share.value, 1) + 0.0:{'+' if signed else ''}.1f}"
                    axes.annotate(
                        text, (share.value, y), (0, 4), textcoords="offset points", ha="center", color=palette.soft,
                        fontsize=SMALL,
                    )  # fmt: skip
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        room = max(0.01, 0.06 * (high - low))
        axes.set_xlim(low - room, high + room)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        _framed(axes, palette, signed=signed)
        axes.set_yticks(range(len(rows)), [fill(name, LONGEST, break_long_words=False) for name, _ in rows])
        axes.tick_params(axis="y", colors=palette.ink, labelsize=FONT_SIZE)
        axes.set_xlabel(x_name, color=palette.soft)
        if len(series) > 1:
            _legend(axes, series, palette)

    per_row = max(0.36, 0.13 * len(series) + 0.12)
    legend = 0.24 * -(-len(series) // _legend_columns(series)) if len(series) > 1 else 0.0
    height = 0.75 + legend + 0.25 * bool(title) + per_row * len(rows)
    return make_figure(draw, width, height, shows=shows, wide=width > NARROW)


def draw_lines(
    series: Sequence[tuple[str, Sequence[tuple[float, ...]]]],
    *,
    x_name: str,
    y_name: str,
    shows: str,
    per_cent: bool = True,
    logarithmic: bool = False,
) -> Figure:
    """Draw one or several lines of points (x, y), or with an interval (x, y, low, high), each named at its end."""
    ends = [own[-1] for _, own in series if own]
    ys = [y for _, own in series for point in own for y in point[1:]]
    spread = max(max(ys, default=1.0) - min(ys, default=0.0), 1e-9)

    def draw(axes: Any, palette: Palette) -> None:
        if logarithmic:
            axes.set_xscale("log")
        heights = _apart([point[1] for point in ends], 0.075 * spread)
        for number, ((name, points), height) in enumerate(zip(series, heights, strict=True)):
            place = number % 3
            colour = (palette.bar, palette.second, palette.soft)[place]
            xs, values = [point[0] for point in points], [point[1] for point in points]
            line = _LINES[(number // 3) % 4]
            for x, _, *interval in points:
                axes.plot([x] * len(interval), interval, color=colour, linewidth=1.0)
            axes.plot(xs, values, color=colour, linewidth=1.8, linestyle=line, marker="o", markersize=3.5)
            words = (palette.gold, palette.blue, palette.soft)[place]
            axes.annotate(
                f" {name}", (1.01, height), xycoords=("axes fraction", "data"), color=words, va="center",
                annotation_clip=False,
            )  # fmt: skip
        axes.set_ylim(min(ys, default=0.0) - 0.06 * spread, max(ys, default=1.0) + 0.06 * spread)
        _framed(axes, palette, per_cent="y" if per_cent else "", minor=not logarithmic)
        if logarithmic:
            places = sorted({x for _, own in series for x, _ in own})
            axes.set_xticks(places, [_short(place) for place in places])
        else:
            axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel(x_name, color=palette.soft)
        axes.set_ylabel(y_name, color=palette.soft)

    return make_figure(draw, 4.6, 2.8, shows=shows)


def _rectangle(x: int, y: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, facecolor=colour, linewidth=0)


def _legend(axes: Any, series: Sequence[str], palette: Palette) -> None:
    from matplotlib.lines import Line2D

    colours = (palette.bar, palette.second, palette.soft)
    handles = [
        Line2D([], [], color=colours[number % 3], marker=_MARKERS[number % 8], markersize=5, label=name)
        for number, name in enumerate(series)
    ]
    place: Any = {"loc": "outside lower left", "ncols": _legend_columns(series)}
    axes.figure.legend(handles=handles, frameon=False, labelcolor=palette.ink, **place)


def _legend_columns(series: Sequence[str]) -> int:
    return max(1, min(len(series), 48 // (max(map(_width, series)) + 6)))


def _apart(heights: Sequence[float], distance: float) -> list[float]:
    """Return heights of labels at least ``distance`` from each other, each as near to its own as that allows."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    moved = list(heights)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + distance)
    surplus = sum(moved) / len(moved) - sum(heights) / len(heights) if heights else 0.0
    return [height - surplus for height in moved]


def _title(axes: Any, title: str, palette: Palette) -> None:
    axes.set_title(title, loc="left", color=palette.ink, fontsize=FONT_SIZE, fontweight="bold")


def _bare(axes: Any, palette: Palette) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(palette.line)
    axes.set_yticks([])
    axes.tick_params(axis="x", colors=palette.soft, labelsize=SMALL, length=0)


def _framed(axes: Any, palette: Palette, *, per_cent: str = "xy", signed: bool = False, minor: bool = True) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(palette.line)
    axes.tick_params(colors=palette.soft, labelsize=SMALL, length=0)
    text = FuncFormatter(lambda value, _: f"{100 * value:{'+' if signed and value else ''}.3g}")
    for axis in per_cent:
        getattr(axes, f"{axis}axis").set_major_formatter(text)
    if not minor:
        axes.minorticks_off()


def _width(text: str) -> int:
    """Return how wide a text is, a Chinese character as two."""
    return sum(2 if ord(sign) > 0x2E7F else 1 for sign in text)


def shortened(text: str, width: int) -> str:
    """Return a text that is no wider than so many letters, a Chinese character as two."""
    if _width(text) <= width:
        return text
    kept = ""
    for sign in text:
        if _width(kept + sign) > width - 1:
            break
        kept += sign
    return f"{kept}…"


def _short(size: float) -> str:
    return f"{size / 1e6:.3g}M" if size >= 1e6 else f"{size / 1e3:.3g}k" if size >= 1e3 else f"{size:.0f}"
