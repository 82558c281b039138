"""In which numbers a network computes: ``fp32``, ``tf32`` or ``bf16``; for scores, ``fp16`` and ``int8`` too.

``fp32`` is single precision throughout. torch's default on a GPU is not: cuDNN's LSTMs and convolutions take TF32,
which keeps 10 bits of the mantissa. ``tf32`` lets all products take it. ``bf16`` is torch's autocast: weights stay in
single precision, most products take 8 bits. Pre-trained encoders score with weights that are bf16, fp16 (10 bits, but
no number above 65,504) or int8 themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import nn

from goldlabel.errors import InputError


@cache
def computes_bf16(device_type: str) -> bool:
    """Whether a device computes in bf16; everything that depends on it asks here."""
    if device_type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # The processor's flags do not tell what oneDNN makes of them, so one LSTM is tried; a run's random numbers stay.
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad(), torch.autocast(device_type, torch.bfloat16):
            nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True


def resolve_precision(name: str, device: torch.device) -> str:
    """Return the precision asked for, or say that the device lacks it; ``auto`` is tf32 on a GPU, else fp32."""
    if name == "auto":
        return "tf32" if device.type == "cuda" else "fp32"
    if name == "tf32" and device.type == "cpu":
        raise InputError("precision tf32 is for CUDA devices; pass --precision fp32")
    if name == "fp16" and device.type == "cpu":
        raise InputError("precision fp16 is for CUDA devices; pass --precision int8 or fp32")
    if name == "int8" and device.type == "cuda":
        raise InputError("precision int8 is for scoring on a processor; pass --device cpu, or --precision fp16")
    if name == "bf16" and not computes_bf16(device.type):
        processor = "GPU" if device.type == "cuda" else "processor"
        raise InputError(f"precision bf16 was asked for and this {processor} has none; pass --precision fp32")
    return name


@contextmanager
def single_precision(precision: str) -> Iterator[None]:
    """Let products of single-precision numbers be what ``precision`` says; at the end all is as it was before."""
    backends: Any = torch.backends  # torch's types leave these settings out
    products = (
        *(backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn),
        *(backends.mkldnn.matmul, backends.mkldnn.conv, backends.mkldnn.rnn),
    )
    before = [product.fp32_precision for product in products]
    for product in products:
        product.fp32_precision = "tf32" if precision == "tf32" else "ieee"
    try:
        yield
    finally:
        for product, setting in zip(products, before, strict=True):
            product.fp32_precision = setting


def autocast(precision: str, device: torch.device) -> torch.autocast:
    """Return the context in which a network's forward pass takes bf16, where that is the precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")
