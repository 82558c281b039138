"""Suggestions: labels that pairs bring along, from a model or another tool, and what comes of showing them.

Nobody sees one unless the project says so, for a share of the tasks drawn at random. What was shown is fixed when a
task is given out, and told in the event of its vote: so agreement with a suggestion can be held against that of those
who did not see it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select

from goldlabel.collect.projects import Project
from goldlabel.collect.schema import PROVIDER, answers, assignments, outsiders, pairs
from goldlabel.collect.store import Transaction
from goldlabel.metrics import Estimate, wilson


@dataclass(frozen=True)
class Following:
    """How many votes on pairs with a suggestion give it, where it was shown and where it was not."""

    shown: Estimate | None
    not_shown: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        """Return both shares as plain values."""
        return {name: _plain(one) for name, one in (("shown", self.shown), ("not_shown", self.not_shown))}


def suggestion_for(tx: Transaction, found: Project, task: Row[Any]) -> str | None:
    """Return the suggestion that goes with a task, if its pair has one and it is to be shown."""
    part = found.protocol.verifying.suggestions
    if task.pair_id is None or found.random("suggestion", task.id).random() >= part:
        return None
    suggested: str | None = tx.value(select(pairs.c.suggestion).where(pairs.c.id == task.pair_id))
    return suggested


def follow_suggestions(tx: Transaction, project_id: int) -> Following | None:
    """Count who gives a suggested label; votes from elsewhere are left out, as nobody knows what was shown there."""
    shown, same = assignments.c.suggestion.is_not(None), answers.c.label == pairs.c.suggestion
    elsewhere = select(outsiders.c.person_id).where(
        outsiders.c.person_id == answers.c.person_id, outsiders.c.provider == PROVIDER
    )
    query = (
        select(shown.label("shown"), same.label("same"), func.count().label("n"))
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(pairs, pairs.c.id == answers.c.pair_id)
        .where(answers.c.project_id == project_id, answers.c.kind == "verify", answers.c.state == "counted")
        .where(pairs.c.suggestion.is_not(None), ~elsewhere.exists())
        .group_by(shown, same)
    )
    counts = {(bool(row.shown), bool(row.same)): row.n for row in tx.all(query)}
    return Following(_share(counts, True), _share(counts, False)) if counts else None


def _share(counts: Mapping[tuple[bool, bool], int], shown: bool) -> Estimate | None:
    same, other = counts.get((shown, True), 0), counts.get((shown, False), 0)
    return wilson(same, same + other) if same + other else None


def _plain(one: Estimate | None) -> dict[str, Any] | None:
    return None if one is None else {"share": one.value, "interval": [one.low, one.high], "n": one.n}
