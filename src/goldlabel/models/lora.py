"""LoRA (Hu et al. 2022): the encoder's weights stay, and a product of two thin matrices is trained beside each.

Every linear layer of the encoder has one, W + B·A with the factor α/r at 1; the head is trained as a whole. What is
saved are plain weights, the products added.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from goldlabel.registry import import_extra

BESIDE = ".base_layer"
"""Between the name of a layer and those of its weights, where something is trained beside it."""


def add_lora(encoder: Any, rank: int) -> None:
    """Freeze an encoder but for its head, and put matrices of a rank beside its linear layers."""
    peft = import_extra("peft", "hf")
    base = encoder.base_model
    for parameter in base.parameters():
        parameter.requires_grad = False
    layers = [name for name, layer in base.named_modules() if isinstance(layer, nn.Linear)]
    peft.inject_adapter_in_model(peft.LoraConfig(r=rank, lora_alpha=rank, target_modules=layers), base)


def plain_weights(encoder: Any) -> dict[str, Tensor]:
    """Return an encoder's weights with everything that is trained beside them added."""
    weights = {
        name.replace(BESIDE, ""): value.detach() for name, value in encoder.state_dict().items() if ".lora_" not in name
    }
    for name, layer in encoder.named_modules():
        if hasattr(layer, "base_layer"):
            weights[f"{name}.weight"] = (layer.base_layer.weight + layer.get_delta_weight("default")).detach()
    return weights
