"""The store of a leaderboard: a database of its own, used as that of a collection is."""

from __future__ import annotations

from typing import ClassVar

from goldlabel.collect.revisions import Revisions
from goldlabel.collect.store import Store
from goldlabel.leaderboard.migrations import REVISIONS


class BoardStore(Store):
    """A leaderboard's database: SQLite in its folder, or PostgreSQL."""

    revisions: ClassVar[Revisions] = REVISIONS
    commands: ClassVar[str] = "leaderboard"
    file: ClassVar[str] = "leaderboard.db"
    there: ClassVar[str] = "board_there"
    nothing: ClassVar[str] = "no_board"
