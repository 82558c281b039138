"""Taken column by column or row by row, a table gives the same pairs and the same faults."""

from __future__ import annotations

import csv
from pathlib import Path

import datasets
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.pairs import columnar, reading, tables

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
LABEL = st.sampled_from(["entailment", " Neutral", "CONTRADICTION", "-", "1", "perhaps"])
COLUMNS = {
    "Premise": TEXT.map("A gate creaks.".__add__),
    "sentence2": TEXT.map("It rains.".__add__),
    "gold_label": LABEL,
    "genre": TEXT,
    "label": LABEL,
    "votes": st.sampled_from(["", "neutral", "neutral;neutral", "['entailment' 'neutral']", "[", "[1, null]"]),
    "tags": st.sampled_from(["", "a|b c", '["d"]']),
    "meta": st.sampled_from(["", "", '{"b": 1}', "{"]),
    "source": TEXT,
    'say "é"': TEXT,
    "worker": TEXT,
}


@st.composite
def table(draw: st.DrawFn) -> list[list[str]]:
    more = draw(st.lists(st.sampled_from([name for name in COLUMNS if name != "Premise"]), unique=True))
    names = ["Premise", *dict.fromkeys(["sentence2", *more])]
    count = draw(st.integers(1, 4))
    return [names, *([draw(COLUMNS[name]) for name in names] for _ in range(count))]


def outcome(path: Path) -> pl.DataFrame | str:
    try:
        return gl.read(path, unlabelled=True).collect()
    except InputError as error:
        return str(error)


def same_both_ways(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_column = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(reading.Reading, "renaming", None)
        by_row = outcome(path)
    assert by_column.equals(by_row) if isinstance(by_column, pl.DataFrame) else by_column == by_row


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table())
def test_text_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[list[str]]) -> None:
    path = tmp_path / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    same_both_ways(path, monkeypatch)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table(), st.integers(-(2**63), 2**63 - 1) | st.none())
def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[list[str]], number: int | None) -> None:
    path = tmp_path / "pairs.parquet"
    frame = pl.DataFrame(lines[1:], schema=lines[0], orient="row")
    frame.with_columns(pl.lit(number, pl.Int64).alias("level"), pl.lit(number, pl.Int64).alias("score")).write_parquet(
        path
    )
    same_both_ways(path, monkeypatch)


def test_classes_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    features = datasets.Features(
        premise=datasets.Value("string"),
        hypothesis=datasets.Value("string"),
        label=datasets.ClassLabel(names=["entailment", "neutral", "contradiction"]),
        mood=datasets.ClassLabel(names=["calm", "loud"]),
    )
    rows = {
        "premise": ["A gate."] * 4,
        "hypothesis": ["It rains."] * 4,
        "label": [0, 2, -1, None],
        "mood": [1, 0, -1, 1],
    }
    path = tmp_path / "pairs.parquet"
    datasets.Dataset.from_dict(rows, features=features).to_parquet(path)
    assert gl.read(path).collect()["label"].to_list() == ["entailment", "contradiction", "-", "-"]
    same_both_ways(path, monkeypatch)


@pytest.mark.parametrize(("name", "way"), [("pairs.csv", tables), ("pairs.parquet", columnar)])
def test_rows_are_not_looked_at_where_columns_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: object
) -> None:
    """Otherwise the tests above would compare one way with itself."""
    frame = pl.DataFrame({"premise": ["A gate."], "hypothesis": ["It rains."], "label": ["neutral"]})
    frame = frame.with_columns(source=pl.lit("web"), minute=pl.lit("7"))
    frame.write_csv(tmp_path / name) if name.endswith("csv") else frame.write_parquet(tmp_path / name)
    same_both_ways(tmp_path / name, monkeypatch)
    monkeypatch.setattr(way, "parse_rows", None)
    assert gl.read(tmp_path / name)[0]["meta"] == {"source": "web", "minute": "7"}
