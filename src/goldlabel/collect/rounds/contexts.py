"""Contexts of rounds: what was handed out in a round that is closed is never handed out again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select

from goldlabel.collect.schema import assignments, rounds, tasks


def is_used_up(premise_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Say in a query whether somebody was given a premise to write about before a round of its project was closed."""
    writing = tasks.alias("writing")
    return (
        select(assignments.c.id)
        .join(writing, writing.c.id == assignments.c.task_id)
        .join(rounds, rounds.c.project_id == assignments.c.project_id)
        .where(writing.c.premise_id == premise_id, writing.c.kind == "write")
        .where(rounds.c.state == "closed", assignments.c.leased_at <= rounds.c.closed_at)
        .exists()
    )
