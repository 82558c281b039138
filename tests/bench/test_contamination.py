"""A model that has learnt from a set is found by what it read, refused, and marked where it is forced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate.suite import Request, SuitePlan, System
from goldlabel.pairs import Pairs
from tests.bench.samples import Birds, pairs


def renamed(name: str, count: int) -> Pairs:
    """The pairs of a set under other ids, another name and another split."""
    frame = pairs("herons", count).collect().with_columns(pl.format("{}-{}", pl.lit(name), "id").alias("id"))
    return Pairs.from_frame(frame.with_columns(pl.lit("train").alias("split")), pairs(name, 1, split="train").card)


def test_what_is_trained_on_a_set_is_refused_before_it_is_trained(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"^linear: was trained on 30 of the 30 pairs of herons.* pass force=…"
    ) as error:
        gl.bench(Birds(), ["linear"], tmp_path / "bench", train=renamed("innocent", 30))
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "bench").rglob("config.json"))


def test_a_run_folder_tells_what_it_was_trained_on(tmp_path: Path) -> None:
    gl.train("linear", renamed("innocent", 30), tmp_path / "run")
    with pytest.raises(InputError, match="was trained on 30 of the 30 pairs of herons"):
        gl.bench(Birds(), {"mine": str(tmp_path / "run")}, tmp_path / "bench")
    forced = gl.bench(Birds(), {"mine": str(tmp_path / "run")}, tmp_path / "bench", force=True)
    figures = forced.to_dict()["models"]["mine"]
    assert figures["herons"]["trained_on"] == 1.0
    assert forced.table["herons"].item().endswith("†")


class Apart(Birds):
    """A run that is judged on one set, as a part of a row of the tables."""

    def __init__(self, run: Path) -> None:
        self.run = run

    def plan(self, request: Request) -> SuitePlan:
        own = System(name="own: herons", reference=str(self.run), sets=("herons",), part_of="own")
        return replace(super().plan(request), systems=(own,))


def test_a_row_of_several_models_is_marked_too(tmp_path: Path) -> None:
    gl.train("linear", renamed("innocent", 30), tmp_path / "run")
    forced = gl.bench(Apart(tmp_path / "run"), (), tmp_path / "bench", force=True)
    assert forced.to_dict()["models"]["own"]["herons"]["trained_on"] == 1.0


def test_a_few_repeated_pairs_are_no_offence(tmp_path: Path) -> None:
    results = gl.bench(Birds(), ["majority"], tmp_path / "bench", train=renamed("innocent", 4))
    assert not results.seen


def test_contaminated_pairs_are_told_or_dropped(tmp_path: Path) -> None:
    train = renamed("innocent", 4)
    told = gl.bench(Birds(), ["majority"], tmp_path / "told", train=train, contaminated="report")
    exact = told.contamination["herons"].exact
    assert exact.sum() == 4
    assert len(told.plan.find_set("herons").gold) == 30
    dropped = gl.bench(Birds(), ["majority"], tmp_path / "dropped", train=train, contaminated="drop")
    left = dropped.plan.find_set("herons").gold
    assert len(left) == 30 - int(told.contamination["herons"].near.sum())
    assert set(left.frame["id"]) == set(
        told.plan.find_set("herons").gold.frame["id"].filter(pl.Series(~told.contamination["herons"].near))
    )
    assert dropped.to_dict()["models"]["majority"]["herons"]["n"] == len(left)
    assert [note.endswith("; left out") for note in told.contamination_notes()] == [False, False, False]
    assert dropped.contamination_notes()[0].endswith("; left out")
    with pytest.raises(InputError, match="held against what is trained on; say with --train"):
        gl.bench(Birds(), {"run": "tests.bench.samples:entailed"}, tmp_path / "none", contaminated="drop")
