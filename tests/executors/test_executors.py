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
import scipy.linalg  # noqa: F401, whose threads are counted
from threadpoolctl import threadpool_info

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.executors import DIED, EXECUTORS, Failure, Tell, open_executor
from goldlabel.executors.processes import THREADS, Processes, shared_cores

HERE = [name for name in EXECUTORS if name != "ray"]
"""Where no cluster is started for it; ``test_ray`` has one."""
SCRIPT = """
import sys
from goldlabel.executors.processes import Processes
from tests.executors.test_executors import linger

if __name__ == "__main__":
    Processes(2).run(linger, {"one": (sys.argv[1],), "two": (sys.argv[2],)}, print)
"""


def halve(tell: Tell, number: int) -> float:
    """Refuse what is odd, and fail on zero."""
    if number % 2:
        raise InputError(f"{number} is odd")
    return 1 / (number / 2)


def die(tell: Tell, number: int) -> int:
    """Take the process down on zero."""
    if not number:
        os._exit(3)
    return number


def blas_threads(tell: Tell) -> set[int]:
    """Return how many threads the libraries of linear algebra have."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def linger(tell: Tell, path: str) -> None:
    """Say who is at work, and go on for long."""
    Path(path).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(600)


def count(tell: Tell, folder: Path, number: int) -> int:
    """Tell of every step, and leave a line when begun and when done."""
    with (folder / "begun").open("a", encoding="utf-8") as stream:
        stream.write(f"{number}\n")
    for step in range(number):
        tell(step + 1)
        time.sleep(0.15)
    (folder / f"done-{number}").touch(exist_ok=False)
    return number * number


@pytest.mark.parametrize("name", HERE)
def test_results_and_failures_by_name(name: str) -> None:
    check_results(name)


@pytest.mark.parametrize("name", HERE)
def test_each_piece_once_and_its_words_arrive(name: str, tmp_path: Path) -> None:
    check_words(name, tmp_path)


def check_results(name: str, cluster: str | None = None) -> None:
    outcomes: dict[str, Any] = {}
    with open_executor(name, 1 if name == "here" else 2, cluster=cluster) as executor:
        executor.run(halve, {str(number): (number,) for number in range(5)}, outcomes.__setitem__)
    where = f" (on node {os.uname().nodename})" if name == "ray" else ""
    assert {key: outcomes[key] for key in ("2", "4")} == {"2": 1.0, "4": 0.5}
    assert outcomes["1"] == Failure(f"1 is odd{where}")
    assert outcomes["0"].message == f"ZeroDivisionError: float division by zero{where}"
    assert "in halve" in outcomes["0"].trace


def check_words(name: str, tmp_path: Path, cluster: str | None = None) -> None:
    outcomes: dict[str, Any] = {}
    told: dict[str, list[int]] = {}

    def on_told(piece: str, state: int) -> None:
        told.setdefault(piece, []).append(state)

    with open_executor(name, 1 if name == "here" else 2, cluster=cluster) as executor:
        work = {str(number): (tmp_path, number) for number in range(1, 5)}
        executor.run(count, work, outcomes.__setitem__, on_told=on_told, paths=[tmp_path])
    assert outcomes == {"1": 1, "2": 4, "3": 9, "4": 16}
    assert sorted((tmp_path / "begun").read_text(encoding="utf-8").split()) == ["1", "2", "3", "4"]
    assert set(told) <= set(work)
    assert told["4"] == sorted(told["4"])


def test_a_process_that_dies_takes_no_other_with_it() -> None:
    outcomes: dict[str, Any] = {}
    with open_executor("processes", 2) as executor:
        executor.run(die, {str(number): (number,) for number in range(4)}, outcomes.__setitem__)
    assert outcomes == {"0": Failure(DIED), "1": 1, "2": 2, "3": 3}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"executor": "cloud"}, "there is no executor 'cloud'; .*allowed: here, processes, ray"),
        ({"jobs": 0}, "0 jobs cannot be; give a number from 1 on"),
        ({"executor": "here", "jobs": 2}, "--executor here does one piece at a time, not 2"),
        ({"executor": "processes", "cluster": "head:6379"}, "--cluster is for --executor ray, .* by processes"),
        ({"gpus_per_job": 1}, "--gpus-per-job is for --executor processes and ray, and work is done here"),
        ({"executor": "processes", "gpus_per_job": 1}, "--gpus-per-job 1: this machine has 0 GPUs; give fewer"),
        ({"executor": "ray", "gpus_per_job": 1.5}, r"--gpus-per-job 1\.5 cannot be; give a share such as 0\.5"),
    ],
)
def test_executors_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GoldlabelError, match=message), open_executor(**options):
        pass


def tell_gpus(tell: Tell) -> str:
    return os.environ["CUDA_VISIBLE_DEVICES"]


@pytest.mark.parametrize(
    ("share", "jobs", "seen"),
    [(None, 3, ("4", "5")), (1, 2, ("4", "5")), (0.5, 4, ("4", "5", "4", "5")), (2, 1, ("4,5",)), (0, 3, ("",))],
)
def test_gpus_are_dealt_out_to_processes(
    share: float | None, jobs: int, seen: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5")
    with open_executor("processes", None if share else 3, gpus_per_job=share) as executor:
        assert isinstance(executor, Processes)
        assert executor.gpus == seen
        assert executor.jobs == (min(jobs, os.cpu_count() or 1) if share else 3)


def test_a_process_sees_its_gpus_alone() -> None:
    outcomes: dict[str, Any] = {}
    Processes(1, ("5",)).run(tell_gpus, {"ash": ()}, outcomes.__setitem__)
    assert outcomes == {"ash": "5"}


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


def test_cores_are_shared_unless_the_user_has_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    for jobs, share in ((1, "8"), (3, "2"), (20, "1")):
        with shared_cores(jobs):
            assert {os.environ[name] for name in THREADS} == {share}
    assert not [name for name in THREADS if name in os.environ], "what was set is taken back"
    outcomes: dict[str, Any] = {}
    Processes(20).run(blas_threads, {"piece": ()}, outcomes.__setitem__)
    assert outcomes == {"piece": {1}}, "libraries know of it in the process"
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with shared_cores(2):
        assert [name for name in THREADS if name in os.environ] == ["OMP_NUM_THREADS"]
        assert os.environ["OMP_NUM_THREADS"] == "3"
