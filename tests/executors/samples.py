"""Work that waits for a sign and leaves a trace of who has done it, and how often."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

from goldlabel.executors import Tell
from goldlabel.files import lock_folder
from tests.executors.conftest import kill_node

FOLDER = "GOLDLABEL_TEST_FOLDER"
PATIENCE = 120.0
"""Seconds until nobody believes that a node will get its piece; the test then says that it was not at work."""


def wait_for(tell: Tell, folder: Path, name: str) -> str:
    """Say who has begun, alone in a folder, and go on at the sign."""
    with lock_folder(folder / name, "waiting"):
        begin(folder, name)
        (folder / f"{name}.done").touch(exist_ok=False)
    return name.upper()


def say_entailed(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """Answer, at the sign, that everything is entailed."""
    return answer("entailment", premises)


def say_neutral(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """Answer, at the sign, that everything is neutral."""
    return answer("neutral", premises)


def answer(label: str, premises: Sequence[str]) -> list[str]:
    folder = Path(os.environ[FOLDER])
    begin(folder, label)
    with (folder / f"{label}.answered").open("a", encoding="utf-8") as stream:
        stream.write(f"{len(premises)}\n")
    return [label] * len(premises)


def begin(folder: Path, name: str) -> None:
    """Leave a line that names the node, and wait for the sign."""
    here = ray.get_runtime_context().get_node_id() if ray.is_initialized() else "here"
    with (folder / f"{name}.begun").open("a", encoding="utf-8") as stream:
        stream.write(f"{here}\n")
    while not (folder / "go").exists():
        time.sleep(0.02)


def begun(folder: Path) -> dict[str, list[str]]:
    """Return the nodes that have begun each piece."""
    return {path.stem: path.read_text(encoding="utf-8").split() for path in folder.glob("*.begun")}


@contextmanager
def killing(node: Any, folder: Path, is_due: Callable[[], bool]) -> Iterator[None]:
    """Kill a node when it is due, then give the sign; it is given in any case, so that nothing waits for ever."""

    def kill() -> None:
        patience = time.monotonic() + PATIENCE
        while not is_due() and time.monotonic() < patience:
            time.sleep(0.02)
        if is_due():
            kill_node(node)
        (folder / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    yield
    killer.join()
