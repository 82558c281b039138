"""The loop that fits a network: epochs over length-bucketed batches, early stopping, checkpoints, exact resume."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn import functional

from goldlabel.errors import GoldlabelError
from goldlabel.files import atomic_file
from goldlabel.metrics import Estimate
from goldlabel.models.network import NetworkModel, PairTensors, Recipe
from goldlabel.models.precision import autocast, resolve_precision, single_precision
from goldlabel.train.batches import plan_batches
from goldlabel.train.encoded import EncodedTask
from goldlabel.train.options import TrainOptions
from goldlabel.train.run import DYNAMICS, OnStep, RunFolder, Step
from goldlabel.train.task import Task

CHECKPOINT_SECONDS = 60.0
LOOK_EVERY = 50
"""Steps between looks at the loss on a GPU, where each look waits for the device."""

OPTIMISERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adadelta": torch.optim.Adadelta,
    "adagrad": torch.optim.Adagrad,
    "sgd": torch.optim.SGD,
}
FUSED = {"cuda": ("adam", "adamw", "sgd"), "cpu": ("adam", "adamw", "adagrad")}
"""Where one kernel makes a whole step. With many trained word vectors, most of a step on a CPU is the optimiser's."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; its state is saved."""


def resolve_recipe(recipe: Recipe, options: TrainOptions) -> Recipe:
    """Put the user's choices into the published recipe."""
    chosen = {name: getattr(options, name) for name in ("epochs", "batch", "lr", "clip", "patience")}
    chosen["length"] = options.options.get("length")
    return replace(recipe, **{name: value for name, value in chosen.items() if value is not None})


def describe_device(device: torch.device) -> dict[str, Any]:
    """Return what the run folder tells of the device."""
    if device.type == "cuda":
        return {"device": torch.cuda.get_device_name(device)}
    return {"device": "cpu", "threads": torch.get_num_threads()}


class Trainer:
    """One run of one network in one folder.

    ``run`` is the loop. What a checkpoint holds are the weights, the optimiser, and the places and counts that
    ``__init__`` begins with; batches are a function of the seed and the epoch, so nothing else is needed to go on.
    """

    def __init__(
        self,
        task: Task,
        model: NetworkModel,
        encoded: EncodedTask,
        recipe: Recipe,
        folder: RunFolder,
        on_step: OnStep | None,
    ) -> None:
        self.task, self.model, self.encoded = task, model, encoded
        self.recipe, self.options, self.folder = recipe, task.options, folder
        self.rows = task.rows
        self.device = model.device
        self.precision = resolve_precision(task.options.precision, self.device)
        self.tensors = PairTensors(encoded.pairs, self.device)
        self.dev = [PairTensors(pairs, self.device) for pairs in encoded.dev]
        trained = [parameter for parameter in model.network.parameters() if parameter.requires_grad]
        fused = {"fused": True} if recipe.optimiser in FUSED[self.device.type] else {}
        words = model.network.words.weight
        groups = [
            {"params": [parameter for parameter in trained if parameter is not words], "weight_decay": recipe.l2},
            {"params": [parameter for parameter in trained if parameter is words], "weight_decay": 0.0},
        ]
        self.optimiser = OPTIMISERS[recipe.optimiser](groups, lr=recipe.lr, **recipe.settings, **fused)
        self.trained = trained
        self.epoch, self.done = 1, 0
        """The epoch under way, and how many of its batches are done."""
        self.seconds = 0.0
        self.best: float | None = None
        self.best_epoch = 0
        self.best_weights: dict[str, Tensor] | None = None
        self.stale, self.bad = 0, 0
        """Epochs without a better accuracy: those that patience counts, and those that make the learning rate drop."""
        self.losses: list[Tensor] = []
        """On the device, since the last look; then they are in the sum."""
        self.loss_sum = 0.0
        self.loss_pairs = 0
        self.dynamics = torch.zeros(len(self.rows), len(model.label_space), device=self.device)
        """The probabilities that this epoch gave each pair."""
        self.on_step = on_step
        self.stopping = False
        self._place = torch.zeros(len(encoded.pairs), dtype=torch.int64, device=self.device)
        self._place[torch.from_numpy(self.rows).to(self.device)] = torch.arange(len(self.rows), device=self.device)

    def run(self) -> None:
        """Train until the epochs are over or nothing gets better, from the last checkpoint where there is one."""
        self._restore()
        self.saved_at = time.monotonic()
        with self._stop_at_a_step(), single_precision(self.precision):
            while not self._is_over():
                self._run_epoch()
                self._end_epoch()
                if self.stopping:
                    self._interrupt(0.0)
                if time.monotonic() - self.saved_at > CHECKPOINT_SECONDS:
                    self._save()
        if self.best_weights is not None:
            self.model.network.load_state_dict(self.best_weights)
        self.model.save_weights(self.folder.path)

    def _is_over(self) -> bool:
        if self.epoch > self.recipe.epochs:
            return True
        if not self.task.dev:
            return False
        return self.stale >= self.recipe.patience or self._lr < self.recipe.floor

    @property
    def _lr(self) -> float:
        return float(self.optimiser.param_groups[0]["lr"])

    def _run_epoch(self) -> None:
        """Train on every batch of the epoch that is not done; each group of ``accumulate`` batches is a step."""
        pairs = self.encoded.pairs
        lengths = pairs.premise.lengths[self.rows], pairs.hypothesis.lengths[self.rows]
        batches = plan_batches(
            *lengths,
            pairs=self.recipe.batch,
            tokens=self.options.batch_tokens,
            seed=(self.options.seed, self.epoch),
        )
        order = torch.from_numpy(self.rows[np.concatenate(batches)]).to(self.device)
        ends = np.cumsum([len(batch) for batch in batches])
        self.model.network.train()
        began, resumed = time.monotonic(), int(ends[self.done - 1]) if self.done else 0
        for first in range(self.done, len(batches), self.options.accumulate):
            group = range(first, min(first + self.options.accumulate, len(batches)))
            total = int(ends[group[-1]] - (ends[first - 1] if first else 0))
            for number in group:
                rows = order[int(ends[number]) - len(batches[number]) : int(ends[number])]
                sizes = tuple(int(side[batches[number]].max()) for side in lengths)
                with self._out_of_memory(number, len(rows), sizes):
                    self._backward(rows, (sizes[0], sizes[1]), total)
            with self._out_of_memory(number, len(rows), sizes):
                self._step()
            self.done = group[-1] + 1
            if self.device.type == "cpu" or len(self.losses) >= LOOK_EVERY:
                self._look(int(ends[group[-1]]), resumed, time.monotonic() - began)
            if self.stopping:
                self._interrupt(time.monotonic() - began)
            if time.monotonic() - self.saved_at > CHECKPOINT_SECONDS:
                self.seconds += time.monotonic() - began
                began, resumed = time.monotonic(), int(ends[group[-1]])
                self._save()
        self._look(len(self.rows), resumed, time.monotonic() - began)
        self.seconds += time.monotonic() - began

    def _backward(self, rows: Tensor, sizes: tuple[int, int], total: int) -> None:
        """Add the gradients of one batch, as its share of a step over ``total`` pairs."""
        premise, hypothesis = self.tensors.batch(rows, sizes)
        assert self.tensors.labels is not None
        with autocast(self.precision, self.device):
            scores = self.model.network(premise, hypothesis)
        scores = scores.float()
        loss = functional.cross_entropy(scores, self.tensors.labels[rows], reduction="sum") / total
        penalty = self.model.network.penalty()
        whole = loss if penalty is None else loss + penalty * (len(rows) / total)
        whole.backward()  # type: ignore[no-untyped-call]
        self.losses.append(whole.detach() * total)
        self.loss_pairs += len(rows)
        self.dynamics[self._place[rows]] = scores.detach().softmax(dim=1)

    def _step(self) -> None:
        if self.recipe.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.trained, self.recipe.clip)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.model.network.steps += 1

    def _look(self, pairs: int, resumed: int, seconds: float) -> None:
        """Fetch the losses since the last look and tell how far the run is."""
        self._fetch_losses()
        if self.on_step:
            loss, rate = self.loss_sum / max(self.loss_pairs, 1), (pairs - resumed) / max(seconds, 1e-9)
            step = Step(self.epoch, self.recipe.epochs, pairs, len(self.rows), loss, rate, self.best)
            self.stopping = bool(self.on_step(step)) or self.stopping

    def _fetch_losses(self) -> None:
        """Add up the losses that are still on the device; stop at one that is not finite."""
        losses = torch.stack(self.losses).tolist() if self.losses else []
        for number, loss in enumerate(losses):
            if not np.isfinite(loss):
                later = (len(losses) - 1) // self.options.accumulate - number // self.options.accumulate
                raise self._diverged("the loss is not a finite number at", self.model.network.steps - later)
        self.loss_sum += sum(losses)
        self.losses = []

    def _diverged(self, what: str, step: int) -> GoldlabelError:
        kept = "the last checkpoint is kept" if self.folder.has_checkpoint else "no checkpoint was due before"
        return GoldlabelError(
            f"{what} step {step} (epoch {self.epoch}); {kept}: pass a lower --lr than {self._lr:g} or a lower --clip"
        )

    def _end_epoch(self) -> None:
        """Score the dev sets, log, judge, and lower the learning rate."""
        if not torch.stack([parameter.isfinite().all() for parameter in self.trained]).all():
            raise self._diverged("a weight is not a finite number after", self.model.network.steps)
        scores = {
            gold.name: gold.score(self.model.predict_tensors(pairs, tensors), self.model.label_space)
            for gold, pairs, tensors in zip(self.task.dev, self.encoded.dev, self.dev, strict=True)
        }
        self._write_dynamics()
        self.folder.log_epoch(
            self.epoch,
            steps=self.model.network.steps,
            loss=self.loss_sum / self.loss_pairs,
            lr=self._lr,
            dev=scores,
            seconds=self.seconds,
        )
        if scores:
            self._judge(_decisive(scores, self.options.stop_on))
        for group in self.optimiser.param_groups:
            group["lr"] *= self.recipe.decay
        self.epoch += 1
        self.done, self.loss_sum, self.loss_pairs = 0, 0.0, 0

    def _judge(self, accuracy: float) -> None:
        """Keep the weights if they are the best so far; otherwise count, and lower the learning rate."""
        if self.best is None or accuracy > self.best:
            self.best, self.best_epoch, self.bad = accuracy, self.epoch, 0
            self.stale = 0 if self.recipe.in_a_row else self.stale
            state = self.model.network.state_dict()
            self.best_weights = {name: value.detach().clone() for name, value in state.items()}
            return
        self.stale += 1
        self.bad += 1
        if self.bad > self.recipe.drop_patience:
            self.bad = 0
            for group in self.optimiser.param_groups:
                group["lr"] *= self.recipe.drop

    def _write_dynamics(self) -> None:
        """Write the probabilities that training gave each pair in this epoch, for cartography."""
        ids = self.task.gold.frame["id"].gather(pl.Series(self.rows))
        table = pl.DataFrame({"id": ids, "probabilities": pl.Series(self.dynamics.cpu().numpy())}).select(
            "id", pl.lit(self.epoch).alias("epoch"), pl.col("probabilities").cast(pl.List(pl.Float32))
        )
        with atomic_file(self.folder.path / DYNAMICS / f"epoch-{self.epoch:03}.parquet") as temporary:
            table.write_parquet(temporary)

    def _save(self) -> None:
        self._fetch_losses()
        if self.best_weights is not None:
            self.model.save_weights(self.folder.path, self.best_weights)
        names = ("epoch", "done", "seconds", "best", "best_epoch", "best_weights", "stale", "bad", "loss_sum")
        state: dict[str, Any] = {name: getattr(self, name) for name in (*names, "loss_pairs", "dynamics")}
        state["network"] = self.model.network.state_dict()
        state["optimiser"] = self.optimiser.state_dict()
        state["steps"] = self.model.network.steps
        self.folder.write_checkpoint(state)
        self.saved_at = time.monotonic()

    def _restore(self) -> None:
        state = self.folder.read_checkpoint(self.device)
        if state is None:
            self.folder.truncate_metrics(0)
            return
        self.model.network.load_state_dict(state.pop("network"))
        self.optimiser.load_state_dict(state.pop("optimiser"))
        self.model.network.steps = state.pop("steps")
        for name, value in state.items():
            setattr(self, name, value)
        self.folder.truncate_metrics(self.epoch - 1)

    def _interrupt(self, seconds: float) -> None:
        self.seconds += seconds
        self._save()
        raise Interrupted

    @contextmanager
    def _stop_at_a_step(self) -> Iterator[None]:
        """Let Ctrl-C wait for the end of the step, as a half-made step cannot be resumed; twice stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def stop(*_: Any) -> None:
            self.stopping = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def _out_of_memory(self, number: int, pairs: int, sizes: tuple[int, ...]) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
                raise
            tokens = pairs * sum(sizes)
            raise GoldlabelError(
                f"out of memory in batch {number + 1} of epoch {self.epoch}: {pairs} pairs of {sizes[0]} + {sizes[1]} "
                f"tokens; pass --batch-tokens {max(tokens // 2, 1)}, and --accumulate 2 for the same gradients"
            ) from error


def _decisive(scores: dict[str, Estimate], stop_on: str) -> float:
    deciding = scores.values() if stop_on == "mean" else [scores[stop_on]]
    return float(np.mean([score.defined for score in deciding]))
