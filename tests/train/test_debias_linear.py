"""The linear model, which needs no torch, without what a bias tells already."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from goldlabel.errors import InputError
from goldlabel.models import load_model
from goldlabel.models.linear import Linear
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI3
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.train import Run, TrainOptions, train
from goldlabel.train.debias import DEBIAS, OF_BASELINES, USUAL
from goldlabel.train.task import gather_task


@pytest.fixture(scope="module")
def planted() -> Pairs:
    """Pairs whose negation tells of contradiction, all of them to train on."""
    return fragment_pairs("en", 1500, seed=1, artifact="negation:contradiction:0.8")


@pytest.fixture(scope="module")
def clean() -> Pairs:
    return fragment_pairs("en", 1200, seed=2)


def reliance(run: Run, pairs: Pairs) -> float:
    """Return how much more often a model says contradiction of pairs with a negation than of others, on clean pairs."""
    frame = pairs.collect()
    shares = load_model(run.run).predict(frame["premise"].to_list(), frame["hypothesis"].to_list())
    says = shares.argmax(axis=1) == NLI3.labels.index("contradiction")
    negated = frame["hypothesis"].str.contains(r"\b(not|no|never|nobody|nothing)\b|n't").to_numpy()
    return float(says[negated].mean() - says[~negated].mean())


def test_nothing_is_left_out_where_the_bias_knows_nothing() -> None:
    texts = ["a gate stands open", "a gate is red", "a gate is shut"] * 4
    labels = ["entailment", "neutral", "contradiction"] * 4
    plain = Linear.fit(texts, texts, labels, NLI3)
    flat = np.full((12, 3), np.log(1 / 3))
    for model in (
        Linear.fit(texts, texts, labels, NLI3, None, np.ones(12)),
        Linear.fit(texts, texts, labels, NLI3, None, None, flat),
    ):
        assert np.allclose(model.predict(texts, texts), plain.predict(texts, texts), atol=2e-3)


@pytest.mark.parametrize("method", OF_BASELINES)
def test_what_the_bias_tells_is_not_learnt(
    planted: Pairs, clean: Pairs, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("torch", "goldlabel.train.debias.weighting", "goldlabel.train.debias.drift"):
        monkeypatch.setitem(sys.modules, module, None)  # the core alone must do
    plain = train("linear", planted, tmp_path / "plain", split="none")
    debiased = train("linear", planted, tmp_path / method, split="none", debias=method)
    assert reliance(debiased, clean) < reliance(plain, clean) - 0.08
    record = json.loads((debiased.run / "config.json").read_text())["debias"]
    assert (record["method"], record["bias"][0]["bias"], record["bias"][0]["folds"]) == (method, "audit", 5)


def test_what_a_linear_model_cannot_be_debiased_by(planted: Pairs) -> None:
    with pytest.raises(InputError, match=r"allowed: drift, weighting"):
        gather_task("linear", [planted], TrainOptions(debias="jtt"), split="none").check()
    chosen = TrainOptions(debias="drift", debias_options={"scale": 2.0})
    with pytest.raises(InputError, match="linear takes drift as it is"):
        gather_task("linear", [planted], chosen, split="none").check()


def test_methods_of_baselines_read_the_usual_bias() -> None:
    pytest.importorskip("torch")
    assert {DEBIAS.get(name).usual_bias({}) for name in OF_BASELINES} == {(USUAL,)}
