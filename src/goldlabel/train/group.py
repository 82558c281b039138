"""The processes that train one model together, each on its share of every batch.

All of them have the same weights, data and plan of batches. Of a batch each takes every so-manyth row; gradients are
added up before the optimiser's step, weighted so that they are those of the whole batch, and the step is the same
everywhere. What depends on the clock or the user (a checkpoint is due, somebody pressed Ctrl-C) the first process
decides for all. Random numbers are a function of the seed, the step and the process, so that a run that goes on with as
many processes ends in the same weights.

Gradients are added after the backward pass, in one message, and not while it runs: that hides less of the sending than
torch's DistributedDataParallel, and needs no wrapper around the networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor


class Group:
    """This process among ``size`` of them; alone, there is nothing to agree on."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def leads(self) -> bool:
        """Whether this process scores, writes and tells."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            dist.barrier()

    def share(self, rows: Tensor) -> Tensor:
        """Return this process's part of a batch."""
        return rows[self.rank :: self.size]

    def seed(self, *of: int) -> None:
        """Let this process draw random numbers of its own; one that is alone draws on from its seed."""
        if self.size > 1:
            torch.manual_seed(int(np.random.SeedSequence((*of, self.rank)).generate_state(1)[0]))

    def add_gradients(self, parameters: Sequence[Tensor]) -> None:
        """Give every process the sum of all gradients; what nowhere has one is left without."""
        if self.size == 1:
            return
        has = torch.tensor([float(parameter.grad is not None) for parameter in parameters], device=parameters[0].device)
        moved = [parameter for parameter, any_has in zip(parameters, self.add(has).tolist(), strict=True) if any_has]
        for parameter in moved:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in moved if parameter.grad is not None]
        added = self.add(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(added, [gradient.numel() for gradient in gradients])
        for gradient, whole in zip(gradients, parts, strict=True):
            gradient.copy_(whole.view_as(gradient))

    def add(self, values: Tensor) -> Tensor:
        """Return the sum over all processes."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def merge(self, values: Tensor, own: Tensor) -> None:
        """Bring together rows of which each process has its own; where several have one, their mean counts."""
        if self.size == 1:
            return
        counts = self.add(own.to(values.dtype))
        whole = self.add(values * own[:, None])
        values.copy_(torch.where((counts > 0)[:, None], whole / counts.clamp(min=1)[:, None], values))
        own.zero_()

    def tell(self, value: Any) -> Any:
        """Return what the first process says."""
        if self.size == 1:
            return value
        told = [value if self.leads else None]
        dist.broadcast_object_list(told)
        return told[0]
