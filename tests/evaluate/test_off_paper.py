"""Differences to a paper's cells, and Δ, hold the truth as often as their level says."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goldlabel.evaluate.suites.off_paper import PaperCell, less, off_paper_table, published_share
from goldlabel.evaluate.suites.paper_tables import Cell, paper_cells
from goldlabel.metrics import difference, mean_over_sets, share, share_of, wilson

SIMULATIONS = 1_000


def test_the_interval_uses_both_where_the_paper_tells_its_pairs() -> None:
    ours = share(np.arange(400) < 300)
    alone, both = (less(ours, published_share(70.0, pairs)) for pairs in (None, 400))
    assert alone.value == both.value == pytest.approx(0.05)
    assert alone.interval == pytest.approx((ours.interval[0] - 0.7, ours.interval[1] - 0.7))  # type: ignore[index]
    assert both.interval == pytest.approx(difference(ours, wilson(280, 400)).interval)
    assert share_of(0.7, 400) == wilson(280, 400)


def test_cells_are_found_by_row_and_column() -> None:
    ours = Cell(share(np.arange(100) < 60))
    figures = pl.DataFrame(
        {
            "table": ["t", "t", "other"],
            "model": ["A", "b", "a"],
            "column": ["dev", "dev", "dev"],
            "value": [59.0, 1.0, 2.0],
        }
    )
    (cell,) = paper_cells([{"model": "a", "dev": ours, "test": ours}], ["model"], figures, "t", pairs={"dev": 50})
    (row,) = off_paper_table([cell]).to_dicts()
    assert (row["table"], row["row"], row["column"], row["paper_pairs"]) == ("t", "a", "dev", 50)
    assert (row["ours"], row["paper"], row["difference"]) == pytest.approx((60, 59, 1))
    assert row["difference_low"] < 0 < row["difference_high"]


@pytest.mark.parametrize(("here", "there"), [(0.6, 0.7), (0.9, 0.97)])
def test_differences_to_a_paper_cover_the_truth(here: float, there: float) -> None:
    random = np.random.RandomState(1)
    covered = 0
    for _ in range(SIMULATIONS):
        gap = PaperCell(
            "t", "r", "c",
            share(random.rand(300) < here),
            published_share(round(100 * float((random.rand(500) < there).mean()), 1), 500),
        ).difference  # fmt: skip
        assert gap.interval is not None
        covered += gap.interval[0] <= here - there <= gap.interval[1]
    assert 0.93 <= covered / SIMULATIONS <= 0.97


def test_delta_covers_the_truth_where_pairs_of_a_unit_err_together() -> None:
    """Δ is the mean over three sets less the set at home; units of three pairs share half of their luck."""
    random = np.random.RandomState(2)
    truth = [0.8, 0.6, 0.5, 0.7]
    covered = 0
    units = np.arange(240) // 3
    for _ in range(SIMULATIONS):
        hits = []
        for value in truth:
            common = random.rand(80).repeat(3)
            hits.append(np.where(random.rand(240) < 0.5, common, random.rand(240)) < value)
        home, *away = hits
        delta = difference(mean_over_sets(away, [units] * 3), share(home, units=units))
        assert delta.interval is not None
        covered += delta.interval[0] <= 0.6 - 0.8 <= delta.interval[1]
    assert 0.93 <= covered / SIMULATIONS <= 0.97
