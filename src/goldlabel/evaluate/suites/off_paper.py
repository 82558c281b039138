"""How far our figures are from a paper's: ours less the paper's, with an interval, cell by cell.

A paper's figure is a sample, too. Where it is known over how many pairs, it has Wilson's interval for as many
independent pairs, and the interval of the difference comes from both (Newcombe 1998, method 10). Where it is not known,
the paper's figure is taken as it stands. Both are usually of the same pairs, so that the two err together and the
interval is rather too wide; the paper's answers would be needed to pair them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from goldlabel.metrics import Estimate, difference, share_of

OFF_PAPER = "off-paper"
"""The table of all cells of a suite that the paper has as well."""


def published_share(per_cent: float, pairs: int | None, *, level: float = 0.95) -> Estimate:
    """Return a paper's figure in per cent as a share, with an interval where the number of its pairs is known."""
    if pairs is None:
        return Estimate.without_interval(per_cent / 100, level=level, n=0, units=0, method="as published")
    return share_of(per_cent / 100, pairs, level=level)


def less(ours: Estimate, paper: Estimate) -> Estimate:
    """Return ours less the paper's; where the paper's has no interval, it is taken as it stands."""
    if paper.interval is None and paper.value is not None:
        paper = Estimate(paper.value, paper.value, paper.value, paper.level, 0, 0, paper.method)
    return difference(ours, paper)


@dataclass(frozen=True)
class PaperCell:
    """A cell of a paper's table, and ours in its place; both are shares."""

    table: str
    row: str
    column: str
    ours: Estimate
    paper: Estimate

    @property
    def difference(self) -> Estimate:
        """Ours less the paper's."""
        return less(self.ours, self.paper)


def off_paper_table(cells: Iterable[PaperCell]) -> pl.DataFrame:
    """Return cells as a table in per cent."""
    rows = [
        {
            "table": cell.table,
            "row": cell.row,
            "column": cell.column,
            **_columns("ours", cell.ours),
            **_columns("paper", cell.paper),
            **_columns("difference", cell.difference),
            "pairs": cell.ours.n,
            "paper_pairs": cell.paper.n or None,
        }
        for cell in cells
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _columns(name: str, figure: Estimate) -> dict[str, float | None]:
    per_cent = figure.percent()
    return {name: per_cent.value, f"{name}_low": per_cent.low, f"{name}_high": per_cent.high}
