"""Protocols: everything a collection project can be told, as one configuration with a JSON form.

The defaults are the numbers of OCNLI (Hu et al. 2020, section 3 and appendices C and E). ``make_protocol`` gives a
ready-made configuration by name; what a project changes is kept in its own copy, so that a running project never
changes under the people who work in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from goldlabel.collect.kinds import KINDS, offered_kinds
from goldlabel.collect.settings import dump_settings, load_settings, require, require_pattern, require_share
from goldlabel.errors import InputError
from goldlabel.pairs.labels import ABSTENTIONS, LABEL_SPACES, LabelSpace
from goldlabel.pairs.lexicon import LEXICONS, lexicon
from goldlabel.registry import Registry, suggest

LANGUAGES = LEXICONS
LEVELS = ("easy", "medium", "hard")
ONLY = "only"
"""The level of a hypothesis that is the only one for its label; it is none in the record."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One way of asking for hypotheses (section 3.2): which levels per label, and the rule on top.

    ``negated_contradictions`` is how many of a premise's contradictions may hold a negator. ``bonus`` says that
    premises which meet the criteria earn one; ``checked_share`` of the pairs are looked at by the requester, and
    those found to break the rule cost the penalty.
    """

    name: str
    levels: tuple[str, ...] = LEVELS
    optional: tuple[str, ...] = ("hard",)
    negated_contradictions: int | None = None
    bonus: bool = False
    checked_share: float = 0.0

    def __post_init__(self) -> None:
        require(
            bool(self.levels) and len(set(self.levels)) == len(self.levels), "levels", self.levels, "different names"
        )
        require(
            {*self.optional} < {*self.levels}, "optional", self.optional, f"some, not all, of {', '.join(self.levels)}"
        )
        require(
            self.negated_contradictions is None or self.negated_contradictions >= 0,
            "negated_contradictions",
            self.negated_contradictions,
            "0 or more, or null for no rule",
        )
        require_share("checked_share", self.checked_share)


CONDITIONS: Registry[Condition] = Registry("condition")
for _condition in (
    Condition(name="single", levels=(ONLY,), optional=()),
    Condition(name="multi"),
    Condition(name="multi-encourage", bonus=True),
    Condition(name="multi-constraint", negated_contradictions=1, checked_share=0.1),
):
    CONDITIONS.add(_condition.name, _condition)


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """A replacement made in every premise; patterns are Rust's, which take linear time whatever the text."""

    pattern: str
    replacement: str = ""

    def __post_init__(self) -> None:
        require_pattern("pattern", self.pattern)


@dataclass(frozen=True, kw_only=True)
class PremiseRules:
    """Which premises are taken: their length in characters after cleaning."""

    shortest: int
    longest: int
    cleaning: tuple[Cleaning, ...] = ()

    def __post_init__(self) -> None:
        require(1 <= self.shortest <= self.longest, "shortest", self.shortest, f"from 1 to longest ({self.longest})")


@dataclass(frozen=True, kw_only=True)
class WritingRules:
    """What a hypothesis may share with its premise, and how premises are handed out.

    ``writers_per_premise`` people write about each premise in each condition. ``cap`` is the largest number of
    premises for one writer, ``batch`` how many make up one sitting. ``tries`` is how often they may try to write what
    a model gets wrong, where a project has one.
    """

    overlap: float = 0.7
    longest: int = 1000
    writers_per_premise: int = 1
    batch: int = 50
    cap: int | None = 500
    lease_seconds: int = 3600
    tries: int = 1

    def __post_init__(self) -> None:
        require_share("overlap", self.overlap)
        for name in ("longest", "writers_per_premise", "batch", "lease_seconds", "tries"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        require(self.cap is None or self.cap >= 1, "cap", self.cap, "1 or more, or null for no cap")


@dataclass(frozen=True, kw_only=True)
class VerifyingRules:
    """How much is labelled again and by how many (section 3.3), and foreign pairs mixed in (appendix C).

    ``sample`` is how many of the imported pairs are drawn, where a project labels pairs that it did not write.
    """

    share: float = 0.15
    verifiers: int = 4
    abstentions: tuple[str, ...] = ("unrelated", "incomprehensible")
    foreign: int = 200
    sample: int | None = None
    lease_seconds: int = 600

    def __post_init__(self) -> None:
        require_share("share", self.share)
        for name in ("verifiers", "lease_seconds"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        require(
            {*self.abstentions} <= {*ABSTENTIONS}, "abstentions", self.abstentions, f"some of {', '.join(ABSTENTIONS)}"
        )
        require(self.foreign >= 0, "foreign", self.foreign, "0 or more")
        require(self.sample is None or self.sample >= 1, "sample", self.sample, "1 or more, or null for all")


@dataclass(frozen=True, kw_only=True)
class Qualification:
    """Training before work, and questions with known answers during it.

    A person must get ``threshold`` of the ``training`` examples right; ``gold_rate`` is the share of tasks that are
    questions with a known answer. Who falls below ``trust`` on those is flagged, and gets no more tasks where
    ``pause`` is set.
    """

    training: int = 20
    threshold: float = 0.8
    gold_rate: float = 0.05
    trust: float = 0.7
    pause: bool = False

    def __post_init__(self) -> None:
        require(self.training >= 0, "training", self.training, "0 or more")
        for name in ("threshold", "gold_rate", "trust"):
            require_share(name, getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class Pay:
    """What work earns: per written pair, per label given, and what a pair earns or costs on top."""

    currency: str
    pair: Decimal = Decimal("0.30")
    label: Decimal = Decimal("0.20")
    bonus: Decimal = Decimal("0.10")
    penalty: Decimal = Decimal("0.10")

    def __post_init__(self) -> None:
        require(self.currency.isalpha() and self.currency.isupper(), "currency", self.currency, "a code such as CNY")
        for name in ("pair", "label", "bonus", "penalty"):
            amount: Decimal = getattr(self, name)
            require(amount.is_finite() and amount >= 0, name, amount, "0 or more")


@dataclass(frozen=True, kw_only=True)
class Negators:
    """What counts as a negator: words, a pattern that a whole word may match, longer words that only look like one."""

    words: tuple[str, ...]
    exceptions: tuple[str, ...] = ()
    pattern: str | None = None

    def __post_init__(self) -> None:
        require("" not in (*self.words, *self.exceptions), "words", self.words, "words that are not empty")
        require_pattern("pattern", self.pattern or "")


@dataclass(frozen=True, kw_only=True)
class SplitRules:
    """Sizes of dev and test, drawn from verified pairs; both shrink alike where there are fewer."""

    dev: int = 3000
    test: int = 3000

    def __post_init__(self) -> None:
        for name in ("dev", "test"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")


@dataclass(frozen=True, kw_only=True)
class TrainingExample:
    """A pair with its answer and why it is the answer."""

    premise: str
    hypothesis: str
    label: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The configuration of a project.

    ``instructions`` (name to Markdown) and ``examples`` stand in the place of the texts that come with Goldlabel.
    """

    kind: str
    language: str
    premises: PremiseRules
    pay: Pay
    negators: Negators
    labels: str = "nli3"
    conditions: tuple[Condition, ...] = ()
    writing: WritingRules = WritingRules()
    verifying: VerifyingRules = VerifyingRules()
    qualification: Qualification = Qualification()
    splits: SplitRules = SplitRules()
    instructions: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[TrainingExample, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in (("kind", tuple(KINDS)), ("language", LANGUAGES), ("labels", tuple(LABEL_SPACES))):
            value = getattr(self, name)
            require(value in allowed, name, value, suggest(value, list(allowed)).removeprefix("allowed: "))
        names = [condition.name for condition in self.conditions]
        require(len(set(names)) == len(names), "conditions", names, "different names")
        strange = [one.label for one in self.examples if one.label not in self.label_space]
        require(not strange, "examples", strange, ", ".join(self.label_space.labels))
        wanted = KINDS.get(self.kind).has_conditions
        allowed_conditions = f"one or more for {self.kind}" if wanted else f"none for {self.kind}"
        require(bool(names) == wanted, "conditions", names, allowed_conditions)

    @property
    def label_space(self) -> LabelSpace:
        """The labels that pairs can have."""
        return LABEL_SPACES.get(self.labels)

    @property
    def answers(self) -> tuple[str, ...]:
        """What a verifier can answer, in the order shown: the labels, then the abstentions."""
        return (*ORDER[self.labels], *self.verifying.abstentions)

    def condition(self, name: str) -> Condition:
        """Return a condition by its name, or say which there are."""
        found = next((condition for condition in self.conditions if condition.name == name), None)
        if found is None:
            names = [condition.name for condition in self.conditions]
            raise InputError(f"there is no condition {name!r} in this project; {suggest(name, names)}")
        return found

    def slots(self, condition: str) -> list[tuple[str, str]]:
        """Return label and level of each hypothesis that a condition asks for, in the order shown."""
        levels = self.condition(condition).levels
        return [(label, level) for label in ORDER[self.labels] for level in levels]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; amounts of money are text, so that they stay exact."""
        return dump_settings(self)

    @classmethod
    def from_dict(cls, fields: object) -> Protocol:
        """Read what ``to_dict`` wrote; unknown, missing and impossible settings are named with what is allowed."""
        return load_settings(cls, fields, "protocol")


ORDER = {
    "nli3": ("entailment", "neutral", "contradiction"),
    "nli2": ("entailment", "not_entailment"),
    "scitail": ("entailment", "neutral"),
    "ordinal5": ("very_likely", "likely", "plausible", "technically_possible", "impossible"),
}
"""Labels in the order in which people see them; a label space itself is sorted by the alphabet."""

_LENGTHS = {"zh": (8, 50), "en": (20, 200)}
_CURRENCIES = {"zh": "CNY", "en": "USD"}


def protocol_names() -> tuple[str, ...]:
    """Return the names of the ready-made protocols."""
    return tuple(name for kind in offered_kinds() for name in kind.protocols)


def make_protocol(name: str, language: str) -> Protocol:
    """Return a ready-made protocol; several conditions joined by commas share one project."""
    names = name.split(",")
    kinds = offered_kinds()
    if len(names) > 1:
        kinds = [kind for kind in kinds if kind.has_conditions]
    allowed = {name: kind for kind in kinds for name in kind.protocols}
    for one in names:
        if one not in allowed:
            raise InputError(f"there is no protocol {one!r}; {suggest(one, list(allowed))}")
    if language not in LANGUAGES:
        raise InputError(f"there is no protocol for language {language!r}; {suggest(language, list(LANGUAGES))}")
    return allowed[names[0]].make(names, language)


def base_protocol(kind: str, language: str, conditions: Sequence[Condition] = ()) -> Protocol:
    """Return what all ready-made protocols of a language begin with."""
    shortest, longest = _LENGTHS[language]
    entry = lexicon(language)["negation"]
    return Protocol(
        kind=kind,
        language=language,
        conditions=tuple(conditions),
        premises=PremiseRules(shortest=shortest, longest=longest),
        pay=Pay(currency=_CURRENCIES[language]),
        negators=Negators(
            words=tuple(entry["words"]),
            exceptions=tuple(entry.get("except", ())),
            pattern=entry.get("pattern"),
        ),
    )
