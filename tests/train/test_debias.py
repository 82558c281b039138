"""Debiasing methods: laws of their losses, options, and how they go together with training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from typer.testing import CliRunner

from goldlabel.audit import AFLite
from goldlabel.cli.app import app
from goldlabel.errors import InputError
from goldlabel.models.torch_model import Outputs
from goldlabel.train import TrainOptions, sweep, train
from goldlabel.train.debias import DEBIAS
from goldlabel.train.debias.jtt import JustTrainTwice
from goldlabel.train.debias.method import Material, Method
from goldlabel.train.debias.neutral_weights import neutral_weights
from goldlabel.train.debias.weighting import Weighting
from goldlabel.train.task import gather_task
from goldlabel.train.trainer import Interrupted
from tests.models.test_networks import SMALL as NETWORKS
from tests.train.samples import SMALL, make_pairs, weights, with_dev

PAIRS = 12


def make_material(bias: torch.Tensor | None = None, *, models: int = 1) -> Material:
    random = torch.Generator().manual_seed(0)
    uniform = torch.full((PAIRS, 3), 1 / 3).log() if bias is None else bias
    return Material(
        labels=torch.arange(PAIRS) % 3,
        rows=np.arange(PAIRS),
        classes=3,
        features=4,
        side=5,
        biases=[uniform] * models,
        first=torch.rand(PAIRS, 3, generator=random).softmax(dim=1),
    )


def make_outputs(scale: float = 1.0) -> Outputs:
    random = torch.Generator().manual_seed(1)
    shapes = [(PAIRS, 3), (PAIRS, 4), (PAIRS, 5), (PAIRS, 5)]
    return Outputs(*(scale * torch.randn(shape, generator=random) for shape in shapes))


def make_method(name: str, material: Material, **options: Any) -> Method:
    method: Method = DEBIAS.get(name)(material, **options)
    return method


# Losses


@pytest.mark.parametrize(
    ("name", "options"),
    [("drift", {}), ("learned-mixin", {}), ("weighting", {}), ("weighting", {"rule": "clark"}), ("jtt", {})],
)
def test_a_bias_that_knows_nothing_changes_nothing(name: str, options: dict[str, Any]) -> None:
    material, outputs = make_material(models=2), make_outputs()
    loss = make_method(name, material, **options)(outputs, torch.arange(PAIRS), material.labels)
    torch.testing.assert_close(loss, functional.cross_entropy(outputs.logits, material.labels))


@pytest.mark.parametrize("name", ["drift", "learned-mixin", "learned-mixin-h", "weighting", "confidence", "focal"])
def test_pairs_that_the_bias_knows_teach_less(name: str) -> None:
    """The gradient of a batch's known half is smaller than that of the other half."""
    labels = torch.arange(PAIRS) % 3
    sure = functional.one_hot(labels, 3) * 8.0
    sure[PAIRS // 2 :] = 0
    outputs = make_outputs(0.1)
    outputs.logits.requires_grad_()
    loss = make_method(name, make_material(sure.log_softmax(dim=1)))(outputs, torch.arange(PAIRS), labels)
    (slope,) = torch.autograd.grad(loss, outputs.logits)
    assert slope[: PAIRS // 2].abs().mean() < 0.7 * slope[PAIRS // 2 :].abs().mean()


@pytest.mark.parametrize("name", list(DEBIAS))
def test_losses_stay_finite_at_the_edges(name: str) -> None:
    """In single precision, with a bias and a model that are quite sure, right or wrong."""
    bias = torch.full((PAIRS, 3), -40.0)
    bias[torch.arange(PAIRS), torch.arange(PAIRS) % 2] = 0.0
    material, outputs = make_material(bias, models=2), make_outputs(60.0)
    for tensor in (outputs.logits, outputs.hidden, outputs.hypothesis):
        assert tensor is not None
        tensor.requires_grad_()
    objective = make_method(name, material)
    loss = objective(outputs, torch.arange(PAIRS), material.labels)
    assert loss.isfinite()
    loss.backward()  # type: ignore[no-untyped-call]
    assert outputs.logits.grad is not None
    assert outputs.logits.grad.isfinite().all()


@given(st.integers(2, 4), st.integers(0, 10_000))
def test_neutral_weights_leave_labels_as_frequent_as_they_are(classes: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    labels = np.concatenate([np.arange(classes), random.randint(classes, size=40)])
    shares = random.dirichlet(np.full(classes, 0.5), len(labels)) + 1e-6
    made, prior = neutral_weights(shares, labels)
    assert (made >= 1).all()
    assert prior.sum() == pytest.approx(1)
    by_label = np.bincount(labels, weights=made) / made.sum()
    np.testing.assert_allclose(by_label, np.bincount(labels) / len(labels), rtol=1e-8)


def test_neutral_weights_make_labels_independent_of_the_bias() -> None:
    """Where the bias knows P(label | feature), each feature has the same labels once pairs are weighted."""
    table = np.array([[60, 20, 20], [10, 30, 60], [30, 30, 20]])
    feature, labels = (np.repeat(index.ravel(), table.ravel()) for index in np.indices(table.shape))
    made, _ = neutral_weights((table / table.sum(axis=1, keepdims=True))[feature], labels)
    mass = np.zeros(table.shape)
    np.add.at(mass, (feature, labels), made)
    shares = mass / mass.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, np.tile(shares[0], (3, 1)), rtol=1e-8)


def test_a_label_that_no_pair_has_is_no_matter() -> None:
    made, prior = neutral_weights(np.full((4, 3), 1 / 3), np.array([0, 2, 0, 2]))
    np.testing.assert_allclose(made, made[0])
    np.testing.assert_allclose(prior, [0.5, 0, 0.5])


# Rows


def test_draws_follow_the_weights_and_the_seed() -> None:
    bias = torch.full((PAIRS, 3), 0.1)
    bias[:, 0] = 0.8
    weighting = Weighting(make_material(bias.log()), mode="prob", rule="clark")
    rows = np.repeat(np.arange(PAIRS), 200)
    drawn = weighting.draw(rows, (3, 1))
    assert (weighting.draw(rows, (3, 1)) == drawn).all()
    assert (weighting.draw(rows, (3, 2)) != drawn).any()
    assert (drawn % 3 == 0).mean() == pytest.approx(0.2 / 2.0, abs=0.03)
    assert (Weighting(make_material()).draw(rows, (3, 1)) == rows).all()


def test_errors_come_several_times() -> None:
    material = make_material()
    assert material.first is not None
    wrong = (material.first.argmax(dim=1) != material.labels).numpy()
    drawn = JustTrainTwice(material, times=4).draw(np.arange(PAIRS), (0, 1))
    assert 0 < wrong.sum() < PAIRS
    assert np.bincount(drawn).tolist() == np.where(wrong, 4, 1).tolist()


# Options


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("adv", {"alpha": 0.0}, "adv: alpha 0.0 is not a number above 0"),
        ("adv", {"beta": -1.0}, "adv: beta -1.0 is not a number above 0"),
        ("adv", {"beta": float("nan")}, "adv: beta nan is not a number above 0"),
        ("learned-mixin-h", {"w": 0.0}, "learned-mixin-h: w 0.0 is not a number above 0"),
        ("learned-mixin", {"w": 1.0}, "learned-mixin has no option 'w'"),
        ("weighting", {"smooth": -0.1}, "weighting: smooth -0.1 is not a number from 0 on"),
        ("weighting", {"mode": "draw"}, "weighting: mode 'draw' is not one of weights, prob"),
        ("focal", {"gamma": float("inf")}, "focal: gamma inf is not a number above 0"),
        ("jtt", {"times": 1}, "jtt: times 1 is not a whole number from 2 on"),
        ("jtt", {"epochs": 0}, "jtt: epochs 0 is not a whole number from 1 on"),
    ],
)
def test_options_out_of_range(name: str, options: dict[str, Any], message: str) -> None:
    task = gather_task("cbow", [make_pairs()], TrainOptions(debias=name, debias_options=options))
    with pytest.raises(InputError, match=message):
        task.check()


def test_bias_models_where_none_is_read() -> None:
    for method, options, message in [
        ("adv", {}, "adv reads no bias model; leave --bias out"),
        ("focal", {"weights": "self"}, "focal with weights=self reads no bias model"),
    ]:
        chosen = TrainOptions(debias=method, debias_options=options, bias=("audit",))
        with pytest.raises(InputError, match=message):
            gather_task("cbow", [make_pairs()], chosen).check()
    with pytest.raises(InputError, match="majority is no network: --debias means nothing to it"):
        gather_task("majority", [make_pairs()], TrainOptions(debias="drift")).check()


# Training


@pytest.mark.parametrize("name", ["learned-mixin-h", "confidence", "jtt"])
def test_a_stopped_run_ends_in_the_same_weights(name: str, tmp_path: Path) -> None:
    """Also one whose first model was stopped."""
    options = {"epochs": 3, "batch": 8, "debias": name, **SMALL}
    whole = train("cbow", with_dev(), tmp_path / "whole", **options)
    stopped = 0
    for last in (3, 3, 14, 5):
        steps = 0

        def stop(_: Any) -> bool:
            nonlocal steps
            steps += 1
            return steps >= last  # noqa: B023

        try:
            train("cbow", with_dev(), tmp_path / "stopped", on_step=stop, **options)
        except Interrupted:
            stopped += 1
    train("cbow", with_dev(), tmp_path / "stopped", **options)
    assert stopped >= 2
    assert weights(tmp_path / "stopped") == weights(whole.run)


@pytest.mark.parametrize("model", sorted(NETWORKS))
@pytest.mark.parametrize("name", ["adv", "learned-mixin"])
def test_methods_take_the_vectors_of_every_network(model: str, name: str, tmp_path: Path) -> None:
    run = train(model, make_pairs(12), tmp_path / "run", debias=name, epochs=1, device="cpu", **NETWORKS[model])
    assert json.loads((run.run / "config.json").read_text())["debias"]["method"] == name
    assert f", debiased by {name}: " in run.title


@pytest.mark.parametrize("head", ["cross", "bi"])
@pytest.mark.parametrize("name", list(DEBIAS))
def test_encoders_are_debiased_like_networks(name: str, head: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.models.checkpoints import make_classifier

    folder = make_classifier(tmp_path / "start")
    small: dict[str, Any] = {"epochs": 1, "batch": 16, "device": "cpu", "head": head}
    run = train(f"hf:{folder}", make_pairs(24), tmp_path / "run", debias=name, **small)
    assert (run.epochs, run.pairs) == (1, 24)


@pytest.mark.parametrize("name", ["adv", "weighting", "learned-mixin-h"])
def test_a_published_grid_runs_on_one_bias(name: str, tmp_path: Path) -> None:
    output = tmp_path / name
    data = tmp_path / "pairs"
    with_dev(24, 6).write(data)
    small = ["--epochs", "1", "--set", "hidden=4", "--device", "cpu"]
    line = ["train", "cbow", "--on", str(data), "--debias", name, "--grid", name, *small, "-o", str(output), "--json"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert len(summary["runs"]) == {"adv": 25, "weighting": 5, "learned-mixin-h": 7}[name]
    assert len(list((output / "bias").glob("*"))) == (0 if name == "adv" else 1)


def test_the_command_tells_of_a_bias_that_has_seen_the_pairs(tmp_path: Path) -> None:
    data, run = tmp_path / "pairs", tmp_path / "blind"
    with_dev(24, 6).write(data)
    train("linear", with_dev(24, 6), run, reads="hypothesis")
    line = ["train", "cbow", "--on", str(data), "--debias", "drift", "--epochs", "1", "--device", "cpu"]
    told = CliRunner().invoke(app, [*line, "--bias", str(run), "-o", str(tmp_path / "run")])
    assert told.exit_code == 0, told.output
    assert "blind: was trained on these very pairs" in " ".join(told.stderr.split())
    refused = CliRunner().invoke(app, [*line, "--debias-set", "scale=0", "-o", str(tmp_path / "other")])
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception) == "drift: scale 0.0 is not a number above 0"
    assert not (tmp_path / "other").exists()


def test_sweeps_share_what_is_measured(tmp_path: Path) -> None:
    result = sweep("cbow", with_dev(24, 6), tmp_path / "seeds", seeds=2, debias="drift", epochs=1, **SMALL)
    assert not result.failed
    configs = [json.loads((run.run / "config.json").read_text())["debias"]["bias"] for run in result.runs.values()]
    assert configs[0] == configs[1]
    assert len(list((tmp_path / "seeds" / "bias").glob("*.parquet"))) == 1


def test_what_aflite_leaves_can_be_trained_on(tmp_path: Path) -> None:
    filtered = make_pairs(120).split(AFLite(models=4, least=30), seed=1).pairs
    filtered.write(tmp_path / "aflite")
    line = ["train", "cbow", "--on", str(tmp_path / "aflite"), "--epochs", "1", "--device", "cpu", "--json"]
    result = CliRunner().invoke(app, [*line, "-o", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert 30 <= json.loads(result.stdout)["pairs"] < 120


def test_help_names_every_method() -> None:
    shown = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"}).stdout
    assert [name for name in DEBIAS if name not in shown] == []
