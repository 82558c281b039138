"""Tables as papers print them: figures with intervals, and the paper's own figures beside.

A suite's figures lie beside it as CSV: ``table``, the columns that name a row, ``column``, ``value`` in per cent.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suites.off_paper import PaperCell, published_share
from goldlabel.metrics import Estimate, share

Slice = tuple[str, NDArray[np.bool_] | None]
"""Pairs of a set: all of them, or those that are marked."""
OURS, PAPER, DIFFERENCE = "ours", "paper", "difference"


@dataclass(frozen=True)
class Cell:
    """A share, and its standard deviation over seeds."""

    estimate: Estimate
    deviation: float | None = None

    @property
    def text(self) -> str:
        """The share in per cent: ``59.2 ± 0.5 (57.4 to 61.0)``."""
        percent = self.estimate.percent()
        if percent.value is None or self.deviation is None:
            return percent.text()
        value, _, interval = percent.text().partition(" ")
        return f"{value} ± {100 * self.deviation:.1f} {interval}".rstrip()


Row = Mapping[str, str | Cell | None]


def pooled(
    results: BenchResults, system: str, slices: Sequence[Slice]
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[float]]:
    """Return a system's hits on pairs of several sets, their units, and the accuracy of each seed."""
    hits, units, seeds, first = [], [], [], 0
    for name, rows in slices:
        chosen = slice(None) if rows is None else rows
        numbers = results.plan.find_set(name).gold.units
        hits.append(results.hits(system, name)[chosen])
        units.append(numbers[chosen] + first)
        seeds.append([answers.hits[chosen] for answers in results.answers[system, name]])
        first += int(numbers.max()) + 1
    by_seed = [float(np.concatenate(parts).mean()) for parts in zip(*seeds, strict=True)] if sum(map(len, hits)) else []
    return np.concatenate(hits), np.concatenate(units), by_seed


def cell(results: BenchResults, system: str, *slices: Slice) -> Cell | None:
    """Return a system's accuracy on pairs of one or several sets; None where it was not judged on all of them."""
    if not slices or not all(results.has(system, name) for name, _ in slices):
        return None
    hits, units, seeds = pooled(results, system, slices)
    if not len(hits):
        return None
    deviation = statistics.stdev(seeds) if len(seeds) > 1 else None
    return Cell(share(hits, units=units, level=results.level), deviation)


@cache
def read_figures(suite: str) -> pl.DataFrame:
    """Return the paper's figures that lie beside a suite."""
    text = (resources.files("goldlabel.evaluate.suites") / f"{suite}.csv").read_bytes()
    return pl.read_csv(text, infer_schema=False).with_columns(pl.col("value").cast(pl.Float64))


def paper_table(
    rows: Sequence[Row], keys: Sequence[str], figures: pl.DataFrame | None = None, table: str = ""
) -> pl.DataFrame:
    """Return rows as a frame; with a paper's figures, each row is followed by the paper's and by ours less those.

    ``keys`` are the columns that name a row; names are compared without regard to case. What the paper has and we have
    not comes last.
    """
    columns = dict.fromkeys(name for row in rows for name in row)
    if figures is None:
        return _frame([{name: _text(row.get(name)) for name in columns} for row in rows])
    published = _published(figures.filter(pl.col("table") == table), keys)
    columns |= dict.fromkeys(name for figure in published.values() for name in figure)
    lines: list[dict[str, str]] = []
    for row in rows:
        named = {key: _text(row.get(key)) for key in keys}
        lines.append({**{name: _text(row.get(name)) for name in columns}, "source": OURS})
        if (figure := published.pop(_key(named.values()), None)) is not None:
            numbers = {name: value for name, value in figure.items() if isinstance(value, float)}
            gaps = {name: _gap(row.get(name), value) for name, value in numbers.items()}
            texts = {name: _text(value) for name, value in figure.items()}
            lines.append({**named, **texts, "source": PAPER})
            if any(gaps.values()):
                lines.append({**named, **gaps, "source": DIFFERENCE})
    lines += [
        {**{name: _text(value) for name, value in figure.items()}, "source": PAPER} for figure in published.values()
    ]
    order = [*keys, "source", *(name for name in columns if name not in keys)]
    return _frame([{name: line.get(name, "") for name in order} for line in lines])


def paper_cells(
    rows: Sequence[Row],
    keys: Sequence[str],
    figures: pl.DataFrame,
    table: str,
    *,
    pairs: Mapping[str, int],
    level: float = 0.95,
) -> Iterator[PaperCell]:
    """Yield the cells that a paper's table has as well; ``pairs`` are those behind the paper's figures, by column."""
    published = _published(figures.filter(pl.col("table") == table), keys)
    for row in rows:
        names = [_text(row.get(key)) for key in keys]
        for column, value in published.get(_key(names), {}).items():
            ours = row.get(column)
            if isinstance(value, float) and isinstance(ours, Cell) and ours.estimate.value is not None:
                paper = published_share(value, pairs.get(column), level=level)
                yield PaperCell(table, ", ".join(filter(None, names)), column, ours.estimate, paper)


def _published(figures: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[str, ...], dict[str, str | float]]:
    rows: dict[tuple[str, ...], dict[str, str | float]] = {}
    for record in figures.iter_rows(named=True):
        named = {key: record.get(key) or "" for key in keys}
        row = rows.setdefault(_key(named.values()), dict(named))
        row[record["column"]] = record["value"]
    return rows


def _key(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)


def _gap(ours: str | Cell | None, paper: float) -> str:
    if not isinstance(ours, Cell) or ours.estimate.value is None:
        return ""
    return f"{100 * ours.estimate.value - paper:+.1f}"


def _text(value: str | float | Cell | None) -> str:
    if isinstance(value, Cell):
        return value.text
    return f"{value:.1f}" if isinstance(value, float) else value or ""


def _frame(rows: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)
