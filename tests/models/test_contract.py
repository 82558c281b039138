"""One suite for every model that Goldlabel fits; what only networks have is in ``test_networks.py``."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldlabel.errors import InputError, UnknownNameError
from goldlabel.models import MODELS, Model, load_model, predict_labels
from goldlabel.pairs.labels import NLI2, NLI3, LabelSpace
from goldlabel.train import train
from tests.models.checkpoints import make_classifier
from tests.models.test_networks import NETWORKS, SMALL
from tests.train.samples import make_pairs

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("majority", {}),
    ("linear", {}),
    ("linear", {"hypothesis_only": True}),
    ("linear", {"premise_only": True}),
    ("hom", {"epochs": 50, "learning_rate": 0.5}),
    ("random-forest", {"trees": 30, "leaf": 1}),
    ("random-forest", {"trees": 30, "leaf": 1, "hypothesis_only": True}),
    *((name, SMALL[name]) for name in NETWORKS),
    ("hf", {}),
    ("hf", {"reads": "hypothesis"}),
    ("hf", {"reads": "premise"}),
    ("hf", {"head": "bi"}),
    ("hf", {"head": "bi", "reads": "hypothesis"}),
    ("hf", {"lora": 2, "dropout": 0.0}),
]
TRAINED = ("hf", *NETWORKS)
PREMISES = ["The owl sleeps.", "那只苍鹭在睡觉。", "Two ferries left at noon.", "البومة نائمة."] * 6
HYPOTHESES = ["A bird sleeps.", "没有鸟在睡觉。", "Three ferries left.", "الطائر نائم."] * 6
LABELS = ["entailment", "contradiction", "contradiction", "entailment"] * 6


def fit(name: str, options: dict[str, Any], space: LabelSpace = NLI3, labels: list[str] = LABELS) -> Any:
    return _fit(name, tuple(options.items()), space, tuple(labels))


@cache
def _fit(name: str, options: tuple[tuple[str, Any], ...], space: LabelSpace, labels: tuple[str, ...]) -> Any:
    if name not in TRAINED:
        return MODELS.get(name).fit(PREMISES, HYPOTHESES, list(labels), space, **dict(options))
    rows = [
        {"id": str(number), "premise": p, "hypothesis": h, "label": label, "language": "en", "split": "train"}
        for number, (p, h, label) in enumerate(zip(PREMISES, HYPOTHESES, labels, strict=True))
    ]
    with tempfile.TemporaryDirectory() as folder:
        pairs = make_pairs(rows, space=space)
        model = f"hf:{make_classifier(Path(folder, 'start'))}" if name == "hf" else name
        run = train(model, pairs, Path(folder, "run"), epochs=1, batch=8, device="cpu", **dict(options)).run
        return load_model(run)


@pytest.fixture(params=VARIANTS, ids=lambda variant: "-".join([variant[0], *map(str, variant[1].values())]))
def variant(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return request.param  # type: ignore[no-any-return]


def test_every_registered_model_is_in_this_suite() -> None:
    assert {name for name, _ in VARIANTS} == set(MODELS)


def test_probabilities_in_the_order_of_the_space(variant: tuple[str, dict[str, Any]]) -> None:
    model = fit(*variant)
    assert isinstance(model, Model)
    scores = model.predict(PREMISES, HYPOTHESES)
    assert scores.shape == (len(PREMISES), 3)
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-6)
    assert (scores >= 0).all()
    # Neutral was never seen.
    assert scores[:, NLI3.index("neutral")].max() == 0


def test_fitting_twice_gives_the_same(variant: tuple[str, dict[str, Any]]) -> None:
    name, options = variant
    first, again = fit(name, options), _fit.__wrapped__(name, tuple(options.items()), NLI3, tuple(LABELS))
    assert first is not again
    np.testing.assert_array_equal(first.predict(PREMISES, HYPOTHESES), again.predict(PREMISES, HYPOTHESES))


def test_saved_and_loaded_is_the_same(variant: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    model = fit(*variant)
    model.save(tmp_path / "run")
    loaded = load_model(tmp_path / "run")
    assert loaded.label_space.labels == NLI3.labels
    np.testing.assert_allclose(loaded.predict(PREMISES, HYPOTHESES), model.predict(PREMISES, HYPOTHESES), atol=1e-6)


def test_predictions_do_not_depend_on_the_batch(variant: tuple[str, dict[str, Any]]) -> None:
    model = fit(*variant)
    whole = model.predict(PREMISES, HYPOTHESES)
    single = np.concatenate([model.predict([p], [h]) for p, h in zip(PREMISES, HYPOTHESES, strict=True)])
    np.testing.assert_allclose(whole, single, atol=1e-6)


def test_strange_input_is_scored(variant: tuple[str, dict[str, Any]]) -> None:
    model = fit(*variant)
    texts = ["", "x" * 10_000, "🦉" * 50, "\n\t", "从" * 10_000]
    assert np.isfinite(model.predict(texts, texts)).all()
    assert model.predict([], []).shape == (0, 3)


def test_any_label_space(variant: tuple[str, dict[str, Any]]) -> None:
    labels = ["entailment" if label == "entailment" else "not_entailment" for label in LABELS]
    assert fit(*variant, NLI2, labels).predict(PREMISES, HYPOTHESES).shape[1] == 2
    assert set(predict_labels(fit(*variant, NLI2, ["entailment"] * 24), PREMISES, HYPOTHESES)) == {"entailment"}
    three = ["entailment", "contradiction", "neutral", "entailment"] * 6
    if variant[0] not in ("majority", *TRAINED):  # networks learn by heart in tests/train/test_overfit.py
        assert predict_labels(fit(*variant, NLI3, three), PREMISES, HYPOTHESES) == three


def test_what_cannot_be_learnt_from_is_refused(variant: tuple[str, dict[str, Any]]) -> None:
    if variant[0] in TRAINED:
        with pytest.raises(InputError, match="no pair with a gold label"):
            fit(*variant, NLI3, ["-"] * 24)
        return
    with pytest.raises(InputError, match="without a gold label"):
        fit(*variant, NLI3, ["-"] * 24)
    with pytest.raises(InputError, match="'neutral' is not one of"):
        fit(*variant, NLI2, ["neutral"] * 24)
    with pytest.raises(InputError, match="no pairs to train on"):
        MODELS.get(variant[0]).fit([], [], [], NLI3, **variant[1])


def test_hypothesis_only_ignores_the_premise() -> None:
    model = fit("linear", {"hypothesis_only": True})
    others = ["Quite another text."] * len(PREMISES)
    np.testing.assert_array_equal(model.predict(PREMISES, HYPOTHESES), model.predict(others, HYPOTHESES))
    assert not np.array_equal(
        fit("linear", {}).predict(PREMISES, HYPOTHESES), fit("linear", {}).predict(others, HYPOTHESES)
    )


def test_premise_only_ignores_the_hypothesis() -> None:
    model = fit("linear", {"premise_only": True})
    others = ["Quite another text."] * len(HYPOTHESES)
    np.testing.assert_array_equal(model.predict(PREMISES, HYPOTHESES), model.predict(PREMISES, others))
    with pytest.raises(InputError, match="not both only"):
        fit("linear", {"premise_only": True, "hypothesis_only": True})


@pytest.mark.parametrize("head", ["cross", "bi"])
@pytest.mark.parametrize(("reads", "other"), [("hypothesis", 0), ("premise", 1)])
def test_an_encoder_ignores_the_side_that_it_does_not_read(head: str, reads: str, other: int) -> None:
    model, texts = fit("hf", {"head": head, "reads": reads}), [PREMISES, HYPOTHESES]
    scores = model.predict(*texts)
    texts[other] = ["Quite another text."] * len(PREMISES)
    np.testing.assert_allclose(model.predict(*texts), scores, atol=1e-6)


def test_pair_model_reads_the_premise() -> None:
    """Labels that no hypothesis tells: only overlap with the premise does."""
    random = np.random.RandomState(0)
    places = ["garden", "harbour", "kitchen", "station", "museum"]
    where, said = random.choice(places, 400), random.choice(places, 400)
    said = np.where(random.rand(400) < 0.5, where, said)
    premises = [f"The owl is in the {place}." for place in where]
    hypotheses = [f"It is in the {place}." for place in said]
    labels = np.where(where == said, "entailment", "contradiction").tolist()
    blind, full = (
        MODELS.get("linear").fit(premises[:300], hypotheses[:300], labels[:300], NLI3, hypothesis_only=only)
        for only in (True, False)
    )
    right = [
        np.mean(np.array(predict_labels(model, premises[300:], hypotheses[300:])) == labels[300:])
        for model in (blind, full)
    ]
    assert right[1] > 0.97
    assert right[0] < 0.75


def test_models_load_onto_the_device_asked_for(tmp_path: Path) -> None:
    fit("linear", {}).save(tmp_path / "run")
    with pytest.raises(InputError, match="device 'gpu' is not known; did you mean 'cpu'"):
        load_model(tmp_path / "run", device="gpu")
    assert isinstance(load_model(tmp_path / "run", device="cpu"), Model)


def test_broken_run_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a run folder, config\.json is missing"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="is not a model's configuration"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model": "linaer"}')
    with pytest.raises(UnknownNameError, match="did you mean 'linear'"):
        load_model(tmp_path)
    fit("linear", {}).save(tmp_path / "run")
    (tmp_path / "run" / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"model\.safetensors is missing"):
        load_model(tmp_path / "run")
