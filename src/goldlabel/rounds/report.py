"""The report of a campaign: its figures by round, and every model so far on every round's test set.

The folder holds ``index.html`` and ``rounds.json`` (the figures), ``rounds.csv`` (Table 2), ``arms.csv`` where there
are several arms, ``data`` (the export that they are of) and ``bench`` (what the suite ``rounds`` leaves, with Table 3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.bench import BenchProgress, bench
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.rounds.costs import costs_of
from goldlabel.collect.rounds.rounds import Round, rounds_of
from goldlabel.collect.store import Store
from goldlabel.evaluate.results import BenchResults
from goldlabel.files import write_text
from goldlabel.metrics import Estimate, in_percent
from goldlabel.report import Bar, Page, Section, render_page
from goldlabel.rounds.arms import Arms, compare_arms
from goldlabel.rounds.figures import Campaign, measure_campaign

DATA, BENCH, PAGE, FIGURES, TABLE = "data", "bench", "index.html", "rounds.json", "rounds.csv"
ARMS = "arms.csv"


def write_report(
    store: Store, project_id: int, folder: str | Path, *, progress: BenchProgress | None = None
) -> tuple[Campaign, BenchResults | None]:
    """Write the report; return the figures, and what the models answered if there is a test set."""
    target = Path(folder)
    with store.read() as tx:
        rounds = rounds_of(tx, project_id)
        snapshot = take_snapshot(tx, project_id)
        costs = costs_of(tx, project_id)
    campaign = measure_campaign(snapshot)
    compared = len(snapshot.project.protocol.conditions) > 1 and len(snapshot.own) > 0
    arms = compare_arms(snapshot, costs) if compared else None
    export_project(store, project_id, target / DATA)
    results = None
    if any(one.splits.get("test") for one in campaign.rounds):
        results = bench(
            "rounds",
            models_of(rounds),
            target / BENCH,
            data={campaign.name: str(target / DATA)},
            options={"campaign": campaign.name, "parts": "table-3", "beside": "none"},
            progress=progress,
        )
    judged = None if results is None else results.to_dict()
    told = campaign.to_dict() | {"models": judged and judged["models"], "arms": arms and arms.to_dict()}
    write_text(target / FIGURES, json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    campaign.save(target / TABLE)
    if arms is not None:
        arms.save(target / ARMS)
    render_page(_page(campaign, None if results is None else results.table, arms), target / PAGE)
    return campaign, results


def models_of(rounds: list[Round]) -> Mapping[str, str]:
    """Return every model so far, by its name: those of the first round, and whatever was trained."""
    models = {one.name: one.reference for fought in rounds for one in fought.adversaries}
    for fought in rounds:
        models |= fought.trained["adversaries"] if fought.trained else {}
    return models


def _page(campaign: Campaign, accuracies: pl.DataFrame | None, arms: Arms | None) -> Page:
    rounds = campaign.rounds
    sections = [
        Section(
            heading="How often the models were wrong",
            text="The share of examples that a model labelled otherwise than the writer, and of those that others "
            "confirmed; with 95 % intervals, pairs of one context taken together.",
            bars=[bar for one in rounds for bar in _bars(one.name, one.errors, one.verified_errors)],
            table=campaign.table,
        ),
        Section(
            heading="Labels and splits",
            text="Examples by label, where verifiers overruled the writer theirs, and by split.",
            table=_wide({one.name: {**one.labels, **one.splits} for one in rounds}),
        ),
        Section(
            heading="What others made of the examples that fooled a model",
            text="Two verifiers, and a third where they differ; Fleiss' kappa on dev and test.",
            table=_wide(
                {
                    one.name: {
                        **one.outcomes,
                        "agrees with author": in_percent(one.agrees_with_author),
                        **{
                            f"kappa, {part}": "" if kappa is None else kappa.text(3)
                            for part, kappa in one.kappa.items()
                        },
                    }
                    for one in rounds
                }
            ),
        ),
        *(
            Section(heading=heading, text=text, table=_wide(counts))
            for heading, text, counts in (
                ("Tries", "Verified errors by the tries they took.", {r.name: r.tries_histogram for r in rounds}),
                ("Seconds", "Verified errors by the seconds they took.", {r.name: r.seconds_histogram for r in rounds}),
                ("Length of contexts", "Contexts by tokens.", {r.name: r.lengths["premise"] for r in rounds}),
                ("Length of hypotheses", "Examples by tokens.", {r.name: r.lengths["hypothesis"] for r in rounds}),
            )
        ),
    ]
    if accuracies is not None:
        text = "Accuracy in per cent on each round's test set; exclusive: pairs of writers who are in test alone."
        sections.insert(1, Section(heading="Every model on every round", text=text, table=accuracies))
    if arms is not None:
        text = (
            "Writers came to the arms at random, and all arms have the same contexts, labels, pay and verifiers. In an "
            "arm without a model to be seen the models were asked all the same; a sentence is confirmed where others "
            "give it the writer's label. With 95 % intervals, pairs of one context taken together."
        )
        bars = [Bar(f"{arm.name}: verified errors", arm.verified_errors) for arm in arms.arms]
        sections.insert(1, Section(heading="What the adversary is worth", text=text, bars=bars, table=arms.table))
    return Page(title=campaign.name, lead=campaign.title, sections=sections, wide=True)


def _bars(name: str, errors: Estimate, verified: Estimate) -> list[Bar]:
    return [Bar(f"{name}: errors", errors), Bar(f"{name}: verified", verified)]


def _wide(rows: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """Return a table with a row for each round and a column for whatever any of them has."""
    columns = dict.fromkeys(name for row in rows.values() for name in row)
    return pl.DataFrame(
        [{"round": name} | {column: row.get(column) for column in columns} for name, row in rows.items()]
    )
