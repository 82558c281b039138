from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from goldlabel.collect.configuration import create_project
from goldlabel.collect.jobs import Job, ask, latest_job
from goldlabel.collect.store import Store
from goldlabel.worker import keeper
from goldlabel.worker.keeper import NAME, PLACE, kept_workers, worker_name
from tests.collect.campaign import small_protocol


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "collection")


def wait_for(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


def job_of(store: Store, project_id: int) -> Job:
    with store.read() as tx:
        job = latest_job(tx, project_id, "measure")
    assert job is not None
    return job


def test_a_worker_that_is_killed_is_started_again_and_does_the_job(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeper, "FIRST_PAUSE", 0.01)
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol("single")).id
    with caplog.at_level(logging.ERROR), kept_workers(str(tmp_path / "collection")) as (kept, _):
        wait_for(lambda: kept.process)
        first = kept.process
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        wait_for(lambda: kept.process is not first)
        with store.write() as tx:
            ask(tx, project_id, "measure")
        wait_for(lambda: job_of(store, project_id).is_over)
        last = kept.process
    assert job_of(store, project_id).state == "done"
    assert "ended (exit code -9); people can go on working" in caplog.text
    assert last is not None
    assert last.returncode == 0, "it ended with the server"
    store.close()


@pytest.mark.parametrize("what", keeper.WORK)
def test_a_worker_of_nothing_says_so_in_one_line(what: str, tmp_path: Path) -> None:
    environment = {**os.environ, PLACE: str(tmp_path / "nothing"), NAME: "wren"}
    ended = subprocess.run(
        [sys.executable, "-m", "goldlabel.worker", what],
        env=environment,
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert "holds no collection" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_workers_of_the_next_server_of_a_folder_take_up_what_those_of_a_dead_one_held() -> None:
    assert worker_name("/srv/collection") == worker_name("/srv/collection")
    assert worker_name("postgresql://nli.example/c") != worker_name("postgresql://nli.example/c"), (
        "there may be several"
    )
