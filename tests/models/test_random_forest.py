"""The random forest over pair features."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from goldlabel.errors import InputError
from goldlabel.models import load_model, predict_labels, random_forest
from goldlabel.models.model import label_indices
from goldlabel.models.pair_features import pair_features
from goldlabel.models.random_forest import RandomForest, Trees
from goldlabel.pairs.labels import NLI3, LabelSpace

PLACES = ["garden", "harbour", "kitchen", "station", "museum"]
LINES = [f"{place} {row} {-row} {row * row} 0.5" for row, place in enumerate([*PLACES, "the", "owl", "is"])]


def made_up(count: int, seed: int) -> tuple[list[str], list[str], list[str]]:
    """Pairs whose label only the comparison of both sentences tells."""
    random = np.random.RandomState(seed)
    where = random.choice(PLACES, count)
    said = np.where(random.rand(count) < 0.5, where, random.choice(PLACES, count))
    labels = np.where(where == said, "entailment", "contradiction").tolist()
    return [f"The owl is in the {place}." for place in where], [f"It is in the {place}." for place in said], labels


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(LINES))
    return path


def fit(count: int = 200, space: LabelSpace = NLI3, **options: Any) -> RandomForest:
    return RandomForest.fit(*made_up(count, seed=0), space, **({"trees": 10, "leaf": 2} | options))


def test_compares_the_sentences(vectors: Path) -> None:
    premises, hypotheses, labels = made_up(100, seed=1)
    assert predict_labels(fit(), premises, hypotheses) == labels
    assert predict_labels(fit(vectors=vectors), premises, hypotheses) == labels


@pytest.mark.parametrize("seen", [1, 2, 3])
def test_probabilities_are_scikit_learns(seen: int) -> None:
    random = np.random.RandomState(0)
    features = random.randn(500, 19).astype(np.float32).round(1)
    gold = (np.abs(features[:, 3]) + random.rand(500)).astype(int) % seen
    forest = RandomForestClassifier(15, min_samples_leaf=3, random_state=7).fit(features, gold)
    trees = Trees.grow(features, gold, 4, trees=15, leaf=3, seed=7)
    fresh = np.vstack([random.randn(300, 19).astype(np.float32).round(1), features])
    found = trees.average(fresh)
    np.testing.assert_allclose(found[:, :seen], forest.predict_proba(fresh), atol=1e-9)
    assert (found[:, seen:] == 0).all()


def test_the_forest_is_scikit_learns_on_the_pair_features() -> None:
    premises, hypotheses, labels = made_up(200, seed=0)
    features = pair_features(premises, hypotheses).astype(np.float32)
    forest = RandomForestClassifier(10, min_samples_leaf=2, random_state=5).fit(features, label_indices(labels, NLI3))
    np.testing.assert_allclose(
        fit(seed=5).predict(premises, hypotheses)[:, :2], forest.predict_proba(features), atol=1e-9
    )


def test_the_seed_decides() -> None:
    premises, hypotheses, _ = made_up(50, seed=1)
    scores = [fit(seed=seed, hypothesis_only=True).predict(premises, hypotheses) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_walks_do_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fit(hypothesis_only=True)
    premises, hypotheses, _ = made_up(50, seed=1)
    whole = model.predict(premises, hypotheses)
    monkeypatch.setattr(random_forest, "_WALKS", 30)
    np.testing.assert_allclose(model.predict(premises, hypotheses), whole, atol=1e-12)


@pytest.mark.parametrize("only", ["hypothesis_only", "premise_only"])
def test_partial_input_ignores_the_other_sentence(only: str, vectors: Path, tmp_path: Path) -> None:
    model = fit(vectors=vectors, **{only: True})
    model.save(tmp_path / "run")
    premises, hypotheses, _ = made_up(50, seed=1)
    others = ["Quite another text."] * 50
    for one in (model, load_model(tmp_path / "run")):
        scores = one.predict(premises, hypotheses)
        assert len(np.unique(scores, axis=0)) > 1
        swapped = (others, hypotheses) if only == "hypothesis_only" else (premises, others)
        np.testing.assert_array_equal(one.predict(*swapped), scores)
    assert not np.array_equal(fit().predict(others, hypotheses), fit().predict(premises, hypotheses))


def test_run_folder_needs_no_other_file(vectors: Path, tmp_path: Path) -> None:
    model = fit(vectors=vectors)
    model.save(tmp_path / "run")
    digest = hashlib.sha256(vectors.read_bytes()).hexdigest()
    vectors.unlink()
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["config.json", "model.safetensors"]
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["vectors"] == {"path": str(vectors), "sha256": digest}
    texts = ["", "x" * 10_000, "🦉 the owl", "\n", "苍鹭在museum", "The owl is in the garden."]
    loaded = load_model(tmp_path / "run")
    for side in (texts, texts[::-1]):
        np.testing.assert_array_equal(loaded.predict(texts, side), model.predict(texts, side))


def test_without_vectors_none_are_kept(tmp_path: Path) -> None:
    fit().save(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "config.json").read_text())["vectors"] is None
    premises, hypotheses, _ = made_up(20, seed=1)
    np.testing.assert_array_equal(
        load_model(tmp_path / "run").predict(premises, hypotheses), fit().predict(premises, hypotheses)
    )


def test_the_first_vectors_that_a_text_can_hold_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_forest, "KEPT_VECTORS", 3)
    path = tmp_path / "vectors.txt"
    path.write_text("The 1 2\nthe 3 4\nit's 5 6\n鸟 7 8\nowl 9 10\nbird 11 12\n")
    model = fit(vectors=str(path))
    assert model.vectors is not None
    assert model.vectors.words == ["the", "鸟", "owl"]
    np.testing.assert_array_equal(model.vectors.matrix, [[3, 4], [7, 8], [9, 10]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hypothesis_only": True, "premise_only": True}, "exclude each other; choose one"),
        ({"trees": 0}, "random-forest: trees 0 is not a whole number from 1 on"),
        ({"leaf": 0}, "random-forest: leaf 0 is not a whole number from 1 on"),
        ({"vectors": "nowhere.txt"}, "nowhere.txt: there is no such file of vectors"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit(**options)


@pytest.mark.parametrize(
    ("text", "message"),
    [("Owl 1 2\n", "has no word in lower case"), ("owl 1 nan\n", "has vectors that are not finite")],
)
def test_bad_vectors_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text(text)
    with pytest.raises(InputError, match=rf"vectors\.txt: {message}"):
        fit(vectors=tmp_path / "vectors.txt")
