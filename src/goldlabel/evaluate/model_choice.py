"""``--models``: what the user wants to be judged.

``[NAME=]MODEL``, where MODEL is the name of a model that is trained first (``esim``; ``bilstm+drift`` with a debiasing
method; ``linear@hypothesis`` without premises; ``train:hf:PATH`` to fine-tune an encoder), or whatever ``load_model``
loads, which is judged as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goldlabel.errors import InputError
from goldlabel.evaluate.suite import System, Training
from goldlabel.models.model import MODELS, WITH_REFERENCE, Model
from goldlabel.registry import one_of

TRAIN = "train:"
_NAMED = re.compile(r"(?P<name>[^=:/\\#]+)=(?P<model>.+)")
_TRAINED = re.compile(r"(?P<model>.+?)(?:\+(?P<debias>[a-z-]+))?(?:@(?P<reads>hypothesis|premise))?")


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A model that shall be judged, and what it is called."""

    name: str
    reference: str | Model | None = None
    """What is loaded; nothing where the model is trained."""
    model: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of training, or of loading."""
    grid: Mapping[str, Sequence[Any]] | None = None
    """Values of options that are tried, to judge what is best on the dev sets."""

    @property
    def is_trained(self) -> bool:
        """Whether it has to be trained first."""
        return self.model is not None

    def with_options(self, options: Mapping[str, Any]) -> ModelChoice:
        """Return the choice with further options; those of its own name win."""
        return replace(self, options={**options, **self.options})

    def system(self, **training: Any) -> System:
        """Return the system that it is; one that is trained learns as ``training`` says."""
        if self.model is None:
            return System(name=self.name, reference=self.reference, loading=self.options)
        if not training.get("on"):
            raise InputError(f"{self.name} has to be trained first; say on what with --train PATH")
        options = {**training.pop("options", {}), **self.options}
        trained = Training(model=self.model, options=options, grid=self.grid, **training)
        return System(name=self.name, training=trained)


def parse_choice(text: str) -> ModelChoice:
    """Read ``[NAME=]MODEL``."""
    named = _NAMED.fullmatch(text)
    name, reference = (named["name"].strip(), named["model"].strip()) if named else (text, text)
    if not name or not reference:
        raise InputError(f"--models {text!r} is not of the form [NAME=]MODEL")
    trained = _TRAINED.fullmatch(reference.removeprefix(TRAIN))
    model, _, side = reference.partition("@")
    if side and model.partition("+")[0] in MODELS:
        one_of(f"{name}: side", side, ("hypothesis", "premise"))
    if trained is None or not _is_trained(reference, trained["model"]):
        return ModelChoice(name=name, reference=reference)
    options = {key: trained[key] for key in ("debias", "reads") if trained[key]}
    return ModelChoice(name=name, model=trained["model"], options=options)


def _is_trained(reference: str, model: str) -> bool:
    return reference.startswith(TRAIN) or (model in MODELS and model != WITH_REFERENCE)
