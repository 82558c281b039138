"""The page of a bench: who is best by how much, the suite's tables, and how far each model can be taken at its word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from goldlabel.evaluate.calibration import ReliabilityBin
from goldlabel.evaluate.results import BenchResults
from goldlabel.metrics import in_percent, in_points, p_value
from goldlabel.report.figure import Figure
from goldlabel.report.page import Item, Page, Section, render_page
from goldlabel.report.plots import draw_reliability

P_VALUES = ("p", "p (Holm)")
"""What tables call p-values, as they are and corrected for many comparisons."""
MOST_STANDINGS = 40
"""Comparisons on the page; the table beside it has them all."""


def write_bench_page(results: BenchResults, tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Write a bench as one HTML file."""
    sections = [
        Section(heading="Accuracy", text=_over(results), table=_accuracies(results)),
        *(Section(heading=name, text=f"tables/{name}.csv", table=_rounded(table)) for name, table in tables.items()),
        *_ranking(results),
        Section(
            heading="How sure, how right",
            text="All sets together, the model of the first seed. On the line a model is as right as it is sure; bars "
            "are the shares of pairs.",
            figures=[_reliability(results, system) for system in results.systems],
        ),
        *_notes(results),
    ]
    footer = (
        "Made by goldlabel bench; goldlabel report makes a page with drawings of this folder, alone or with others."
    )
    page = Page(title=f"Bench: {results.suite}", lead=results.title, sections=sections, footer=footer, wide=True)
    render_page(page, path)


def _accuracies(results: BenchResults) -> pl.DataFrame:
    """Return the accuracies with the interval below each, so that many sets stand side by side; the mean first."""
    figures = {(system, name): results.accuracy(system, name).percent() for system, name in results.answers}
    below = {place: f"\n{own.low:.1f}–{own.high:.1f}" for place, own in figures.items() if own.interval}
    rows = [
        {name: f"{text}{below.get((row['model'], name), '')}" for name, text in row.items()}
        for row in results.table.iter_rows(named=True)
    ]
    accuracies = pl.DataFrame(rows)
    means = [name for name in accuracies.columns if name not in ("model", *results.sets)]
    return accuracies.select("model", *means, *results.sets)


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with one place behind the point, as figures in per cent are printed; p-values have three."""
    return table.with_columns(
        pl.col(name).map_elements(p_value if name in P_VALUES else "{:.1f}".format, return_dtype=pl.String)
        for name, kind in table.schema.items()
        if kind.is_float()
    )


def _over(results: BenchResults) -> str:
    seeds = len(results.seeds)
    runs = f"Mean over {seeds} seeds ± standard deviation. " if seeds > 1 else ""
    common = results.common_sets(results.systems)
    means = f" The mean is over {', '.join(common)}, on which all models were judged." if len(common) > 1 else ""
    return (
        f"{runs}In per cent; below each its interval at {100 * results.level:g} %, which takes pairs of one unit "
        f"together (tables/accuracies.csv).{means}"
    )


def _ranking(results: BenchResults) -> Iterator[Section]:
    ranking = results.ranking
    if len(results.systems) > 1 and len(ranking.table):
        text = f"{ranking.title}. p-values are corrected for all comparisons (Holm); tables/ranking.csv has them all."
        yield Section(heading="Who is better", text=text, table=_rounded(ranking.table.head(MOST_STANDINGS)))


def _reliability(results: BenchResults, system: str) -> Figure:
    reliability = results.reliabilities[system]
    error = in_points(reliability.debiased)
    shows = f"{system}: expected calibration error, without what chance explains, {error} points"
    return draw_reliability(system, [_drawn(own) for own in reliability.bins], shows=shows)


def _drawn(own: ReliabilityBin) -> tuple[float, float, float | None, float | None, int]:
    accuracy = own.accuracy
    return own.confidence.defined, accuracy.defined, accuracy.low, accuracy.high, accuracy.n


def _notes(results: BenchResults) -> Iterator[Section]:
    notes = [
        *(Item(f"{name} is missing", why) for name, why in results.plan.missing.items()),
        *(Item(text) for text in results.contamination_notes()),
        *(
            Item(f"{system} was trained on {in_percent(share)} of {name}", "its figure there is marked")
            for (system, name), share in results.seen.items()
        ),
        *(Item(f"{name} has no answers", why) for name, why in results.failed.items()),
        *(Item(note) for note in results.plan.notes),
    ]
    if notes:
        yield Section(heading="To know", text="", items=notes)
