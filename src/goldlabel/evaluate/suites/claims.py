"""Claims of a paper, tested on a bench's answers.

Where two systems answer the same pairs, whole units are swapped (``metrics.swap_test``), and p-values are corrected by
Holm (1979) for all such claims of a table. Where one system answers different pairs, the gap between its two figures
has an interval and no p-value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suites.paper_tables import Slice, cell, pooled
from goldlabel.metrics import Estimate, difference, holm, in_points, swap_test


@dataclass(frozen=True)
class Claim:
    """The first's accuracy less the second's, and the p-value of no difference."""

    text: str
    first: str
    second: str
    on: str
    gap: Estimate
    p_value: float | None = None


@dataclass
class Claims:
    """The claims of one suite."""

    results: BenchResults
    claims: list[Claim] = field(default_factory=list)

    def better(self, text: str, first: str, second: str, *slices: Slice) -> None:
        """Add that the first system is right more often than the second, if both were judged there."""
        if not all(self.results.has(system, name) for system in (first, second) for name, _ in slices):
            return
        hits, units, _ = pooled(self.results, first, slices)
        others, _, _ = pooled(self.results, second, slices)
        if len(hits):
            test = swap_test(hits, others, units=units, level=self.results.level)
            on = ", ".join(dict.fromkeys(name for name, _ in slices))
            self.claims.append(Claim(text, first, second, on, test.difference, test.p_value))

    def easier(self, text: str, system: str, first: tuple[str, Slice], second: tuple[str, Slice]) -> None:
        """Add that a system is right more often on some pairs than on others, each with what they are called."""
        figures = [cell(self.results, system, part) for _, part in (first, second)]
        if figures[0] is not None and figures[1] is not None:
            gap = difference(figures[0].estimate, figures[1].estimate)
            self.claims.append(Claim(text, first[0], second[0], system, gap))

    @property
    def table(self) -> pl.DataFrame:
        """One row per claim; differences are points of per cent."""
        tested = [claim.p_value for claim in self.claims if claim.p_value is not None]
        corrected = iter(holm(tested))
        rows = [
            {
                "claim": claim.text,
                "first": claim.first,
                "second": claim.second,
                "on": claim.on,
                "points": in_points(claim.gap),
                "p": claim.p_value,
                "p (Holm)": None if claim.p_value is None else next(corrected),
            }
            for claim in self.claims
        ]
        return pl.DataFrame(rows, schema_overrides={"p": pl.Float64, "p (Holm)": pl.Float64} if rows else None)
