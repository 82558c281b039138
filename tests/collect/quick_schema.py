"""The schema of a new SQLite collection, replayed from one that was migrated: twenty revisions take a third of a test.

What is replayed is what the migrations made, triggers included; ``test_migrations.py`` runs the migrations themselves.
"""

from __future__ import annotations

from functools import cache
from uuid import uuid4

import pytest
from sqlalchemy import Connection, create_engine, text

from goldlabel.collect.migrations import REVISIONS
from goldlabel.collect.revisions import Revisions
from goldlabel.collect.store import Store


@cache
def _statements() -> tuple[str, ...]:
    with create_engine("sqlite://").begin() as connection:
        REVISIONS.upgrade(connection)
        rows = connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"))
        return tuple(row.sql for row in rows if "sqlite_" not in row.sql.split("(")[0])


class _QuickRevisions(Revisions):
    def upgrade(self, connection: Connection, revision: str = "head") -> None:
        if connection.dialect.name != "sqlite" or self.current(connection) is not None:
            return super().upgrade(connection, revision)
        for statement in _statements():
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (self.head,))
        connection.exec_driver_sql("INSERT INTO collection VALUES (?)", (uuid4().hex,))
        return None


@pytest.fixture(scope="session", autouse=True)
def quick_schema() -> None:
    """Make the collections of this process so."""
    Store.revisions = _QuickRevisions(REVISIONS.folder)
