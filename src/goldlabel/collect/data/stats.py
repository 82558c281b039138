"""Figures of a project as it runs: what is done per condition, how far people agree, who works, what is owed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl
from sqlalchemy import func, select

from goldlabel.collect.data.figures import Figures, measure_figures
from goldlabel.collect.data.snapshot import Snapshot, take_snapshot, verified
from goldlabel.collect.money.forecast import Forecast, forecast_project
from goldlabel.collect.money.ledger import lines
from goldlabel.collect.people.qualification import PersonOverview, people_overview
from goldlabel.collect.projects import Project
from goldlabel.collect.schema import premises, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.queues import QueueLine, queue_progress
from goldlabel.collect.work.responses import QuestionCounts, count_responses
from goldlabel.collect.work.suggestions import Following, follow_suggestions
from goldlabel.messages import many
from goldlabel.pairs import Result

COUNTED = ("genre", "level", "label")


@dataclass(frozen=True, repr=False)
class Stats(Result):
    """Everything a requester wants to know at one glance; people are there by their pseudonyms."""

    project: Project
    premises: int
    unusable: int
    pairs: int
    verified: int
    by_condition: Mapping[str, Mapping[str, Any]]
    figures: Figures
    people: Sequence[PersonOverview]
    queue: Sequence[QueueLine]
    total: Decimal
    ledger_lines: int
    questions: Sequence[QuestionCounts]
    suggestions: Following | None
    forecast: Forecast

    @property
    def title(self) -> str:
        """How much was written and verified."""
        return (
            f"{self.project.name} ({self.project.kind.name}, {self.project.state}): {self.premises:,} premises, "
            f"{many(self.pairs, 'pair')}, {self.verified:,} of them verified; "
            f"{self.total} {self.project.protocol.pay.currency} owed"
        )

    @property
    def table(self) -> pl.DataFrame:
        """One row per condition."""
        groups = self.figures.verification.groups if self.figures.verification else {}
        rows = []
        for name, counts in self.by_condition.items():
            group = groups.get((name,))
            kappa = group.figures["fleiss_kappa"].value if group else None
            gold = group.figures["gold_author"].value if group else None
            kept = [counts[key] for key in ("premises", "pairs", "verified")]
            rows.append((name, *kept, *(None if one is None else round(one, 3) for one in (gold, kappa))))
        schema = {
            "condition": pl.String,
            "premises": pl.Int64,
            "pairs": pl.Int64,
            "verified": pl.Int64,
            "gold = author, %": pl.Float64,
            "Fleiss' kappa": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            "name": self.project.name,
            "kind": self.project.kind.name,
            "state": self.project.state,
            "language": self.project.protocol.language,
            "premises": self.premises,
            "unusable": self.unusable,
            "pairs": self.pairs,
            "verified": self.verified,
            "by_condition": {name: dict(counts) for name, counts in self.by_condition.items()},
            **self.figures.to_dict(),
            "writers": sum(one.pairs > 0 for one in self.people),
            "verifiers": sum(one.votes > 0 for one in self.people),
            "people": [_person(one) for one in self.people],
            "questions": [one.to_dict() for one in self.questions],
            "suggestions": self.suggestions.to_dict() if self.suggestions else None,
            "queue": [vars(line) for line in self.queue],
            "ledger": {
                "currency": self.project.protocol.pay.currency,
                "total": float(self.total),
                "lines": self.ledger_lines,
            },
            "forecast": self.forecast.to_dict(),
            "rounds": [],
        }


def project_stats(tx: Transaction, project_id: int, *, resamples: int = 1000) -> Stats:
    """Count what a project holds and measure agreement, as one transaction sees it."""
    snapshot = take_snapshot(tx, project_id)
    paid = lines(tx, project_id)
    pool = select(func.count()).where(premises.c.project_id == project_id)
    if snapshot.project.kind.writes:
        pool = pool.where(premises.c.number.is_not(None))
    unusable = select(func.count()).where(tasks.c.project_id == project_id, tasks.c.state == "unusable")
    return Stats(
        project=snapshot.project,
        premises=tx.value(pool),
        unusable=tx.value(unusable),
        pairs=len(snapshot.own),
        verified=len(verified(snapshot.own)),
        by_condition=_by_condition(snapshot),
        figures=measure_figures(snapshot, resamples=resamples),
        people=people_overview(tx, project_id),
        queue=queue_progress(tx, project_id),
        total=sum((one.amount for one in paid), Decimal("0.00")),
        ledger_lines=len(paid),
        questions=count_responses(tx, project_id, snapshot.project.protocol),
        suggestions=follow_suggestions(tx, project_id),
        forecast=forecast_project(tx, project_id),
    )


def _by_condition(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """Count the own pairs of each condition, also of one in which nobody has written yet."""
    own = snapshot.own.frame.collect()
    checked = verified(snapshot.own).frame.collect()
    counted = {}
    for condition in snapshot.project.protocol.conditions:
        there, again = (one.filter(pl.col("condition") == condition.name) for one in (own, checked))
        counted[condition.name] = {
            "premises": there["group"].n_unique(),
            "pairs": len(there),
            "verified": len(again),
            **{f"by_{name}": _counts(there, name) for name in COUNTED},
        }
    return counted


def _counts(frame: pl.DataFrame, column: str) -> dict[str, int]:
    return dict(frame.drop_nulls(column)[column].value_counts().sort(column).iter_rows())


def _person(one: PersonOverview) -> dict[str, Any]:
    trust = one.trust
    return {
        "person": one.pseudonym,
        "roles": sorted(one.roles),
        "condition": one.roles["writer"].condition if "writer" in one.roles else None,
        "exclusive": "writer" in one.roles and one.roles["writer"].exclusive,
        "premises": one.premises,
        "pairs": one.pairs,
        "unusable": one.unusable,
        "votes": one.votes,
        "seconds_writing": one.seconds_writing,
        "seconds_voting": one.seconds_voting,
        "trust": {
            "right": trust.right,
            "n": trust.n,
            "share": trust.share.value if trust.share else None,
            "interval": [trust.share.low, trust.share.high] if trust.share else None,
        },
        "owed": float(one.owed),
        "flags": one.flags,
    }
