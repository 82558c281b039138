"""What can be chosen for a training run; what is left open comes from the model's published recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args, get_type_hints

from goldlabel.errors import InputError
from goldlabel.models.model import DEVICES, PRECISIONS, READS, find_member
from goldlabel.models.options import own_options, parse_value
from goldlabel.pairs.tokens import TOKENIZERS
from goldlabel.registry import import_extra, one_of
from goldlabel.seeds import check_seed
from goldlabel.train.debias import DEBIAS

OWN = "options."
METHOD = "debias."
OPTIMISERS = ("adam", "adamw", "adadelta", "adagrad", "sgd")
SCHEDULES = ("constant", "linear", "cosine")


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """One training run."""

    seed: int = 0
    reads: str = "both"
    """``both``, ``hypothesis`` or ``premise``: what the model may see."""
    size: int | None = None
    """Train on that many pairs, drawn by the seed; the smaller of two sizes is part of the larger."""
    epochs: int | None = None
    batch: int | None = None
    batch_tokens: int | None = None
    """Cut batches by their padded tokens instead of by pairs."""
    accumulate: int = 1
    """Batches whose gradients are added up before a step."""
    optimiser: str | None = None
    lr: float | None = None
    schedule: str | None = None
    """How the learning rate changes from step to step: ``constant``, ``linear`` or ``cosine``."""
    warmup: float | None = None
    """The share of all steps over which the learning rate rises from 0."""
    floor: float | None = None
    """Training stops when the learning rate falls below."""
    l2: float | None = None
    clip: float | None = None
    patience: int | None = None
    length: int | None = None
    """Tokens read of a sentence, or of a pair by models that read both at once."""
    stop_on: str = "mean"
    """The dev set whose accuracy decides, or ``mean`` for the mean over all of them."""
    vectors: str | None = None
    train_vectors: bool | None = None
    tokenizer: str | None = None
    tagger: str = ""
    """What tags parts of speech, for networks that use them."""
    device: str = "auto"
    precision: str = "auto"
    start: str | None = None
    """A run folder whose weights training starts from."""
    debias: str | None = None
    """A debiasing method."""
    debias_options: Mapping[str, Any] = field(default_factory=dict)
    """The method's own options."""
    bias: tuple[str, ...] = ()
    """Bias models, where the method shall not take its usual one."""
    fixed: bool = False
    """Do not train: score the dev sets with the weights of ``start``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The model's own hyper-parameters."""

    def __post_init__(self) -> None:
        one_of("device", self.device, DEVICES)
        one_of("precision", self.precision, PRECISIONS)
        one_of("reads", self.reads, READS)
        for option, allowed in (("optimiser", OPTIMISERS), ("schedule", SCHEDULES)):
            if getattr(self, option) is not None:
                one_of(option, getattr(self, option), allowed)
        if self.tokenizer is not None:
            one_of("tokenizer", self.tokenizer, list(TOKENIZERS))
        check_seed(self.seed)
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name.replace('_', '-')} {value} is not a number from 1 on")
        for name in ("lr", "clip"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} {value} is not above 0")
        for name in ("l2", "floor"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"{name} {value} is not a number from 0 on")
        if self.warmup is not None and not 0 <= self.warmup < 1:
            raise InputError(f"warmup {self.warmup} is not a share from 0 on and below 1")
        if self.debias is not None:
            one_of("debias", self.debias, list(DEBIAS))
            if self.fixed:
                raise InputError("nothing is trained with --fixed; leave out --debias")
        elif self.bias or self.debias_options:
            what = "--bias" if self.bias else "--debias-set"
            raise InputError(f"{what} is about a debiasing method; say with --debias METHOD which: {', '.join(DEBIAS)}")
        if self.fixed and self.start is None:
            raise InputError("nothing is trained with --fixed; say with --from RUN whose weights are scored")

    def to_dict(self) -> dict[str, Any]:
        """Return what the run folder keeps."""
        return asdict(self) | {"bias": list(self.bias)}


_COUNTS = ("size", "epochs", "batch", "batch_tokens", "accumulate", "patience", "length")


def change_options(options: TrainOptions, changes: Mapping[str, Any]) -> TrainOptions:
    """Put changes into options: of fields by their names, of the model's own options by theirs.

    ``options.NAME`` is a model's option even where a field has the same name, ``debias.NAME`` the debiasing method's.
    """
    fields: dict[str, Any] = {"options": options.options, "debias_options": options.debias_options}
    fields |= {name: value for name, value in changes.items() if name in OPTION_NAMES}
    for name, value in changes.items():
        if name.startswith(METHOD):
            fields["debias_options"] = {**fields["debias_options"], name.removeprefix(METHOD): value}
        elif name not in OPTION_NAMES:
            fields["options"] = {**fields["options"], name.removeprefix(OWN): value}
    if isinstance(fields.get("bias"), str):
        fields["bias"] = (fields["bias"],)
    return replace(options, **fields)


def model_options(model: str) -> dict[str, Any]:
    """Return the names of a model's own options and their defaults."""
    options: dict[str, Any] = find_member(model).own_options()
    return options


def method_options(debias: str) -> dict[str, Any]:
    """Return the names of a debiasing method's options and their defaults."""
    import_extra("torch", "torch")
    return own_options(DEBIAS.get(debias))


def parse_field(name: str, value: Any) -> Any:
    """Read a value of one of the fields of ``TrainOptions``."""
    hint = get_type_hints(TrainOptions)[name]
    return parse_value(name, value, next(kind for kind in (bool, int, float, str) if kind in (hint, *get_args(hint))))


OPTION_NAMES = tuple(field.name for field in fields(TrainOptions))
