"""The keeper of a worker: starts its process beside a server, and starts it again when it ends before the server."""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

LOG = logging.getLogger("goldlabel.worker")

PLACE, NAME = "GOLDLABEL_COLLECTION", "GOLDLABEL_WORKER"
"""The variables that tell a process which collection it serves, and a worker what it is called."""
FOLDER = "GOLDLABEL_FOLDER"
"""The variable that tells a process the folder of its leaderboard."""
WORK = ("jobs", "tries")
"""What a collection has workers for: measuring and exporting; and what people try against models."""
SCORES = ("scores",)
"""What a leaderboard has a worker for."""
ALONE = "alone"
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a worker that ended is started again: twice as long each time."""


class Keeper:
    """One worker process at a time, for the database at a place; ``what`` it does is one of ``WORK`` or ``SCORES``."""

    def __init__(self, place: str, what: str, **variables: str) -> None:
        self._environment = {**os.environ, **variables, PLACE: place, NAME: worker_name(place)}
        self._what = what
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the worker."""
        self._thread.start()

    def end(self) -> None:
        """End the worker and wait for it."""
        self._ended.set()
        process = self.process
        if process is not None and process.stdin is not None:
            process.stdin.close()
        self._thread.join()

    def _keep(self) -> None:
        pause = FIRST_PAUSE
        while not self._ended.is_set():
            command = [sys.executable, "-m", "goldlabel.worker", self._what]
            with subprocess.Popen(command, stdin=subprocess.PIPE, env=self._environment) as self.process:
                if self._ended.is_set() and self.process.stdin is not None:
                    self.process.stdin.close()
                code = self.process.wait()
            if self._ended.is_set():
                return
            LOG.error(
                "the worker for %s ended (exit code %s); people can go on working, and it is started again in %.0f s",
                self._what,
                code,
                pause,
            )
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def worker_name(place: str) -> str:
    """Return what a worker is called, under which name the one in its place takes up what it held.

    A folder has one server. So where that died, the next one's workers need not wait for the leases to run out.
    """
    return secrets.token_hex(8) if place.startswith("postgres") else ALONE


@contextmanager
def kept_workers(place: str, work: Sequence[str] = WORK, **variables: str) -> Iterator[list[Keeper]]:
    """Keep the workers of a collection or a leaderboard until the block ends."""
    keepers = [Keeper(place, what, **variables) for what in work]
    for keeper in keepers:
        keeper.start()
    try:
        yield keepers
    finally:
        for keeper in keepers:
            keeper.end()
