"""Label spaces and the mappings between them.

A label is a word. The order of a space's labels carries no meaning: it is always the alphabet's, so that
column ``j`` of any score matrix is the ``j``-th word of ``space.labels``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goldlabel.errors import InputError
from goldlabel.registry import Registry, suggest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_GOLD = "-"
"""Stands in the column ``label`` where the votes gave no gold label."""

ABSTENTIONS = ("incomprehensible", "unknown", "unrelated")
"""What an annotator may vote instead of a label; it never becomes gold."""


@dataclass(frozen=True)
class LabelSpace:
    """A named set of labels.

    ``aliases`` are other spellings that mean the same everywhere they are found. Integers are never among
    them: which number means what differs between corpora, so numbers need a map from the user.
    """

    name: str
    labels: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False, hash=False)

    def __post_init__(self) -> None:
        if len(set(self.labels)) != len(self.labels) or len(self.labels) < 2:
            raise InputError(f"label space {self.name!r} needs two or more different labels, not {self.labels}")
        if NO_GOLD in self.labels or "" in self.labels:
            raise InputError(f"label space {self.name!r} cannot contain {NO_GOLD!r} or an empty label")
        object.__setattr__(self, "labels", tuple(sorted(self.labels)))

    def __contains__(self, label: object) -> bool:
        return label in self.labels

    def __len__(self) -> int:
        return len(self.labels)

    def index(self, label: str) -> int:
        """Return the column of ``label`` in a score matrix over this space."""
        if label not in self.labels:
            raise InputError(f"label {label!r} is not one of {', '.join(self.labels)}")
        return self.labels.index(label)

    def spellings(self, renamed: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return every accepted spelling, in lower case, with the label it stands for.

        ``renamed`` is the user's explicit map, the only way to read numbers; it wins over the aliases.
        """
        known = {label.lower(): label for label in self.labels} | dict(self.aliases)
        for spelling, label in (renamed or {}).items():
            if label != NO_GOLD and label not in self.labels:
                raise InputError(
                    f"the map {spelling}={label} leads out of label space {self.name!r}; "
                    f"{suggest(label, [*self.labels, NO_GOLD])}"
                )
            known[spelling.lower()] = label
        return known


LABEL_SPACES: Registry[LabelSpace] = Registry("label space")

NLI3 = LabelSpace(
    "nli3",
    ("entailment", "neutral", "contradiction"),
    {"e": "entailment", "n": "neutral", "c": "contradiction"},
)
_NOT_ENTAILMENT = (
    "not-entailment",
    "not entailment",
    "non-entailment",
    "not-entailed",
    "not_entailed",
    "not entailed",
)
NLI2 = LabelSpace(
    "nli2",
    ("entailment", "not_entailment"),
    {"entailed": "entailment", **dict.fromkeys(_NOT_ENTAILMENT, "not_entailment")},
)
SCITAIL = LabelSpace(
    "scitail",
    ("entailment", "neutral"),
    {"entails": "entailment", "e": "entailment", "n": "neutral"},
)
ORDINAL5 = LabelSpace(
    "ordinal5",
    ("very_likely", "likely", "plausible", "technically_possible", "impossible"),
    {"very likely": "very_likely", "technically possible": "technically_possible"},
)
for _space in (NLI3, NLI2, SCITAIL, ORDINAL5):
    LABEL_SPACES.add(_space.name, _space)


def label_space(name: str) -> LabelSpace:
    """Return a registered space, or a new one from labels joined by commas (``yes,no``)."""
    if "," in name:
        return LabelSpace(name, tuple(label.strip() for label in name.split(",")))
    return LABEL_SPACES.get(name)


@dataclass(frozen=True)
class ScoreMapping:
    """How scores over one space become scores over another.

    ``targets`` sends each source label to its target label. Scores of labels with the same target add up;
    a label sent to ``None`` is dropped and the rest is scaled to sum to one again.
    """

    source: LabelSpace
    target: LabelSpace
    targets: Mapping[str, str | None]
    convention: str

    def apply(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """Map an ``(n, source labels)`` matrix of probabilities to ``(n, target labels)``; rows of NaN stay such."""
        import numpy as np

        matrix = np.zeros((len(self.source), len(self.target)))
        for label, target in self.targets.items():
            if target is not None:
                matrix[self.source.index(label), self.target.index(target)] = 1.0
        mapped: NDArray[np.float64] = np.asarray(scores, dtype=np.float64) @ matrix
        total = mapped.sum(axis=1, keepdims=True)
        # Everything was on dropped labels: nothing is known about the rest.
        return np.where(total == 0, 1.0 / len(self.target), mapped / np.where(total == 0, 1.0, total))

    def label(self, label: str) -> str | None:
        """Map one gold label; ``None`` if the target space has no word for it."""
        if label == NO_GOLD:
            return NO_GOLD
        self.source.index(label)
        return self.targets[label]


_MAPPINGS = (
    ScoreMapping(
        NLI3,
        NLI2,
        {"entailment": "entailment", "neutral": "not_entailment", "contradiction": "not_entailment"},
        "contradiction and neutral add up to not_entailment",
    ),
    ScoreMapping(
        NLI3,
        SCITAIL,
        {"entailment": "entailment", "neutral": "neutral", "contradiction": None},
        "contradiction is dropped and the rest renormalised",
    ),
    ScoreMapping(
        SCITAIL,
        NLI2,
        {"entailment": "entailment", "neutral": "not_entailment"},
        "neutral is not_entailment",
    ),
    # The conversion of Poliak et al. (2018), "Hypothesis Only Baselines in Natural Language Inference".
    ScoreMapping(
        ORDINAL5,
        NLI3,
        {
            "very_likely": "entailment",
            "likely": "neutral",
            "plausible": "neutral",
            "technically_possible": "neutral",
            "impossible": "contradiction",
        },
        "very_likely is entailment, impossible is contradiction, the three between add up to neutral",
    ),
)


def score_mapping(source: LabelSpace, target: LabelSpace) -> ScoreMapping:
    """Return the documented mapping from ``source`` to ``target``; equal spaces map to themselves."""
    if source.labels == target.labels:
        return ScoreMapping(source, target, {label: label for label in source.labels}, "the same labels")
    for mapping in _MAPPINGS:
        if (mapping.source.labels, mapping.target.labels) == (source.labels, target.labels):
            return mapping
    known = ", ".join(f"{mapping.source.name} to {mapping.target.name}" for mapping in _MAPPINGS)
    raise InputError(
        f"scores over {source.name} ({', '.join(source.labels)}) have no mapping to {target.name} "
        f"({', '.join(target.labels)}); known: {known}"
    )


def map_labels(labels: Sequence[str], source: LabelSpace, target: LabelSpace) -> list[str]:
    """Map gold labels to another space, or name the first label that has no counterpart."""
    mapping = score_mapping(source, target)
    words = {}
    for label in dict.fromkeys(labels):
        mapped = mapping.label(label)
        if mapped is None:
            raise InputError(f"label {label!r} of {source.name} has no counterpart in {target.name}")
        words[label] = mapped
    return [words[label] for label in labels]
