"""The ``Model`` protocol, the registry of what can be trained, and what a run folder says of its model."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import atomic_file, write_text
from goldlabel.models.options import own_options
from goldlabel.pairs.labels import NO_GOLD, LabelSpace
from goldlabel.registry import Registry, import_extra

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
READS = ("both", "hypothesis", "premise")
"""What of a pair a model may see."""
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("auto", "fp32", "tf32", "bf16")
SCORING_PRECISIONS = (*PRECISIONS, "fp16", "int8")
"""The last two are for pre-trained encoders, fp16 on a GPU and int8 on a processor."""
FORMAT = 1
"""Of run folders; it grows when an older version could not read a newer one's."""


@runtime_checkable
class Model(Protocol):
    """Anything that scores pairs."""

    label_space: LabelSpace

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return an ``(n, labels)`` matrix of probabilities, columns in the order of the space's labels.

        A pair that stays without an answer is a row of NaN.
        """
        ...

    def move_to(self, device: str, precision: str = "fp32") -> None:
        """Compute on ``cpu``, ``cuda`` or ``auto``, in ``precision``, where that means something to the model."""
        ...

    def close(self) -> None:
        """Let go of memory, files and connections."""
        ...


class Unmoved:
    """A model that computes on the processor and holds nothing that must be let go of."""

    def move_to(self, device: str, precision: str = "fp32") -> None:
        """Stay on the processor."""

    def close(self) -> None:
        """Hold nothing."""


class Charging(Unmoved, ABC):
    """A model that somebody else runs and may charge for; told by its class without importing what it is asked by."""

    @abstractmethod
    def summary(self) -> EndpointSummary:
        """Return what was answered, what was not and why, and what that cost, since the model was made."""


class Member(Protocol):
    """What ``MODELS`` holds: classes that can be trained and loaded."""

    kind: ClassVar[str]
    """``baseline``, ``network`` or ``encoder``."""
    paper: ClassVar[str]
    fitted_by_trainer: ClassVar[bool]
    """Whether it is fitted by ``goldlabel.train`` (a ``TrainedMember``), or by its own ``fit`` (a ``Baseline``)."""
    any_language: ClassVar[bool]
    """Whether it may be judged in a language that it was not trained on."""

    def own_options(self) -> dict[str, Any]:
        """Return the names of its own options and their defaults."""
        ...

    def load(self, folder: Path, config: dict[str, Any]) -> Model:
        """Read a model back from its run folder."""
        ...


class Baseline(Unmoved):
    """A model that fits itself: a subclass gives its paper, ``fit``, ``predict``, ``save`` and ``load``.

    ``fit(premises, hypotheses, labels, space, **options)`` returns a model fitted to pairs with gold labels. Its
    keyword arguments, with their defaults, are the model's own options, but for those that mean the same everywhere.
    """

    kind: ClassVar[str] = "baseline"
    paper: ClassVar[str]
    fitted_by_trainer: ClassVar[bool] = False
    any_language: ClassVar[bool] = False
    debiased: ClassVar[bool] = False
    """Whether ``fit`` takes ``weights`` and ``offsets`` of pairs, by which a bias is left out."""
    fit: ClassVar[Any]

    @classmethod
    def own_options(cls) -> dict[str, Any]:
        """Return the names and defaults of what ``fit`` can be told."""
        return {name: default for name, default in own_options(cls.fit).items() if name not in _EVERYWHERE}


_EVERYWHERE = ("seed", "vectors", "hypothesis_only", "premise_only")
"""What a baseline's ``fit`` takes that is asked for in the same way of every model."""
WITH_REFERENCE = "hf"
"""The member that is trained from something else: ``hf:NAME_OR_PATH``."""

MODELS: Registry[Any] = Registry(
    "model",
    entry_points="goldlabel.models",
    is_one=lambda value: all(hasattr(value, name) for name in ("kind", "paper", "fitted_by_trainer", "load")),
)
"""Classes: each a ``Member``."""


def find_member(model: str) -> Any:
    """Return a registered model's class, or say what is missing to have it."""
    name, colon, _ = model.partition(":")
    try:
        return MODELS.get(name if colon and name == WITH_REFERENCE else model)
    except ModuleNotFoundError:
        import_extra("torch", "torch")
        raise


def read_config(folder: Path) -> dict[str, Any]:
    """Read what a run folder says of its model."""
    path = folder / CONFIG
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        newer = config.get("format", 1) > FORMAT
    except FileNotFoundError as error:
        raise InputError(f"{folder}: is not a run folder, {CONFIG} is missing") from error
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: is not a model's configuration ({error})") from error
    if newer:
        raise InputError(f"{folder}: was written by a newer version of Goldlabel; update Goldlabel to load it")
    return config


def write_config(folder: Path, name: str, space: LabelSpace, **options: Any) -> None:
    """Write what ``load_model`` needs to find the model's class and labels."""
    labels = {"name": space.name, "labels": list(space.labels)}
    write_text(
        folder / CONFIG,
        json.dumps({"format": FORMAT, "model": name, "label_space": labels, **options}, indent=2) + "\n",
    )


def read_space(config: dict[str, Any]) -> LabelSpace:
    """Return the label space written by ``write_config``."""
    return LabelSpace(config["label_space"]["name"], tuple(config["label_space"]["labels"]))


def write_tensors(folder: Path, tensors: dict[str, NDArray[Any]]) -> None:
    """Write a model's arrays into its run folder."""
    from safetensors.numpy import save_file

    with atomic_file(folder / WEIGHTS) as temporary:
        # safetensors writes memory as it lies, whatever the order of the axes.
        save_file({name: np.asarray(values, order="C") for name, values in tensors.items()}, temporary)


def read_tensors(folder: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays that ``write_tensors`` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors: dict[str, NDArray[Any]] = load_file(folder / WEIGHTS)
    except FileNotFoundError as error:
        raise InputError(f"{folder}: is not a complete run folder, {WEIGHTS} is missing") from error
    except SafetensorError as error:
        raise InputError(f"{folder / WEIGHTS}: is damaged ({error}); train again") from error
    return tensors


def check_sides(premises: Sequence[str], hypotheses: Sequence[str]) -> None:
    """Refuse texts that are no pairs."""
    if len(premises) != len(hypotheses):
        raise InputError(
            f"there are {len(premises):,} premises and {len(hypotheses):,} hypotheses; give one of each for a pair"
        )


def predict_labels(model: Model, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """Return the most probable label of each pair, ``-`` where the model has no answer."""
    return most_probable(model.predict(premises, hypotheses), model.label_space)


def most_probable(probabilities: NDArray[np.float64], space: LabelSpace) -> list[str]:
    """Return the label of each row, ``-`` where it is NaN."""
    answered = ~np.isnan(probabilities).any(axis=1)
    words = np.where(answered, np.array(space.labels)[probabilities.argmax(axis=1)], NO_GOLD)
    return [str(word) for word in words]


def label_indices(labels: Sequence[str], space: LabelSpace) -> NDArray[np.int64]:
    """Return the column of each gold label, refusing what cannot be learnt from."""
    if not len(labels):
        raise InputError("there are no pairs to train on")
    if NO_GOLD in labels:
        raise InputError(f"pairs without a gold label ({NO_GOLD!r}) cannot be trained on; leave them out first")
    columns = {label: space.index(label) for label in dict.fromkeys(labels)}
    return np.array([columns[label] for label in labels])
