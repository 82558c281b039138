"""Backup and restore: a whole collection in one file, taken from one snapshot while people go on working.

The file is a zip of one ``TABLE.jsonl`` per table and a ``manifest.json`` with the schema's revision, the moment and
the number of rows. It names no database, so that what was SQLite may be restored into PostgreSQL, and the other way
round. It holds logins and answers: only its owner may read it.
"""

from __future__ import annotations

import json
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import JSON, Connection, LargeBinary, MetaData, Table, select, text

from goldlabel.collect.migrations import REVISIONS
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import Store
from goldlabel.files import atomic_file

FORMAT, MANIFEST = 1, "manifest.json"
BATCH = 1_000
_REVISIONS = "alembic_version"

OnRows = Callable[[int], None]
"""Called with a number of rows that were done."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds."""

    format: int
    goldlabel: str
    revision: str
    taken_at: str
    rows: dict[str, int]

    @property
    def total(self) -> int:
        """The rows of all tables."""
        return sum(self.rows.values())


def back_up(store: Store, output: Path, on_rows: OnRows = lambda _: None) -> Manifest:
    """Write all that a collection holds at this moment."""
    with atomic_file(output) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        with store.read() as tx:
            rows = {}
            for table in _tables(tx.connection):
                with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as stream:
                    rows[table.name] = sum(_write(tx.connection, table, stream, on_rows))
            revision = REVISIONS.current(tx.connection) or REVISIONS.head
            manifest = Manifest(FORMAT, version("goldlabel"), revision, tx.now.isoformat(), rows)
        archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
    output.chmod(0o600)
    return manifest


def read_manifest(path: Path) -> Manifest:
    """Return what a backup says of itself; refuse what is none, or a newer one than this version knows."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = Manifest(**json.loads(archive.read(MANIFEST)))
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise Invalid("no_backup", place=path, reason=str(error)) from error
    if manifest.format != FORMAT or manifest.revision not in REVISIONS.all:
        raise Invalid("newer_backup", place=path, version=manifest.goldlabel)
    return manifest


def restore(path: Path, place: str | Path, on_rows: OnRows = lambda _: None) -> Manifest:
    """Make a new collection of a backup, whole or not at all, with the schema that the backup had."""
    manifest = read_manifest(path)

    def fill(connection: Connection) -> None:
        REVISIONS.upgrade(connection, manifest.revision)
        with zipfile.ZipFile(path) as archive, _without_foreign_keys(connection):
            for table in _tables(connection):
                if connection.execute(select(table).limit(1)).first():  # a row that the schema's history made
                    connection.execute(table.delete())
                read = sum(_read(connection, table, archive, on_rows))
                if read != manifest.rows.get(table.name):
                    raise Invalid("damaged_backup", place=path, table=table.name, n=read)

    try:
        with closing(Store.create(place, make=fill)):
            return manifest
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise Invalid("no_backup", place=path, reason=str(error)) from error


def _tables(connection: Connection) -> list[Table]:
    """Return the tables as the database has them: a backup may be older than the schema of this version."""
    reflected = MetaData()
    reflected.reflect(connection)
    for table in reflected.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = JSON(none_as_null=True)
    return [table for name, table in sorted(reflected.tables.items()) if name != _REVISIONS]


def _write(connection: Connection, table: Table, stream: Any, on_rows: OnRows) -> Iterator[int]:
    query = select(table).order_by(*(table.primary_key or table.columns))
    rows = connection.execution_options(yield_per=BATCH).execute(query)
    for batch in rows.partitions():
        stream.write(b"".join(orjson.dumps([*row], default=_encoded) + b"\n" for row in batch))
        on_rows(len(batch))
        yield len(batch)


def _encoded(value: Any) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is not of a type that tables hold")


def _read(connection: Connection, table: Table, archive: zipfile.ZipFile, on_rows: OnRows) -> Iterator[int]:
    binary = [number for number, column in enumerate(table.columns) if isinstance(column.type, LargeBinary)]
    names = [column.name for column in table.columns]
    with archive.open(f"{table.name}.jsonl") as stream:
        lines = iter(stream)
        while rows := [orjson.loads(line) for line in islice(lines, BATCH)]:
            for row in rows:
                for number in binary:
                    row[number] = None if row[number] is None else b64decode(row[number])
            connection.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in rows])
            on_rows(len(rows))
            yield len(rows)


@contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Let rows come in any order, as tables point at each other; when the block ends all of them must be there."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        yield
        return
    keys = connection.execute(
        text(
            "SELECT conrelid::regclass::text AS of_table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS "
            "made FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
        )
    ).all()
    for key in keys:
        connection.exec_driver_sql(f"ALTER TABLE {key.of_table} DROP CONSTRAINT {key.name}")
    yield
    for key in keys:
        connection.exec_driver_sql(f"ALTER TABLE {key.of_table} ADD CONSTRAINT {key.name} {key.made}")
    for table in _tables(connection):
        if "id" in table.columns and table.columns["id"].autoincrement:
            # The next number is one that no row has.
            connection.execute(
                text(
                    f"SELECT setval(sequence, greatest((SELECT max(id) FROM {table.name}), 1)) "
                    "FROM pg_get_serial_sequence(:name, 'id') AS sequence WHERE sequence IS NOT NULL"
                ),
                {"name": table.name},
            )
