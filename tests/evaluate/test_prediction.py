"""``predict``: every pair once, in one file, also after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate import answers as answers_module
from goldlabel.evaluate import predict
from goldlabel.files import lock_folder
from goldlabel.models.predictions import Predictions
from goldlabel.pairs.labels import LabelSpace
from tests.evaluate.samples import Told, make_pairs

GOLD = ["entailment", "neutral", "contradiction"] * 100
READ: dict[str, Any] = {".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson, ".csv": pl.read_csv}

SLOW = """
import os, time

calls = 0

def slow(premises, hypotheses):
    global calls
    calls += 1
    if calls > 1:
        time.sleep(float(os.environ["PAUSE"]))
    return [{"entailment": 0.5, "neutral": 0.3, "contradiction": 0.2} for _ in premises]
"""


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_the_file_has_ids_labels_and_probabilities(tmp_path: Path, suffix: str) -> None:
    pairs = make_pairs([*GOLD[:-1], "-"])
    told = Told([None if number == 7 else label for number, label in enumerate(GOLD)])
    done = predict(told, pairs, tmp_path / f"answers{suffix}")
    frame = READ[suffix](tmp_path / f"answers{suffix}")
    assert frame.columns == ["id", "label", "contradiction", "entailment", "neutral"]
    assert frame["id"].to_list() == pairs.collect()["id"].to_list()
    assert frame["label"].to_list() == [*GOLD[:7], "-", *GOLD[8:]]
    assert frame.row(7) == ("birds-7", "-", None, None, None)
    assert frame["neutral"][1] == 0.9
    assert (done.pairs, done.unanswered, done.predicted_before) == (300, 1, 0)
    assert done.labels == {"contradiction": 100, "entailment": 100, "neutral": 99, "-": 1}
    assert {"model", "pairs", "output", "seconds", "pairs_per_second"} <= set(done.to_dict())
    assert [path.name for path in tmp_path.iterdir()] == [f"answers{suffix}"]


def test_split_and_limit(tmp_path: Path) -> None:
    pairs = make_pairs(GOLD, split=["train", "dev", "none"] * 100)
    done = predict(Told(GOLD), pairs, tmp_path / "a.csv", split="dev", limit=5)
    assert done.labels == {"neutral": 5}
    with pytest.raises(InputError, match="has no test split, only dev, none, train"):
        predict(Told(GOLD), pairs, tmp_path / "b.csv", split="test")
    with pytest.raises(InputError, match="there are no pairs to predict"):
        predict(Told(GOLD), make_pairs([]), tmp_path / "b.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_file_scores_as_the_model_does(tmp_path: Path) -> None:
    pairs = make_pairs(GOLD, split=["train"] * 150 + ["test"] * 150)
    gl.train("linear", pairs, tmp_path / "run", dev=pairs.only(split="test"))
    by_model = gl.score(tmp_path / "run", pairs).to_dict()["scores"]
    for suffix in (".parquet", ".jsonl", ".csv"):
        gl.predict(tmp_path / "run", pairs, tmp_path / f"answers{suffix}", split="test")
        assert gl.score(tmp_path / f"answers{suffix}", pairs).to_dict()["scores"] == by_model
    matrix = Predictions.read(tmp_path / "answers.csv").predict_pairs(pairs.only(split="test").collect())
    model = gl.load_model(tmp_path / "run")
    test = pairs.only(split="test").collect()
    np.testing.assert_array_equal(matrix, model.predict(test["premise"], test["hypothesis"]))


class Failing(Told):
    """Answers so many pairs and then no more."""

    def __init__(self, answers: Sequence[str | None], most: int) -> None:
        super().__init__(answers)
        self.most = most

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        if self.asked + len(premises) > self.most:
            raise ConnectionError("gone")
        return super().predict(premises, hypotheses)


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "FIRST_SLICE", 10)
    monkeypatch.setattr(answers_module, "MOST_PAIRS", 40)


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_slices: None) -> Path:
    """Predictions by name that failed after 110 pairs; the file that they shall become."""
    monkeypatch.setattr("goldlabel.evaluate.answers.load_model", lambda name, **_: Failing(GOLD, 145))
    (tmp_path / "run").mkdir()
    with pytest.raises(ConnectionError):
        predict(tmp_path / "run", make_pairs(GOLD), tmp_path / "answers.csv", precision="fp32")
    assert not (tmp_path / "answers.csv").exists()
    return tmp_path / "answers.csv"


def test_what_was_interrupted_goes_on(interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = Told(GOLD)
    monkeypatch.setattr("goldlabel.evaluate.answers.load_model", lambda name, **_: second)
    moved: list[int] = []
    done = predict(tmp_path / "run", make_pairs(GOLD), interrupted, precision="fp32", on_pairs=moved.append)
    assert done.predicted_before == 110
    assert second.asked == 300 - done.predicted_before
    assert sum(moved) == 300
    predict(Told(GOLD), make_pairs(GOLD), tmp_path / "whole.csv")
    assert interrupted.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not (tmp_path / "answers.csv.parts").exists()


def test_another_model_or_other_pairs_do_not_go_on(interrupted: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in (tmp_path / "answers.csv.parts").iterdir())
    pairs = make_pairs(GOLD)
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match=r"unfinished predictions of another model or other options \(model"):
        predict(tmp_path / "other", pairs, interrupted, precision="fp32")
    with pytest.raises(InputError, match=r"another model or other options \(options\)"):
        predict(tmp_path / "run", pairs, interrupted, precision="bf16")
    (tmp_path / "run" / "weights").write_text("changed")
    with pytest.raises(InputError, match=r"another model or other options \(files\)"):
        predict(tmp_path / "run", pairs, interrupted, precision="fp32")
    (tmp_path / "run" / "weights").unlink()
    for others in (make_pairs(GOLD, per_premise=2), make_pairs(GOLD[:20]), make_pairs(GOLD, name="fish")):
        with pytest.raises(InputError, match="unfinished predictions of other pairs"):
            predict(tmp_path / "run", others, interrupted, precision="fp32")
    assert sorted(path.name for path in (tmp_path / "answers.csv.parts").iterdir()) == before


def test_a_loaded_model_cannot_be_told_from_another_and_begins_anew(interrupted: Path) -> None:
    other = Told(["neutral"] * 300)
    assert predict(other, make_pairs(GOLD), interrupted).labels == {"neutral": 300}
    assert other.asked == 300


def test_two_processes_do_not_predict_into_one_file(tmp_path: Path) -> None:
    with (
        lock_folder(tmp_path / "a.csv.parts", "predicting"),
        pytest.raises(InputError, match="another process is predicting here"),
    ):
        predict(Told(GOLD), make_pairs(GOLD), tmp_path / "a.csv")


def test_slices_grow_with_speed_and_shrink_with_slowness(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10_000))
    seconds = {"one": 0.0}
    monkeypatch.setattr(answers_module.time, "monotonic", lambda: next(clock) * seconds["one"])
    frame = make_pairs(GOLD * 10).collect()
    model = Told(GOLD * 10)

    def sizes() -> list[int]:
        return [len(part) for part, _ in answers_module.answer(model, [frame])]

    assert sizes()[:5] == [64, 128, 256, 512, 1024]
    seconds["one"] = 3.0
    assert set(sizes()[:-1]) == {64}
    seconds["one"] = 9.0
    assert sizes()[:7] == [64, 32, 16, 8, 4, 2, 1]


@pytest.mark.parametrize("name", ["answers", "answers.txt", "answers.csv.gz"])
def test_the_ending_tells_the_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"the ending of its name tells no format; allowed: .parquet, .jsonl, .csv"):
        predict(Told(GOLD), make_pairs(GOLD), tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder; name a file"):
        predict(Told(GOLD), make_pairs(GOLD), tmp_path / "folder.csv")


def test_a_label_that_is_called_like_a_column_is_refused(tmp_path: Path) -> None:
    space = LabelSpace("odd", ("id", "label"))
    pairs = make_pairs(["id"] * 3, space=space)
    with pytest.raises(InputError, match="label 'id' is called like a column of the file"):
        predict(Told(["id"] * 3, space), pairs, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_a_killed_process_goes_on_where_it_was(tmp_path: Path) -> None:
    make_pairs(GOLD).write(tmp_path / "birds")
    (tmp_path / "my_slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "goldlabel", "predict", "my_slow:slow", "birds", "-o", "answers.jsonl"]

    def started(pause: float) -> subprocess.Popen[str]:
        environment = os.environ | {"PAUSE": str(pause)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes)

    process = started(pause=600)
    try:
        while not list(tmp_path.glob("answers.jsonl.parts/[0-9]*.parquet")):  # the temporary one begins with a dot
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not (tmp_path / "answers.jsonl").exists()
    process = started(pause=0)
    _, said = process.communicate()
    assert process.returncode == 0
    assert "64 of 300 pairs were predicted before, and not again" in said
    resumed = (tmp_path / "answers.jsonl").read_bytes()
    assert started(pause=0).communicate()[1] == ""
    assert (tmp_path / "answers.jsonl").read_bytes() == resumed
    assert resumed.count(b"\n") == 300
    assert not list(tmp_path.glob("*.parts"))
