"""One suite for every model: those that Goldlabel fits, and those that are only loaded.

What only networks have is in ``test_networks.py``.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from goldlabel.errors import InputError, UnknownNameError
from goldlabel.models import MODELS, Model, load_model, predict_labels
from goldlabel.models.loading import FORMS
from goldlabel.pairs.labels import NLI2, NLI3, LabelSpace
from goldlabel.train import train
from tests.models.checkpoints import make_classifier
from tests.models.endpoint_server import Body, asked, model_of, serve
from tests.models.test_networks import NETWORKS, SMALL
from tests.train.samples import make_pairs

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("majority", {}),
    ("linear", {}),
    ("linear", {"hypothesis_only": True}),
    ("linear", {"premise_only": True}),
    ("hom", {"epochs": 50, "learning_rate": 0.5}),
    ("hom", {"epochs": 50, "learning_rate": 0.5, "premise_only": True}),
    ("random-forest", {"trees": 30, "leaf": 1}),
    ("random-forest", {"trees": 30, "leaf": 1, "hypothesis_only": True}),
    ("random-forest", {"trees": 30, "leaf": 1, "premise_only": True}),
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
STRANGE = ["", "x" * 10_000, "🦉" * 50, "\n\t", "从" * 10_000, 'Two\r\nlines, "quoted"']
ORDER = ("neutral", "entailment", "contradiction")
"""Of the columns of what comes from outside; the space has another."""


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


def told(hypothesis: str) -> str:
    """Return what somebody outside says of a pair."""
    return dict(zip(HYPOTHESES, LABELS, strict=True)).get(hypothesis, "neutral")


def answer_rows(premises: list[str], hypotheses: list[str]) -> np.ndarray[Any, Any]:
    """Say it with probabilities of two digits, which do not quite sum to 1; there must be some."""
    return np.stack([[0.66 if label == told(hypothesis) else 0.165 for label in ORDER] for hypothesis in hypotheses])


answer_rows.label_space = ORDER  # type: ignore[attr-defined]


def answer_prompt(body: Body) -> str:
    """Say it as a language model does."""
    return told(asked(body).partition("\nHypothesis: ")[2].rpartition("\nAnswer:")[0])


def write_predictions(path: Path) -> Path:
    """Say it in a file."""
    texts = PREMISES + STRANGE, HYPOTHESES + STRANGE
    with path.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["premise", "hypothesis", *ORDER])
        lines.writerows([*pair, *row] for *pair, row in zip(*texts, answer_rows(*texts), strict=True))
    return path


def load_endpoint(stack: ExitStack) -> Model:
    """Load it from a server that lives as long as the stack."""
    server = stack.enter_context(serve(answer=answer_prompt))
    model = load_model(server.reference, answers="free", language="en")
    stack.callback(model.close)
    return model


LOADED: dict[str, Callable[[Path, ExitStack], Model]] = {
    "hf:NAME": lambda folder, stack: load_model(f"hf:{make_classifier(folder / 'hf', labels=ORDER)}"),
    "openai:URL#MODEL": lambda folder, stack: load_endpoint(stack),
    "module:function": lambda folder, stack: load_model(f"{__name__}:{answer_rows.__name__}"),
    "FILE": lambda folder, stack: load_model(write_predictions(folder / "predictions.csv")),
}
"""By the forms of their names; of run folders there is one for each network."""


def variant_id(variant: tuple[str, dict[str, Any]] | str) -> str:
    return variant if isinstance(variant, str) else "-".join([variant[0], *map(str, variant[1].values())])


@pytest.fixture(params=VARIANTS, ids=variant_id)
def variant(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=[*VARIANTS, *LOADED], ids=variant_id)
def model(request: pytest.FixtureRequest, tmp_path: Path, quick_calls: None) -> Iterator[Model]:
    with ExitStack() as stack:
        yield LOADED[request.param](tmp_path, stack) if isinstance(request.param, str) else fit(*request.param)


def test_every_registered_model_and_every_form_of_a_name_is_in_this_suite() -> None:
    assert {name for name, _ in VARIANTS} == set(MODELS)
    assert {"a run folder", *LOADED} == set(FORMS)


# Laws of all models


def test_probabilities_in_the_order_of_the_space(model: Model) -> None:
    assert isinstance(model, Model)
    scores = model.predict(PREMISES, HYPOTHESES)
    assert scores.shape == (len(PREMISES), 3)
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-6)
    assert (scores >= 0).all()


@pytest.mark.parametrize("form", ["openai:URL#MODEL", "module:function", "FILE"])
@pytest.mark.usefixtures("quick_calls")
def test_what_is_said_outside_means_the_same_here(form: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        model = LOADED[form](tmp_path, stack)
        texts = [*PREMISES, "Nobody knows."], [*HYPOTHESES, STRANGE[-1]]
        expected = [*LABELS, "-" if form == "FILE" else "neutral"]  # a file lacks that pair
        assert predict_labels(model, *texts) == expected


def test_predictions_do_not_depend_on_the_batch(model: Model) -> None:
    whole = model.predict(PREMISES, HYPOTHESES)
    single = np.concatenate([model.predict([p], [h]) for p, h in zip(PREMISES, HYPOTHESES, strict=True)])
    np.testing.assert_allclose(whole, single, atol=1e-6)


def test_strange_input_is_scored(model: Model) -> None:
    np.testing.assert_allclose(model.predict(STRANGE, STRANGE).sum(axis=1), 1, atol=1e-6)
    assert model.predict([], []).shape == (0, 3)


def test_columns_of_frames_are_scored_as_lists_are(model: Model) -> None:
    series = pl.Series(PREMISES), pl.Series(HYPOTHESES)
    np.testing.assert_array_equal(model.predict(*series), model.predict(PREMISES, HYPOTHESES))  # type: ignore[arg-type]


def test_sides_of_different_lengths_are_refused(model: Model) -> None:
    for premises, hypotheses in ((2, 1), (1, 2), (1, 0), (0, 1)):
        with pytest.raises(InputError, match=f"{premises} premises and {hypotheses} hypotheses; give one of each"):
            model.predict(PREMISES[:premises], HYPOTHESES[:hypotheses])


def test_several_threads_may_score_at_once(model: Model) -> None:
    whole = model.predict(PREMISES, HYPOTHESES)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda start: model.predict(PREMISES[start:], HYPOTHESES[start:]), range(12)))
    for start, part in enumerate(parts):
        np.testing.assert_allclose(part, whole[start:], atol=1e-6)


def test_moved_and_closed_as_often_as_one_likes_a_model_goes_on(model: Model) -> None:
    before = model.predict(PREMISES, HYPOTHESES)
    for _ in range(2):
        model.move_to("cpu")
        model.close()
        model.close()
        np.testing.assert_allclose(model.predict(PREMISES, HYPOTHESES), before, atol=1e-6)


# Laws of what is fitted


def test_a_label_that_was_never_seen_has_no_probability(variant: tuple[str, dict[str, Any]]) -> None:
    assert fit(*variant).predict(PREMISES, HYPOTHESES)[:, NLI3.index("neutral")].max() == 0


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


# Partial input


def hidden_side(name: str, options: dict[str, Any]) -> int | None:
    """Return which text a partial form does not see: 0, the premise, or 1, the hypothesis."""
    if options.get("premise_only") or options.get("reads") == "premise":
        return 1
    return 0 if name == "hom" or options.get("hypothesis_only") or options.get("reads") == "hypothesis" else None


@pytest.mark.parametrize(
    "partial", [variant for variant in VARIANTS if hidden_side(*variant) is not None], ids=variant_id
)
def test_partial_input_ignores_the_other_side(partial: tuple[str, dict[str, Any]]) -> None:
    model, texts = fit(*partial), [PREMISES, HYPOTHESES]
    scores = model.predict(*texts)
    assert np.ptp(scores, axis=0).max() > 1e-6, "the side that is read makes a difference"
    texts[hidden_side(*partial) or 0] = ["Quite another text."] * len(PREMISES)
    np.testing.assert_allclose(model.predict(*texts), scores, atol=1e-6)


@pytest.mark.parametrize("api", ["chat", "completion"])
@pytest.mark.parametrize(("reads", "hidden"), [("hypothesis", 0), ("premise", 1)])
@pytest.mark.usefixtures("quick_calls")
def test_an_endpoint_never_hears_of_the_other_side(reads: str, hidden: int, api: str, tmp_path: Path) -> None:
    """Neither by its words, nor by the language that it is asked in, nor by the examples that are left out."""
    frame = pl.DataFrame({"premise": PREMISES[:4], "hypothesis": HYPOTHESES[:4], "label": LABELS[:4]})
    frame.write_csv(tmp_path / "train.csv")
    options = {"reads": reads, "api": api, "shots": 4, "examples": str(tmp_path / "train.csv")}
    texts = [PREMISES[:4], HYPOTHESES[:4]]
    with serve(answer=lambda body: "neutral") as server, model_of(server, **options) as model:
        model.predict(*texts)
        bodies = list(server.bodies)
        for received in (json.dumps(body, ensure_ascii=False) for body in bodies):
            assert not any(text in received for text in texts[hidden])
            assert [received.count(text) for text in texts[1 - hidden]] == [1] * 4, "no question is its own example"
        texts[hidden] = ["除此之外，没有人知道那里发生了什么事情。", "Nobody knows.", "", "谁也不知道。" * 9]
        model.predict(*texts)
        assert server.bodies == bodies, "all questions have been asked before"


def test_a_pair_is_not_read_without_both_sides() -> None:
    with pytest.raises(InputError, match="not both only"):
        fit("linear", {"premise_only": True, "hypothesis_only": True})


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
