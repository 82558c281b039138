"""The page of a bench: who is best by how much, the suite's tables, and how far each model can be taken at its word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from goldlabel.evaluate.calibration import ReliabilityBin
from goldlabel.evaluate.results import BenchResults
from goldlabel.report.page import Figure, Item, Page, Section, render_page
from goldlabel.report.plots import draw_reliability

MOST_STANDINGS = 40
"""Comparisons on the page; the table beside it has them all."""


def write_bench_page(results: BenchResults, tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Write a bench as one HTML file."""
    sections = [
        Section(heading="Accuracy", text=_over(results), table=results.table),
        *(Section(heading=name, text="", table=_rounded(table)) for name, table in tables.items()),
        *_ranking(results),
        Section(
            heading="How sure, how right",
            text="All sets together, the model of the first seed. On the line a model is as right as it is sure; bars "
            "are the shares of pairs.",
            figures=[_reliability(results, system) for system in results.systems],
        ),
        *_notes(results),
    ]
    render_page(Page(title=f"Bench: {results.suite}", lead=results.title, sections=sections), path)


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with one place behind the point, as figures in per cent are printed; p-values keep three."""
    return table.with_columns(
        pl.col(name).map_elements(lambda value: f"{value:.1f}", return_dtype=pl.String)
        for name, kind in table.schema.items()
        if kind.is_float() and name.split()[-1] != "p"
    )


def _over(results: BenchResults) -> str:
    seeds = len(results.seeds)
    runs = f"Mean over {seeds} seeds ± standard deviation. " if seeds > 1 else ""
    return f"{runs}In per cent; the intervals, which take pairs of one unit together, are in bench.json."


def _ranking(results: BenchResults) -> Iterator[Section]:
    ranking = results.ranking
    if len(results.systems) > 1 and len(ranking.table):
        text = f"{ranking.title}. p-values are corrected for all comparisons (Holm); tables/ranking.csv has them all."
        yield Section(heading="Who is better", text=text, table=ranking.table.head(MOST_STANDINGS))


def _reliability(results: BenchResults, system: str) -> Figure:
    reliability = results.reliability(system)
    error = reliability.debiased.percent().text()
    shows = f"{system}: expected calibration error, without what chance explains, {error} points"
    return draw_reliability(system, [_drawn(own) for own in reliability.bins], shows=shows)


def _drawn(own: ReliabilityBin) -> tuple[float, float, float | None, float | None, int]:
    accuracy = own.accuracy
    return own.confidence.defined, accuracy.defined, accuracy.low, accuracy.high, accuracy.n


def _notes(results: BenchResults) -> Iterator[Section]:
    notes = [
        *(Item(f"{name} is missing", why) for name, why in results.plan.missing.items()),
        *(Item(contamination.title) for contamination in results.contamination.values()),
        *(
            Item(f"{system} was trained on {share.percent().text()} % of {name}", "its figure there is marked")
            for (system, name), share in results.seen.items()
        ),
        *(Item(f"{name} has no answers", why) for name, why in results.failed.items()),
        *(Item(note) for note in results.plan.notes),
    ]
    if notes:
        yield Section(heading="To know", text="", items=notes)
