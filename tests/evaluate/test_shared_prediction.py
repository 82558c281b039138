"""Predictions that workers share: the same bytes whoever makes them, and none twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError, PieceError
from goldlabel.evaluate import predict, shared_prediction
from goldlabel.executors import Here, open_executor
from tests.evaluate.samples import Told, make_pairs
from tests.train.samples import SMALL

GOLD = ["entailment", "neutral", "contradiction"] * 30
FAILING = """
from pathlib import Path

def answer(premises, hypotheses):
    folder = Path(__file__).parent
    with (folder / "asked").open("a") as stream:
        stream.write(f"{len(premises)}\\n")
    if (folder / "broken").exists() and len((folder / "asked").read_text().split()) == 3:
        raise ZeroDivisionError("broken")
    return [{"entailment": len(text) % 7 / 10, "neutral": 1 - len(text) % 7 / 10} for text in hypotheses]
"""


KILLED = """
import os, signal, sys
import goldlabel as gl
from goldlabel.evaluate import predict, shared_prediction
from goldlabel.executors import Here

shared_prediction.SLICE, answered = 20, []

def kill(pairs):
    answered.append(pairs)
    if sum(answered) == 40:
        os.kill(os.getpid(), signal.SIGKILL)

predict(sys.argv[1], gl.read(sys.argv[2]), sys.argv[3], executor=Here(), on_pairs=kill)
"""


def train_small(pairs: gl.Pairs, run: Path) -> None:
    """A network: its worker loads torch, and batches must be cut alike to give the same bytes."""
    gl.train("cbow", pairs, run, **SMALL | {"epochs": 1})


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_prediction, "SLICE", 20)


def test_processes_give_the_bytes_of_one_process(tmp_path: Path) -> None:
    pairs = make_pairs(GOLD)
    train_small(pairs, tmp_path / "run")
    moved: list[int] = []
    for name in ("here", "processes"):
        with open_executor(name, 2 if name == "processes" else None) as executor:
            done = predict(
                tmp_path / "run", pairs, tmp_path / f"{name}.parquet", executor=executor, on_pairs=moved.append
            )
        assert done.pairs == 90
    assert sum(moved) == 180
    alone = predict(tmp_path / "run", pairs, tmp_path / "alone.parquet")
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "processes.parquet").read_bytes()
    assert pl.read_parquet(tmp_path / "here.parquet").equals(pl.read_parquet(tmp_path / "alone.parquet"))
    assert alone.labels == done.labels
    assert not list(tmp_path.glob("*.parts"))


def test_a_network_that_is_killed_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    pairs = make_pairs(GOLD)
    train_small(pairs, tmp_path / "run")
    pairs.write(tmp_path / "data")
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "run", tmp_path / "data", tmp_path / "out.csv"])
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out.csv").exists()
    done = predict(tmp_path / "run", gl.read(tmp_path / "data"), tmp_path / "out.csv", executor=Here())
    assert 40 <= done.predicted_before < 90
    predict(tmp_path / "run", gl.read(tmp_path / "data"), tmp_path / "whole.csv", executor=Here())
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert pl.read_csv(tmp_path / "out.csv")["id"].to_list() == pairs.collect()["id"].to_list()


def test_what_failed_goes_on_with_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sometimes_broken.py").write_text(FAILING)
    (tmp_path / "broken").touch()
    monkeypatch.syspath_prepend(tmp_path)
    model, pairs, output = "sometimes_broken:answer", make_pairs(GOLD), tmp_path / "out.csv"
    with pytest.raises(PieceError, match=r"00000002-20-.*: ZeroDivisionError: broken \(see "):
        predict(model, pairs, output, executor=Here())
    assert not output.exists()
    (first,) = (tmp_path / "out.csv.parts").glob("00000000-*.parquet")
    first.unlink()  # as if workers had ended in another order
    for others in (make_pairs(GOLD, name="fish"), make_pairs(GOLD[:20])):
        with pytest.raises(InputError, match="unfinished predictions of other pairs"):
            predict(model, others, output, executor=Here())
    with pytest.raises(InputError, match=r"other options \(slices\)"):
        predict(model, pairs, output)
    (tmp_path / "asked").unlink()
    (tmp_path / "broken").unlink()
    done = predict(model, pairs, output, executor=Here())
    assert done.predicted_before == 20
    assert (tmp_path / "asked").read_text().split() == ["20", "20", "20", "10"]
    assert pl.read_csv(output)["id"].to_list() == pairs.collect()["id"].to_list()


def test_what_workers_cannot_load_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a model that is loaded stays in its process"):
        predict(Told(GOLD), make_pairs(GOLD), tmp_path / "out.csv", executor=Here())
    with pytest.raises(InputError, match="one process asks an endpoint as much as it bears"):
        predict("openai:http://localhost:1/v1#m", make_pairs(GOLD), tmp_path / "out.csv", executor=Here())
