"""Fixtures that every room's tests share."""

from __future__ import annotations

import os

# Threads that spin for each other on a busy machine cost a hundredfold; tests are small. Before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Models go to a GPU where there is one; the tests hold figures that a CPU gives. CUDA=1 lets those see it that ask.
if os.environ.get("CUDA") != "1":
    os.environ["CUDA_VISIBLE_DEVICES"] = ""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import orjson
import pytest

hypothesis.settings.register_profile("untimed", deadline=None)  # no test asserts a time
hypothesis.settings.load_profile("untimed")

# A shell starts what runs in the background with Ctrl-C ignored; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

CORPORA = os.environ.get("GOLDLABEL_CORPORA")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of its own."""
    folder = tmp_path / "home"
    monkeypatch.setenv("GOLDLABEL_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The user's folder of public corpora."""
    if not CORPORA:
        pytest.skip("GOLDLABEL_CORPORA is not set: no folder of public corpora to read")
    return Path(CORPORA)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium that Playwright can drive."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("Chromium is not installed: pages are not looked at in a browser")
    return found


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows as a JSONL file and returns its path."""

    def write(*rows: dict[str, Any], name: str = "pairs.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        return path

    return write


def pair(**fields: Any) -> dict[str, Any]:
    """A valid row in SNLI's names; ``fields`` replace or add, ``None`` removes."""
    row = {"sentence1": "A heron stands in the reeds.", "sentence2": "A bird is outside.", "gold_label": "entailment"}
    return {name: value for name, value in (row | fields).items() if value is not None}
