"""Protocols: everything a collection project can be told, as one configuration with a JSON form.

The defaults are the numbers of OCNLI (Hu et al. 2020, section 3 and appendices C and E). ``make_protocol`` gives a
ready-made configuration by name; what a project changes is kept in its own copy, so that a running project never
changes under the people who work in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from goldlabel.collect.kinds import KINDS, offered_kinds
from goldlabel.collect.messages import hint, message, one_of, words
from goldlabel.collect.money.amounts import LARGEST_AMOUNT
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.settings import bounds, dump_settings, load_settings, require, require_bounds, require_pattern
from goldlabel.collect.work.questions import MOST_QUESTIONS, Question
from goldlabel.messages import Word
from goldlabel.pairs.labels import ABSTENTIONS, LABEL_SPACES, NO_GOLD, LabelSpace, label_space
from goldlabel.pairs.lexicon import LEXICONS, lexicon
from goldlabel.registry import Registry

LANGUAGES = LEXICONS
LEVELS = ("easy", "medium", "hard")
LONGEST_LABEL, MOST_LABELS = 40, 9
"""Of labels of a requester's own; each has a digit for its key."""
LONGEST_LEASE = 30 * 24 * 3600
ONLY = "only"
"""The level of a hypothesis that is the only one for its label; it is none in the record."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One way of asking for hypotheses (section 3.2): which levels per label, and the rule on top.

    ``negated_contradictions`` is how many of a premise's contradictions may hold a negator. ``bonus`` says that
    premises which meet the criteria earn one; ``checked_share`` of the pairs are looked at by the requester, and
    those found to break the rule cost the penalty.

    Where people write against models, a condition is an arm: in one that ``shows_model`` a writer tries until the model
    is wrong; in the others the model is asked without their knowing, and what they send once is judged by others. In
    one that is ``assisted`` they begin with a suggestion.
    """

    name: str
    levels: tuple[str, ...] = LEVELS
    optional: tuple[str, ...] = ("hard",)
    negated_contradictions: int | None = field(default=None, metadata=bounds(0, 100))
    bonus: bool = False
    checked_share: float = field(default=0.0, metadata=bounds(0, 1))
    shows_model: bool = True
    assisted: bool = False

    def __post_init__(self) -> None:
        different = bool(self.levels) and len(set(self.levels)) == len(self.levels)
        require(different, "levels", self.levels, message("names"))
        some = {*self.optional} < {*self.levels}
        require(some, "optional", self.optional, message("some_not_all_of", names=words(self.levels)))
        require_bounds(self)


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

    shortest: int = field(metadata=bounds(1, 100_000))
    longest: int = field(metadata=bounds(1, 100_000))
    cleaning: tuple[Cleaning, ...] = ()

    def __post_init__(self) -> None:
        require_bounds(self)
        allowed = message("from_to", low=1, high=self.longest)
        require(self.shortest <= self.longest, "shortest", self.shortest, allowed)


@dataclass(frozen=True, kw_only=True)
class WritingRules:
    """What a hypothesis may share with its premise, and how premises are handed out.

    ``writers_per_premise`` people write about each premise in each condition. ``cap`` is the largest number of
    premises for one writer, ``batch`` how many make up one sitting. ``tries`` is how often they may try to write what
    a model gets wrong, where a project has one. ``meter`` shows writers what their sentences give away.
    """

    overlap: float = field(default=0.7, metadata=bounds(0, 1))
    longest: int = field(default=1000, metadata=bounds(1, 20_000))
    writers_per_premise: int = field(default=1, metadata=bounds(1, 100))
    batch: int = field(default=50, metadata=bounds(1, 10_000))
    cap: int | None = field(default=500, metadata=bounds(1, 10_000_000))
    lease_seconds: int = field(default=3600, metadata=bounds(1, LONGEST_LEASE))
    tries: int = field(default=1, metadata=bounds(1, 100))
    meter: bool = False

    def __post_init__(self) -> None:
        require_bounds(self)


@dataclass(frozen=True, kw_only=True)
class VerifyingRules:
    """How much is labelled again and by how many (section 3.3), and foreign pairs mixed in (appendix C).

    ``sample`` is how many of the imported pairs are drawn, where a project labels pairs that it did not write.
    ``suggestions`` is the share of tasks with which a pair's suggested label is shown. ``models`` says that votes of
    models count beside those of people; otherwise they are kept and decide nothing.
    """

    share: float = field(default=0.15, metadata=bounds(0, 1))
    verifiers: int = field(default=4, metadata=bounds(1, 100))
    abstentions: tuple[str, ...] = ("unrelated", "incomprehensible")
    foreign: int = field(default=200, metadata=bounds(0, 10_000_000))
    sample: int | None = field(default=None, metadata=bounds(1, 10_000_000))
    lease_seconds: int = field(default=600, metadata=bounds(1, LONGEST_LEASE))
    suggestions: float = field(default=0.0, metadata=bounds(0, 1))
    models: bool = False

    def __post_init__(self) -> None:
        require_bounds(self)
        known = {*self.abstentions} <= {*ABSTENTIONS}
        require(known, "abstentions", self.abstentions, message("some_of", names=words(ABSTENTIONS)))


@dataclass(frozen=True, kw_only=True)
class Qualification:
    """Training before work, and questions with known answers during it.

    A person must get ``threshold`` of the ``training`` examples right; ``gold_rate`` is the share of tasks that are
    questions with a known answer. Who falls below ``trust`` on those is flagged, and gets no more tasks where
    ``pause`` is set. ``feedback`` tells people how far their own work agrees with what was decided, and their pace.
    ``second_factor`` opens the pages of requesters to those alone who have one.
    """

    training: int = field(default=20, metadata=bounds(0, 1000))
    threshold: float = field(default=0.8, metadata=bounds(0, 1))
    gold_rate: float = field(default=0.05, metadata=bounds(0, 1))
    trust: float = field(default=0.7, metadata=bounds(0, 1))
    pause: bool = False
    feedback: bool = False
    second_factor: bool = False

    def __post_init__(self) -> None:
        require_bounds(self)


@dataclass(frozen=True, kw_only=True)
class Pay:
    """What work earns: per written pair, per label given, and what a pair earns or costs on top.

    ``rejected`` says that work which the requester rejects is paid all the same. ``floor`` is what an hour is to earn
    at least, ``budget`` what the whole project may cost; 0 for none.
    """

    currency: str
    pair: Decimal = field(default=Decimal("0.30"), metadata=bounds(0, LARGEST_AMOUNT))
    label: Decimal = field(default=Decimal("0.20"), metadata=bounds(0, LARGEST_AMOUNT))
    bonus: Decimal = field(default=Decimal("0.10"), metadata=bounds(0, LARGEST_AMOUNT))
    penalty: Decimal = field(default=Decimal("0.10"), metadata=bounds(0, LARGEST_AMOUNT))
    rejected: bool = False
    floor: Decimal = field(default=Decimal(0), metadata=bounds(0, LARGEST_AMOUNT))
    budget: Decimal = field(default=Decimal(0), metadata=bounds(0, LARGEST_AMOUNT))

    def __post_init__(self) -> None:
        code = self.currency.isascii() and self.currency.isalpha() and self.currency.isupper()
        require(code and len(self.currency) <= 10, "currency", self.currency, message("currency"))
        require_bounds(self)


@dataclass(frozen=True, kw_only=True)
class Negators:
    """What counts as a negator: words, a pattern that a whole word may match, longer words that only look like one."""

    words: tuple[str, ...]
    exceptions: tuple[str, ...] = ()
    pattern: str | None = None

    def __post_init__(self) -> None:
        require("" not in (*self.words, *self.exceptions), "words", self.words, message("filled_words"))
        require_pattern("pattern", self.pattern or "")


@dataclass(frozen=True, kw_only=True)
class SplitRules:
    """Sizes of dev and test, drawn from verified pairs; both shrink alike where there are fewer.

    ``dev_share`` and ``test_share`` are of the verified pairs; the sizes stay the most there can be. ``genres`` says in
    which split everything of a genre is.
    """

    dev: int = field(default=3000, metadata=bounds(0, 10_000_000))
    test: int = field(default=3000, metadata=bounds(0, 10_000_000))
    dev_share: float | None = field(default=None, metadata=bounds(0, 1))
    test_share: float | None = field(default=None, metadata=bounds(0, 1))
    genres: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_bounds(self)
        both = (self.dev_share or 0.0) + (self.test_share or 0.0)
        require(both <= 1, "dev_share", both, message("shares_sum"))
        known = {*self.genres.values()} <= {"train", "dev", "test"}
        require(known, "genres", [*self.genres.values()], message("some_of", names=words(("train", "dev", "test"))))


@dataclass(frozen=True, kw_only=True)
class TrainingExample:
    """A pair with its answer and why it is the answer; people of one ``role`` are asked it, or all."""

    premise: str
    hypothesis: str
    label: str
    explanation: str
    role: str = ""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The configuration of a project.

    ``labels`` names a label space, or is the labels themselves, joined by commas.
    ``instructions`` (name to Markdown) and ``examples`` stand in the place of the texts that come with Goldlabel.
    ``questions`` are asked after the main answer.
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
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in (("kind", tuple(KINDS)), ("language", LANGUAGES)):
            value = getattr(self, name)
            require(value in allowed, name, value, one_of(value, allowed))
        if "," in self.labels:
            require(_are_labels(self.labels.split(",")), "labels", self.labels, message("own_labels", most=MOST_LABELS))
        else:
            require(self.labels in LABEL_SPACES, "labels", self.labels, one_of(self.labels, LABEL_SPACES))
        names = [condition.name for condition in self.conditions]
        require(len(set(names)) == len(names), "conditions", names, message("names"))
        strange = [one.label for one in self.examples if one.label not in self.label_space]
        require(not strange, "examples", strange, message("one_of", names=words(self.label_space.labels)))
        wanted = KINDS.get(self.kind).has_conditions
        allowed_conditions = message("some_conditions" if wanted else "no_conditions", kind=Word(self.kind))
        require(bool(names) == wanted, "conditions", names, allowed_conditions)
        asked = [(one.asked, one.name) for one in self.questions]
        different = len(set(asked)) == len(asked) <= MOST_QUESTIONS
        require(different, "questions", [name for _, name in asked], message("own_questions", most=MOST_QUESTIONS))
        works = KINDS.get(self.kind).asks
        wrong = [work for work, _ in asked if work not in works]
        require(not wrong, "questions", wrong, message("one_of", names=words(works)))

    @property
    def label_space(self) -> LabelSpace:
        """The labels that pairs can have."""
        return label_space(self.labels)

    @property
    def ordered_labels(self) -> tuple[str, ...]:
        """The labels in the order in which people see them; a label space itself is sorted by the alphabet."""
        return tuple(self.labels.split(",")) if "," in self.labels else ORDER[self.labels]

    @property
    def answers(self) -> tuple[str, ...]:
        """What a verifier can answer, in the order shown: the labels, then the abstentions."""
        return (*self.ordered_labels, *self.verifying.abstentions)

    def condition(self, name: str) -> Condition:
        """Return a condition by its name, or say which there are."""
        found = next((condition for condition in self.conditions if condition.name == name), None)
        if found is None:
            names = [condition.name for condition in self.conditions]
            raise Invalid("no_condition", name=name, hint=hint(name, names))
        return found

    def slots(self, condition: str) -> list[tuple[str, str]]:
        """Return label and level of each hypothesis that a condition asks for, in the order shown."""
        levels = self.condition(condition).levels
        return [(label, level) for label in self.ordered_labels for level in levels]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; amounts of money are text, so that they stay exact."""
        return dump_settings(self)

    @classmethod
    def from_dict(cls, fields: object) -> Protocol:
        """Read what ``to_dict`` wrote; unknown, missing and impossible settings are named with what is allowed."""
        return load_settings(cls, fields, "protocol")


def _are_labels(labels: Sequence[str]) -> bool:
    """Say whether words can be labels of a requester's own: two to nine, different, short, not taken."""
    taken = (*ABSTENTIONS, NO_GOLD, "")
    words_fit = all(one == one.strip() and one not in taken and len(one) <= LONGEST_LABEL for one in labels)
    return 2 <= len(set(labels)) == len(labels) <= MOST_LABELS and words_fit


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
        kinds = [kind for kind in kinds if kind.joins_conditions and names[0] in kind.protocols] or kinds
    allowed = {name: kind for kind in kinds for name in kind.protocols}
    for one in names:
        if one not in allowed:
            raise Invalid("no_protocol", name=one, hint=hint(one, allowed))
    if language not in LANGUAGES:
        raise Invalid("no_language", language=language, hint=hint(language, LANGUAGES))
    return allowed[names[0]].make(names, language)


def with_settings(
    protocol: Protocol, changes: Mapping[str, Any], read: Callable[[Any, object], Any] = lambda value, _: value
) -> Protocol:
    """Return a protocol with some settings changed, each by its path, such as ``writing.cap``.

    ``read`` makes the new value of what is given and of what is there.
    """
    fields = protocol.to_dict()
    for path, value in changes.items():
        *parents, last = path.split(".")
        inner: Any = fields
        for parent in parents:
            inner = inner.get(parent) if isinstance(inner, dict) else None
        if not isinstance(inner, dict):
            raise Invalid("setting_unknown", where="protocol", name=path, hint=hint(parents[0], fields))
        inner[last] = read(value, inner.get(last))
    return Protocol.from_dict(fields)


def with_labels(protocol: Protocol, labels: str) -> Protocol:
    """Return a protocol with labels of a requester's own, joined by commas; without any, it stays as it is.

    Nobody is trained on them before there are examples.
    """
    own = [one.strip() for one in labels.replace("，", ",").split(",")]
    if not any(own):
        return protocol
    require(_are_labels(own), "labels", labels, message("own_labels", most=MOST_LABELS))
    return replace(protocol, labels=",".join(own), qualification=replace(protocol.qualification, training=0))


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
