"""One step of training: forward, loss, backward, clipping, optimiser.

On a GPU, small published batches leave it idle while Python launches hundreds of kernels. So a whole step is captured
into one CUDA graph for each size of batch and replayed with other rows. Sizes are rounded up to a few (padding changes
nothing), and a size that an epoch has too few batches of is not captured. What was captured and what was not compute
the same, random numbers included, so that a run that goes on from a checkpoint ends in the same weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from goldlabel.models.precision import autocast
from goldlabel.models.torch_model import RowTensors, TorchModel
from goldlabel.train.group import Group
from goldlabel.train.objective import Objective

ROUND_TO = 8
"""Captured steps pad to a multiple of so many tokens."""
LEAST_BATCHES = 4
"""Batches of one size in an epoch from which on capturing pays."""

Sizes = tuple[int, ...]


class TrainingStep:
    """Makes steps, on their own or captured.

    ``place`` gives each row of the data its row in ``dynamics``, which gets the probabilities of every batch.
    """

    def __init__(
        self,
        model: TorchModel,
        objective: Objective,
        tensors: RowTensors,
        labels: Tensor,
        optimiser: torch.optim.Optimizer,
        *,
        clip: float | None,
        precision: str,
        dynamics: Tensor,
        place: Tensor,
        group: Group,
    ) -> None:
        self.model, self.objective, self.tensors, self.labels = model, objective, tensors, labels
        self.optimiser, self.clip, self.precision = optimiser, clip, precision
        self.dynamics, self.place, self.group = dynamics, place, group
        self.own = torch.zeros(len(dynamics), dtype=torch.bool, device=dynamics.device)
        """Which of the dynamics this process has made."""
        self.trained = [parameter for group in optimiser.param_groups for parameter in group["params"]]

    def backward(self, rows: Tensor, sizes: Sizes, share: float) -> Tensor:
        """Add the gradients of one batch, as its share of a step; return its mean loss."""
        batch = self.tensors.batch(rows, sizes)
        with autocast(self.precision, rows.device):
            outputs = self.model.forward(batch, sides=self.objective.sides)
        outputs = outputs.float()
        loss: Tensor = self.objective(outputs, rows, self.labels[rows])
        penalty = self.model.penalty()
        loss = loss if penalty is None else loss + penalty
        (loss if share == 1 else loss * share).backward()  # type: ignore[no-untyped-call]
        places = self.place[rows]
        self.dynamics[places] = outputs.logits.detach().softmax(dim=1)
        if self.group.size > 1:
            self.own[places] = True
        return loss.detach()

    def finish(self) -> None:
        """Add up the gradients of all processes, clip them, move the weights, forget the gradients."""
        self.group.add_gradients(self.trained)
        if self.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.trained, self.clip, foreach=True)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.model.count_step()

    def whole(self, rows: Tensor, sizes: Sizes) -> Tensor:
        """Make the step of one batch."""
        loss = self.backward(rows, sizes, 1)
        self.finish()
        return loss


class CapturedSteps:
    """Whole steps as CUDA graphs, one for each number of pairs and size of batch that an epoch has often."""

    def __init__(self, step: TrainingStep, longest: Sizes, note: Callable[[str], None]) -> None:
        self._step, self._longest, self._note = step, longest, note
        self._graphs: dict[tuple[int, Sizes], _Graph] = {}
        self._often: Counter[tuple[int, Sizes]] = Counter()
        self._pool: Any = None
        self._refused = False

    def round(self, sizes: Sizes) -> Sizes:
        """Return the sizes that a batch is padded to."""
        rounded = (-(-size // ROUND_TO) * ROUND_TO for size in sizes)
        return tuple(min(size, longest) for size, longest in zip(rounded, self._longest, strict=True))

    def plan(self, batches: Sequence[tuple[int, Sizes]]) -> None:
        """Take note of the sizes of an epoch's batches, the pairs of each and what it is padded to."""
        self._often = Counter(batches)

    def make(self, rows: Tensor, sizes: Sizes) -> Tensor:
        """Make the step of one batch; return its mean loss."""
        key = (len(rows), sizes)
        often = self._often[key] >= LEAST_BATCHES
        if often and not self._refused and key not in self._graphs:
            self._try(key, rows)
        # Behind the handler of what was refused, which keeps alive what was made until then, on another stream.
        if self._refused or not often:
            return self._step.whole(rows, sizes)
        return self._graphs[key].replay(rows)

    def _try(self, key: tuple[int, Sizes], rows: Tensor) -> None:
        try:
            self._graphs[key] = self._capture(rows, key[1])
        except RuntimeError as error:
            # Graphs keep the memory that they were captured with, and other runs may have the rest of the device's.
            self._refused = True
            self._graphs.clear()
            self._pool = None
            self._note(f"steps cannot be captured into CUDA graphs and are made one by one ({str(error)[:100]})")

    def _capture(self, rows: Tensor, sizes: Sizes) -> _Graph:
        """Try the step, undo it, and capture it: what libraries set up at their first call cannot be captured."""
        step, first = self._step, not self._graphs
        undo = _Undo(step, whole=first)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        try:
            with torch.cuda.stream(stream):
                if first:
                    step.whole(rows, sizes)
                else:
                    step.backward(rows, sizes, 1)
        finally:
            torch.cuda.current_stream().wait_stream(stream)
            step.optimiser.zero_grad(set_to_none=True)
            undo()
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        static, graph = rows.clone(), torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        try:
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                loss = step.whole(static, sizes)
        except BaseException:
            step.optimiser.zero_grad(set_to_none=True)
            # The random generator believes for good that it is being captured, so another one takes its place.
            generator = torch.cuda.default_generators[torch.cuda.current_device()]
            generator.graphsafe_set_state(torch.Generator(rows.device))
            raise
        finally:
            undo.random_state()
        return _Graph(graph, static, loss)


class _Graph:
    def __init__(self, graph: torch.cuda.CUDAGraph, rows: Tensor, loss: Tensor) -> None:
        self._graph, self._rows, self._loss = graph, rows, loss

    def replay(self, rows: Tensor) -> Tensor:
        self._rows.copy_(rows)
        self._graph.replay()
        return self._loss.clone()


class _Undo:
    """Puts a step back: weights, the optimiser's and the objective's state, the random numbers."""

    def __init__(self, step: TrainingStep, *, whole: bool) -> None:
        self._step = step
        self._random = torch.cuda.get_rng_state()
        self._objective = deepcopy(step.objective.state_dict())
        self._steps = deepcopy(dict(step.model.network.named_buffers()))
        self._weights = [parameter.detach().clone() for parameter in step.trained] if whole else None
        self._state = deepcopy(step.optimiser.state_dict()) if whole else None

    @torch.no_grad()
    def __call__(self) -> None:
        step = self._step
        if self._weights is not None and self._state is not None:
            for parameter, before in zip(step.trained, self._weights, strict=True):
                parameter.copy_(before)
            self._restore_optimiser()
        step.objective.load_state_dict(self._objective)
        for name, buffer in step.model.network.named_buffers():
            buffer.copy_(self._steps[name])
        self.random_state()

    def random_state(self) -> None:
        torch.cuda.set_rng_state(self._random)

    def _restore_optimiser(self) -> None:
        """Put back what there was; what the tried step has made for the first time, it made from zeros."""
        assert self._state is not None
        before = self._state["state"]
        numbers = {id(parameter): number for number, parameter in enumerate(self._step.trained)}
        for parameter, state in self._step.optimiser.state.items():
            for name, value in state.items():
                if isinstance(value, Tensor):
                    kept = before.get(numbers[id(parameter)], {}).get(name)
                    value.zero_() if kept is None else value.copy_(kept)
