"""The store: one database and its transactions.

SQLite serves one process: every write of the process goes through one connection behind one lock and begins with
``BEGIN IMMEDIATE``, while readers have connections and snapshots of their own (WAL). PostgreSQL serves several
processes: writers run side by side, and rows that must not be taken twice are locked. In both, what a ``write``
block did is on disk when the block is over (``synchronous=FULL``; ``synchronous_commit`` is PostgreSQL's default),
and nothing of it is there if the block failed.
"""

from __future__ import annotations

import shlex
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Executable,
    Insert,
    Row,
    Select,
    Table,
    Update,
    bindparam,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, StatementError
from sqlalchemy.sql.dml import ReturningInsert

from goldlabel.collect.databases import engines, lock_of, new_file, url_of
from goldlabel.collect.migrations import REVISIONS
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.revisions import Revisions
from goldlabel.errors import StorageError

Clock = Callable[[], datetime]

LARGEST = 2**63 - 1
"""The largest id that a database holds."""

_REFUSALS = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
)
_COLLISIONS = ("40001", "40P01")
"""What PostgreSQL calls a failure to put transactions in an order, and a deadlock."""
_KEPT: ContextVar[list[object] | None] = ContextVar("kept", default=None)


def system_clock() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Transaction:
    """What a block reads and writes with; ``now`` stands still for its length."""

    connection: Connection
    now: datetime

    def run(self, statement: Executable) -> int:
        """Execute a statement that changes rows and return how many it changed."""
        return self.connection.execute(statement).rowcount

    def one(self, query: Select[Any] | Executable, **values: Any) -> Row[Any] | None:
        """Return the first row, if any; ``values`` are those of the query's own parameters."""
        return self.connection.execute(query, values).first()

    def all(self, query: Select[Any] | Executable, **values: Any) -> Sequence[Row[Any]]:
        """Return every row."""
        return self.connection.execute(query, values).all()

    def blocks(self, query: Select[Any], size: int) -> Iterator[Sequence[Row[Any]]]:
        """Yield the rows, so many at a time, and hold no more; other questions may be asked meanwhile."""
        yield from self.connection.execute(query, execution_options={"yield_per": size}).partitions()

    def value(self, query: Select[Any] | Executable, **values: Any) -> Any:
        """Return the first column of the first row, or ``None``."""
        return self.connection.execute(query, values).scalar()

    def row(self, table: Table, **same: Any) -> Row[Any] | None:
        """Return the first row of a table with these values, if any."""
        return self.one(_row_with(table, tuple(same)), **same)

    def lock(self, table: Table, row_id: int) -> None:
        """Hold a row until the transaction ends; on SQLite whoever writes holds everything already."""
        if self.connection.dialect.name == "postgresql":
            self.one(_lock_on(table), id=row_id)

    def lock_all(self, table: Table, which: ColumnElement[bool]) -> None:
        """Hold rows until the transaction ends, always in the same order."""
        if self.connection.dialect.name == "postgresql":
            self.all(select(table.c.id).where(which).order_by(table.c.id).with_for_update(key_share=True))

    def change(self, table: Table, row_id: int, **values: Any) -> None:
        """Change a row."""
        self.connection.execute(_change_of(table), {"row_id": row_id, **values})

    def insert(self, table: Table, **values: Any) -> int:
        """Insert one row and return its id."""
        result = self.connection.execute(_insertion_into(table), values)
        key = result.inserted_primary_key
        return int(key[0]) if key is not None and isinstance(key[0], int) else 0

    def insert_row(self, table: Table, **values: Any) -> Row[Any]:
        """Insert one row and return it as it is stored."""
        return self.connection.execute(_insertion_of_row(table), values).one()

    def insert_all(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert many rows."""
        if rows:
            self.connection.execute(table.insert(), rows)

    def insert_returning(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        """Insert many rows and return their ids in the same order."""
        if not rows:
            return []
        statement = table.insert().returning(table.c.id, sort_by_parameter_order=True)
        return list(self.connection.execute(statement, rows).scalars())

    def analyse(self, *tables: Table) -> None:
        """Let PostgreSQL plan by the rows that are there now; by itself it looks at new ones a minute later."""
        if self.connection.dialect.name == "postgresql":
            self.connection.exec_driver_sql(f"ANALYZE {', '.join(table.name for table in tables)}")

    def insert_new(self, table: Table, **values: Any) -> bool:
        """Insert one row unless a unique index refuses it; say whether it was inserted."""
        return self.one(_new_row_of(table, self.connection.dialect.name), **values) is not None


# To build a statement takes longer than SQLite takes to execute it; those of every request are built once.


@cache
def _row_with(table: Table, names: tuple[str, ...]) -> Select[Any]:
    return select(table).where(*(table.c[name] == bindparam(name) for name in names)).limit(1)


@cache
def _lock_on(table: Table) -> Select[Any]:
    return select(table.c.id).where(table.c.id == bindparam("id")).with_for_update(key_share=True)


@cache
def _change_of(table: Table) -> Update:
    return table.update().where(table.c.id == bindparam("row_id"))


@cache
def _insertion_into(table: Table) -> Insert:
    return table.insert()


@cache
def _insertion_of_row(table: Table) -> ReturningInsert[Any]:
    return table.insert().returning(table)


@cache
def _new_row_of(table: Table, database: str) -> Executable:
    dialect: Any = postgresql if database == "postgresql" else sqlite
    statement: Executable = dialect.insert(table).on_conflict_do_nothing().returning(*table.primary_key)
    return statement


class Collision(StorageError):  # noqa: N818 - named as what happened
    """Two transactions waited for each other, and the database ended this one: doing it again will do."""


@contextmanager
def noting_changes() -> Iterator[list[object]]:
    """Give a block a list that is empty as long as nothing was kept within it that may not be repeated."""
    kept: list[object] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


class Store:
    """A collection's database; open it with ``Store.open`` or make it with ``Store.create``."""

    revisions: ClassVar[Revisions] = REVISIONS
    commands: ClassVar[str] = "collect"
    """The group of commands that work on it."""
    file: ClassVar[str] = "goldlabel.db"
    """The name of the SQLite database in a collection's folder."""
    there: ClassVar[str] = "collection_there"
    """The message that a place is taken."""
    nothing: ClassVar[str] = "no_collection"
    """The message that there is nothing at a place."""

    def __init__(self, writer: Engine, reader: Engine, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._lock = lock_of(writer.url)
        self._writing = threading.local()

    @classmethod
    def create(
        cls, place: str | Path, *, clock: Clock = system_clock, make: Callable[[Connection], None] | None = None
    ) -> Self:
        """Make a new collection in a folder or in an empty database; ``make`` makes other tables than the newest."""
        url = url_of(place, cls.file)
        with new_file(url):
            store = cls._connect(url, clock)
            with store._closed_on_failure(), store._told(), store._lock, store._writer.begin() as connection:
                if cls.revisions.current(connection) is not None:
                    raise Invalid(cls.there, place=store.url)
                (make or cls.revisions.upgrade)(connection)
        return store

    @classmethod
    def open(cls, place: str | Path, *, clock: Clock = system_clock, older: bool = False) -> Self:
        """Open a collection whose schema is the one that this code works with; nothing of it is changed.

        ``older`` opens one with an older schema, too, for whoever asks the database itself which tables it has.
        """
        store = cls._connect(cls._place(place), clock)
        with store._closed_on_failure():
            store.check_schema(older=older)
        return store

    @classmethod
    def migrate(cls, place: str | Path) -> tuple[str, str]:
        """Bring the schema of a collection up to date, whole or not at all; return its revisions before and after."""
        store = cls._connect(cls._place(place), system_clock)
        with closing(store), store._told(), store._lock, store._writer.begin() as connection:
            before = store._revision(connection)
            if before != cls.revisions.head:
                cls.revisions.upgrade(connection)
        return before, cls.revisions.head

    @classmethod
    def _place(cls, place: str | Path) -> URL:
        url = url_of(place, cls.file)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            raise Invalid(cls.nothing, place=place)
        return url

    def _revision(self, connection: Connection) -> str:
        revision = self.revisions.current(connection)
        if revision is None:
            raise Invalid(self.nothing, place=self.url)
        return revision

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    @classmethod
    def _connect(cls, url: URL, clock: Clock) -> Self:
        return cls(*engines(url), clock)

    @property
    def url(self) -> str:
        """Where the collection lies, without a password."""
        return self._writer.url.render_as_string(hide_password=True)

    @property
    def is_postgresql(self) -> bool:
        """Whether several processes may serve this collection."""
        return self._writer.dialect.name == "postgresql"

    @contextmanager
    def write(self, *, repeatable: bool = False) -> Iterator[Transaction]:
        """Run a block as one transaction: it is kept whole when the block ends, or not at all if it raises.

        ``repeatable`` says that whoever runs the block twice changes nothing more than by running it once, as with an
        answer that is sent under a key: then a ``Collision`` after it may be answered by doing everything once more.
        """
        if getattr(self._writing, "on", False):
            raise RuntimeError("a write block stands within another; pass the transaction on instead")
        with self._told(), self._lock, self._writer.begin() as connection:
            self._writing.on = True
            try:
                yield Transaction(connection, self._clock())
            finally:
                self._writing.on = False
        if not repeatable:
            kept = _KEPT.get()
            if kept is not None:
                kept.append(self)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Run a block that reads one snapshot, whatever others write meanwhile."""
        with self._told(), self._reader.begin() as connection:
            yield Transaction(connection, self._clock())

    def now(self) -> datetime:
        """Return the present moment by the store's clock."""
        return self._clock()

    def check(self) -> None:
        """Ask the database something; raises ``StorageError`` where it does not answer."""
        with self.read() as tx:
            tx.value(select(1))

    def check_schema(self, *, older: bool = False) -> None:
        """Refuse a schema that this code does not know, or, unless ``older`` is allowed, one that is not its own."""
        with self._told(), self._reader.begin() as connection:
            revision = self._revision(connection)
        if revision != self.revisions.head and not older:
            command = self._migrate_command()
            told = {"revision": revision, "known": self.revisions.head, "command": command}
            raise Invalid("older_schema", place=self.url, **told)

    def _migrate_command(self) -> str:
        """Return the command that brings a database up to date."""
        url = self._writer.url
        if url.get_backend_name() == "sqlite" and Path(url.database or "").name == self.file:
            return shlex.join(["goldlabel", self.commands, "migrate", str(Path(url.database or "").parent)])
        return f"goldlabel {self.commands} migrate DIR --database URL"

    def close(self) -> None:
        """Let go of all connections."""
        self._reader.dispose()
        self._writer.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what a database can refuse into one clear line; a fault of ours keeps its traceback."""
        try:
            yield
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0]
            number = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
            if number == sqlite3.SQLITE_NOTADB:
                raise Invalid("not_a_database", place=self.url, reason=reason) from error
            if getattr(error.orig, "sqlstate", None) in _COLLISIONS:
                raise Collision(
                    f"{self.url}: two changes got into each other's way; nothing was changed: try again"
                ) from error
            unreachable = self.is_postgresql and (error.connection_invalidated or error.statement is None)
            if number not in _REFUSALS and not unreachable:
                raise
            raise StorageError(
                f"{self.url}: cannot be used ({reason}); nothing was changed: see that it can be reached and has "
                "room, and try again"
            ) from error


def is_unfit_value(error: BaseException) -> bool:
    """Say whether a database refused a value, such as a number that its column cannot hold."""
    return isinstance(error, DataError)


def hide_values(error: BaseException) -> None:
    """Let an error tell nothing of the values that were sent to the database: they can be passwords and texts."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, StatementError):
            cause.hide_parameters = True
        cause = cause.__cause__ or cause.__context__
