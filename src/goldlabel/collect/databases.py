"""Databases: where one lies, how it is connected to, and who writes when.

SQLite has one connection that writes, behind one lock of the process, and others that read; PostgreSQL's writers wait
for rows, not for one another.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool, StaticPool

from goldlabel.collect.refusals import Invalid
from goldlabel.collect.turns import Turns
from goldlabel.files import storage_errors
from goldlabel.registry import import_extra

BUSY_SECONDS = 30
_LOCKS: dict[str, Turns] = {}
_LOCKS_GUARD = threading.Lock()


def url_of(place: str | Path, file: str) -> URL:
    """Return the address of a database, or of a file of this name in a folder."""
    text = str(place)
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().resolve() / file))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise Invalid("not_an_address", place=_hidden(text)) from error
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        raise Invalid("no_place", place=_hidden(text))
    return url.set(drivername="sqlite", database=str(Path(url.database).resolve()))


def _hidden(text: str) -> str:
    """Return an address without what stands before its host, which may be a password."""
    scheme, _, rest = text.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


@contextmanager
def new_file(url: URL) -> Iterator[None]:
    """Make an empty database file that only its owner can read, as it will hold logins; take it away on failure."""
    if url.get_backend_name() != "sqlite":
        yield
        return
    path = Path(url.database or "")
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    try:
        yield
    except BaseException:
        for suffix in ("", "-wal", "-shm") if is_new else ():
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        raise


def lock_of(url: URL) -> Turns | NoLock:
    """Return what whoever writes to a database holds meanwhile."""
    if url.get_backend_name() != "sqlite":
        return NoLock()
    with _LOCKS_GUARD:
        return _LOCKS.setdefault(str(url.database), Turns())


class NoLock:
    """PostgreSQL's writers wait for rows, not for one another."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _prepare_sqlite(engine: Engine, begin: str, pragmas: Sequence[str]) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin below, not where the driver would begin them
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)


def engines(url: URL) -> tuple[Engine, Engine]:
    """Return what writes to a database and what reads a snapshot of it."""
    if url.get_backend_name() == "sqlite":
        options = {"connect_args": {"check_same_thread": False, "timeout": BUSY_SECONDS}}
        writer = create_engine(url, poolclass=StaticPool, **options)
        reader = create_engine(url, poolclass=QueuePool, pool_size=8, max_overflow=32, **options)
        _prepare_sqlite(writer, "BEGIN IMMEDIATE", ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"))
        _prepare_sqlite(reader, "BEGIN", ("foreign_keys=ON", "query_only=ON"))
        return writer, reader
    import_extra("psycopg", "collect")
    # Twenty connections for each process: four of them stay below the hundred that a server allows by default.
    engine = create_engine(url, pool_size=5, max_overflow=15, pool_pre_ping=True)
    return engine, engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
