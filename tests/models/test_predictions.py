"""Files of predictions: read, found again by id or text, and refused with the row where they lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.models import load_model
from goldlabel.models.predictions import Predictions
from goldlabel.pairs.labels import NLI2, NLI3, SCITAIL, LabelSpace

FULL = "id,label,contradiction,entailment,neutral\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def ids(*names: str) -> pl.DataFrame:
    return pl.DataFrame({"id": names, "premise": "An owl.", "hypothesis": "A bird."})


def test_probabilities_are_found_by_id_and_what_is_missing_stays_unanswered(tmp_path: Path) -> None:
    file = write(tmp_path / "p.csv", FULL + "007,neutral,0.1,0.2,0.7\nb,entailment,0,1,0\nc,-,,,\n")
    model = Predictions.read(file)
    assert model.label_space == NLI3
    answers = model.predict_pairs(ids("b", "nobody", "007", "c"))
    np.testing.assert_array_equal(answers, [[0, 1, 0], [np.nan] * 3, [0.1, 0.2, 0.7], [np.nan] * 3])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_labels_alone_have_all_the_probability(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"p.{suffix}"
    frame = pl.DataFrame({"id": ["a", "b", "c"], "label": ["neutral", "contradiction", "-"]})
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[suffix](file)
    model = load_model(file)
    assert model.label_space == NLI3
    assert isinstance(model, Predictions)
    np.testing.assert_array_equal(model.predict_pairs(ids("b", "c")), [[1, 0, 0], [np.nan] * 3])


def test_the_labels_tell_their_space_and_the_data_decides_between_several(tmp_path: Path) -> None:
    file = write(tmp_path / "p.csv", "id,label\na,entailment\nb,not_entailment\n")
    assert Predictions.read(file).label_space == NLI2
    file = write(tmp_path / "p.csv", "id,label\na,entailment\nb,neutral\n")
    assert Predictions.read(file).label_space == NLI3
    assert Predictions.read(file, SCITAIL).label_space == SCITAIL
    own = LabelSpace("mine", ("yes", "no", "perhaps"))
    file = write(tmp_path / "p.csv", "id,label\na,yes\nb,no\n")
    assert Predictions.read(file, own).label_space == own
    assert load_model(file, label_space="yes,no,perhaps").label_space.labels == own.labels
    file = write(tmp_path / "p.csv", "id,label,yes,no\na,yes,0.8,0.2\n")
    assert load_model(file).label_space.labels == ("no", "yes")


def test_pairs_are_found_by_their_texts_where_the_file_has_them(tmp_path: Path) -> None:
    rows = "An owl.,A bird.,entailment\n一只猫头鹰。,一只鸟。,neutral\nAn owl.,A bird.,entailment\n"
    model = Predictions.read(write(tmp_path / "p.csv", "premise,hypothesis,label\n" + rows))
    answers = model.predict(["一只猫头鹰。", "An owl.", "An owl."], ["一只鸟。", "A bird.", "A fish."])
    np.testing.assert_array_equal(answers, [[0, 0, 1], [0, 1, 0], [np.nan] * 3])
    np.testing.assert_array_equal(model.predict_pairs(ids("x")), [[0, 1, 0]])
    other = "premise,hypothesis,label\n" + rows + "An owl.,A bird.,neutral\n"
    with pytest.raises(InputError, match="row 4: the same premise and hypothesis have another prediction"):
        Predictions.read(write(tmp_path / "p.csv", other)).predict(["An owl."], ["A bird."])


def test_ids_alone_cannot_be_found_by_text(tmp_path: Path) -> None:
    model = Predictions.read(write(tmp_path / "p.csv", "id,label\na,neutral\n"))
    with pytest.raises(InputError, match="has ids and no texts"):
        model.predict(["An owl."], ["A bird."])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id,label\na,neutral\nb,neutral\na,entailment\n", "row 3: id 'a' stands in row 1 too"),
        ("id,label\na,neutral\n,neutral\n", "row 2: the id is missing"),
        ("id,label\na,neutral\nb,entail\n", "row 2: label 'entail' is not one of contradiction, entailment, neutral"),
        (FULL + "a,neutral,0.1,0.2,0.7\nb,neutral,10,20,70\n", r"row 2: 10, 20, 70 are no probabilities.*here 100"),
        (FULL + "a,neutral,-0.1,0.4,0.7\n", "row 1: -0.1, 0.4, 0.7 are no probabilities"),
        (FULL + "a,neutral,,0.3,0.7\n", "row 1: nan, 0.3, 0.7 are no probabilities"),
        (FULL + "a,neutral,low,0.3,0.7\n", "row 1: 'low' in column 'contradiction' is no probability"),
        (FULL + "a,entailment,0.1,0.2,0.7\n", "row 1: the label is 'entailment' and the most probable one 'neutral'"),
        (FULL + "a,entailment,,,\n", "row 1: the label is 'entailment' and the most probable one '-'"),
        (FULL + "a,entail,0.1,0.2,0.7\n", "row 1: the label is 'entail' and the most probable one 'neutral'"),
        ("label\nneutral\n", "has neither the column 'id' nor both of 'premise' and 'hypothesis'"),
        ("id,score\na,0.3\n", "has neither a column 'label' alone nor one of probabilities"),
        ("id,label,note\na,neutral,good\n", "has neither a column 'label' alone nor one of probabilities"),
        ("", "cannot be read as predictions"),
    ],
)
def test_a_file_that_lies_is_refused_with_the_row(tmp_path: Path, text: str, line: str) -> None:
    file = write(tmp_path / "p.csv", text)
    with pytest.raises(InputError, match=line) as refused:
        load_model(file)
    assert str(file) in str(refused.value)


@pytest.mark.parametrize("name", ["p.txt", "p.parquet", "p.jsonl"])
def test_what_is_no_file_of_predictions_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"tells no format of predictions|cannot be read as predictions"):
        load_model(write(tmp_path / name, "no predictions\n"))


def test_three_columns_are_of_three_labels_also_where_the_data_has_two(tmp_path: Path) -> None:
    file = tmp_path / "three.csv"
    file.write_text("id,label,contradiction,entailment,neutral\na,neutral,0.3,0.1,0.6\n", encoding="utf-8")
    assert Predictions.read(file, SCITAIL).label_space == NLI3
