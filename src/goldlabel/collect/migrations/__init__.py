"""The schema's history: one file per revision under ``versions``, applied by Alembic when somebody asks for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from goldlabel.collect.refusals import Invalid

_UPGRADE_LOCK = 0x676F6C64
"""Any number will do, as long as every process that serves a database takes the same."""


def current_revision(connection: Connection) -> str | None:
    """Return the revision of a database, or ``None`` where there is no collection; refuse one from the future."""
    found = MigrationContext.configure(connection).get_current_revision()
    known = revisions()
    if found is not None and found not in known:
        raise Invalid(
            "newer_schema",
            place=connection.engine.url.render_as_string(hide_password=True),
            revision=found,
            known=known[-1],
        )
    return found


def head_revision() -> str:
    """Return the revision that this version of the code works with."""
    return revisions()[-1]


@cache
def revisions() -> tuple[str, ...]:
    """Return all revisions, the first one first."""
    script = ScriptDirectory.from_config(_config())
    return tuple(revision.revision for revision in reversed(list(script.walk_revisions())))


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring a database up to a revision, within the connection's transaction; one process at a time does so."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
