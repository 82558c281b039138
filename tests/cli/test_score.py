"""``goldlabel score``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.conftest import pair


@pytest.fixture
def files(tmp_path: Path, jsonl: Callable[..., Path]) -> tuple[Path, Path]:
    """Four pairs, one without gold, and predictions of three of them."""
    labels = ["entailment", "neutral", "contradiction", "-"]
    pairs = jsonl(*(pair(pairID=f"p{number}", gold_label=label) for number, label in enumerate(labels)))
    answers = tmp_path / "answers.csv"
    answers.write_text("id,label\np0,entailment\np1,entailment\np3,neutral\n")
    return answers, pairs


def test_the_keys_that_programs_read(files: tuple[Path, Path]) -> None:
    done = run("score", *files, "--by", "genre", "--json")
    assert done.returncode == 0, done.stderr
    scored = json.loads(done.stdout)["scores"]["pairs"]
    assert {"accuracy", "interval", "n", "units", "macro_f1", "per_label", "confusion"} <= set(scored)
    assert (scored["accuracy"], scored["n"], scored["answered"]) == (pytest.approx(1 / 3), 3, 2)
    assert scored["confusion"]["contradiction"] == {"contradiction": 0, "entailment": 0, "neutral": 0, "-": 1}
    assert scored["per_label"]["entailment"]["precision"] == 0.5
    assert list(scored["groups"]) == ["(none)"]
    assert "1 pair has no gold label and is left out" in done.stderr
    assert "1 of 3 pairs have no answer and count as wrong" in done.stderr


def test_the_tables_are_for_people(files: tuple[Path, Path]) -> None:
    done = run("score", *files)
    assert done.returncode == 0, done.stderr
    assert "33.3" in done.stdout
    assert "gold labels down, answers across (the same labels)" in done.stdout
    assert "precision" in done.stdout


def test_bad_input_is_one_line(files: tuple[Path, Path], tmp_path: Path) -> None:
    answers, pairs = files
    for arguments, line in {
        (
            "nothing",
            pairs,
        ): "'nothing' is no model; give a run folder, hf:NAME, openai:URL#MODEL, module:function, FILE",
        (answers, tmp_path / "gone.jsonl"): "nor a source; 'goldlabel data list' names the sources",
        (answers, pairs, "--split", "test"): "has no test split, only none",
        (answers, pairs, "--by", "label_"): "there is no column 'label_'",
        (answers, pairs, "--set", "colour=red"): "has no option 'colour'; allowed: label_space",
        (answers, pairs, "--level", "95"): "confidence level 95.0 is not between 0 and 1",
    }.items():
        done = run("score", *arguments)
        assert done.returncode == 2
        assert line in done.stderr
        assert done.stderr.count("\n") == 1
