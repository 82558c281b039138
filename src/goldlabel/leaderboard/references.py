"""The papers' rows: what a suite knows to have been printed of the sets of a board."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from goldlabel.errors import InputError
from goldlabel.evaluate.suite import Published, Suite
from goldlabel.leaderboard.board import Reference
from goldlabel.registry import one_of

SOURCES = ("papers",)


def references_of(suite: Suite, what: str, sets: Collection[str]) -> list[Reference]:
    """Return the rows of a suite's paper, as far as they are about sets of the board."""
    one_of("--references", what, SOURCES)
    if not isinstance(suite, Published):
        raise InputError("--references papers: this suite knows no figures of papers; leave it out")
    rows: Mapping[str, Mapping[str, float]] = suite.published()
    listed = [
        Reference(name=name, paper=suite.paper, accuracies={part: row[part] for part in row if part in sets})
        for name, row in rows.items()
    ]
    return [reference for reference in listed if reference.accuracies]
