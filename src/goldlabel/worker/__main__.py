"""A worker process: ``python -m goldlabel.worker jobs|tries``, started by a server, which tells it where and its name.

It ends when the server does, however that ends: the pipe between the two closes then. Ctrl-C is for the server alone.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading

from goldlabel.collect.store import Store
from goldlabel.errors import GoldlabelError
from goldlabel.worker.adversaries import answer_all
from goldlabel.worker.courier import carry
from goldlabel.worker.keeper import NAME, PLACE
from goldlabel.worker.work import work

NICE = 10
"""Whoever serves people comes first; those who try against a model wait for it."""


def main() -> None:
    """Do jobs, or answer tries, until the server ends."""
    what = sys.argv[1]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    if what == "jobs":
        os.nice(NICE)
    ended = threading.Event()

    def wait_for_server() -> None:
        sys.stdin.buffer.read()
        ended.set()
        os._exit(0)  # a job half done is taken up again by the next worker

    try:
        store = Store.open(os.environ[PLACE])
    except GoldlabelError as error:
        sys.exit(str(error))
    threading.Thread(target=wait_for_server, daemon=True).start()
    if what == "tries":
        answer_all(store, os.environ[NAME], ended)
        return
    threading.Thread(target=carry, args=(store, ended), daemon=True).start()
    work(store, os.environ[NAME], ended)


if __name__ == "__main__":
    main()
