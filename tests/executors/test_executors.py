"""Whoever does the work, the results are the same, a failure stays alone, and nobody works on for a dead parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from goldlabel.errors import InputError
from goldlabel.executors import DIED, EXECUTORS, Failure

SCRIPT = """
import sys
from goldlabel.executors import Processes
from tests.executors.test_executors import linger

if __name__ == "__main__":
    Processes(2).run(linger, {"one": (sys.argv[1],), "two": (sys.argv[2],)}, print)
"""


def halve(number: int) -> float:
    """Refuse what is odd, and fail on zero."""
    if number % 2:
        raise InputError(f"{number} is odd")
    return 1 / (number / 2)


def die(number: int) -> int:
    """Take the process down on zero."""
    if not number:
        os._exit(3)
    return number


def linger(path: str) -> None:
    """Say who is at work, and go on for long."""
    Path(path).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(600)


@pytest.mark.parametrize("name", ["here", "processes"])
def test_results_and_failures_by_name(name: str) -> None:
    outcomes: dict[str, Any] = {}
    EXECUTORS.get(name)(2).run(halve, {str(number): (number,) for number in range(5)}, outcomes.__setitem__)
    assert {key: outcomes[key] for key in ("2", "4")} == {"2": 1.0, "4": 0.5}
    assert outcomes["1"] == Failure("1 is odd")
    assert outcomes["0"].message.startswith("ZeroDivisionError")
    assert "in halve" in outcomes["0"].trace


def test_a_process_that_dies_takes_no_other_with_it() -> None:
    outcomes: dict[str, Any] = {}
    EXECUTORS.get("processes")(2).run(die, {str(number): (number,) for number in range(4)}, outcomes.__setitem__)
    assert outcomes == {"0": Failure(DIED), "1": 1, "2": 2, "3": 3}


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    places = [tmp_path / "one", tmp_path / "two"]
    path = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen([sys.executable, tmp_path / "script.py", *places], env=os.environ | {"PYTHONPATH": path})
    try:
        while not all(place.exists() and place.read_text(encoding="utf-8") for place in places):
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    workers = [int(place.read_text(encoding="utf-8")) for place in places]
    for _ in range(600):
        if any(map(_is_alive, workers)):
            time.sleep(0.1)
    assert not any(map(_is_alive, workers))


def _is_alive(process: int) -> bool:
    """Say whether a process is at work; one that has ended and that nobody has asked about is not."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
