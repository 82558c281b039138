"""Numbers for each label in columns: per cent are probabilities, counts are votes, and what may be either is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import goldlabel as gl
from goldlabel.errors import InputError

TEXTS = "A heron stands.,A bird stands."
SHARES = {"contradiction": 0.05, "entailment": 0.7, "neutral": 0.25}


def read(tmp_path: Path, names: str, numbers: str) -> gl.Pairs:
    path = tmp_path / "rated.csv"
    path.write_text(f"premise,hypothesis,{names}\n{TEXTS},{numbers}\n", encoding="utf-8")
    return gl.read(path)


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        ("entailment,neutral,contradiction", "70 %,25 %,5 %"),
        ("entailment,neutral,contradiction", "70%,25%,5%"),
        ("entailment,neutral,contradiction", "70.0,24.9,5.1"),
        ("entailment_percent,neutral_percent,contradiction_percent", "70,25,5"),
        ("pct_entailment,pct_neutral,pct_contradiction", "70,25,5"),
        ("entailment (%),neutral (%),contradiction (%)", "70,25,5"),
        ("entailment,neutral,contradiction", "0.7,0.25,0.05"),
    ],
)
def test_per_cent_are_probabilities(tmp_path: Path, names: str, numbers: str) -> None:
    [row] = read(tmp_path, names, numbers)
    assert (row["votes"], row["label"]) == ([], "-")
    assert row["meta"]["soft_labels"] == pytest.approx(SHARES, abs=0.002)


@pytest.mark.parametrize(
    ("names", "numbers", "voters"),
    [
        ("entailment_votes,neutral_votes,contradiction_votes", "70,25,5", 100),
        ("n_entailment,n_neutral,n_contradiction", "70,25,5", 100),
        ("entailment,neutral,contradiction", "7,2,1", 10),
    ],
)
def test_counts_are_votes(tmp_path: Path, names: str, numbers: str, voters: int) -> None:
    [row] = read(tmp_path, names, numbers)
    assert len(row["votes"]) == voters


def test_whole_numbers_that_sum_to_a_hundred_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: .*sum to 100, which may be per cent or votes; call them .*_percent"):
        read(tmp_path, "entailment,neutral,contradiction", "70,25,5")


def test_a_field_of_counts_stays_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "chaos.jsonl"
    row = {"premise": "A heron stands.", "hypothesis": "A bird stands.", "label_counter": {"e": 70, "n": 25, "c": 5}}
    path.write_text(json.dumps(row) + "\n")
    [pair] = gl.read(path)
    assert len(pair["votes"]) == 100


def test_a_table_without_names_is_told_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("A heron stands still.,A bird is standing.,entailment\n")
    with pytest.raises(
        InputError, match=r"line 1: looks like a pair, and not like names .* columns=.'premise': 'NAME'."
    ):
        gl.read(path)
