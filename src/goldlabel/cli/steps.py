"""The lines on a terminal that show how far training runs are."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldlabel.train.run import Step

MOST_LINES = 8
"""Runs shown at a time where nobody knows how many there are."""


@contextmanager
def display_steps(lines: int | None) -> Iterator[Callable[[str, Step | None], None] | None]:
    """Show on a terminal how far each of the runs under way is, on so many lines; one that is given no step is done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[told]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _follow(bars, lines or MOST_LINES)


def _follow(bars: Any, lines: int) -> Callable[[str, Step | None], None]:
    shown: dict[str, Any] = {}

    def follow(name: str, step: Step | None) -> None:
        if step is None:  # the run is done
            if name in shown:
                bars.remove_task(shown.pop(name))
            return
        line = shown.pop(name) if name in shown else bars.add_task(name, told="")
        shown[name] = line
        while len(shown) > lines:  # the run that has been silent for longest is done
            bars.remove_task(shown.pop(next(iter(shown))))
        described = f"{name} {step.unit} {step.epoch}/{step.epochs}"
        bars.update(line, description=described, total=step.of, completed=step.pairs, told=describe_step(step))

    return follow


def describe_step(step: Step) -> str:
    """Return rate, loss, best dev accuracy, and the time that is left if nothing stops the run early."""
    from goldlabel.metrics import percent

    left = (step.epochs - step.epoch) * step.of + step.of - step.pairs
    loss = "" if math.isnan(step.loss) else f"  loss {step.loss:.3f}"
    best = "" if step.accuracy is None else f"  best dev {percent(step.accuracy)}"
    seconds = timedelta(seconds=round(left / max(step.rate, 1e-3)))
    return f"{step.rate:,.0f} pairs/s{loss}{best}  {seconds} left at most"
