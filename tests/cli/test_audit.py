from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import goldlabel as gl
from goldlabel.cli.audit import audit_command
from goldlabel.errors import GoldlabelError, InputError

app = typer.Typer(rich_markup_mode=None)
app.command()(audit_command)

LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture
def pairs(jsonl: Callable[..., Path], home: Path) -> str:
    rows = [
        {
            "id": f"n{number}",
            "premise": f"Letter {number // 3} was carried by train.",
            "hypothesis": f"Letter {number % 7} {'never' if number % 3 == 2 else 'soon'} came.",
            "label": LABELS[number % 3],
            "language": "en",
            "genre": ("post", "rail")[number // 3 % 2],
            "votes": [LABELS[number % 3]] * 3,
        }
        for number in range(120)
    ]
    return str(jsonl(*rows))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def test_findings_for_people(pairs: str) -> None:
    result = run(pairs)
    assert result.exit_code == 0, result.output
    assert "Without the premise" in result.stdout
    assert "1. Hypotheses with a word of negation" in result.stdout
    assert "See n2, n5, n8." in result.stdout
    assert not re.search(r"\d%", result.stdout), "a space stands before the sign"
    assert re.search(r"contradiction in [\d.]+ % \([\d.]+ to [\d.]+\) of \d+ cases", result.stdout)


def test_a_model_that_was_asked_for_is_told_of(pairs: str) -> None:
    result = run(pairs, "--hypothesis-only", "majority")
    assert re.search(r"^majority without the premise: \d+\.\d % \(.*\) right", result.stdout, re.MULTILINE)


def test_a_measure_that_is_none_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InputError, match="there is no measure 'nonsense'"):
        CliRunner().invoke(app, ["no such file", "--fail-on", "nonsense>1"], catch_exceptions=False)


def test_one_json_document(pairs: str) -> None:
    result = run(pairs, "--by", "genre", "--top", "3", "--json")
    document = json.loads(result.stdout)
    assert set(document["groups"]) == {"all", "post", "rail"}
    assert len(document["groups"]["all"]["pmi"]) == 3
    assert document["findings"][0]["kind"] == "negation"
    assert document["findings"][0].keys() == {"kind", "text", "message", "evidence"}
    assert document["options"]["by"] == "genre"


def test_a_folder_with_everything(pairs: str, tmp_path: Path) -> None:
    dynamics = tmp_path / "run.jsonl"
    pl.DataFrame({"id": ["n0", "n0"], "epoch": [1, 2], "gold_probability": [0.2, 0.6]}).write_ndjson(dynamics)
    output = tmp_path / "report"
    arguments = ("--hypothesis-only", "majority", "--label-errors", "linear", "--aflite")
    result = run(pairs, "-o", str(output), "--against", pairs, *arguments, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["aflite"]["dropped"] + sum(document["aflite"]["splits"].values()) == 120
    assert {path.name for path in output.iterdir()} == {
        "index.html", "audit.json", "groups.csv", "findings.csv", "pmi.csv", "competency.csv", "label_errors.csv",
        "hard", "aflite",
    }  # fmt: skip
    assert json.loads((output / "audit.json").read_text())["findings"] == document["findings"]
    wrong = round(120 * (1 - document["groups"]["all"]["hypothesis_only"]["accuracy"]))
    assert len(gl.read(output / "hard")) == wrong
    assert document["groups"]["all"]["leakage"]["against"]["pairs"]["shared_pairs"] == 120
    assert document["groups"]["all"]["agreement"]["relabelled"] == 120
    printed = run(pairs, "-o", str(output), "--probabilities", str(dynamics), "--aflite").stdout
    assert f"output: {output}\n" in printed
    assert re.search(
        rf"^aflite: .* {document['aflite']['dropped']} dropped: {re.escape(str(output / 'aflite'))}$", printed, re.M
    )
    assert "Cartography of 1 pair over 2 epochs: mean confidence 40.0 %, variability 20.0 %\n" in printed
    assert "{" not in printed
    again = run(pairs, "-o", str(output), "--json")
    assert again.exit_code == 0, "an audit may be written over an audit"


def test_a_folder_that_is_no_audit_is_left_alone(pairs: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    result = run(pairs, "-o", str(tmp_path / "mine"))
    assert isinstance(result.exception, InputError)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_failing_on_a_bound(pairs: str) -> None:
    result = run(pairs, "--fail-on", "hypothesis_only_gain>0.15", "--fail-on", "duplicates>5000", "--no-near")
    assert result.exit_code == 1
    lines = [line for line in result.stderr.splitlines() if line]
    assert len(lines) == 1
    assert "hypothesis_only_gain>0.15 (hypothesis_only_gain is 0." in lines[0]
    assert run(pairs, "--fail-on", "hypothesis_only_gain>0.99", "--no-near").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fail-on", "gain over 3"), "MEASURE>NUMBER"),
        (("--fail-on", "gains>3"), "there is no measure 'gains'"),
        (("--by", "topic"), "there is no column 'topic'"),
        (("--tokenizer", "spaces"), "there is no tokenizer 'spaces'"),
        (("--hypothesis-only", "bert"), "there is no model 'bert'"),
        (("--count", "letters"), "documents, tokens"),
        (("--folds", "1"), "2 or more"),
        (("--level", "0"), "confidence level 0.0 is not between 0 and 1"),
        (("--fdr", "1"), "rate of false discoveries 1.0 is not between 0 and 1"),
        (("--aflite",), "-o DIR"),
        (("--against", "nowhere.jsonl"), "nowhere"),
        (("--probabilities", "x.csv", "--label-errors", "linear"), "not from both"),
        (("--probabilities", "nowhere.parquet"), "no such file"),
    ],
)
def test_bad_input(pairs: str, arguments: tuple[str, ...], message: str) -> None:
    result = run(pairs, *arguments)
    assert isinstance(result.exception, GoldlabelError), result.output
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
