"""A worker process, started by a server, which tells it where and its name: ``python -m goldlabel.worker WHAT``.

It ends when the server does, however that ends: the pipe between the two closes then. Ctrl-C is for the server alone.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from goldlabel.collect.store import Store
from goldlabel.errors import GoldlabelError
from goldlabel.leaderboard.board import open_board
from goldlabel.worker.adversaries import answer_all
from goldlabel.worker.courier import carry
from goldlabel.worker.keeper import FOLDER, NAME, PLACE
from goldlabel.worker.scoring import score_once
from goldlabel.worker.work import keep_on, work

NICE = 10
"""Whoever serves people comes first; those who try against a model wait for it."""


def main() -> None:
    """Do jobs, answer tries, or score submissions, until the server ends."""
    what = sys.argv[1]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    if what in ("jobs", "scores"):
        os.nice(NICE)
    ended = threading.Event()

    def wait_for_server() -> None:
        sys.stdin.buffer.read()
        ended.set()
        os._exit(0)  # a job half done is taken up again by the next worker

    try:
        do = _prepare(what, ended)
    except GoldlabelError as error:
        sys.exit(str(error))
    threading.Thread(target=wait_for_server, daemon=True).start()
    do()


def _prepare(what: str, ended: threading.Event) -> Callable[[], None]:
    """Open what the worker works on, and return its work."""
    place, name = os.environ[PLACE], os.environ[NAME]
    if what == "scores":
        board, board_store = open_board(Path(os.environ[FOLDER]), place)
        return lambda: keep_on(lambda: score_once(board, board_store, name), ended)
    store = Store.open(place)
    if what == "tries":
        return lambda: answer_all(store, name, ended)
    threading.Thread(target=carry, args=(store, ended), daemon=True).start()
    return lambda: work(store, name, ended)


if __name__ == "__main__":
    main()
