"""A Ray that is started for a command goes with it, with all that it has left on the disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')

from goldlabel.executors import Tell, open_executor


def square(tell: Tell, number: int) -> int:
    return number * number


def test_a_local_ray_goes_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tempfile.mkdtemp(prefix="gl-", dir="/tmp")
    monkeypatch.setattr("tempfile.tempdir", folder)
    before = set(psutil.Process().children(recursive=True))
    outcomes: dict[str, Any] = {}
    with open_executor("ray", 1) as executor:
        executor.run(square, {"2": (2,), "3": (3,)}, outcomes.__setitem__)
    assert outcomes == {"2": 4, "3": 9}
    assert list(Path(folder).iterdir()) == []
    assert set(psutil.Process().children(recursive=True)) <= before
    shutil.rmtree(folder)
