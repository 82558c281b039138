"""Losses and gradients of the debiasing methods against those of released code (``reference_losses``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor, nn
from torch.nn import functional

from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.adv import Adversarial, reverse_gradient
from goldlabel.train.debias.confidence import Confidence, distillation_loss
from goldlabel.train.debias.drift import DRiFt
from goldlabel.train.debias.focal import Focal
from goldlabel.train.debias.learned_mixin import LearnedMixin
from goldlabel.train.debias.learned_mixin_h import LearnedMixinH
from goldlabel.train.debias.method import Material, Method
from goldlabel.train.debias.neutral_weights import neutral_weights
from goldlabel.train.debias.weighting import Weighting

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
BATCHES = ("", "edge:")
METHODS: dict[str, tuple[type[Method], dict[str, Any]]] = {
    "bias-product": (DRiFt, {}),
    "drift": (DRiFt, {}),
    "drift-two": (DRiFt, {}),
    "product-of-experts": (DRiFt, {}),
    "product-of-experts-0.5": (DRiFt, {"scale": 0.5}),
    "product-of-experts-two": (DRiFt, {}),
    "rubi": (DRiFt, {"combine": "rubi"}),
    "learned-mixin": (LearnedMixin, {}),
    "learned-mixin-h-0.03": (LearnedMixinH, {"w": 0.03}),
    "learned-mixin-h-0.5": (LearnedMixinH, {"w": 0.5}),
    "reweight": (Weighting, {"rule": "clark"}),
    "confidence-regularization": (Confidence, {}),
    "focal-self": (Focal, {"weights": "self", "gamma": 2.0}),
    "debiased-focal": (Focal, {"gamma": 2.0}),
    "debiased-focal-1": (Focal, {"gamma": 1.0}),
    "debiased-focal-two-mean": (Focal, {"gamma": 2.0, "aggregate": "mean"}),
    "debiased-focal-two-multiply": (Focal, {"gamma": 2.0, "aggregate": "multiply"}),
}
"""Files whose loss is a method's with these options."""
OTHERS = {
    "self-distillation",
    "leakage-neutral-weights",
    "adversarial-1-1",
    "adversarial-0.5-2",
    "adversarial-2-0.1",
    "adversarial-random-premise",
}


class Reference:
    """One file: inputs as tensors that take gradients, and what the released code gave."""

    def __init__(self, path: Path, batch: str) -> None:
        with np.load(path) as file:
            self.arrays = {name: file[name] for name in file}
        self.batch = batch
        self.options: dict[str, Any] = json.loads(str(self.arrays["options"]))
        self.inputs = {
            name.removeprefix(f"{batch}input:"): self._tensor(values)
            for name, values in self.arrays.items()
            if name.startswith(f"{batch}input:")
        }
        self.weights = {
            name.removeprefix("weight:"): torch.from_numpy(values)
            for name, values in self.arrays.items()
            if name.startswith("weight:")
        }

    @staticmethod
    def _tensor(values: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(values)
        return tensor.requires_grad_() if tensor.is_floating_point() else tensor

    @property
    def labels(self) -> Tensor:
        return self.inputs["labels"]

    @property
    def biases(self) -> list[Tensor]:
        return [self.inputs[name] for name in ("bias_log_probs", "second_bias_log_probs") if name in self.inputs]

    @property
    def material(self) -> Material:
        teacher = self.inputs.get("teacher_probs")
        return Material(
            labels=self.labels,
            rows=np.arange(len(self.labels)),
            classes=3,
            features=8,
            side=8,
            biases=[bias.detach() for bias in self.biases],
            first=None if teacher is None else teacher.detach(),
        )

    def outputs(self, logits: Tensor | None = None) -> Outputs:
        hidden = self.inputs.get("hidden", torch.empty(16, 0))
        return Outputs(self.inputs["logits"] if logits is None else logits, hidden, None, hidden)

    def check(self, loss: Tensor, tensors: Mapping[str, Tensor], kind: str = "") -> None:
        """Compare the loss, and the gradients of all tensors that the file has gradients for."""
        prefix = f"{self.batch}{kind}"
        np.testing.assert_allclose(loss.item(), self.arrays[f"{prefix}loss"], **CLOSE)
        expected = {
            name.removeprefix(f"{prefix}gradient:"): values
            for name, values in self.arrays.items()
            if name.startswith(f"{prefix}gradient:")
        }
        assert expected
        assert set(expected) <= set(tensors)
        gradients = torch.autograd.grad(
            loss, [tensors[name] for name in expected], allow_unused=True, retain_graph=True
        )
        for (name, values), gradient in zip(expected.items(), gradients, strict=True):
            found = np.zeros_like(values) if gradient is None else gradient.numpy()
            np.testing.assert_allclose(found, values, err_msg=f"{prefix}{name}", **CLOSE)


@pytest.fixture(scope="module")
def references(corpora: Path) -> Path:
    return corpora / "reference_losses"


def test_every_file_is_compared(references: Path) -> None:
    names = {path.stem for path in references.glob("*.npz")}
    assert names == set(METHODS) | OTHERS
    assert len(names) == 23


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", METHODS)
def test_the_objective_is_the_released_one(references: Path, name: str, batch: str) -> None:
    reference = Reference(references / f"{name}.npz", batch)
    method, options = METHODS[name]
    objective = method(reference.material, **options).double()
    if isinstance(objective, LearnedMixin):
        objective.mixin.load_state_dict({key.removeprefix("mixin."): value for key, value in reference.weights.items()})
    for number, bias in enumerate(reference.biases):  # some files have the gradient by the bias, too
        if hasattr(objective, f"bias_{number}"):
            setattr(objective, f"bias_{number}", bias)
    rows = torch.arange(len(reference.labels))
    loss = objective(reference.outputs(), rows, reference.labels)
    named = {f"weight:{name}": parameter for name, parameter in objective.named_parameters()}
    reference.check(loss, {**reference.inputs, **named})


@pytest.mark.parametrize("batch", BATCHES)
def test_self_distillation_is_the_released_one(references: Path, batch: str) -> None:
    reference = Reference(references / "self-distillation.npz", batch)
    loss = distillation_loss(reference.inputs["logits"], reference.inputs["teacher_probs"].detach())
    reference.check(loss, reference.inputs)


@pytest.mark.parametrize("batch", BATCHES)
def test_neutral_weights_are_the_released_ones(references: Path, batch: str) -> None:
    with np.load(references / "leakage-neutral-weights.npz") as file:
        given = {name: file[f"{batch}{name}"] for name in ("input:bias_probs", "input:labels", "weights", "prior")}
    weights, prior = neutral_weights(given["input:bias_probs"], given["input:labels"])
    np.testing.assert_allclose(weights, given["weights"], rtol=1e-10)
    np.testing.assert_allclose(prior, given["prior"], rtol=1e-10)


def three_layers(weights: Mapping[str, Tensor], name: str) -> nn.Sequential:
    """The references' classifiers: three linear layers with nothing between them."""
    layers = nn.Sequential()
    for number in range(3):
        weight = weights[f"{name}.{number}.weight"]
        layers.append(nn.Linear(*weight.shape[::-1]).double())
    layers.load_state_dict(
        {key.removeprefix(f"{name}."): value for key, value in weights.items() if key.startswith(name)}
    )
    return layers


def compared(premise: Tensor, hypothesis: Tensor) -> Tensor:
    return torch.cat([premise, hypothesis, (premise - hypothesis).abs(), premise * hypothesis], dim=1)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", ["adversarial-1-1", "adversarial-0.5-2", "adversarial-2-0.1"])
def test_the_adversary_is_the_released_one(references: Path, name: str, batch: str) -> None:
    reference = Reference(references / f"{name}.npz", batch)
    objective = Adversarial(reference.material, alpha=reference.options["alpha"], beta=reference.options["beta"])
    objective.classifier = three_layers(reference.weights, "hypothesis")
    nli = three_layers(reference.weights, "nli")
    scores = {"logits": nli(compared(reference.inputs["premise"], reference.inputs["hidden"]))}
    objective.classifier.register_forward_hook(lambda *call: scores.update(hypothesis_logits=call[2]))
    loss = objective(reference.outputs(scores["logits"]), torch.arange(16), reference.labels)
    tensors = {**reference.inputs, **scores}
    for classifier, layers in (("nli", nli), ("hypothesis", objective.classifier)):
        tensors |= {f"weight:{classifier}.{key}": value for key, value in layers.named_parameters()}
    reference.check(loss, tensors)
    reference.check(loss * 16, tensors, "sum:")
    for key, values in scores.items():
        np.testing.assert_allclose(values.detach().numpy(), reference.arrays[f"{batch}{key}"], **CLOSE)


@pytest.mark.parametrize("batch", BATCHES)
def test_the_reversal_is_that_of_random_premises(references: Path, batch: str) -> None:
    """Method 2 of the same paper is not offered: an objective sees outputs and cannot exchange premises."""
    reference = Reference(references / "adversarial-random-premise.npz", batch)
    nli = three_layers(reference.weights, "nli")
    hypothesis = reverse_gradient(reference.inputs["hidden"], reference.options["encoder_weight"])
    logits = nli(compared(reference.inputs["premise"].detach(), hypothesis))
    loss = functional.cross_entropy(logits, reference.labels)
    named = {f"weight:nli.{key}": value for key, value in nli.named_parameters()}
    reference.check(loss, {**reference.inputs, **named, "logits": logits})
    reference.check(loss * 16, {**reference.inputs, **named, "logits": logits}, "sum:")
