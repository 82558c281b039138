"""``goldlabel bench`` refuses what cannot be, in one line, and leaves nothing half done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bench.samples import pairs
from tests.cli.commands import Done, run

HERE = "tests.cli.test_bench_input"


def rows(*row: float) -> Any:
    """A model that says the same of every pair."""

    def predict(premises: Sequence[str], hypotheses: Sequence[str]) -> Any:
        return np.array([row] * len(premises))

    predict.label_space = ("entailment", "neutral", "contradiction")  # type: ignore[attr-defined]
    return predict


sure = rows(1.0, 0.0, 0.0)
half = rows(0.3335, 0.333, 0.333)
too_many = rows(0.25, 0.25, 0.25, 0.25)
too_few = rows(0.5, 0.5)
silent = rows(np.nan, np.nan, np.nan)
partly = rows(np.nan, 0.5, 0.5)
negative = rows(1.2, -0.1, -0.1)
unscaled = rows(2.0, 3.0, 1.0)
infinite = rows(np.inf, 0.0, 0.0)


def breaking(premises: Sequence[str], hypotheses: Sequence[str]) -> Any:
    raise ZeroDivisionError("no herons to divide by")


def hesitant(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str | None]:
    return [None if text.startswith("Heron 3 ") else "neutral" for text in hypotheses]


@pytest.fixture
def pond(tmp_path: Path, home: Path) -> Path:
    """A suite of one set."""
    pairs("herons", 12, split="none").export(tmp_path / "herons.jsonl", "jsonl")
    (tmp_path / "pond.yaml").write_text("sets: [herons.jsonl]")
    return tmp_path / "pond.yaml"


def bench(pond: Path, *arguments: object) -> tuple[Done, Path]:
    return run("bench", pond, *arguments, "-o", pond.parent / "bench"), pond.parent / "bench"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("too_many", "returned a matrix of 12 × 4 for 12 pairs and 3 labels"),
        ("too_few", "returned a matrix of 12 × 2 for 12 pairs and 3 labels"),
        ("silent", "has an answer to none of these 12 pairs"),
        ("partly", "nan, 0.5, 0.5 are no probabilities"),
        ("negative", "1.2, -0.1, -0.1 are no probabilities, as they must be from 0 on and sum to 1 (here 1)"),
        ("unscaled", "2, 3, 1 are no probabilities, as they must be from 0 on and sum to 1 (here 6)"),
        ("infinite", "inf, 0, 0 are no probabilities"),
        ("breaking", "ZeroDivisionError: no herons to divide by"),
    ],
)
def test_a_model_that_gives_no_probabilities_is_not_judged(pond: Path, model: str, message: str) -> None:
    done, folder = bench(pond, f"wrong={HERE}:{model}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "goldlabel: no model could be judged; wrong: " in done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not folder.exists()
    beside, _ = bench(pond, f"wrong={HERE}:{model}", f"right={HERE}:sure", "--json")
    assert beside.returncode == 1, "the others are judged, and the command says that one was not"
    results = json.loads(beside.stdout)
    assert list(results["models"]) == ["right"]
    assert message in results["failed"]["wrong"]
    assert message in beside.stderr


def test_rounded_probabilities_are_probabilities(pond: Path) -> None:
    done, _ = bench(pond, f"{HERE}:half", "--json")
    assert done.returncode == 0, done.stderr


def test_pairs_without_an_answer_are_told(pond: Path) -> None:
    done, _ = bench(pond, f"hesitant={HERE}:hesitant", "--json")
    assert done.returncode == 0, done.stderr
    assert "hesitant: 1 of 12 pairs of herons have no answer and count as wrong" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "there is no model to judge; give some with --models"),
        (("--models", ""), "--models '' is not of the form [NAME=]MODEL"),
        (("--models", "lineer"), "'lineer' is no model; did you mean 'linear'? give a run folder"),
        (("--models", "linear@hypotesis"), "side 'hypotesis' is not known; did you mean 'hypothesis'?"),
        (("--models", f"{HERE}:gone"), "has no function 'gone'"),
        (("--models", f"a={HERE}:sure", "--models", f"a={HERE}:half"), "two models are called 'a'"),
        (("--models", "linear"), "linear has to be trained first; say on what with --train PATH"),
        (("--models", "linear", "--train", "gone.jsonl"), "'gone.jsonl' is neither a file, a folder nor a source"),
        (("--models", "linear+drifft", "--train", "herons.jsonl"), "did you mean 'drift'?"),
        (("--models", f"{HERE}:sure", "--set", "wings=2"), "--set wings: none of the models that are trained knows"),
        (("--models", f"{HERE}:sure", "--suite-set", "wings=2"), "suite mine has no option 'wings'; allowed: file"),
        (("--models", f"{HERE}:sure", "--data", "herons"), "--data 'herons' is not of the form"),
        (("--models", f"{HERE}:sure", "--data", "herons=gone"), "gone: there is no such file or folder"),
        (
            ("--models", f"{HERE}:sure", "--data", "egrets=herons.jsonl"),
            "--data egrets: the suite does not look for it; allowed: herons",
        ),
        (("--models", f"{HERE}:sure", "--executor", "cloud"), "there is no executor 'cloud'"),
        (("--models", f"{HERE}:sure", "--device", "tpu"), "tpu"),
        (("--models", f"{HERE}:sure", "--level", "95"), "confidence level 95.0 is not between 0 and 1"),
        (("--models", f"{HERE}:sure", "--export", "helm"), "leave"),
        (("--export", "helm"), "export 'helm' is not known; allowed: inspect, lm-eval"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(pond: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("bench", "pond.yaml", *arguments, "-o", "bench", cwd=pond.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in pond.parent.iterdir() if path.name != "home") == ["herons.jsonl", "pond.yaml"]


def test_suites_that_are_not_there(tmp_path: Path, home: Path) -> None:
    for suite, message in {
        "crosss": "there is no suite 'crosss'; did you mean 'cross'?",
        "gone.yaml": "gone.yaml: there is no such file",
        "cross": "there is no set to judge by (multinli: add it with 'goldlabel data add multinli PATH'; ",
    }.items():
        done = run("bench", suite, f"{HERE}:sure", "-o", tmp_path / "bench")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (tmp_path / "bench").exists()


def test_places_that_cannot_be_written(pond: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a heron stands")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters/kept.txt").write_text("dear heron")
    assert run("bench", pond, f"{HERE}:sure", "--limit", 5, "-o", tmp_path / "other").returncode == 0
    for folder, message in {
        "file": "holds something else than a bench",
        "file/bench": "cannot be written (Not a directory)",
        "letters": "holds something else than a bench",
        "other": "holds a bench with another limit (5)",
    }.items():
        before = sorted(tmp_path.rglob("*"))
        done = run("bench", pond, f"{HERE}:sure", "-o", tmp_path / folder)
        assert (done.returncode, done.stdout) == (2, ""), folder
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before
