"""The revisions of a schema: one file each in a folder ``versions``, applied by Alembic when somebody asks for it."""

from __future__ import annotations

import logging
from functools import cached_property
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from goldlabel.collect.refusals import Invalid

_UPGRADE_LOCK = 0x676F6C64
"""Any number will do, as long as every process that serves a database takes the same."""

logging.getLogger("alembic").setLevel(logging.WARNING)
"""What Alembic says of each connection that it is configured for tells nobody anything."""


class Revisions:
    """The history of one schema; its folder holds what Alembic runs, ``env.py`` and ``versions``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def current(self, connection: Connection) -> str | None:
        """Return the revision of a database, or ``None`` where it is empty; refuse one from the future."""
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision is not None and revision not in self.all:
            raise Invalid(
                "newer_schema",
                place=connection.engine.url.render_as_string(hide_password=True),
                revision=revision,
                known=self.head,
            )
        return revision

    @property
    def head(self) -> str:
        """The revision that this version of the code works with."""
        return self.all[-1]

    @cached_property
    def all(self) -> tuple[str, ...]:
        """All revisions, the first one first."""
        script = ScriptDirectory.from_config(self._config())
        return tuple(revision.revision for revision in reversed(list(script.walk_revisions())))

    def upgrade(self, connection: Connection, revision: str = "head") -> None:
        """Bring a database up to a revision, within the connection's transaction; one process at a time does so."""
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
        config = self._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    def _config(self) -> Config:
        config = Config()
        config.set_main_option("script_location", str(self.folder).replace("%", "%%"))
        return config
