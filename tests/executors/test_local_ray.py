"""A Ray that is started for a command goes with it, with all that it has left on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')

from tests.bench.samples import pairs
from tests.executors.samples import FOLDER, begun


@pytest.fixture
def temporary() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="gl-", dir="/tmp") as folder:  # the path of a socket must be short
        yield folder


def test_a_local_ray_goes_with_a_command_that_is_told_to_end(temporary: str, tmp_path: Path) -> None:
    pairs("train", 20).write(tmp_path / "data")
    command = [sys.executable, "-m", "goldlabel", "predict", "tests.executors.samples:say_entailed"]
    command += [tmp_path / "data", "--executor", "ray", "--jobs", "1", "-o", tmp_path / "out.csv"]
    environment = os.environ | {"TMPDIR": temporary, FOLDER: str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        while not begun(tmp_path):
            assert process.poll() is None
            time.sleep(0.05)
        started = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        told = process.communicate()[1]
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "goldlabel: interrupted; give the same command once more" in told
    assert list(Path(temporary).iterdir()) == []
    assert psutil.wait_procs(started, timeout=60)[1] == []
