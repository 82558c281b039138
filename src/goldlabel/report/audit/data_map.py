"""The data map of Swayamdipta et al. (2020), figure 1: variability to the right, confidence upwards, a point per pair.

How often the gold label was the most probable is told by shape and colour, in three parts. Of more pairs than can be
told apart, as many as can be are drawn at random.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from goldlabel.audit.cartography import Cartography
from goldlabel.metrics import percent
from goldlabel.report.figure import SMALL, Figure, Palette, make_figure
from goldlabel.report.language import N_, say
from goldlabel.seeds import random_state

MOST_POINTS = 1_500
_RIGHT = pl.col("correctness")
_PARTS = (
    (N_("mostly right"), _RIGHT >= 2 / 3, "o", "second"),
    (N_("now and then"), (_RIGHT > 1 / 3) & (_RIGHT < 2 / 3), "s", "soft"),
    (N_("mostly wrong"), _RIGHT <= 1 / 3, "^", "bar"),
)


def draw_data_map(regions: Cartography) -> Figure:
    """Draw each pair where training put it."""
    pairs = regions.pairs
    if len(pairs) > MOST_POINTS:
        pairs = pairs[sorted(random_state(0).choice(len(pairs), MOST_POINTS, replace=False).tolist())]
    known = pairs["correctness"].null_count() < len(pairs)
    widest = max(float(pairs["variability"].max() or 0.0), 0.05)  # type: ignore[arg-type]

    def draw(axes: Any, palette: Palette) -> None:
        style: Any = {"linestyle": "none", "markersize": 3, "alpha": 0.55, "markeredgewidth": 0}
        if not known:
            axes.plot(pairs["variability"], pairs["confidence"], color=palette.second, marker="o", **style)
        for name, holds, marker, colour in _PARTS if known else ():
            part, share = pairs.filter(holds), len(regions.pairs.filter(holds)) / len(regions.pairs)
            shape = {"color": getattr(palette, colour), "marker": marker, "label": f"{say(name)} {percent(share)}"}
            axes.plot(part["variability"], part["confidence"], **shape, **style)
        axes.set_xlim(0, 1.25 * widest)
        axes.set_ylim(-0.02, 1.02)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        ticks = [tick for tick in (0, 0.1, 0.2, 0.3, 0.4, 0.5) if tick <= 1.25 * widest]
        axes.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["bottom", "left"]].set_color(palette.line)
        axes.tick_params(colors=palette.soft, labelsize=SMALL, length=0)
        axes.set_xlabel(say("variability"), color=palette.soft)
        axes.set_ylabel(say("confidence"), color=palette.soft)
        if known:
            # What is probable throughout or never varies little: the corners to the right are empty.
            corner: Any = {"loc": "upper right", "handletextpad": 0.2, "frameon": False}
            axes.legend(labelcolor=palette.ink, fontsize=SMALL, markerscale=2, **corner)

    shows = say(
        "Confidence over variability of {pairs:,} pairs, {drawn:,} of them drawn",
        pairs=len(regions.pairs),
        drawn=len(pairs),
    )
    return make_figure(draw, 5.2, 3.8, shows=shows)
