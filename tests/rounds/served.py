"""A server in processes of its own, as ``goldlabel collect serve`` starts it, to be killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from sqlalchemy import func, select

from goldlabel.collect.schema import tries
from goldlabel.collect.store import Store, Transaction


class Served:
    """The server of a collection and its workers, always at the same address."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._folder = folder
        self.address = f"http://127.0.0.1:{self._port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Served:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-m", "goldlabel", "collect", "serve", str(self._folder), "--port", str(self._port)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        while True:
            assert self.process.poll() is None, "the server did not start"
            try:
                httpx.get(f"{self.address}/healthz")
                return
            except httpx.TransportError:
                time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server and its workers at once: none of them has time to end anything."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @contextmanager
    def killed(self, store: Store, moment: Moment) -> Iterator[None]:
        """Kill everything at some moment while the block runs, and start it again."""

        def kill() -> None:
            while not ended.is_set():
                with store.read() as tx:
                    now = moment(tx)
                if now:
                    self.kill()
                    self.start()
                    return
                time.sleep(0.005)

        ended, before = threading.Event(), self.process
        killing = threading.Thread(target=kill, daemon=True)
        killing.start()
        try:
            yield
        finally:
            ended.set()
            killing.join()
        assert self.process is not before, "the moment never came"


Moment = Callable[[Transaction], bool]


def all_of(*moments: Moment) -> Moment:
    """Return the moment at which several have come."""
    return lambda tx: all(moment(tx) for moment in moments)


def has_tried(count: int) -> Moment:
    """Return the moment at which so many tries were made in all rounds."""
    return lambda tx: tx.value(select(func.count()).select_from(tries)) >= count


def is_scoring(tx: Transaction) -> bool:
    """Say whether a worker holds a try that is not answered yet."""
    return tx.one(select(tries.c.id).where(tries.c.worker.is_not(None), tries.c.decided_at.is_(None))) is not None
