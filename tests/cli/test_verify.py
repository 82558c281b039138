from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import goldlabel as gl
from goldlabel.cli import main
from tests.conftest import pair

Write = Callable[..., Path]


@dataclass(frozen=True)
class Done:
    """What a command printed and returned."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``goldlabel verify`` with the given arguments."""

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["goldlabel", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def voted(jsonl: Write) -> Path:
    rows = [
        pair(pairID="a", annotator_labels=list("eeeen"), genre="tv", annotators=["v", "w", "x", "y", "z"]),
        pair(pairID="b", annotator_labels=list("ennnn"), genre="news", annotators=["v", "w", "x", "y", "z"]),
        pair(pairID="c", annotator_labels=["e", "n", "c", "unrelated"], genre="news", annotators=["v", "w", "x", "y"]),
        pair(pairID="d", annotator_labels=["e"], genre="news", annotators=["v"]),
    ]
    return jsonl(*rows)


def test_json_has_the_keys_that_other_programs_read(run: Run, voted: Path, tmp_path: Path) -> None:
    done = run(voted, "--by", "genre", "-o", tmp_path / "out", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    keys = "n relabelled agree5 agree4 agree3 individual_gold individual_author gold_author gold_not_author no_gold"
    keys += " unrelated fleiss_kappa krippendorff_alpha cohen_kappa intervals"
    for group in ("all", "news", "tv"):
        assert set(found["groups"][group]) == set(keys.split())
    assert found["groups"]["all"]["relabelled"] == 3
    assert (found["gold_matches_label"], found["gold_differs"]) == (1, 2)
    assert "NaN" not in done.stdout
    assert gl.read(tmp_path / "out").collect()["label"].to_list() == ["entailment", "neutral", "-", "entailment"]
    assert {"verification.json", "verification.csv"} <= {file.name for file in (tmp_path / "out").iterdir()}


def test_no_author_is_invented_for_a_file_that_names_none(run: Run, voted: Path) -> None:
    nobody, first = run(voted), run(voted, "--author", "first")
    assert "author" not in nobody.stdout
    assert "where the author's label is is not known" in nobody.stderr
    assert "gold_author" in first.stdout
    assert "author" not in first.stderr


def test_the_table_is_for_people(run: Run, voted: Path) -> None:
    done = run(voted, "--by", "genre")
    assert done.returncode == 0
    assert "3 of 4 pairs relabelled" in done.stdout
    assert "agree5" in done.stdout
    assert "undefined" in done.stdout
    assert "5 annotators" in done.stdout
    assert "nan" not in done.stdout.lower()


@pytest.mark.parametrize("method", ["two-plus-one", "weighted-majority", "dawid-skene", "mace"])
def test_every_method(run: Run, voted: Path, method: str) -> None:
    found = json.loads(run(voted, "--method", method, "--author", "first", "--json", "--resamples", 10).stdout)
    assert found["method"] == method
    assert found["details"]


def test_foreign_pairs_and_a_human_baseline(run: Run, voted: Path, jsonl: Write, tmp_path: Path) -> None:
    foreign = jsonl(pair(pairID="f", annotator_labels=list("nneee")), name="foreign.jsonl")
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("pair,annotator,label\na,p,e\na,q,e\na,r,n\nb,p,n\nb,q,n\n")
    done = run(voted, "--foreign", foreign, "--votes", fresh, "--baseline", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["human_baseline"]["accuracy"]["value"] == 50.0
    assert found["foreign"]["foreign"]["relabelled"] == 1
    assert found["groups"]["all"]["relabelled"] == 2
    assert "Human baseline on 2 pairs" in run(voted, "--votes", fresh, "--baseline").stdout


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([pair(), pair(pairID="2")], [], "there are no votes"),
        ([pair(annotator_labels=["e"])], [], "no pair has more than one vote"),
        ([pair(annotator_labels=["e", "entails"])], [], "vote 'entails' is not one of"),
        ([pair(annotator_labels=["e", "n"])], ["--by", "gender"], "there is no column 'gender'"),
        ([pair(annotator_labels=["e", "n"])], ["--method", "mace"], "mace needs to know who cast each vote"),
        ([pair(annotator_labels=["e", "n"])], ["--method", "median"], "there is no way to a gold label 'median'"),
        ([pair(annotator_labels=["e", "n"])], ["--quorum", "0"], "a quorum of 0 votes"),
        ([pair(annotator_labels=["e", "n"])], ["--confidence", "95"], "confidence 95.0 is not between 0 and 1"),
        ([pair(annotator_labels=["e", "n"])], ["--author", "me"], "author 'me' is not understood"),
        ([pair(annotator_labels=["e", "n"])], ["--baseline"], "pass them with --votes"),
        ([pair(annotator_labels=["e", "n"])], ["--votes", "nowhere.csv"], "there is no such file"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    run: Run, jsonl: Write, rows: list[dict[str, object]], options: list[str], message: str
) -> None:
    done = run(jsonl(*rows), *options, "--json")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_one_class_and_one_label_are_undefined_not_errors(run: Run, jsonl: Write) -> None:
    rows = [pair(pairID=str(number), annotator_labels=list("eee")) for number in range(3)]
    done = run(jsonl(*rows), "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)["groups"]["all"]
    assert found["fleiss_kappa"] is None
    assert found["krippendorff_alpha"] is None
    assert found["agree3"] == 100.0
    assert found["agree5"] is None


def test_the_input_is_not_written_over(run: Run, voted: Path) -> None:
    before = voted.read_bytes()
    done = run(voted, "-o", voted)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is the input itself; choose another place" in done.stderr
    assert voted.read_bytes() == before
