"""Cartography, AFLite and label errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.audit import AFLite, cartography, find_label_errors, read_probabilities
from goldlabel.audit.label_errors import confident_joint
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from tests.audit.conftest import make_pairs

PAIRS = make_pairs(("p", "h", "contradiction"), ("p", "i", "neutral"), ("p", "j", "-"))
ROWS = [
    {"id": "0", "epoch": 1, "probabilities": [0.2, 0.5, 0.3]},
    {"id": "0", "epoch": 2, "probabilities": [0.8, 0.1, 0.1]},
    {"id": "1", "epoch": 1, "probabilities": [0.1, 0.1, 0.8]},
    {"id": "1", "epoch": 2, "probabilities": [0.1, 0.1, 0.8]},
    {"id": "2", "epoch": 1, "probabilities": [0.1, 0.1, 0.8]},
]


def test_the_map_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame(ROWS).write_parquet(path)
    found = cartography(read_probabilities(path, PAIRS), PAIRS)
    assert found.epochs == 2
    first, second = found.pairs.to_dicts()
    assert first == {
        "id": "0",
        "label": "contradiction",
        "confidence": pytest.approx(0.5),
        "variability": pytest.approx(0.3),
        "correctness": 0.5,
    }
    assert (second["confidence"], second["correctness"]) == (pytest.approx(0.8), 1.0)
    assert found.select("ambiguous", 0.5) == ["0"]
    assert found.select("easy", 0.5) == ["1"]
    assert found.to_dict()["pairs"] == 2


def test_gold_probabilities_alone_leave_correctness_undefined(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    pl.DataFrame({"id": ["0", "0"], "epoch": [1, 2], "gold_probability": [0.25, 0.75]}).write_ndjson(path)
    found = cartography(read_probabilities(path, PAIRS), PAIRS)
    assert found.pairs.row(0)[2:] == (0.5, 0.25, None)
    assert found.to_dict()["correctness"] is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "0", "epoch": 1}], "no column 'gold_probability'"),
        ([{"id": "9", "epoch": 1, "gold_probability": 0.1}], "'9', which is no pair of tiny"),
        ([{"id": "0", "epoch": 1, "probabilities": [0.5, 0.5]}], "must be 3"),
        ([ROWS[0], ROWS[0]], "more than one row for epoch 1"),
    ],
)
def test_tables_that_do_not_fit_are_refused(rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cartography(pl.DataFrame(rows), PAIRS)


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run.parquet").write_text("no")
    with pytest.raises(InputError, match="cannot be read as predictions"):
        read_probabilities(tmp_path / "run.parquet", PAIRS)
    with pytest.raises(InputError, match="no such file"):
        read_probabilities(tmp_path / "none.parquet", PAIRS)
    with pytest.raises(InputError, match="easy, hard, ambiguous"):
        cartography(pl.DataFrame(ROWS), PAIRS).select("odd")


def test_aflite_drops_what_the_plant_gives_away(planted: Pairs) -> None:
    split = planted.split(AFLite(models=8, slice=20, least=60), seed=3)
    kept = split.pairs.collect()
    assert split.dropped == 300 - len(kept) >= 20
    told = pl.col("hypothesis").str.contains("never") == (pl.col("label") == "contradiction")
    whole = planted.collect().select(told.mean()).item()
    assert kept.select(told.mean()).item() < whole
    assert planted.split(AFLite(models=8, slice=20, least=60), seed=3).pairs.collect().equals(kept)
    assert "AFLite" in split.pairs.card.history[-1]


def test_aflite_keeps_pairs_without_gold_and_refuses_nonsense() -> None:
    pairs = make_pairs(*(("p", f"word {n}", ("neutral", "entailment", "-")[n % 3]) for n in range(60)))
    split = pairs.split(AFLite(models=2, least=10, rounds=2))
    assert (split.pairs.collect()["label"] == "-").sum() == 20
    with pytest.raises(InputError, match="cannot run"):
        pairs.split(AFLite(models=0))
    with pytest.raises(InputError, match="two or more labels"):
        pairs.only(label="neutral").split(AFLite())


def test_label_errors_by_hand() -> None:
    labels = np.array([0, 0, 0, 1, 1, 1])
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.95, 0.05]])
    found = find_label_errors(labels, probabilities, ("no", "yes"))
    assert found.joint.tolist() == [[2, 1], [1, 2]]
    assert found.table.rows() == [(5, "yes", "no", 0.05), (2, "no", "yes", 0.1)]
    assert (found.accuracy.value, found.pairs) == (4 / 6, 6)
    assert found.too_weak, "four of six may be chance"
    with pytest.raises(InputError, match="do not fit"):
        find_label_errors(labels, probabilities, ("a", "b", "c"))


@pytest.mark.parametrize(("right", "too_weak"), [(0.9, False), (0.55, True), (0.35, True)])
def test_a_weak_model_accuses_nobody(right: float, too_weak: bool) -> None:
    labels = np.arange(300) % 3
    guessed = np.where(np.arange(300) < 300 * right, labels, (labels + 1) % 3)
    found = find_label_errors(labels, 0.05 + 0.85 * np.eye(3)[guessed], ("a", "b", "c"), units=np.arange(300) // 3)
    assert found.too_weak == too_weak
    assert ("too weak" in found.title) == too_weak
    assert f"accuracy {100 * right:.1f} % (" in found.title
    assert found.to_dict()["too_weak"] == too_weak


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_label_errors_are_those_of_cleanlab(seed: int, classes: int) -> None:
    from cleanlab.count import compute_confident_joint
    from cleanlab.filter import find_label_issues

    random = np.random.RandomState(seed)
    probabilities = random.dirichlet(np.ones(classes), 120)
    labels = np.array([random.choice(classes, p=row) for row in probabilities])
    labels[:classes] = np.arange(classes)
    ours = find_label_errors(labels, probabilities, tuple("abcd"[:classes]))
    assert ours.joint.tolist() == compute_confident_joint(labels, probabilities, calibrate=False).tolist()
    theirs = find_label_issues(
        labels,
        probabilities,
        filter_by="confident_learning",
        return_indices_ranked_by="self_confidence",
        n_jobs=1,
    )
    assert ours.candidates["row"].to_list() == theirs.tolist()


def test_a_label_that_no_pair_carries_is_never_confident() -> None:
    confident, joint = confident_joint(np.array([0, 0]), np.array([[0.1, 0.9], [0.6, 0.4]]))
    assert confident.tolist() == [-1, 0]
    assert joint.tolist() == [[1, 0], [0, 0]]
