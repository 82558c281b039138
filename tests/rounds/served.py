"""A server in processes of its own, as ``goldlabel collect serve`` starts it, to be killed and started again."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from sqlalchemy import func, select

from goldlabel.collect.schema import tries
from goldlabel.collect.store import Store


class Served:
    """The server of a collection, always at the same address."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._folder = folder
        self.address = f"http://127.0.0.1:{self._port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-m", "goldlabel", "collect", "serve", str(self._folder), "--port", str(self._port)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while True:
            assert self.process.poll() is None, "the server did not start"
            try:
                httpx.get(f"{self.address}/healthz")
                return
            except httpx.TransportError:
                time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server: it has no time to end anything."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def kill_at(self, store: Store, count: int) -> None:
        """Kill the server when so many tries were made, and start it again."""
        while _tries(store) < count:
            time.sleep(0.02)
        self.kill()
        self.start()


@contextmanager
def served_and_killed(store: Store, folder: Path, *, at: int) -> Iterator[Served]:
    """Serve a collection; the server is killed after ``at`` tries, and started again."""
    server = Served(folder)
    server.start()
    killing = threading.Thread(target=server.kill_at, args=(store, at), daemon=True)
    killing.start()
    try:
        yield server
        killing.join()
    finally:
        server.kill()


def _tries(store: Store) -> int:
    with store.read() as tx:
        return int(tx.value(select(func.count()).select_from(tries)))
