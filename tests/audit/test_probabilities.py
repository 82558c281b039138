"""Probabilities that a model gave elsewhere: read, matched with pairs, and used in the place of cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from goldlabel.audit import audit, cartography, read_probabilities
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from tests.audit.conftest import make_pairs
from tests.cli.commands import run

PAIRS = make_pairs(("p", "h", "contradiction"), ("p", "i", "neutral"), ("p", "j", "-"))
ROWS: list[dict[str, Any]] = [
    {"id": "0", "label": "contradiction", "contradiction": 0.7, "entailment": 0.2, "neutral": 0.1},
    {"id": "1", "label": "contradiction", "contradiction": 0.6, "entailment": 0.1, "neutral": 0.3},
]


def table_of(rows: list[dict[str, Any]], path: Path) -> Path:
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    return path


def planted_rows(pairs: Pairs, wrong: set[str], shift: float = 0.0) -> list[dict[str, Any]]:
    """Probabilities of a good model, which is sure of another label for some pairs."""
    others = {"entailment": "neutral", "neutral": "contradiction", "contradiction": "entailment"}
    rows = []
    for name, label in pairs.frame.select("id", "label").collect().iter_rows():
        best = others[label] if name in wrong else label
        sure = 0.9 - shift * (int(name) % 5) / 10
        rows.append({"id": name, **{word: sure if word == best else (1 - sure) / 2 for word in sorted(others)}})
    return rows


@pytest.mark.parametrize("name", ["p.parquet", "p.jsonl", "p.csv"])
def test_one_table_in_any_format(tmp_path: Path, name: str) -> None:
    table = read_probabilities(table_of(ROWS, tmp_path / name), PAIRS)
    assert table.to_dict(as_series=False) == {
        "id": ["0", "1"],
        "epoch": [1, 1],
        "probabilities": [[0.7, 0.2, 0.1], [0.6, 0.1, 0.3]],
    }


def test_tables_of_folds_are_one_epoch_and_tables_of_epochs_several(tmp_path: Path) -> None:
    for folder in ("folds", "epochs", "mixed"):
        (tmp_path / folder).mkdir()
    for number, row in enumerate(ROWS):
        table_of([row], tmp_path / "folds" / f"{number}.jsonl")
        table_of(ROWS, tmp_path / "epochs" / f"{number}.csv")
        table_of(ROWS[: number + 1], tmp_path / "mixed" / f"{number}.parquet")
    assert read_probabilities(tmp_path / "folds", PAIRS)["epoch"].to_list() == [1, 1]
    epochs = read_probabilities(tmp_path / "epochs", PAIRS)
    assert sorted(epochs["epoch"]) == [1, 1, 2, 2]
    assert cartography(epochs, PAIRS).pairs["variability"].to_list() == [0, 0]
    with pytest.raises(InputError, match=r"pair '1' is in 1.parquet only, and others are in more of the 2 tables"):
        read_probabilities(tmp_path / "mixed", PAIRS)


def changed(place: int, **changes: Any) -> list[dict[str, Any]]:
    return [row | changes if number == place else row for number, row in enumerate(ROWS)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:1], r"no probabilities for 1 of the 2 pairs of tiny with a gold label, such as '1'"),
        ([*ROWS, ROWS[0]], r"row 3: id '0' stands in row 1 too"),
        (changed(1, neutral=0.5), r"row 2: .* are no probabilities, .* sum to 1 \(here 1.2\)"),
        (changed(1, neutral=None, entailment=None, contradiction=None), r"row 2: pair '1' has no probabilities"),
        (changed(0, neutral=float("nan")), r"row 1: .* are no probabilities"),
        ([*ROWS, ROWS[0] | {"id": "7"}], r"probabilities for '7', which is no pair of tiny"),
        ([{"id": "0", "entailment": 1.0}], r"has no column 'contradiction'; it needs id and one"),
        ([{"pair": "0", "entailment": 1.0}], r"has no column 'id'"),
        ([{"id": "0", "epoch": "one", "gold_probability": 0.5}], r"'epoch' must be a number"),
        ([{"id": "0", "epoch": 1, "gold_probability": 1.5}], r"must be a number from 0 to 1"),
        ([{"id": "0", "epoch": 1, "probabilities": [0.5, 0.5]}], r"must be 3: contradiction, entailment, neutral"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read_probabilities(table_of(rows, tmp_path / "p.parquet"), PAIRS)
    assert "\n" not in str(refused.value)


def test_planted_errors_are_found_by_a_models_probabilities(planted: Pairs, tmp_path: Path) -> None:
    wrong = {"3", "100", "250"}
    path = table_of(planted_rows(planted, wrong), tmp_path / "model.csv")
    found = audit(planted, probabilities=str(path))
    assert found.label_errors is not None
    assert set(found.label_errors.candidates["id"]) == wrong
    assert (found.label_errors.model, found.label_errors.pairs) == ("model.csv", 300)
    assert found.label_errors.accuracy.value == pytest.approx(0.99)
    assert found.label_errors.accuracy.units == 100
    assert found.cartography is None, "one epoch is no map"


def test_several_epochs_give_the_map_and_their_mean(planted: Pairs, tmp_path: Path) -> None:
    folder = tmp_path / "epochs"
    folder.mkdir()
    for number, shift in enumerate((0.0, 0.5)):
        table_of(planted_rows(planted, {"10", "11"}, shift), folder / f"{number}.parquet")
    found = audit(planted, probabilities=str(folder))
    assert found.cartography is not None
    assert found.cartography.epochs == 2
    row = found.cartography.pairs.row(by_predicate=pl.col("id") == "2", named=True)
    assert (row["confidence"], row["variability"]) == (pytest.approx(0.85), pytest.approx(0.05))
    assert found.label_errors is not None
    candidates = dict(found.label_errors.candidates.select("id", "probability").iter_rows())
    assert candidates == {"10": pytest.approx(0.05), "11": pytest.approx(np.mean([0.05, 0.075]))}
    assert "by epochs, the mean of 2 epochs, of the accuracy" in found.label_errors.title
    assert found.to_dict()["cartography"]["epochs"] == 2


def test_the_old_name_is_told_the_new_one() -> None:
    done = run("audit", "pairs.jsonl", "--dynamics", "runs/esim")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--dynamics is called --probabilities now" in done.stderr
