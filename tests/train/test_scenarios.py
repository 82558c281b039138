"""From scratch, pre-trained then updated, pre-trained and fixed; and models without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import goldlabel as gl  # noqa: E402
from goldlabel.errors import InputError  # noqa: E402
from goldlabel.models.model import read_tensors  # noqa: E402
from goldlabel.pairs.labels import NLI2, NLI3  # noqa: E402
from goldlabel.train import Run, fit_model, train  # noqa: E402
from goldlabel.train.trainer import Interrupted  # noqa: E402
from tests.train.samples import SMALL, make_pairs, make_rows, weights, with_dev, write_vectors  # noqa: E402

WINDOWS = [
    {**row, "premise": row["premise"].replace("old", "stained"), "split": split}
    for split, first in (("train", 0), ("dev", 500))
    for row in make_rows(18, first=first)
]


def fit(folder: Path, on: Any = None, **changes: Any) -> Run:
    on = with_dev() if on is None else on
    return train("cbow", on, folder, **{**SMALL, "epochs": 2, **changes})


@pytest.fixture
def first(tmp_path: Path) -> str:
    """A run to start from."""
    fit(tmp_path / "first", lr=0.01)
    return str(tmp_path / "first")


def test_an_update_starts_from_the_weights_and_learns_new_words(tmp_path: Path, first: str) -> None:
    windows = make_pairs(WINDOWS, name="windows")
    still = fit(tmp_path / "still", windows, start=first, lr=1e-12, epochs=1)
    old, new = (gl.load_model(run) for run in (first, tmp_path / "still"))
    assert "stained" not in old.encoder.vocabulary  # type: ignore[attr-defined]
    assert "stained" in new.encoder.vocabulary  # type: ignore[attr-defined]
    known = make_rows(9)
    texts = [row["premise"] for row in known], [row["hypothesis"] for row in known]
    np.testing.assert_allclose(old.predict(*texts), new.predict(*texts), atol=1e-6)
    assert still.settings["start"]["path"] == first
    fit(tmp_path / "updated", windows, start=first, lr=0.01)
    fit(tmp_path / "scratch", windows, lr=0.01)
    losses = [
        json.loads((tmp_path / name / "metrics.jsonl").read_text().splitlines()[0])["loss"]
        for name in ("updated", "scratch")
    ]
    assert losses[0] < losses[1], "what was learnt before helps"


def test_new_words_get_their_vectors_and_known_ones_keep_theirs(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    given = write_vectors(file, ["stained", "gate"])
    fit(tmp_path / "first", vectors=str(file), epochs=1)
    windows = make_pairs(WINDOWS, name="windows")
    fit(tmp_path / "next", windows, start=str(tmp_path / "first"), vectors=str(file), lr=1e-12, epochs=1)
    one, two = (gl.load_model(tmp_path / name) for name in ("first", "next"))

    def vector(model: Any, word: str) -> Any:
        return model.network.words.weight[model.encoder.vocabulary.number(word)].detach().numpy()

    np.testing.assert_allclose(vector(two, "stained"), given.matrix[0], atol=1e-5)
    np.testing.assert_allclose(vector(two, "gate"), vector(one, "gate"), atol=1e-5)
    assert np.abs(vector(one, "gate") - given.matrix[1]).max() > 1e-5, "it was trained"


def test_a_model_that_drops_unknown_words_learns_those_with_a_vector(tmp_path: Path) -> None:
    file, more = tmp_path / "vectors.txt", tmp_path / "more.txt"
    write_vectors(file, ["the", "gate", "stands", "open", "locked"])
    write_vectors(more, ["the", "gate", "stands", "open", "locked", "stained"])
    small: dict[str, Any] = {"hidden": 4, "layer": 4, "device": "cpu", "epochs": 1}
    train("infersent", with_dev(), tmp_path / "first", vectors=str(file), **small)
    windows, start = make_pairs(WINDOWS, name="windows"), str(tmp_path / "first")
    train("infersent", windows, tmp_path / "same", start=start, device="cpu", epochs=1)
    train("infersent", windows, tmp_path / "more", start=start, vectors=str(more), device="cpu", epochs=1)
    vocabularies = [gl.load_model(tmp_path / name).encoder.vocabulary for name in ("first", "same", "more")]  # type: ignore[attr-defined]
    assert vocabularies[0].words == vocabularies[1].words
    assert set(vocabularies[2].words) - set(vocabularies[0].words) == {"stained"}
    # InferSent's vectors stay frozen, in the run that starts from another one too.
    for name in ("first", "same", "more"):
        assert json.loads((tmp_path / name / "config.json").read_text())["train_vectors"] is False
    before, after = (read_tensors(tmp_path / name)["words.weight"] for name in ("first", "same"))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(("chosen", "moved"), [(None, True), (True, True), (False, False)])
def test_vectors_are_trained_or_frozen(tmp_path: Path, chosen: bool | None, moved: bool) -> None:
    given = write_vectors(tmp_path / "vectors.txt", ["gate", "stands"])
    fit(tmp_path / "run", vectors=str(tmp_path / "vectors.txt"), train_vectors=chosen, lr=0.01)
    model: Any = gl.load_model(tmp_path / "run")
    held = model.network.words.weight[model.encoder.vocabulary.number("gate")].detach().numpy()
    assert bool(np.abs(held - given.matrix[0]).max() > 1e-3) is moved


def test_fixed_weights_are_scored_and_kept(tmp_path: Path, first: str) -> None:
    windows = make_pairs(WINDOWS, name="windows")
    result = fit(tmp_path / "fixed", windows, start=first, fixed=True)
    assert weights(tmp_path / "fixed") == weights(Path(first))
    assert (result.epochs, result.pairs, list(result.dev)) == (0, 0, ["windows"])
    assert result.title == f"cbow as {first} left it: {tmp_path / 'fixed'}"
    dev = windows.only(split="dev").collect()
    model = gl.load_model(tmp_path / "fixed")
    right = np.mean(np.array(gl.predict_labels(model, dev["premise"], dev["hypothesis"])) == dev["label"].to_numpy())
    assert result.dev["windows"].value == pytest.approx(right)
    lines = (tmp_path / "fixed" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [0]
    assert fit(tmp_path / "fixed", windows, start=first, fixed=True) == result


def test_fixed_weights_are_scored_on_what_they_read(tmp_path: Path, first: str) -> None:
    windows = make_pairs(WINDOWS, name="windows")
    with pytest.raises(InputError, match="first: reads both sentences; leave --hypothesis-only and --premise-only out"):
        fit(tmp_path / "fixed", windows, start=first, fixed=True, reads="hypothesis")
    train("linear", with_dev(), tmp_path / "blind", reads="hypothesis")
    with pytest.raises(InputError, match="blind: reads the hypothesis alone; pass --hypothesis-only"):
        train("linear", windows, tmp_path / "fixed", start=str(tmp_path / "blind"), fixed=True)
    assert not (tmp_path / "fixed").exists()
    fixed = train("linear", windows, tmp_path / "fixed", start=str(tmp_path / "blind"), fixed=True, reads="hypothesis")
    assert fixed.settings["options"]["reads"] == "hypothesis"


def test_fixed_weights_of_three_labels_on_a_set_of_two(tmp_path: Path, first: str) -> None:
    """Contradiction and neutral add up."""
    two = [{**row, "label": "not_entailment" if row["label"] != "entailment" else "entailment"} for row in make_rows(9)]
    pairs = make_pairs(two, name="recast", space=NLI2)
    result = train("cbow", [], tmp_path / "fixed", dev=pairs, start=first, fixed=True)
    shares = gl.load_model(first).predict([row["premise"] for row in two], [row["hypothesis"] for row in two])
    entailed = shares[:, 1] > 0.5
    assert result.dev["recast"].value == np.mean(entailed == [row["label"] == "entailment" for row in two])


def test_two_labels_from_three_then_an_update_on_a_set_of_two(tmp_path: Path) -> None:
    two = [{**row, "label": "not_entailment" if row["label"] != "entailment" else "entailment"} for row in WINDOWS]
    fit(tmp_path / "first", label_space="nli2")
    recast = make_pairs(two, name="recast", space=NLI2)
    assert list(fit(tmp_path / "next", recast, start=str(tmp_path / "first")).dev) == ["recast"]
    assert gl.load_model(tmp_path / "next").label_space.labels == NLI2.labels
    fit(tmp_path / "three")
    with pytest.raises(InputError, match="train the first run with --label-space nli2"):
        fit(tmp_path / "wrong", recast, start=str(tmp_path / "three"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokenizer": "characters"}, "was trained with tokenizer 'words', not 'characters'; leave --tokenizer out"),
        ({"length": 20}, "was trained with length 50, not 20; leave --length out"),
        ({"hidden": 9}, "was trained with other --set options; leave them out"),
        ({"reads": "hypothesis"}, "reads both sentences; leave --hypothesis-only and --premise-only out"),
        (
            {"vectors": "vectors.txt"},
            "has vectors of 4 numbers and .* was trained with 300; give the same vectors again",
        ),
    ],
)
def test_a_start_that_does_not_fit(
    tmp_path: Path, first: str, changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_vectors(tmp_path / "vectors.txt", ["gate"])
    with pytest.raises(InputError, match=message):
        fit(tmp_path / "next", start=first, **changes)


def test_a_start_of_another_model_and_one_that_is_not_finished(tmp_path: Path, first: str) -> None:
    with pytest.raises(InputError, match="first: holds the model cbow, not lstm; start from a run of the same one"):
        train("lstm", with_dev(), tmp_path / "next", start=first)
    with pytest.raises(Interrupted):
        fit(tmp_path / "half", on_step=lambda step: True)
    with pytest.raises(InputError, match="half: is not finished; give its command once more first"):
        fit(tmp_path / "next", start=str(tmp_path / "half"))
    fit(tmp_path / "blind", reads="hypothesis")
    with pytest.raises(InputError, match="reads the hypothesis alone; pass --hypothesis-only"):
        fit(tmp_path / "next", start=str(tmp_path / "blind"))
    with pytest.raises(InputError, match="say with --from RUN whose weights are scored"):
        fit(tmp_path / "next", fixed=True)
    with pytest.raises(InputError, match=r"nothing to score .*first on; pass --dev PATH"):
        train("cbow", make_pairs(6), tmp_path / "next", start=first, fixed=True)


# Without a folder


@pytest.mark.parametrize("name", ["cbow", "linear"])
def test_any_model_is_fitted_in_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = make_rows(12)
    texts = [[row[column] for row in rows] for column in ("premise", "hypothesis", "label")]
    models = [fit_model(name, *texts, NLI3, seed=seed) for seed in (0, 0, 1)]
    assert not list(tmp_path.iterdir())
    shares = [model.predict(*texts[:2]) for model in models]
    np.testing.assert_array_equal(shares[0], shares[1])
    assert bool((shares[0] != shares[2]).any()) is (name == "cbow")
    with pytest.raises(InputError, match="'maybe' is not one of"):
        fit_model(name, *texts[:2], ["maybe"] * 12, NLI3)


# Models without a network


@pytest.mark.parametrize("name", ["majority", "linear", "hom", "random-forest"])
def test_a_baseline_leaves_the_same_folder(tmp_path: Path, name: str) -> None:
    for module, model in (("fasttext", "hom"), ("rapidfuzz", "random-forest"), ("ot", "random-forest")):
        if name == model:
            pytest.importorskip(module)
    pairs = with_dev(96, 24)
    result = train(name, pairs, tmp_path / "run", seed=2)
    assert {"config.json", "environment.json", "metrics.jsonl", "result.json"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["dev"]["doors"]["value"] for line in lines] == [result.dev["doors"].value]
    assert json.loads((tmp_path / "run" / "config.json").read_text())["training"]["model"] == name
    dev = pairs.only(split="dev").collect()
    model = gl.load_model(tmp_path / "run")
    right = np.mean(np.array(gl.predict_labels(model, dev["premise"], dev["hypothesis"])) == dev["label"].to_numpy())
    assert result.dev["doors"].value == pytest.approx(right)
    assert (result.epochs, result.pairs, result.parameters) == (1, 96, None)
    assert train(name, pairs, tmp_path / "run", seed=2) == result
    fixed = train(name, pairs, tmp_path / "fixed", start=str(tmp_path / "run"), fixed=True)
    assert fixed.accuracies == result.accuracies


def test_a_baseline_gets_its_options_and_its_size(tmp_path: Path) -> None:
    result = train("linear", with_dev(), tmp_path / "run", reads="hypothesis", size=20, regularisation=3.0)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["hypothesis_only"], result.pairs) == (True, 20)
    model = gl.load_model(tmp_path / "run")
    np.testing.assert_array_equal(model.predict(["A."], ["B is open."]), model.predict(["C."], ["B is open."]))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("linear", {"lr": 0.1}, "linear is no network: --lr means nothing to it"),
        ("majority", {"start": "run"}, "majority is no network: --from means nothing to it"),
        ("linear", {"batch_tokens": 5}, "--batch-tokens means nothing"),
        ("majority", {"reads": "premise"}, "majority has no premise-only form"),
        ("linear", {"regularization": 2.0}, "linear has no option 'regularization'; did you mean 'regularisation'"),
        ("linear", {"vocabulary": [make_pairs(2)]}, "--vocabulary means nothing"),
    ],
)
def test_what_a_baseline_does_not_understand(tmp_path: Path, name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(name, with_dev(), tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


def test_without_torch_the_baselines_train_and_networks_say_what_is_missing(tmp_path: Path) -> None:
    code = """
import sys

class WithoutTorch:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, WithoutTorch())
from goldlabel.errors import MissingExtraError
from goldlabel.train import sweep, train
from tests.train.samples import with_dev
result = sweep("linear", with_dev(), "runs", seeds=2)
print(len(result.runs), dict(result.failed))
try:
    train("cbow", with_dev(), "run")
except MissingExtraError as error:
    print(error)
"""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stdout.splitlines() == ["2 {}", 'torch is not installed; run: pip install "goldlabel[torch]"'], (
        ended.stderr
    )


def test_the_recipe_of_a_run_tells_the_length_that_was_read(tmp_path: Path) -> None:
    fit(tmp_path / "first", length=12)
    fit(tmp_path / "next", start=str(tmp_path / "first"))
    for name in ("first", "next"):
        assert json.loads((tmp_path / name / "config.json").read_text())["recipe"]["length"] == 12
