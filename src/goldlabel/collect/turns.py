"""Turns: a lock that goes to whoever has waited for it longest.

Python's own lock may be taken again by the thread that has just let it go, while others wait: an import that takes it
batch after batch would keep every vote out until its end.
"""

from __future__ import annotations

import threading
from collections import deque


class Turns:
    """A lock for ``with`` that threads are given in the order in which they asked for it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        try:
            gate.acquire()
        except BaseException:
            self._give_up(gate)
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._hand_on()

    def _hand_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().release()
        else:
            self._taken = False

    def _give_up(self, gate: threading.Lock) -> None:
        """Leave the queue; who was given the lock meanwhile hands it on."""
        with self._guard:
            if gate in self._waiting:
                self._waiting.remove(gate)
            else:
                self._hand_on()
