"""The GPUs of this machine, dealt out to processes."""

from __future__ import annotations

import os
from pathlib import Path

from goldlabel.errors import InputError

VISIBLE = "CUDA_VISIBLE_DEVICES"
DEVICES = Path("/dev")


def gpus_here() -> list[str]:
    """Return the GPUs that this process may use; nothing is imported for it, and none is taken hold of."""
    names = os.environ.get(VISIBLE)
    if names is not None:
        return [name for name in names.split(",") if name]
    return [str(number) for number in range(len(list(DEVICES.glob("nvidia[0-9]*"))))]


def share_gpus(gpus_per_job: float) -> tuple[str, ...]:
    """Return what each process that there is room for shall see: a GPU, or some of them."""
    gpus = gpus_here()
    if gpus_per_job > len(gpus):
        raise InputError(f"--gpus-per-job {gpus_per_job:g}: this machine has {len(gpus)} GPUs; give fewer")
    if gpus_per_job <= 1:
        return tuple(gpus * int(1 / gpus_per_job + 1e-9))
    size = int(gpus_per_job)
    return tuple(",".join(gpus[start : start + size]) for start in range(0, len(gpus) - size + 1, size))
