"""What a recaster is: a pure function from a source's annotation to pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.pairs.labels import NLI2, LabelSpace
from goldlabel.registry import Registry
from goldlabel.seeds import check_seed

ENTAILED = "entailment"
NOT_ENTAILED = "not_entailment"
ENGLISH = "en"


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to recast.

    ``dnc`` gives the published form, faults and all; ``plain`` gives natural text with its faults mended.
    ``person`` and ``questions`` are the policies of Poliak et al. (2018), appendix A.
    """

    style: Literal["dnc", "plain"] = "plain"
    seed: int = 0
    person: Literal["conservative", "observer", "speaker"] = "speaker"
    questions: Literal["keep", "remove"] = "keep"
    names: Path | None = None
    """A file of first names with counts, for templates that need a name; a short list is built in."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What only one recaster knows; it names them itself."""

    def __post_init__(self) -> None:
        check_seed(self.seed)


@dataclass(frozen=True, kw_only=True)
class Recasting:
    """One pair made from one annotation.

    ``source_id`` names the annotated item (a sentence, a row, an event): pairs that share it stay in one split
    and count as one event, and follow one another. ``split`` is the source's own split, where it has one.
    ``group`` is what must not be split apart when it is more than one item; in the plain style it is the same
    wherever the premise's text is. ``where`` is the file and line that the item was read from, to name it if it is
    at fault or another has its id. ``remark`` is what is worth knowing of pairs like this one though they are kept;
    a run counts them. ``meta`` may have ``published_id``, where the release gave another id, and ``name``, the first
    name that was drawn.
    """

    premise: str
    hypothesis: str
    label: str
    source_id: str
    corpus: str
    licence: str
    split: str | None = None
    group: str | None = None
    creation: str = "automatic"
    where: str = ""
    remark: str | None = None
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """An annotation that gives no pair, and why."""

    source_id: str
    reason: str


Recast = Callable[[Sequence[InputFile], Options], Iterable[Recasting | Skipped]]


@dataclass(frozen=True, kw_only=True)
class Recaster:
    """A kind of annotation and the function that recasts it."""

    name: str
    phenomenon: str
    title: str
    paper: str
    sources: str
    """What files it takes, in a line."""
    recast: Recast
    label_space: LabelSpace = NLI2
    settings: Mapping[str, str] = field(default_factory=dict)
    """The settings it knows, and what each does."""
    space_of: Callable[[Sequence[InputFile]], LabelSpace] | None = None
    """Where the files decide on the label space, what reads it."""
    language: str = ENGLISH
    language_of: Callable[[Sequence[InputFile]], str] | None = None
    """Where the files decide on the language, what reads it."""


RECASTERS: Registry[Recaster] = Registry(
    "recaster", entry_points="goldlabel.recasters", is_one=lambda value: isinstance(value, Recaster)
)


def chosen_setting(options: Options, name: str, allowed: Sequence[str], default: str) -> str:
    """Return what a setting was set to, which must be one of the words allowed."""
    chosen = options.settings.get(name, default)
    if chosen not in allowed:
        raise InputError(f"--set {name}={chosen}: is not one of {', '.join(allowed)}")
    return chosen
