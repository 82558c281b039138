"""A folder of many Parquet files that memory does not hold gives the figures that one file in memory does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.pairs import spilling
from tests.cli.commands import run

WORDS = ("horse", "cow", "cat", "dog", "sheep", "goat", "hen")
LABELS = ("entailment", "neutral", "contradiction")
PAIRS = pl.DataFrame(
    [
        {
            "id": f"p{number:03}",
            "premise": f"A man leads {number % 60} {WORDS[number % 7]}s over hill {number % 11}.",
            "hypothesis": f"{'Nobody' if number % 3 == 2 else 'Somebody'} leads a {WORDS[number % 5]} {number % 60}.",
            "label": LABELS[number % 3],
            "votes": [LABELS[number % 3]] * 2 + [LABELS[number // 2 % 3]],
        }
        for number in range(240)
    ]
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One file, and a folder of the same pairs in many."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "pairs").mkdir()
    PAIRS.write_parquet(folder / "pairs.parquet")
    for start in range(0, len(PAIRS), 40):
        PAIRS[start : start + 40].write_parquet(folder / "pairs" / f"part-{start:03}.parquet")
    return folder / "pairs.parquet", folder / "pairs"


COMMANDS = {
    "audit": ["audit", "--folds", 2],
    "duplicates": ["data", "duplicates"],
    "verify": ["verify", "--seed", 1],
    "split": ["data", "split", "--ratios", "8:1:1"],
    "export": ["data", "export", "--to", "csv"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_many_files_on_disk_give_what_one_in_memory_gives(
    name: str, places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    told = []
    for place, in_memory in zip(places, (1 << 30, 20_000), strict=True):
        monkeypatch.setattr(spilling, "IN_MEMORY", in_memory)
        output = [] if name == "duplicates" else ["-o", tmp_path / f"{len(told)}-out"]
        done = run(*COMMANDS[name], place, *output, "--json")
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.replace(f"{len(told)}-out", "out").replace(str(place), "PLACE"))
        if name == "export":
            told[-1] += Path(output[1]).read_text()
    assert told[0] == told[1]
    assert len(list(tmp_path.glob("goldlabel-read-*"))) == 1  # the second was really read from disk


def test_only_the_first_are_read_and_double_ids_are_refused_on_disk_too(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spilling, "IN_MEMORY", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert gl.read(places[1], limit=90).collect()["id"].to_list() == PAIRS["id"].to_list()[:90]
    PAIRS[:2].write_ndjson(places[1] / "double.jsonl")
    with pytest.raises(InputError, match="pairs: id 'p000' is given to 2 pairs"):
        gl.read(places[1])


SPILLING = """
import sys, time
from goldlabel.cli import main
from goldlabel.pairs import spilling

def linger(path):
    print("spilled", flush=True)
    time.sleep(100)

spilling.IN_MEMORY, spilling.pl.scan_parquet = 1000, linger
sys.argv = ["goldlabel", "data", "show", "-"]
main()
"""


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_what_was_spilled_goes_when_the_command_is_stopped(kill: signal.Signals, tmp_path: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-c", SPILLING],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert command.stdin is not None
    assert command.stdout is not None
    command.stdin.write(PAIRS.write_ndjson().encode())
    command.stdin.close()
    assert command.stdout.readline() == b"spilled\n"
    assert [*tmp_path.glob("goldlabel-read-*/*")]
    command.send_signal(kill)
    with command:
        assert command.wait() == 130
    assert [*tmp_path.iterdir()] == []
