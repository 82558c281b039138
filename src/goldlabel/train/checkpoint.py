"""A run's whole state on disk, so that it can be killed anywhere and go on as if it had not been."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch

from goldlabel.errors import InputError
from goldlabel.files import atomic_file
from goldlabel.train.run_folder import CHECKPOINT

FORMAT = 1


def write_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write tensors and plain values; what was there before stays until the new file is whole."""
    rng = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        rng["cuda"] = torch.cuda.get_rng_state()
    with atomic_file(folder / CHECKPOINT) as temporary:
        torch.save({**state, "format": FORMAT, "rng": rng}, temporary)


def read_checkpoint(folder: Path, device: torch.device) -> dict[str, Any] | None:
    """Read the state and set the random generators back, or return None where there is no checkpoint."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise InputError(f"{path}: is damaged; delete it to begin the run again") from error
    if state["format"] > FORMAT:
        raise InputError(f"{path}: was written by a newer version of Goldlabel; update to go on with this run")
    torch.set_rng_state(state["rng"]["cpu"].cpu())
    if "cuda" in state["rng"] and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["rng"]["cuda"].cpu())
    return state
