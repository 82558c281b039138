"""``goldlabel predict``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from tests.cli.commands import run
from tests.conftest import pair


def test_the_keys_that_programs_read_and_the_file(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    pairs = jsonl(pair(pairID="a"), pair(pairID="b", gold_label="-"), pair(pairID="c"))
    answers = tmp_path / "answers.csv"
    answers.write_text("id,label\na,neutral\nb,entailment\n")
    done = run("predict", answers, pairs, "-o", tmp_path / "out.parquet", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {"model", "pairs", "output", "seconds", "pairs_per_second"} <= set(document)
    assert (document["pairs"], document["unanswered"]) == (3, 1)
    assert "1 of 3 pairs have no answer; their label is '-'" in done.stderr
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame.rows() == [("a", "neutral", 0, 0, 1), ("b", "entailment", 0, 1, 0), ("c", "-", None, None, None)]
    people = run("predict", answers, pairs, "-o", tmp_path / "out.jsonl", "--limit", 2)
    assert "2 pairs in" in people.stdout
    assert "neutral" in people.stdout


def test_bad_input_is_one_line(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    pairs = jsonl(pair(pairID="a"))
    answers = tmp_path / "answers.csv"
    answers.write_text("id,label\na,neutral\n")
    for arguments, line in {
        (answers, pairs, "-o", tmp_path / "out.xlsx"): "tells no format; allowed: .parquet, .jsonl, .csv",
        (answers, pairs, "-o", pairs): "is the input itself",
        (answers, pairs, "-o", answers): "is the input itself",
        ("esim", pairs, "-o", tmp_path / "out.csv"): "'esim' has to be trained first",
        (answers, pairs, "-o", tmp_path / "out.csv", "--split", "tests"): "split 'tests' is not known",
    }.items():
        done = run("predict", *arguments)
        assert done.returncode == 2
        assert line in done.stderr
        assert done.stderr.count("\n") == 1
