"""A private PostgreSQL for tests: its own folder, its own socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

_NUMBERS = count(1)


def find_binaries() -> Path | None:
    """The newest PostgreSQL on this machine, if any."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


class Cluster:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def new_database(self) -> str:
        """Make a database and return its address."""
        name = f"test_{os.getpid()}_{next(_NUMBERS)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} STRATEGY FILE_COPY")
        return self.url(name)


def empty(url: str) -> None:
    """Empty all tables, also those that refuse it, and number from one again.

    Few rows are deleted ten times as fast as tables are truncated, which makes all their files anew.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        connection.execute("; ".join(f"DELETE FROM {name}" for (name,) in rows if name != "alembic_version"))
        used = connection.execute("SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL").fetchall()
        connection.execute("; ".join(f"ALTER SEQUENCE {name} RESTART" for (name,) in used))


@contextmanager
def postgres_cluster(binaries: Path) -> Iterator[Cluster]:
    """Start a server; PostgreSQL refuses to run as root, so it then runs as the user ``postgres``."""
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="goldlabel-pg-"))
    if user:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
    data = folder / "data"

    def run(tool: str, *arguments: str) -> None:
        command = [str(binaries / tool), *arguments]
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)

    try:
        run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "-D", str(data))
        # Nothing here need outlive the machine.
        lasting = (
            "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0"
        )
        options = f"-k {folder} -c listen_addresses='' {lasting} -c max_connections=200 -c shared_buffers=32MB"
        run("pg_ctl", "start", "--wait", "-D", str(data), "-l", str(folder / "log"), "-o", options)
        yield Cluster(folder)
    finally:
        if (data / "postmaster.pid").exists():
            run("pg_ctl", "stop", "--mode=immediate", "-D", str(data))
        shutil.rmtree(folder, ignore_errors=True)
