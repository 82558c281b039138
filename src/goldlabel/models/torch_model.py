"""What the trainer fits: anything that encodes pairs, cuts padded batches, runs forward and saves itself.

A registered class whose ``fitted_by_trainer`` is true is a ``TrainedMember``: it prepares what no seed touches (a
vocabulary, a tokeniser), builds a ``TorchModel`` with fresh weights, and loads one from its run folder. Word-embedding
networks (``network.py``) and pre-trained encoders (``pretrained.py``) are two families of it. Whoever fits or scores
a ``TorchModel`` knows of its texts only that they become ``Rows``, whose batches are padded to some sizes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.metrics.distributions import binomial_tail
from goldlabel.models.encoding import cut_by_tokens
from goldlabel.models.model import DEVICES, PRECISIONS, Member, check_sides
from goldlabel.models.precision import autocast, resolve_precision, single_precision
from goldlabel.pairs.labels import LabelSpace
from goldlabel.registry import one_of

SCORING_TOKENS = {"cpu": 8_192, "cuda": 131_072}

ROUNDING = 1e-3
ROUNDING_PAIRS = 256
"""bf16 may change a probability by so much, which is tried on so many pairs whenever something is scored."""
FP16_ROUNDING = 5e-3
"""fp16 may: on 768 pairs a MiniLM fine-tuned on SNLI changed one by 0.0018, all by 0.00015 in the mean, no label."""
CHANGED_LABELS = 0.02
"""The share of labels that int8 may change: pairs on the edge between two labels, whose changes even out.

A MiniLM fine-tuned on SNLI changed 1.0 % of 19,666 labels, and its accuracy from 83.83 to 83.80.
"""
SURE = 0.001
"""It is refused where so many changes would be less likely than this if the share were allowed."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model was trained by its authors."""

    optimiser: str = "adam"
    lr: float = 1e-3
    batch: int = 32
    """Pairs in a batch."""
    epochs: int = 20
    patience: int = 5
    """Epochs without a better dev accuracy after which training stops."""
    in_a_row: bool = True
    """Whether these epochs must follow one another, or are counted in all."""
    clip: float | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    """What the optimiser is told beside the rate, in torch's names."""
    l2: float = 0.0
    """λ of λ/2 · ‖θ‖² over all that is trained but word vectors; with adamw, the decay of the weights."""
    schedule: str = "constant"
    """How the learning rate changes from step to step: see ``goldlabel.train.schedule``."""
    warmup: float = 0.0
    """The share of all steps over which the learning rate rises from 0."""
    decay: float = 1.0
    """Factor of the learning rate after every epoch."""
    drop: float = 1.0
    """Factor of the learning rate after ``drop_patience`` further epochs without a better dev accuracy."""
    drop_patience: int = 0
    floor: float = 0.0
    """Training stops when the learning rate falls below."""
    length: int = 100


@dataclass(frozen=True)
class Outputs:
    """What a forward pass gives for a batch."""

    logits: Tensor
    """A score for each label, (batch, labels)."""
    hidden: Tensor
    """What the last linear layer reads, (batch, features)."""
    premise: Tensor | None = None
    hypothesis: Tensor | None = None
    """Where asked for: a vector of each side alone, untouched by the other, (batch, features)."""

    def float(self) -> Outputs:
        """Return the same in single precision."""
        sides = (None if side is None else side.float() for side in (self.premise, self.hypothesis))
        return Outputs(self.logits.float(), self.hidden.float(), *sides)

    def with_sides(self, sides: tuple[Tensor, Tensor]) -> Outputs:
        """Return the same with the vectors of the two sides."""
        return replace(self, premise=sides[0], hypothesis=sides[1])


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the user chose that concerns the model; None where its recipe decides."""

    model: str
    """The whole name, such as ``esim`` or ``hf:PATH``."""
    languages: frozenset[str]
    """Of the training pairs."""
    reads: str = "both"
    length: int | None = None
    tokenizer: str | None = None
    tagger: str = ""
    vectors: str | None = None
    train_vectors: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """The model's own."""


class RowTensors(Protocol):
    """Encoded pairs on a device."""

    def batch(self, rows: Tensor, sizes: tuple[int, ...]) -> Any:
        """Return the pairs in ``rows`` padded to ``sizes``, without waiting for the device."""
        ...


class Rows(Protocol):
    """Encoded pairs, in memory or mapped from a file."""

    @property
    def lengths(self) -> tuple[NDArray[np.int64], ...]:
        """The length of each pair in each of the things that are padded."""
        ...

    def __len__(self) -> int: ...

    def write(self, path: Path) -> None:
        """Write one Arrow file."""
        ...

    def tensors(self, device: torch.device) -> RowTensors:
        """Bring the pairs onto a device."""
        ...


class Preparation(Protocol):
    """What a model needs of its data before there are weights, the same for every seed."""

    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Rows:
        """Turn texts into numbers."""
        ...

    def write(self, folder: Path) -> None:
        """Write it into a folder."""
        ...


class TorchModel(ABC):
    """A trained torch module as a ``Model``: texts in, probabilities out."""

    precisions: ClassVar[tuple[str, ...]] = PRECISIONS
    """In which it can score."""

    def __init__(self, network: nn.Module, label_space: LabelSpace, seen: Sequence[str], options: Mapping[str, Any]):
        self.network = network
        self.label_space = label_space
        self.seen = tuple(seen)
        """Labels of the training data; the others get no probability."""
        self.options = dict(options)
        self.precision = "fp32"
        """Of scores; training has its own."""

    @property
    @abstractmethod
    def length(self) -> int:
        """The tokens it reads of a sentence, or of a pair where it reads both at once."""

    @abstractmethod
    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Rows:
        """Turn texts into numbers."""

    @abstractmethod
    def forward(self, batch: Any, *, sides: bool = False) -> Outputs:
        """Score a batch that its rows' tensors have cut."""

    @abstractmethod
    def save_config(self, folder: Path, **more: Any) -> None:
        """Write everything but the weights; ``more`` goes into the configuration too."""

    @abstractmethod
    def save_weights(self, folder: Path) -> None:
        """Write the weights."""

    def parameter_groups(self, recipe: Recipe) -> list[dict[str, Any]]:
        """Return what is trained, in groups with their weight decay."""
        trained = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        return [{"params": trained, "weight_decay": recipe.l2}]

    def penalty(self) -> Tensor | None:
        """Return what is added to the loss beside the objective."""
        return None

    def count_step(self) -> None:
        """Take note of a step of the optimiser, for schedules inside the network; part of a captured step."""
        return

    def set_steps(self, steps: int) -> None:
        """Go on from so many steps."""
        return

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return next(self.network.parameters()).device

    def move_to(self, device: str, precision: str = "fp32") -> None:
        """Bring the weights to ``cpu``, ``cuda`` or ``auto``, and let scores be computed in ``precision`` there."""
        if precision not in self.precisions:
            raise InputError(f"precision {precision} is for pre-trained encoders; pass {', '.join(self.precisions)}")
        self.precision = resolve_precision(precision, resolve_device(device))
        self.network.to(resolve_device(device))

    def close(self) -> None:
        """Leave the GPU's memory to others."""
        self.network.to("cpu")

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return probabilities; batches are cut by length, which changes nothing but the speed."""
        check_sides(premises, hypotheses)
        if not len(premises):
            return np.empty((0, len(self.label_space)))
        premises, hypotheses = list(premises), list(hypotheses)  # columns of frames come here, too
        if self.precision not in ("fp32", "tf32"):
            self._check_rounding(premises, hypotheses)
        return self._predict(premises, hypotheses)

    def _predict(self, premises: list[str], hypotheses: list[str]) -> NDArray[np.float64]:
        return self.predict_rows(self.encode(premises, hypotheses))

    def _check_rounding(self, premises: list[str], hypotheses: list[str]) -> None:
        """Refuse a precision that changes too much about pairs from all over the data."""
        rows = np.unique(np.linspace(0, len(premises) - 1, ROUNDING_PAIRS).astype(np.int64))
        sides = [premises[row] for row in rows], [hypotheses[row] for row in rows]
        exact = copy(self)
        exact.precision = "fp32"
        check_rounding(self.precision, self._predict(*sides), exact._predict(*sides))

    def predict_rows(self, rows: Rows, tensors: RowTensors | None = None) -> NDArray[np.float64]:
        """Return the probabilities of encoded pairs, whose ``tensors`` may be on the device already."""
        on_device = rows.tensors(self.device) if tensors is None else tensors
        lengths = rows.lengths
        scores = torch.empty(len(rows), len(self.label_space), device=self.device)

        def score(part: NDArray[np.int64]) -> Tensor:
            sizes = tuple(int(side[part].max()) for side in lengths)
            return self.forward(on_device.batch(torch.from_numpy(part).to(self.device), sizes)).logits.float()

        with self.scoring():
            for part in scoring_batches(lengths, SCORING_TOKENS[self.device.type]):
                scores[torch.from_numpy(part).to(self.device)] = within_memory(score, part)
        return self.probabilities(scores)

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Compute scores only, in the precision of scores."""
        self.network.eval()
        with torch.inference_mode(), single_precision(self.precision), autocast(self.precision, self.device):
            yield

    def probabilities(self, scores: Tensor) -> NDArray[np.float64]:
        """Return the softmax over the labels that training has seen."""
        unseen = [label not in self.seen for label in self.label_space.labels]
        hidden = torch.tensor(unseen, device=scores.device)
        shares = scores.masked_fill(hidden, -torch.inf).double().softmax(dim=1).cpu().numpy()
        return np.asarray(shares, dtype=np.float64)

    def save(self, folder: Path) -> None:
        """Write configuration and weights."""
        self.save_config(folder)
        self.save_weights(folder)


class TrainedMember(Member, Protocol):
    """What a registered class offers whose models the trainer fits."""

    recipe: ClassVar[Recipe]

    def check(self, choices: Choices) -> None:
        """Refuse choices that it does not understand, before anything is written."""
        ...

    def sources(self, choices: Choices) -> dict[str, Any]:
        """Return what a run is a function of beside pairs and options, such as hashes of files."""
        ...

    def prepare(self, choices: Choices, texts: Sequence[pl.Series], start: Any) -> Preparation:
        """Make what does not depend on the seed; ``start`` is the model that training goes on from."""
        ...

    def encoded_by(self, choices: Choices) -> list[Any]:
        """Return what a preparation depends on beside texts and sources; models that agree in it can share one."""
        ...

    def read_preparation(self, folder: Path) -> Preparation:
        """Read what a preparation wrote."""
        ...

    def read_rows(self, path: Path) -> Rows:
        """Map rows that were written."""
        ...

    def build(
        self, choices: Choices, preparation: Any, space: LabelSpace, seen: Sequence[str], start: Any
    ) -> TorchModel:
        """Make a model with fresh weights drawn from torch's generator, or with those of ``start``."""
        ...

    def load(self, folder: Path, config: dict[str, Any]) -> TorchModel:
        """Read a model from its run folder."""
        ...


def check_rounding(precision: str, rounded: NDArray[np.float64], exact: NDArray[np.float64]) -> None:
    """Refuse a precision whose probabilities are too far from the exact ones."""
    if precision == "int8":
        changed = int((rounded.argmax(axis=1) != exact.argmax(axis=1)).sum())
        if binomial_tail(changed, len(exact), CHANGED_LABELS) < SURE:
            raise InputError(
                f"int8 changes the label of {changed} of {len(exact)} pairs and {CHANGED_LABELS:.0%} is allowed; score "
                "in precision fp32"
            )
        return
    # Not a number counts as moved: fp16 has no number above 65,504.
    moved, allowed = float(np.abs(rounded - exact).max()), FP16_ROUNDING if precision == "fp16" else ROUNDING
    if not moved <= allowed:
        raise InputError(
            f"{precision} changes a probability by {moved:.4f} and {allowed:g} is allowed; score in precision fp32"
        )


def resolve_device(name: str) -> torch.device:
    """Return the device asked for, or say that it is not there."""
    one_of("device", name, DEVICES)
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for and this machine has no CUDA device; pass --device cpu")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and torch.cuda.is_available()) else "cpu")


def scoring_batches(lengths: Sequence[NDArray[np.int64]], tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows in order of length, so many that a padded batch stays within ``tokens``."""
    order = np.lexsort(tuple(lengths))
    yield from np.split(order, cut_by_tokens([side[order] for side in lengths], tokens))


def within_memory(work: Callable[[NDArray[np.int64]], Tensor], rows: NDArray[np.int64]) -> Tensor:
    """Return what the work gives for the rows, in halves where the device's memory does not hold them at once."""
    try:
        return work(rows)
    except torch.OutOfMemoryError as error:
        if len(rows) == 1:
            raise GoldlabelError("out of memory: not even one pair fits onto the device; pass --device cpu") from error
    # Behind the handler, which keeps alive what was made until memory ran out.
    return torch.cat([within_memory(work, half) for half in np.array_split(rows, 2)])
