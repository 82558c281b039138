"""Reviews: the table that people go through comes back from their spreadsheet and changes what they decided, only."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.card import Card
from goldlabel.pairs.review import apply_review, review_sheet
from tests.cli.commands import run

ROWS = [
    {"id": "a", "premise": "Two herons stand.", "hypothesis": "Birds stand; they wait.", "label": "neutral"},
    {"id": "b", "premise": "Two herons stand.", "hypothesis": "Birds stand.", "label": "contradiction"},
    {"id": "=c", "premise": "那只苍鹭睡着了。", "hypothesis": "=鸟,\n“在睡觉”。", "label": "neutral"},
    {"id": "d", "premise": "A gate creaks.", "hypothesis": "A gate is silent.", "label": "-"},
]
VOTES = {"a": ["neutral", "entailment"], "b": [], "=c": ["neutral"], "d": ["neutral", "entailment"]}


@pytest.fixture
def birds() -> Pairs:
    frame = pl.DataFrame([row | {"votes": VOTES[row["id"]]} for row in ROWS]).with_columns(meta=pl.lit('{"page":7}'))
    return Pairs.from_frame(frame, Card(name="birds", author="label"))


def candidates(*ids: str) -> pl.DataFrame:
    own = {row["id"]: row["label"] for row in ROWS}
    shares = {"contradiction": 0.01234, "entailment": 0.9, "neutral": 0.08766}
    return pl.DataFrame(
        [{"id": key, "label": own[key], "suggested": "entailment", "probabilities": shares} for key in ids]
    )


def write(path: Path, *rows: str, header: str = "id,label,decision,comment") -> Path:
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def test_a_sheet_to_go_through(birds: Pairs) -> None:
    sheet = review_sheet(birds, candidates("=c", "a"))
    assert sheet.columns == [
        "id", "premise", "hypothesis", "label", "votes", "contradiction", "entailment", "neutral", "suggested",
        "decision", "comment",
    ]  # fmt: skip
    assert sheet["id"].to_list() == ["'=c", "a"], "the order is that of the candidates"
    assert sheet.row(0)[2] == "'=鸟,\n“在睡觉”。", "a spreadsheet must not take a text for a formula"
    assert sheet.row(1)[3:] == ("neutral", "neutral | entailment", 0.012, 0.9, 0.088, "entailment", None, None)


def test_decisions_change_what_they_are_about_and_nothing_else(birds: Pairs, tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "a,neutral,E,clear", "b,Contradiction, DROP ,", "=c,neutral,keep,", "d,no gold,,x")
    review = apply_review(birds, path)
    assert review.counts == {"kept": 1, "relabelled": 1, "dropped": 1}
    assert (review.undecided, len(review.pairs)) == (1, 3)
    after = review.write(tmp_path / "out")
    rows, before = {row["id"]: row for row in after}, {row["id"]: row for row in birds}
    assert list(rows) == ["a", "=c", "d"]
    assert {key: row["label"] for key, row in rows.items()} == {"a": "entailment", "=c": "neutral", "d": "-"}
    assert rows["a"]["meta"] == {
        "page": 7,
        "reviews": [{"decision": "entailment", "was": "neutral", "comment": "clear"}],
    }
    assert rows["=c"]["meta"]["reviews"] == [{"decision": "keep", "was": "neutral"}]
    assert rows["d"] == before["d"]
    untouched = ("premise", "hypothesis", "votes", "split", "dataset")
    assert all(rows[key][name] == before[key][name] for key in rows for name in untouched)
    assert after.card.history[-1] == "reviewed by r.csv: 1 kept, 1 relabelled, 1 dropped"
    assert after.card.author == "none", "a reviewer's label is not the author's"
    told = [json.loads(line) for line in (tmp_path / "out" / "review.jsonl").read_text().splitlines()]
    assert told[1] == {"kind": "dropped", "id": "b", "label": "contradiction", "decision": "drop", "comment": None}


def test_a_second_review_stands_behind_the_first(birds: Pairs, tmp_path: Path) -> None:
    first = apply_review(birds, write(tmp_path / "1.csv", "a,neutral,entailment,")).pairs
    second = apply_review(first, write(tmp_path / "2.csv", "a,entailment,-,")).pairs
    assert second[0]["label"] == "-"
    assert [entry["was"] for entry in second[0]["meta"]["reviews"]] == ["neutral", "entailment"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a,neutral,keep,", "z,neutral,keep,"], r"line 3: no pair has the id 'z'; apply the review to the data"),
        (["z,neutral,,"], r"line 2: no pair has the id 'z'"),
        (["a,neutral,keep,", "b,contradiction,,", "a,neutral,drop,"], r"line 4: pair 'a' has a row already"),
        (["a,neutral,entailmnt,"], r"line 2: decision 'entailmnt' is not known; did you mean 'entailment'\? allowed:"),
        (["a,neutral,3,"], r"line 2: decision '3' is not known; allowed: -, contradiction, drop, entailment, keep"),
        (["b,neutral,drop,"], r"line 2: pair 'b' has the label 'contradiction' in the data and 'neutral' in the rev"),
        (["b,,drop,"], r"line 2: pair 'b' has the label 'contradiction' in the data and None in the review"),
        ([",neutral,drop,"], r"line 2: there is no id"),
        ([], r"there are no rows in it; a review has the columns id, label, decision"),
    ],
)
def test_a_review_of_other_data_is_refused_with_its_row(
    birds: Pairs, tmp_path: Path, rows: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        apply_review(birds, write(tmp_path / "r.csv", *rows))


def test_a_table_that_is_no_review_is_refused(birds: Pairs, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no column 'decision'; a review has the columns id, label, decis"):
        apply_review(birds, write(tmp_path / "r.csv", "a,neutral", header="id,label"))


@pytest.mark.parametrize("form", ["semicolons", "utf-16", "xlsx", "as it is"])
def test_a_sheet_comes_back_as_spreadsheets_save_it(birds: Pairs, tmp_path: Path, form: str) -> None:
    sheet = review_sheet(birds, candidates("a", "b", "=c", "d")).with_columns(
        decision=pl.Series(["entailment", "drop", "neutral", None]), comment=pl.Series(["是的; yes", None, None, None])
    )
    path = tmp_path / ("r.xlsx" if form == "xlsx" else "r.csv")
    if form == "xlsx":
        sheet.to_pandas().to_excel(path, index=False)
    elif form == "semicolons":
        sheet.write_csv(path, separator=";", include_bom=True, line_terminator="\r\n", decimal_comma=True)
    elif form == "utf-16":
        path.write_text(sheet.write_csv(separator="\t"), encoding="utf-16")
    else:
        sheet.write_csv(path, include_bom=True)
    review = apply_review(birds, path)
    assert review.counts == {"kept": 1, "relabelled": 1, "dropped": 1}
    rows = {row["id"]: row for row in review.pairs}
    assert rows["a"]["meta"]["reviews"][0]["comment"] == "是的; yes"
    assert rows["=c"]["hypothesis"] == "=鸟,\n“在睡觉”。", "texts are those of the data"


def test_the_command(birds: Pairs, tmp_path: Path) -> None:
    birds.write(tmp_path / "data")
    path = write(tmp_path / "r.csv", "a,neutral,entailment,", "b,contradiction,,")
    done = run("data", "apply-review", tmp_path / "data", path, "-o", tmp_path / "out", "--licence", "MIT", "--json")
    said = json.loads(done.stdout)
    assert (said["kept"], said["relabelled"], said["dropped"], said["undecided"], said["pairs"]) == (0, 1, 0, 1, 4)
    assert gl.read(tmp_path / "out").card.licence == "MIT"
    refused = run("data", "apply-review", tmp_path / "out", path, "-o", tmp_path / "again")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "r.csv line 2: pair 'a' has the label 'entailment' in the data and 'neutral' in the review" in refused.stderr
    assert not (tmp_path / "again").exists()
    assert "is the input itself" in run("data", "apply-review", path, path, "-o", path).stderr
