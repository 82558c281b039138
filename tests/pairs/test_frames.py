"""Pairs from Python and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError

ROWS = [(f"Heron {n} stands.", "A bird is there.", ("entailment", "neutral", "-")[n % 3]) for n in range(30)]


@pytest.fixture
def pairs() -> gl.Pairs:
    return gl.from_rows(ROWS)


def test_ids_are_made_from_the_texts_alone() -> None:
    first = [pair["id"] for pair in gl.from_rows(ROWS)]
    again = [pair["id"] for pair in gl.from_rows([(*row[:2], "neutral") for row in reversed(ROWS)])]
    assert first == again[::-1]
    assert len(set(first)) == len(ROWS)
    twice = [pair["id"] for pair in gl.from_rows([ROWS[0]] * 3)]
    assert twice == [first[0], f"{first[0]}-2", f"{first[0]}-3"]


def test_pairs_are_a_sequence(pairs: gl.Pairs) -> None:
    assert len(pairs) == len(list(pairs)) == 30
    assert pairs[17]["premise"] == pairs[-13]["premise"] == "Heron 17 stands."
    with pytest.raises(IndexError):
        pairs[30]
    assert [pair["premise"] for pair in pairs[2:8:3]] == ["Heron 2 stands.", "Heron 5 stands."]
    assert len(pairs[25:]) == 5
    assert len(pairs[:-40]) == 0
    labels = pairs.collect()["label"]
    for mask in (
        labels == "neutral",
        (labels == "neutral").to_list(),
        (labels == "neutral").to_numpy(),
        pl.col("label") == "neutral",
    ):
        assert [pair["label"] for pair in pairs[mask]] == ["neutral"] * 10
    with pytest.raises(InputError, match="30 booleans"):
        pairs[[True]]
    assert pairs.head().collect().equals(pairs.collect()[:5])


def test_a_sample_is_the_same_for_the_same_seed(pairs: gl.Pairs) -> None:
    drawn = pairs.sample(7, seed=3)
    assert drawn.collect().equals(pairs.sample(7, seed=3).collect())
    assert not drawn.collect().equals(pairs.sample(7, seed=4).collect())
    places = [int(pair["premise"].split()[1]) for pair in drawn]
    assert places == sorted(set(places))
    with pytest.raises(InputError, match="31 pairs cannot be drawn from 30"):
        pairs.sample(31)


def test_to_pandas_and_back(pairs: gl.Pairs) -> None:
    frame = pairs.to_pandas()
    assert list(frame.columns) == ["id", "premise", "hypothesis", "label", "split", "dataset"]
    assert gl.from_pandas(frame).collect().equals(pairs.collect())


def test_to_datasets_and_back(pairs: gl.Pairs) -> None:
    dataset = pairs.to_datasets()
    assert isinstance(dataset, datasets.Dataset)
    assert dataset.features["label"].names == ["contradiction", "entailment", "neutral"]
    assert dataset["label"][:3] == [1, 2, -1]
    assert gl.from_datasets(dataset).collect().equals(pairs.collect())
    split = pairs.split("60:20:20").pairs
    by_split = split.to_datasets()
    assert isinstance(by_split, datasets.DatasetDict)
    assert list(by_split) == ["train", "validation", "test"]
    assert gl.from_datasets(by_split).collect().sort("id").equals(split.collect().sort("id"))


def test_values_of_other_libraries_become_plain_ones() -> None:
    frame = pd.DataFrame(
        {
            "premise": ["x", "z"],
            "hypothesis": ["y", "y"],
            "label": ["e", pd.NA],
            "votes": [np.array(["e", "n"]), ("n", "n")],
            "score": [np.float32(0.5), float("nan")],
            "when": [pd.Timestamp("2024-05-31"), pd.NaT],
            "deep": [{"a": np.int64(3)}, None],
        }
    )
    first, second = gl.from_pandas(frame)
    assert first["meta"] == {"score": 0.5, "when": "2024-05-31 00:00:00", "deep": {"a": 3}}
    assert (second["label"], second["votes"], second["meta"]) == (
        "-",
        ["neutral"] * 2,
        {"score": None, "when": None, "deep": None},
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "b")], "row 1: is no dictionary and no tuple of premise, hypothesis and label"),
        ([("a", "b", "e"), ("a", " ", "e")], "pairs row 2: hypothesis is empty"),
        ([{"premise": "a", "hypothesis": "b"}], "pairs row 1: field 'label' is missing"),
        ([{"premise": 3, "hypothesis": "b", "label": "e"}], "pairs row 1: premise is not text but 3"),
        ([{"id": "a", "premise": "a", "hypothesis": "b", "label": "e"}] * 2, "pairs: id 'a' is given to more than one"),
    ],
)
def test_rows_pass_the_gate_that_files_pass(rows: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.from_rows(rows)  # type: ignore[arg-type]


def test_a_column_that_is_there_twice() -> None:
    frame = pd.DataFrame([["x", "y", "e", "z"]], columns=["premise", "hypothesis", "label", "premise"])
    with pytest.raises(InputError, match="column 'premise' is there twice"):
        gl.from_pandas(frame)


def test_every_result_can_be_saved(pairs: gl.Pairs, tmp_path: Path) -> None:
    split = pairs.split("60:20:20")
    for name in ("split.json", "split.csv", "split.jsonl", "split.parquet"):
        split.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size
    assert pl.read_csv(tmp_path / "split.csv").equals(split.table)
    with pytest.raises(InputError, match=r"allowed: \.json, \.csv"):
        split.save(tmp_path / "split.docx")
    for name in ("pairs.jsonl.gz", "pairs.parquet", "pairs"):
        pairs.save(tmp_path / name)
        assert gl.read(tmp_path / name).collect().equals(pairs.collect())


def test_a_card_on_the_way(pairs: gl.Pairs, tmp_path: Path) -> None:
    card = gl.Card(name="herons", licence="CC0-1.0", paper="Heron (2020)")
    assert gl.from_rows(ROWS, card=card)[0]["dataset"] == "herons"
    said = pairs.describe(
        name="herons", licence="CC0-1.0", language="en", description="Birds.", citation="Heron (2020)"
    )
    written = said.write(tmp_path / "out")
    assert (written.card.name, written.card.licence, written.card.paper) == ("herons", "CC0-1.0", "Heron (2020)")
    assert (written.card.languages, written[0]["language"], written.card.description) == (("en",), "en", "Birds.")


@pytest.mark.parametrize("take", [gl.from_pandas, gl.from_polars, gl.from_datasets])
def test_what_is_something_else_is_one_line(take: Callable[..., gl.Pairs]) -> None:
    with pytest.raises(InputError, match=r"this is list; gl\.from_rows takes rows"):
        take([("A heron stands.", "A bird stands.", "entailment")])


def test_a_place_beyond_the_last_pair_is_named() -> None:
    pairs = gl.from_rows([("A heron stands.", "A bird stands.", "entailment")])
    with pytest.raises(IndexError, match="there is no pair 3, there are 1"):
        pairs[3]
    assert "no gold" in repr(pairs)
