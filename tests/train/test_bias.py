"""Bias models: what they say of training pairs, out of fold, and what is recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldlabel.errors import InputError
from goldlabel.models import MODELS, Model
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI3
from goldlabel.train import TrainOptions, train
from goldlabel.train.bias import FEATURES, Bias, measure_bias
from goldlabel.train.debias.preparation import bias_names, warn_of_bias
from goldlabel.train.fit import fit_model
from goldlabel.train.task import Task, gather_task
from tests.train.samples import SMALL, make_pairs, make_rows

LABELS = NLI3.labels


def gathered(pairs: Pairs, **changes: Any) -> Task:
    return gather_task("cbow", [pairs], TrainOptions(debias="drift", **changes))


def measured(name: str, pairs: Pairs, folder: Path, **changes: Any) -> Bias:
    return measure_bias(name, gathered(pairs, **changes), folder, fit_model)


def telling(count: int = 120) -> Pairs:
    """Pairs whose hypothesis tells the label."""
    return make_pairs(count)


def silent(count: int = 240) -> Pairs:
    """Pairs of few hypotheses, each seen with every label, of which a unit has two with the same label.

    Only who has seen a pair's unit can tell its label.
    """
    random = np.random.RandomState(0)
    rows = make_rows(count)
    for number, row in enumerate(rows):
        unit = number // 2
        row["label"] = LABELS[random.randint(3)] if number % 2 == 0 else rows[number - 1]["label"]
        row["hypothesis"] = f"Number {unit} is known as {unit}."
        row["premise"] = f"There is number {unit}."
    return make_pairs(rows)


@pytest.mark.parametrize("name", ["audit", "pmi", "linear"])
def test_a_bias_reads_what_the_hypothesis_gives_away(name: str, tmp_path: Path) -> None:
    bias = measured(name, telling(), tmp_path)
    assert bias.accuracy.defined > 0.9
    assert bias.probabilities.shape == (120, 3)
    np.testing.assert_allclose(bias.probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["audit", "pmi", "linear", "overlap"])
def test_a_bias_is_out_of_fold_by_unit(name: str, tmp_path: Path) -> None:
    """Whoever had seen the other pair of a unit would know the label."""
    bias = measured(name, silent(), tmp_path)
    assert bias.accuracy.defined < 0.5
    assert (bias.folds, bias.in_sample) == (5, False)
    (file,) = tmp_path.iterdir()
    table = pl.read_parquet(file)
    assert table.columns == ["id", "fold", *LABELS]
    assert (
        table.with_columns(unit=np.arange(240) // 2).group_by("unit").agg(pl.col("fold").n_unique())["fold"].max() == 1
    )


def test_overlap_reads_what_both_sides_share(tmp_path: Path) -> None:
    rows = make_rows(150)
    for number, row in enumerate(rows):
        row["label"] = LABELS[0] if number % 2 else LABELS[1 + number % 4 // 2]
        row["hypothesis"] = row["premise"] if number % 2 else f"Somebody else wrote letter {number}."
    bias = measured("overlap", make_pairs(rows), tmp_path)
    right = bias.probabilities.argmax(axis=1) == 0
    assert right[1::2].mean() > 0.95
    assert right[::2].mean() < 0.05


def test_words_of_one_fold_alone_tell_nothing(tmp_path: Path) -> None:
    """Naive Bayes with shares of labels that differ: a new word must not pull towards the rare ones."""
    rows = [row | {"hypothesis": f"zq{number}x"} for number, row in enumerate(make_rows(100))]
    for number, row in enumerate(rows):
        row["label"] = LABELS[0] if number % 10 else LABELS[1]
    bias = measured("pmi", make_pairs(rows), tmp_path)
    np.testing.assert_allclose(bias.probabilities[:, 0], 0.9, atol=0.05)
    assert (bias.probabilities[:, 2] == 0).all()
    assert bias.safe.min() > 0


def test_probabilities_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = measured("audit", telling(), tmp_path)
    monkeypatch.setitem(FEATURES, "audit", None)  # type: ignore[index]
    again = measured("audit", telling(), tmp_path)
    assert again.to_dict() == first.to_dict()
    with pytest.raises(TypeError):  # other pairs are another bias
        measured("audit", telling(90), tmp_path)


def test_folds_of_a_model_are_kept_when_it_is_stopped(tmp_path: Path) -> None:
    fitted: list[str] = []

    def fit(name: str, *texts: Any, seed: int = 0) -> Model:
        fitted.append(name)
        if len(fitted) == 3:
            raise KeyboardInterrupt
        return fit_model(name, *texts, seed=seed)

    with pytest.raises(KeyboardInterrupt):
        measure_bias("majority", gathered(telling()), tmp_path, fit)
    measure_bias("majority", gathered(telling()), tmp_path, fit)
    assert len(fitted) == 3 + 3
    assert len(list(tmp_path.iterdir())) == 1


def test_only_the_pairs_that_are_trained_on_are_judged(tmp_path: Path) -> None:
    assert measured("audit", telling(), tmp_path, size=60, seed=1).probabilities.shape == (60, 3)


def test_a_run_is_taken_as_it_is_and_told_if_it_was_trained_on_these_pairs(tmp_path: Path) -> None:
    run = str(train("linear", telling(), tmp_path / "blind", reads="hypothesis").run)
    same, other = gathered(telling(), bias=(run,)), gathered(telling(90), bias=(run,))
    (warning,) = warn_of_bias(same)
    assert "blind: was trained on these very pairs" in warning
    (warning,) = warn_of_bias(other)
    assert f"blind: was trained on pairs of {other.gold.name}, too" in warning
    elsewhere = replace(other, gold=replace(other.gold, name="elsewhere"))
    assert warn_of_bias(elsewhere) == []
    mixture = replace(other, gold=replace(other.gold, name=f"elsewhere+{other.gold.name}"))
    assert f"pairs of {other.gold.name}, too" in warn_of_bias(mixture)[0]
    biases = [measure_bias(run, task, tmp_path / "bias", fit_model) for task in (same, other)]
    assert [(bias.folds, bias.in_sample) for bias in biases] == [(None, True), (None, None)]
    assert biases[0].to_dict()["out_of_fold"] is False
    assert same.settings["bias"][run]


def test_the_run_records_its_bias(tmp_path: Path) -> None:
    options = {"debias": "drift", "bias": ("audit", "overlap"), "epochs": 1, **SMALL}
    run = train("cbow", telling(), tmp_path / "run", **options).run
    record = json.loads((run / "config.json").read_text())["debias"]
    assert record["options"] == {"scale": 1.0, "combine": "product"}
    first, second = record["bias"]
    assert (first["bias"], first["folds"], first["out_of_fold"], first["in_sample"]) == ("audit", 5, True, False)
    low, high = first["accuracy"]["interval"]
    assert 0 <= low < first["accuracy"]["value"] <= high <= 1
    assert first["sha256"] != second["sha256"]
    assert len(list((run / "bias").glob("*.parquet"))) == 2


def test_what_is_no_bias(tmp_path: Path) -> None:
    for names, message in [
        (("audti",), "there is no bias 'audti'.*did you mean 'audit'"),
        (("audit", "audit"), "one is named twice"),
        ((str(tmp_path / "none"),), "neither a bias, a model's name nor a run folder"),
    ]:
        with pytest.raises(InputError, match=message):
            gathered(telling(), bias=names).check()
    assert bias_names(TrainOptions(debias="drift")) == ("audit",)
    assert bias_names(TrainOptions(debias="jtt")) == ()
    assert not set(FEATURES) & set(MODELS)


def test_a_bias_must_answer_for_every_pair(tmp_path: Path) -> None:
    rows = make_rows(20)
    shares = {label: [1 / 3] * 10 for label in LABELS}
    path = tmp_path / "some.parquet"
    pl.DataFrame({"id": [row["id"] for row in rows[:10]], **shares}).write_parquet(path)
    with pytest.raises(InputError, match="says nothing of 10 of 20 pairs"):
        measured(str(path), make_pairs(rows), tmp_path / "bias")
