"""``rounds`` finds what was planted in invented campaigns, and names what a campaign lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate.suites.paper_tables import Cell, paper_table, read_figures
from goldlabel.metrics import share, swap_test
from goldlabel.models.model import Unmoved
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI3
from tests.evaluate.campaigns import CUES, LABELS, base, dataset, rows, run, table, value

VOTES = ["entailment", "entailment"]


def campaign(name: str = "field") -> Pairs:
    """Two rounds; labels of unverified training pairs are of no use, and a writer is in test alone."""
    records = []
    for number in ("R1", "R2"):
        records += rows(number, 60, "train", writer="ann", votes=VOTES, round=number)
        records += rows(number, 60, "train", writer="bob", votes=[], round=number, lie=1)
        records += rows(number, 12, "dev", writer="ann", votes=VOTES, round=number)
        records += rows(number, 18, "test", writer="ann", votes=VOTES, round=number, tags=["Wide", "Wide-Narrow"])
        records += rows(number, 12, "test", writer="eve", votes=VOTES, round=number, tags=["Other"])
    return dataset(records, name, author="label")


class Cued(Unmoved):
    """Knows the cues of some rounds, and says neutral to everything else."""

    label_space = NLI3

    def __init__(self, *rounds: str) -> None:
        self.known = {word: label for number in rounds for word, label in zip(CUES[number], LABELS, strict=True)}

    def predict(self, premises: list[str], hypotheses: list[str]) -> np.ndarray:
        labels = [self.known.get(hypothesis.split()[2], "neutral") for hypothesis in hypotheses]
        return np.array([[float(label == word) for word in NLI3.labels] for label in labels])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """Linear models of every part, and one that is judged as it is."""
    folder = tmp_path_factory.mktemp("rounds")
    models = {"linear": "linear", "knows R1": Cued("R1")}
    options = {"beside": "none"}
    return run("rounds", folder, campaign(), models, "campaign", train=base(), options=options, reference=True), folder


def test_models_know_the_rounds_they_learnt_from(trained: tuple[Any, Path]) -> None:
    results, folder = trained
    lines = {(row["model"], row["data"]): row for row in table(folder, "table-3")}
    assert list(lines) == [("linear", data) for data in ("base", "base+R1", "base+R1+R2")] + [("knows R1", "")]
    accuracies = {data: (value(row["R1"]), value(row["R2"])) for (_, data), row in lines.items()}
    assert accuracies["base"][0] < 50
    assert accuracies["base+R1"][0] == 100
    assert accuracies["base+R1"][1] < 50
    assert accuracies["base+R1+R2"] == (100, 100)
    known = lines["knows R1", ""]
    assert (value(known["R1"]), value(known["R2"])) == (100, pytest.approx(100 / 3, abs=0.1))
    assert value(known["all"]) == pytest.approx(200 / 3, abs=0.1)
    assert [row["pairs"] for row in lines.values()] == ["60", "180", "300", ""]
    assert "test" in results.plan.notes[0]
    claims = [row for row in table(folder, "claims") if row["claim"].startswith("more rounds")]
    assert max(float(row["p"]) for row in claims) < 0.01


def test_the_exclusive_pairs_are_those_of_writers_that_train_has_not(trained: tuple[Any, Path]) -> None:
    results, _ = trained
    assert set(results.plan.find_set("exclusive").gold.frame["writer"]) == {"eve"}
    assert len(results.plan.find_set("exclusive").gold) == 24


def test_a_mark_of_exclusive_writers_is_taken_where_there_are_no_writers(tmp_path: Path) -> None:
    records = [
        {**record, "meta": f'{{"emturk": {str(number % 5 == 0).lower()}}}'}
        for number, record in enumerate(rows("R1", 30, "dev", round="R1"))
    ]
    results = run("rounds", tmp_path, dataset(records, "marked"), {"cued": Cued("R1")}, "campaign")
    assert len(results.plan.find_set("exclusive").gold) == 6


def test_mixtures_are_of_equal_size(trained: tuple[Any, Path], tmp_path: Path) -> None:
    _, folder = trained
    lines = table(folder, "table-5")
    assert [row["data"] for row in lines] == [
        f"{mixture}, 60 pairs" for mixture in ("train", "train+rounds", "R1", "R2")
    ]
    assert {row["pairs"] for row in lines} == {"60"}
    options = {"beside": "", "parts": "table-5", "mixtures": "base+R2,R1+R2", "size": "31"}
    results = run("rounds", tmp_path, campaign(), ["linear"], "campaign", train=base(), options=options)
    sizes = [system.training.sizes for system in results.plan.systems if system.training]
    assert sizes == [(16, 15), (16, 15)]
    assert [row["pairs"] for row in table(tmp_path, "table-5")] == ["31", "31"]


def test_verified_pairs_teach_and_unverified_ones_do_not(trained: tuple[Any, Path]) -> None:
    results, folder = trained
    lines = {row["data"]: row for row in table(folder, "figure-3")}
    assert list(lines) == [f"{mark}, {size} pairs" for size in (30, 60, 120) for mark in ("verified", "unverified")]
    assert value(lines["verified, 120 pairs"]["all"]) == 100
    assert value(lines["unverified, 120 pairs"]["all"]) < 60
    claim = [row for row in table(folder, "claims") if row["claim"].startswith("verified")][-1]
    names = [f"linear ({mark}, 120 pairs)" for mark in ("verified", "unverified")]
    hits = [np.concatenate([results.hits(name, number) for number in ("R1", "R2")]) for name in names]
    units = results.plan.find_set("R1").gold.units
    expected = swap_test(*hits, units=np.concatenate([units, units + units.max() + 1]))
    assert float(claim["p"]) == pytest.approx(expected.p_value)


def test_the_rounds_are_held_against_plain_pairs_at_several_sizes(trained: tuple[Any, Path]) -> None:
    results, folder = trained
    lines = {row["data"]: row for row in table(folder, "efficiency")}
    assert list(lines) == [f"{source}, {size} pairs" for size in (15, 30, 60) for source in ("train", "rounds")]
    assert [row["pairs"] for row in lines.values()] == ["15", "15", "30", "30", "60", "60"]
    assert value(lines["rounds, 60 pairs"]["all"]) > value(lines["train, 60 pairs"]["all"])
    claims = [
        row for row in table(folder, "claims") if row["claim"] == "the rounds teach more than as many plain pairs"
    ]
    assert [row["first"] for row in claims] == [f"linear (rounds, {size} pairs)" for size in (15, 30, 60)]
    drawn = {system.name: system.training.sizes for system in results.plan.systems if system.training}
    assert drawn["linear (rounds, 15 pairs)"] in ((7, 8), (8, 7))


def test_labels_that_hang_on_the_hypothesis_alone_are_found_without_premises(trained: tuple[Any, Path]) -> None:
    _, folder = trained
    lines = {(row["data"], row["reads"]): row for row in table(folder, "table-6")}
    assert set(lines) == {(data, reads) for data in ("base+R1+R2", "base", "R1+R2") for reads in ("both", "hypothesis")}
    assert value(lines["R1+R2", "hypothesis"]["all"]) == 100
    assert value(lines["base", "hypothesis"]["all"]) < 50


def test_what_models_read_is_told(tmp_path: Path) -> None:
    options = {"beside": "none", "parts": "table-6"}
    models = ["hom", "majority", "linear@hypothesis", "linear"]
    run("rounds", tmp_path, campaign(), models, "campaign", options=options)
    reads = [(row["model"], row["reads"]) for row in table(tmp_path, "table-6")]
    expected = [("hom", "hypothesis"), ("majority", ""), ("linear@hypothesis", "hypothesis")]
    assert reads == [*expected, ("linear", "both"), ("linear", "hypothesis")]


def test_errors_are_counted_by_the_widest_type(trained: tuple[Any, Path]) -> None:
    _, folder = trained
    lines = {(row["round"], row["type"]): row for row in table(folder, "table-7")}
    assert set(lines) == {(number, name) for number in ("R1", "R2") for name in ("Wide", "Other")}
    wide = lines["R2", "Wide"]
    assert (wide["n"], value(wide["share"])) == ("18", 60)
    assert value(wide["knows R1 errors"]) == pytest.approx(200 / 3, abs=0.1)
    assert value(lines["R1", "Other"]["knows R1 errors"]) == 0


def test_what_a_campaign_lacks_is_named(tmp_path: Path) -> None:
    records = rows("R10", 6, "dev", round="R10") + rows("R2", 6, "dev", round="R2")
    options = {"beside": "nowhere"}
    pairs = dataset(records, "bare")
    results = run("rounds", tmp_path, pairs, ["linear"], "campaign", train=base(), options=options)
    lacks = {"exclusive", "nowhere", "training rounds", "table-5", "table-7", "figure-3", "efficiency"}
    assert set(results.plan.missing) == lacks
    assert results.sets == ("R2", "R10")
    assert not (tmp_path / "bench/tables/table-5.csv").exists()


def test_dev_pairs_are_no_unverified_training_pairs(tmp_path: Path) -> None:
    records = [row for split in ("train", "dev", "test") for row in rows("R1", 12, split, votes=VOTES, round="R1")]
    options = {"beside": "", "parts": "table-3,figure-3"}
    pairs = dataset(records, "checked", author="label")
    results = run("rounds", tmp_path, pairs, ["linear"], "campaign", options=options)
    assert "figure-3" in results.plan.missing
    assert results.systems == ("linear (R1)",)


@pytest.mark.parametrize(
    ("records", "models", "options", "message"),
    [
        (rows("R1", 6, "dev"), {"cued": Cued()}, {}, "no dev pair has a round"),
        (rows("R1", 6, "train", round="R1"), {"cued": Cued()}, {}, "neither test nor dev has a gold label"),
        (rows("R1", 6, "dev", round="R1"), ["linear"], {}, "linear has to be trained first"),
        (rows("R1", 6, "dev", round="R1"), {"cued": Cued()}, {"parts": "table-4"}, "part 'table-4' is not known"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    tmp_path: Path, records: list[dict[str, Any]], models: Any, options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run("rounds", tmp_path, dataset(records, "field"), models, "campaign", options=options)


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two models are called"):
        run("rounds", tmp_path, campaign(), ["linear", "linear"], "campaign", train=base())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"mixtures": "train,R9"}, "nothing called 'R9'"), ({"size": "61"}, "the smallest of the mixtures has 60 pairs")],
)
def test_mixtures_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run("rounds", tmp_path, campaign(), ["linear"], "campaign", train=base(), options=options)


def test_a_campaign_that_is_nowhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path))
    with pytest.raises(InputError, match="anli: add it with"):
        gl.bench("rounds", {"cued": Cued()}, tmp_path / "bench")


def test_the_paper_s_figures_stand_beside_ours() -> None:
    figures = pl.DataFrame(
        {
            "table": ["t", "t"],
            "model": ["BERT", "XLNet"],
            "data": ["d", "d"],
            "column": ["R1"] * 2,
            "value": [40.0, 30.0],
        }
    )
    cells = {"R1": Cell(share(np.array([True, False]))), "R2": None}
    frame = paper_table([{"model": "bert", "data": "d", **cells}], ("model", "data"), figures, "t")
    assert frame.select("model", "source").rows() == [
        ("bert", "ours"),
        ("BERT", "paper"),
        ("bert", "difference"),
        ("XLNet", "paper"),
    ]
    assert frame["R1"].to_list()[1:] == ["40.0", "+10.0", "30.0"]
    assert frame["R1"][0].startswith("50.0 (")
    alone = paper_table([{"model": "bert", "data": "d", **cells}], ("model", "data"))
    assert alone.columns == ["model", "data", "R1", "R2"]


def test_only_what_the_paper_says_in_its_text_is_shipped() -> None:
    # The figures of its other tables could be held against nothing, and are left out.
    shares = read_figures("rounds").select("table", "type", "round", "value")
    assert {
        kind: dict(part.select("round", "value").iter_rows()) for (_, kind), part in shares.group_by("table", "type")
    } == {
        "Numerical": {"R1": 38, "R2": 32, "R3": 17},
        "Reference": {"R2": 20},
        "Standard": {"R1": 18, "R3": 27},
        "Lexical": {"R1": 13, "R3": 31},
    }
    assert shares["table"].unique().to_list() == ["table-7"]
