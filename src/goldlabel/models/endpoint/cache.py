"""Replies on disk, by what was asked: a run that was killed goes on where it was, and nothing is paid twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from goldlabel.errors import InputError, StorageError
from goldlabel.files import storage_errors
from goldlabel.models.endpoint.dialect import Dialect
from goldlabel.models.endpoint.replies import Reply

_WAIT = 60
"""Seconds for which another process may write."""


def key_of(address: str, body: bytes, sample: int) -> bytes:
    """Return the key of a call: the address, everything that is sent but the API key, and the sample's number."""
    return hashlib.sha256(b"\0".join([address.encode(), body, str(sample).encode()])).digest()


class ReplyCache:
    """One SQLite file; several processes may use it at a time.

    Each reply is a transaction of its own. In WAL mode a process that is killed loses none that was written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with storage_errors(path), self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            for table in ("replies", "dialects"):
                self._file.execute(
                    f"CREATE TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
                )

    def reply(self, key: bytes) -> Reply | None:
        """Return the reply to a call, if there was one."""
        document = self._get("replies", key)
        return None if document is None else Reply.from_dict(document)

    def keep_reply(self, key: bytes, reply: Reply) -> None:
        """Keep a reply; the first one stays."""
        self._put("replies", key, reply.to_dict(), "IGNORE")

    def dialect(self, key: bytes) -> Dialect | None:
        """Return what was found out about a server."""
        document = self._get("dialects", key)
        return None if document is None else Dialect.from_dict(document)

    def keep_dialect(self, key: bytes, dialect: Dialect) -> None:
        """Keep what was found out about a server, so that what is cached can be read without it."""
        self._put("dialects", key, dialect.to_dict(), "REPLACE")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _get(self, table: str, key: bytes) -> Any:
        with self._errors():
            row = self._file.execute(f"SELECT value FROM {table} WHERE key = ?", (key,)).fetchone()
        return None if row is None else orjson.loads(row[0])

    def _put(self, table: str, key: bytes, document: dict[str, Any], conflict: str) -> None:
        with self._errors():
            self._file.execute(f"INSERT OR {conflict} INTO {table} VALUES (?, ?)", (key, orjson.dumps(document)))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StorageError(
                f"{self.path}: cannot be used as the cache of replies ({error}); make room or name another file with "
                "cache=FILE"
            ) from error
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{self.path}: is not a cache of replies ({error}); name another file with cache=FILE"
            ) from error
