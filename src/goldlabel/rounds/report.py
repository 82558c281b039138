"""The report of a campaign: its figures by round, and every model so far on every round's test set.

The folder holds ``index.html`` and ``rounds.json`` (the figures), ``rounds.csv`` (Table 2), ``arms.csv`` where there
are several arms, ``data`` (the export that they are of), ``bench`` (what the suite ``rounds`` leaves, with Table 3) and
``comparisons``, where a model was trained to compare what teaches more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.bench import BenchProgress
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.rounds.costs import costs_of
from goldlabel.collect.rounds.rounds import rounds_of
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suites.rounds import EFFICIENCY
from goldlabel.files import write_text
from goldlabel.pairs import Result
from goldlabel.report import render_page
from goldlabel.rounds.arms import Arms, compare_arms
from goldlabel.rounds.comparisons import (
    Comparison,
    Forgotten,
    curve_points,
    find_forgotten,
    judge_models,
    train_and_judge,
)
from goldlabel.rounds.figures import Campaign, measure_campaign
from goldlabel.rounds.page import report_page

DATA, BENCH, COMPARISONS, PAGE, FIGURES, TABLE = (
    "data",
    "bench",
    "comparisons",
    "index.html",
    "rounds.json",
    "rounds.csv",
)
ARMS = "arms.csv"


@dataclass(frozen=True, repr=False)
class CampaignReport(Result):
    """The figures of all rounds; what the models answered, if there is a test set; and what was trained to compare."""

    campaign: Campaign
    arms: Arms | None
    models: BenchResults | None
    forgotten: tuple[Forgotten, ...]
    comparisons: BenchResults | None

    @property
    def title(self) -> str:
        """How many examples there are in how many rounds."""
        return self.campaign.title

    @property
    def table(self) -> pl.DataFrame:
        """Table 2: a row for each round."""
        return self.campaign.table

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            **self.campaign.to_dict(),
            "arms": self.arms and self.arms.to_dict(),
            "models": self._judged.get("models"),
            "forgotten": [
                {
                    **{name: getattr(one, name) for name in ("before", "after", "on", "p_value")},
                    "gain": one.gain.value,
                    "interval": one.gain.interval,
                }
                for one in self.forgotten
            ],
            "comparisons": self._compared.get("models"),
            "efficiency": [
                {
                    **{name: getattr(point, name) for name in ("data", "pairs", "on")},
                    "accuracy": point.accuracy.value,
                    "interval": point.accuracy.interval,
                }
                for point in (() if self.comparisons is None else curve_points(self.comparisons, EFFICIENCY))
            ],
        }

    @cached_property
    def _judged(self) -> dict[str, Any]:
        return {} if self.models is None else self.models.to_dict()

    @cached_property
    def _compared(self) -> dict[str, Any]:
        return {} if self.comparisons is None else self.comparisons.to_dict()


def write_report(
    store: Store,
    project_id: int,
    folder: str | Path,
    *,
    beside: Sequence[str] = (),
    comparison: Comparison | None = None,
    progress: BenchProgress | None = None,
) -> CampaignReport:
    """Write the report and return its figures; models are also judged on datasets ``beside``, by name or path."""
    target = Path(folder)
    with store.read() as tx:
        rounds = rounds_of(tx, project_id)
        snapshot = take_snapshot(tx, project_id)
        costs = costs_of(tx, project_id)
    campaign = measure_campaign(snapshot)
    several = len(snapshot.project.protocol.conditions) > 1 and len(snapshot.own) > 0
    arms = compare_arms(snapshot, costs) if several else None
    export_project(store, project_id, target / DATA)
    data = {campaign.name: str(target / DATA)}
    judged = compared = None
    if any(one.splits.get("test") for one in campaign.rounds):
        judged = judge_models(rounds, data, target / BENCH, beside=beside, progress=progress)
        if comparison is not None:
            compared = train_and_judge(comparison, data, target / COMPARISONS, beside=beside, progress=progress)
    elif comparison is not None:
        raise InputError(
            f"{campaign.name} has no verified pairs in a test set to compare models by; close a round first"
        )
    forgotten = () if judged is None else tuple(find_forgotten(rounds, judged))
    report = CampaignReport(campaign, arms, judged, forgotten, compared)
    write_text(target / FIGURES, json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n")
    campaign.save(target / TABLE)
    if arms is not None:
        arms.save(target / ARMS)
    render_page(report_page(campaign, arms, judged, forgotten, compared), target / PAGE)
    return report
