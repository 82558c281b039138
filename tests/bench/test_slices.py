"""Every system is held against the slices of every set; the planted weakness is found, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import goldlabel as gl
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import Request, SuitePlan
from goldlabel.evaluate.suite_slices import slice_tables, slices_of
from goldlabel.evaluate.weak_slices import find_weak_slices
from tests.bench.samples import LABELS, pairs
from tests.evaluate.samples import Told, make_pairs

GOLD = [LABELS[number % 3] for number in range(900)]
GENRES = [("letters", "travel", "news")[number // 300] for number in range(900)]


class Genres:
    """One set of three genres."""

    title: ClassVar[str] = "Genres"
    paper: ClassVar[str] = "nobody"
    options: ClassVar[Mapping[str, Any]] = {}

    def plan(self, request: Request) -> SuitePlan:
        """Take the set as it is."""
        part = evaluation_set(make_pairs(GOLD, name="mixed", genre=GENRES, split="test"))
        return SuitePlan(sets=(part,), systems=request.systems())

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return none."""
        return {}


def weak_on_news() -> Told:
    """Right on nine of ten pairs, on news on half of them."""
    chance = np.random.RandomState(1).rand(900) < np.where(np.array(GENRES) == "news", 0.5, 0.9)
    wrong = [LABELS[(LABELS.index(label) + 1) % 3] for label in GOLD]
    return Told([right if hit else other for right, other, hit in zip(GOLD, wrong, chance, strict=True)])


def test_the_weak_slice_is_found_and_the_strong_are_not(tmp_path: Path) -> None:
    models = {"weak": weak_on_news(), "strong": Told(GOLD)}
    gl.bench(Genres(), models, tmp_path / "bench", slices=True)
    weak = pl.read_csv(tmp_path / "bench/tables/weak-slices.csv")
    assert weak["model"].unique().to_list() == ["weak"]
    assert "news" in weak["slice"][0]
    assert weak["difference"][0] < -30, "in per cent, as every other table"
    slices = pl.read_csv(tmp_path / "bench/tables/slices.csv").filter(pl.col("slice").str.contains("news"))
    accuracies = dict(slices.select("model", "accuracy").iter_rows())
    assert accuracies["strong"] == 100.0
    assert 40 < accuracies["weak"] < 60


def test_no_share_differs_by_more_than_all(tmp_path: Path) -> None:
    answers = [LABELS[(LABELS.index(label) + (genre == "news")) % 3] for label, genre in zip(GOLD, GENRES, strict=True)]
    gl.bench(Genres(), {"wrong on news": Told([*answers[:-1], GOLD[-1]])}, tmp_path / "bench", slices=True)
    weak = pl.read_csv(tmp_path / "bench/tables/weak-slices.csv")
    assert weak["difference_low"][0] == -100.0


def test_a_system_without_premises_tells_easy_from_hard(tmp_path: Path) -> None:
    taught = pairs("train", 60, split="train", bird="Crane")
    swapped = pl.col("label").replace({"entailment": "neutral", "neutral": "entailment"})
    train = gl.Pairs(taught.frame.with_columns(swapped), taught.card)
    gl.bench(Genres(), {"blind": "linear@hypothesis", "told": Told(GOLD)}, tmp_path / "b", train=train, slices=True)
    slices = pl.read_csv(tmp_path / "b/tables/slices.csv").filter(kind="without premise")
    blind = slices.filter(model="blind")
    accuracies = {name.split(":")[0]: accuracy for name, accuracy in blind.select("slice", "accuracy").iter_rows()}
    assert accuracies == {"easy": 100.0, "hard": 0.0}
    assert blind["pairs"].to_list() == [300, 600]
    weak = pl.read_csv(tmp_path / "b/tables/weak-slices.csv").filter(model="blind")
    assert not any("hard" in name for name in weak["slice"]), "that it is wrong where it is wrong is no finding"


def test_weak_slices_are_corrected_for_all_searches(tmp_path: Path) -> None:
    results = gl.bench(Genres(), {"weak": weak_on_news(), "strong": Told(GOLD)}, tmp_path / "bench")
    weak = slice_tables(results)["weak-slices"]
    (name,) = results.sets
    gold, hits = results.plan.find_set(name).gold, results.hits("weak", name)
    search = find_weak_slices(gold, hits, slices_of(results, name), level=0.975)
    assert weak["p (Holm)"][0] == pytest.approx(2 * search.found[0].adjusted)
    assert weak["difference_low"][0] == pytest.approx(100 * search.found[0].difference.low)
