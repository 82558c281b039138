"""Optimisers by name, in the form that is fastest on the device and can be captured into a CUDA graph there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from goldlabel.models.torch_model import Recipe

KINDS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adadelta": torch.optim.Adadelta,
    "adagrad": torch.optim.Adagrad,
    "sgd": torch.optim.SGD,
}
FUSED = {"cuda": ("adam", "adamw", "sgd"), "cpu": ("adam", "adamw", "adagrad")}
"""Where one kernel makes a whole step. With many trained word vectors, most of a step on a CPU is the optimiser's."""
CAPTURABLE = ("adam", "adamw", "adadelta")
"""What counts its steps on the device if asked to; the others count none that matter."""


def build_optimiser(groups: list[dict[str, Any]], recipe: Recipe, device: torch.device) -> torch.optim.Optimizer:
    """Make the optimiser of a recipe; on a GPU its learning rate is a tensor, which captured steps read anew."""
    settings: dict[str, Any] = dict(recipe.settings)
    if recipe.optimiser in FUSED[device.type]:
        settings["fused"] = True
    if device.type == "cuda" and recipe.optimiser in CAPTURABLE:
        settings["capturable"] = True
    optimiser = KINDS[recipe.optimiser](groups, lr=recipe.lr, **settings)
    set_rate(optimiser, recipe.lr, device)
    return optimiser


def set_rate(optimiser: torch.optim.Optimizer, rate: float, device: torch.device) -> None:
    """Set the learning rate of all groups."""
    for group in optimiser.param_groups:
        if device.type == "cpu":
            group["lr"] = rate
        elif isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = torch.tensor(rate, dtype=torch.float32, device=device)


def restore_optimiser(optimiser: torch.optim.Optimizer, state: dict[str, Any], device: torch.device) -> None:
    """Take over a state that lies in the processor's memory; torch brings all of it to the device but the rates."""
    optimiser.load_state_dict(state)
    for group in optimiser.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"] = group["lr"].to(device)
