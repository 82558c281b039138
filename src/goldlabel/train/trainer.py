"""The loop that fits a model: epochs over length-bucketed batches, early stopping, checkpoints, exact resume."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from goldlabel.errors import GoldlabelError
from goldlabel.files import atomic_file
from goldlabel.metrics import Estimate
from goldlabel.models.model import label_indices
from goldlabel.models.precision import resolve_precision, single_precision
from goldlabel.models.torch_model import Recipe, TorchModel
from goldlabel.train.batches import plan_batches
from goldlabel.train.encoded import EncodedTask
from goldlabel.train.group import Group
from goldlabel.train.objective import Objective
from goldlabel.train.optimiser import build_optimiser, restore_optimiser, set_rate
from goldlabel.train.options import TrainOptions
from goldlabel.train.run import DYNAMICS, OnStep, RunFolder, Step
from goldlabel.train.schedule import rate_factor
from goldlabel.train.step import CapturedSteps, Sizes, TrainingStep
from goldlabel.train.task import Task

CHECKPOINT_SECONDS = 60.0
CHECKPOINT_SHARE = 0.05
"""Checkpoints come after so many seconds, and later where writing one would take more than this share of the time."""
LOOK_EVERY = 50
"""Steps between looks at the loss on a GPU, where each look waits for the device."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; its state is saved."""


def resolve_recipe(recipe: Recipe, options: TrainOptions) -> Recipe:
    """Put the user's choices into the published recipe."""
    names = ("epochs", "batch", "optimiser", "lr", "schedule", "warmup", "floor", "l2", "clip", "patience", "length")
    chosen = {name: getattr(options, name) for name in names}
    chosen["length"] = chosen["length"] or options.options.get("length")
    if options.optimiser not in (None, recipe.optimiser):
        chosen["settings"] = {}  # they are the published optimiser's
    return replace(recipe, **{name: value for name, value in chosen.items() if value is not None})


def describe_device(device: torch.device) -> dict[str, Any]:
    """Return what the run folder tells of the device."""
    if device.type == "cuda":
        return {"device": torch.cuda.get_device_name(device)}
    return {"device": "cpu", "threads": torch.get_num_threads()}


class Trainer:
    """One run of one model in one folder.

    ``run`` is the loop. What a checkpoint holds are the trained weights, the states of optimiser and objective, and
    the places and counts that ``__init__`` begins with; batches are a function of the seed and the epoch, so nothing
    else is needed to go on. The best weights so far have a file of their own, which is written once.
    """

    def __init__(
        self,
        task: Task,
        model: TorchModel,
        objective: Objective,
        encoded: EncodedTask,
        recipe: Recipe,
        folder: RunFolder,
        on_step: OnStep | None,
        group: Group,
    ) -> None:
        self.group = group
        self.task, self.model, self.objective, self.encoded = task, model, objective, encoded
        self.recipe, self.options, self.folder = recipe, task.options, folder
        self.device = model.device
        self.precision = resolve_precision(task.options.precision, self.device)
        objective.to(self.device)
        groups = [
            *model.parameter_groups(recipe),
            {"params": list(objective.parameters()), "weight_decay": 0.0},
        ]
        self.optimiser = build_optimiser([group for group in groups if group["params"]], recipe, self.device)
        self.dev = [rows.tensors(self.device) for rows in encoded.dev]
        self.epoch, self.done = 1, 0
        """The epoch under way, and how many of its batches are done."""
        self.steps = 0
        self.seconds = 0.0
        self.factor = 1.0
        """Of the learning rate, from the rules for whole epochs."""
        self.rate: float | None = None
        """Of the last step."""
        self.best: float | None = None
        self.best_epoch = 0
        self.best_weights: dict[str, Tensor] | None = None
        """In the processor's memory."""
        self.stale, self.bad = 0, 0
        """Epochs without a better accuracy: those that patience counts, and those that make the learning rate drop."""
        self.losses: list[Tensor] = []
        """On the device, since the last look; then they are in the sum."""
        self.loss_sum = 0.0
        self.loss_pairs = 0
        rows = task.rows
        self.dynamics = torch.zeros(len(rows), len(model.label_space), device=self.device)
        """The probabilities that this epoch gave each pair."""
        self.on_step = on_step
        self.notes: list[str] = []
        """What the user should know of the run though it is no error."""
        self.stopping = False
        place = torch.zeros(len(encoded.rows), dtype=torch.int64, device=self.device)
        place[torch.from_numpy(rows).to(self.device)] = torch.arange(len(rows), device=self.device)
        labels = label_indices(task.gold.frame["label"].to_list(), task.gold.space)
        self.step = TrainingStep(
            model,
            objective,
            encoded.rows.tensors(self.device),
            torch.from_numpy(labels.astype(np.int64)).to(self.device),
            self.optimiser,
            clip=recipe.clip,
            precision=self.precision,
            dynamics=self.dynamics,
            place=place,
            group=group,
        )
        self.captured: CapturedSteps | None = None
        if (
            self.device.type == "cuda"
            and group.size == 1
            and self.options.accumulate == 1
            and self.options.batch_tokens is None
        ):
            longest = tuple(int(side.max()) for side in encoded.rows.lengths)
            self.captured = CapturedSteps(self.step, longest, self.notes.append)

    @property
    def trained(self) -> list[Tensor]:
        """What the optimiser moves."""
        return list(self.step.trained)

    def run(self) -> None:
        """Train until the epochs are over or nothing gets better, from the last checkpoint where there is one."""
        self._restore()
        self.saved_at, self.save_takes = time.monotonic(), 0.0
        with self._stop_at_a_step(), single_precision(self.precision), _repeatable():
            while not self._is_over():
                self._run_epoch()
                self._end_epoch()
                stopping, save = self._decide()
                if stopping:
                    self._interrupt(0.0)
                if save:
                    self._save()
        if self.best_weights is not None:
            self._load_weights(self.best_weights)
        if self.group.leads:
            self.model.save_weights(self.folder.path)

    def _is_over(self) -> bool:
        if self.epoch > self.recipe.epochs:
            return True
        if not self.task.dev:
            return False
        return self.stale >= self.recipe.patience or self._lr < self.recipe.floor

    @property
    def _lr(self) -> float:
        """The learning rate of the epoch, before the schedule of steps."""
        return self.recipe.lr * self.factor

    def _run_epoch(self) -> None:
        """Train on every batch of the epoch that is not done; each group of ``accumulate`` batches is a step."""
        batches, sizes = self._plan_epoch()
        order = torch.from_numpy(np.concatenate(batches)).to(self.device)
        ends = np.cumsum([len(batch) for batch in batches])
        self.model.network.train()
        self.objective.train()
        began, resumed = time.monotonic(), int(ends[self.done - 1]) if self.done else 0
        for first in range(self.done, len(batches), self.options.accumulate):
            group = range(first, min(first + self.options.accumulate, len(batches)))
            parts = [order[int(ends[number]) - len(batches[number]) : int(ends[number])] for number in group]
            self._set_rate(first / len(batches))
            with self._out_of_memory(group[-1], len(parts[-1]), sizes[group[-1]]):
                self._make_step(parts, [sizes[number] for number in group])
            self.steps += 1
            self.done = group[-1] + 1
            looking = self.device.type == "cpu" or len(self.losses) >= LOOK_EVERY
            if looking:
                self._look(int(ends[group[-1]]), resumed, time.monotonic() - began)
            # Several processes would wait for each other at every step.
            stopping, save = self._decide() if looking or self.group.size == 1 else (False, False)
            if stopping:
                self._interrupt(time.monotonic() - began)
            if save:
                self.seconds += time.monotonic() - began
                self._save()
                began, resumed = time.monotonic(), int(ends[group[-1]])
        self._look(len(order), resumed, time.monotonic() - began)
        self.seconds += time.monotonic() - began

    def _plan_epoch(self) -> tuple[list[NDArray[np.int64]], list[Sizes]]:
        """Return the rows of each batch, and what it is padded to."""
        seed = (self.options.seed, self.epoch)
        rows = self.objective.draw(self.task.epoch_rows, seed)
        lengths = [side[rows] for side in self.encoded.rows.lengths]
        places = plan_batches(lengths, pairs=self.recipe.batch, tokens=self.options.batch_tokens, seed=seed)
        sizes: list[Sizes] = [tuple(int(side[batch].max()) for side in lengths) for batch in places]
        if self.captured is not None:
            sizes = [self.captured.round(size) for size in sizes]
            self.captured.plan([(len(batch), size) for batch, size in zip(places, sizes, strict=True)])
        return [rows[batch] for batch in places], sizes

    def _set_rate(self, done: float) -> None:
        """Set the learning rate of the next step, when the share ``done`` of this epoch is."""
        progress = (self.epoch - 1 + done) / self.recipe.epochs
        rate = self._lr * rate_factor(self.recipe.schedule, self.recipe.warmup, progress)
        if rate != self.rate:
            set_rate(self.optimiser, rate, self.device)
            self.rate = rate

    def _make_step(self, parts: Sequence[Tensor], sizes: Sequence[Sizes]) -> None:
        if self.captured is not None:
            losses = [self.captured.make(parts[0], sizes[0])]
            self.losses.append(losses[0] * len(parts[0]))
        else:
            total = sum(len(rows) for rows in parts)
            self.group.seed(self.options.seed, self.steps)
            for rows, size in zip(parts, sizes, strict=True):
                own = self.group.share(rows)
                loss = (
                    self.step.backward(own, size, len(own) / total) if len(own) else torch.zeros((), device=self.device)
                )
                self.losses.append(loss * len(own))
            self.step.finish()
        self.loss_pairs += sum(len(rows) for rows in parts)

    def _look(self, pairs: int, resumed: int, seconds: float) -> None:
        """Fetch the losses since the last look and tell how far the run is."""
        self._fetch_losses()
        if self.on_step:
            loss, rate = self.loss_sum / max(self.loss_pairs, 1), (pairs - resumed) / max(seconds, 1e-9)
            of = len(self.task.epoch_rows)
            step = Step(self.epoch, self.recipe.epochs, pairs, of, loss, rate, self.best)
            self.stopping = bool(self.on_step(step)) or self.stopping

    def _decide(self) -> tuple[bool, bool]:
        """Return whether to stop and whether to save now."""
        decided: tuple[bool, bool] = self.group.tell((self.stopping, self._checkpoint_is_due()))
        return decided

    def _fetch_losses(self) -> None:
        """Add up the losses that are still on the device; stop at one that is not finite."""
        losses = self.group.add(torch.stack(self.losses)).tolist() if self.losses else []
        for number, loss in enumerate(losses):
            if not np.isfinite(loss):
                later = (len(losses) - 1) // self.options.accumulate - number // self.options.accumulate
                raise self._diverged("the loss is not a finite number at", self.steps - later)
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
            raise self._diverged("a weight is not a finite number after", self.steps)
        scores = self.group.tell(self._score_dev() if self.group.leads else None)
        self.group.merge(self.dynamics, self.step.own)
        if self.group.leads:
            self._write_dynamics()
        self.folder.log_epoch(
            self.epoch,
            steps=self.steps,
            loss=self.loss_sum / self.loss_pairs,
            lr=self.rate,
            dev=scores,
            seconds=self.seconds,
        )
        if scores:
            self._judge(_decisive(scores, self.options.stop_on))
        self.factor *= self.recipe.decay
        self.epoch += 1
        self.done, self.loss_sum, self.loss_pairs = 0, 0.0, 0

    def _score_dev(self) -> dict[str, Estimate]:
        return {
            gold.name: gold.score(self.model.predict_rows(rows, tensors), self.model.label_space)
            for gold, rows, tensors in zip(self.task.dev, self.encoded.dev, self.dev, strict=True)
        }

    def _judge(self, accuracy: float) -> None:
        """Keep the weights if they are the best so far; otherwise count, and lower the learning rate."""
        if self.best is None or accuracy > self.best:
            self.best, self.best_epoch, self.bad = accuracy, self.epoch, 0
            self.stale = 0 if self.recipe.in_a_row else self.stale
            self.best_weights = {name: value.to("cpu", copy=True) for name, value in self._weights().items()}
            return
        self.stale += 1
        self.bad += 1
        if self.bad > self.recipe.drop_patience:
            self.bad = 0
            self.factor *= self.recipe.drop

    def _write_dynamics(self) -> None:
        """Write the probabilities that training gave each pair in this epoch, for cartography."""
        ids = self.task.gold.frame["id"].gather(pl.Series(self.task.rows))
        table = pl.DataFrame({"id": ids, "probabilities": pl.Series(self.dynamics.cpu().numpy())}).select(
            "id", pl.lit(self.epoch).alias("epoch"), pl.col("probabilities").cast(pl.List(pl.Float32))
        )
        with atomic_file(self.folder.path / DYNAMICS / f"epoch-{self.epoch:03}.parquet") as temporary:
            table.write_parquet(temporary)

    def _weights(self) -> dict[str, Tensor]:
        """Return what training changes of the network; the rest is as it was built."""
        frozen = {name for name, parameter in self.model.network.named_parameters() if not parameter.requires_grad}
        state = self.model.network.state_dict()
        return {name: value.detach() for name, value in state.items() if name not in frozen}

    def _load_weights(self, weights: dict[str, Tensor]) -> None:
        self.model.network.load_state_dict(weights, strict=False)

    def _checkpoint_is_due(self) -> bool:
        wait = max(CHECKPOINT_SECONDS, self.save_takes / CHECKPOINT_SHARE)
        return time.monotonic() - self.saved_at > wait

    _COUNTS = ("epoch", "done", "steps", "seconds", "factor", "rate", "best", "best_epoch", "stale", "bad", "loss_sum")

    def _save(self) -> None:
        began = time.monotonic()
        self._fetch_losses()
        self.group.merge(self.dynamics, self.step.own)
        state: dict[str, Any] = {name: getattr(self, name) for name in (*self._COUNTS, "loss_pairs", "dynamics")}
        state["network"] = self._weights()
        state["objective"] = self.objective.state_dict()
        state["optimiser"] = self.optimiser.state_dict()
        self.folder.write_checkpoint(state, self.best_epoch, self.best_weights)
        self.saved_at = time.monotonic()
        self.save_takes = self.saved_at - began

    def _restore(self) -> None:
        state = self.folder.read_checkpoint()
        if state is None:
            self.folder.truncate_metrics(0)
            return
        self._load_weights(state.pop("network"))
        self.objective.load_state_dict(state.pop("objective"))
        restore_optimiser(self.optimiser, state.pop("optimiser"), self.device)
        self.dynamics.copy_(state.pop("dynamics"))
        for name, value in state.items():
            setattr(self, name, value)
        self.model.set_steps(self.steps)
        if self.best_epoch:
            self.best_weights = self.folder.read_best(self.best_epoch)
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
                f"out of memory in batch {number + 1} of epoch {self.epoch}: {pairs} pairs of "
                f"{' + '.join(map(str, sizes))} tokens; pass --batch-tokens {max(tokens // 2, 1)}, and --accumulate 2 "
                "for the same gradients"
            ) from error


@contextmanager
def _repeatable() -> Iterator[None]:
    """Let convolutions on a GPU add up in the same order every time."""
    before, torch.backends.cudnn.deterministic = torch.backends.cudnn.deterministic, True
    try:
        yield
    finally:
        torch.backends.cudnn.deterministic = before


def _decisive(scores: dict[str, Estimate], stop_on: str) -> float:
    deciding = scores.values() if stop_on == "mean" else [scores[stop_on]]
    return float(np.mean([score.defined for score in deciding]))
