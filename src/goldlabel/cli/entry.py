"""The way in: from its first line to its last, Ctrl-C ends the command with one line and exit code 130.

So does SIGTERM, by which schedulers, ``systemd`` and ``kill`` end a process: work saves its state, and what it started
goes.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def main() -> NoReturn:
    """Run the command line; bad input ends with one line on stderr and exit code 2, Ctrl-C with one and 130."""
    # A shell starts what runs in the background with Ctrl-C ignored, and it stays so.
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeds:
        signal.signal(signal.SIGINT, _leave)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    # NumPy's threads wait for work by turning round and round, 2^26 times, before they sleep: all of a short command.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "16")
    from goldlabel.cli.app import run

    try:
        if heeds:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the next Ctrl-C comes too late
        from goldlabel.files import remove_folders_of_process

        remove_folders_of_process()
        _leave()
    # To look through all that was imported for cycles on the way out would take a fifth of a short command.
    atexit.register(gc.freeze)
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the work is done and told
    sys.exit(code)


def _leave(*_: object) -> NoReturn:
    """Say so and end at once.

    A KeyboardInterrupt in a library that is half imported becomes some error of the library's own, and where it
    passed through ``exec``, Python's own way out ends in a signal instead of an exit code.
    """
    with suppress(OSError, RuntimeError):  # nobody reads any more, or the signal came in the midst of a write
        sys.stdout.flush()
    os.write(sys.stderr.fileno(), b"goldlabel: interrupted; nothing was half-written\n")
    os._exit(INTERRUPTED)
