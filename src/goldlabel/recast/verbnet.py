"""Thematic roles: who did what in an example of VerbNet (released with Poliak et al. 2018; VerbNet of Schuler 2005).

Each class's frames have an example, its syntax as a row of roles, and its meaning as predicates over roles. The
example is cut along the syntax, which tells each role's words; each predicate that has a template gives hypotheses
with its own roles, entailed, and with other roles of the example in their place, not entailed. An example that does
not fit its syntax is left out.

Predicates are those of VerbNet 3.4 and, where the names differ, of the older ones that were published. Style ``plain``
leaves out what is no noun phrase (*information about to leave*) and the other way round of what is symmetric.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element as XmlElement

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.gerunds import accusative, forms, gerund, gerund_of_form, is_plural, lemma_of_form, nominative
from goldlabel.recast.reading import choose
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.treebank import join, tokenise
from goldlabel.sources.markup import parse_xml

LICENCE = "http://verbs.colorado.edu/verbnet_downloads/license.3.0.txt"


@dataclass(frozen=True)
class Template:
    """A hypothesis with slots: X and Y are roles as subjects, x and y as objects.

    ``slots`` are the places of the roles among a predicate's, or their names. ``unsaid`` is what holds where the
    example does not name the role.
    """

    words: str
    slots: tuple[int | str, ...]
    symmetric: bool = False
    unsaid: str | None = None


_USE = (
    Template("During the {event}, {X} used {y}", (0, 1)),
    Template("{X} used something", (0,)),
    Template("{X} {was} used", (1,)),
)
_EXIST = (Template("{X} existed", (0,)),)
_FORM = (Template("The {event} changed the physical form of {x}", (0,)),)
_CAUSE = Template("{X} caused the {event}", ("Agent",))
TEMPLATES: Mapping[str, tuple[Template, ...]] = {
    "motion": (Template("{X} moved", (0,)),),
    "transfer_info": (
        Template("{X} transferred information to {y} about {z}", ("Agent", "Recipient", "Topic")),
        Template("{X} transferred information", ("Agent",)),
        Template("{X} received information", ("Recipient",), unsaid="Someone received information"),
        Template("Information about {x} was transferred", ("Topic",), unsaid="Some information was transferred"),
    ),
    "utilize": _USE,
    "use": _USE,
    "be": _EXIST,
    "exist": _EXIST,
    "has_physical_form": _FORM,
    "physical_form": _FORM,
    "contact": (Template("{X} {was} in contact with {y}", (0, 1), symmetric=True),),
    "degradation_material_integrity": (Template("{X} {was} degraded as the result of the {event}", (0,)),),
    "emit": (Template("{X} {was} emitted", (1,)),),
    "search": (
        Template("{X} searched {z} for {y}", ("Agent", "Theme", "Location")),
        Template("{X} conducted a search", ("Agent",)),
        Template("{X} {was} searched", ("Location",)),
        Template("The search was for {x}", ("Theme",)),
    ),
    "take_care_of": (Template("{X} took care of {y}", (0, 1)), Template("{X} {was} cared for", (1,))),
    "has_possession": (Template("At the beginning of the {event}, {X} had possession of {y}", (0, 1)),),
    "transfer": (Template("{X} {was} transferred", ("Theme",)),),
    "assess": (Template("{X} did an assessment", ("Agent",)), Template("{X} {was} assessed", ("Theme",))),
    "has_location": (Template("{X} {was} the initial location", ("Initial_Location",)),),
}
_FIRST = frozenset(["has_possession", "has_location"])
"""Predicates that hold at other times too, and of which the first event is meant."""
_PARTICIPANTS = {"Agent", "Beneficiary", "Co-Agent", "Co-Patient", "Co-Theme", "Experiencer", "Instrument", "Patient"}
_PARTICIPANTS |= {"Pivot", "Product", "Recipient", "Stimulus", "Theme"}
_NOUN_PHRASES = {"definite", "genitive", "plural", "refl"}
_AUXILIARIES = re.compile(
    r"(?:am|are|be|been|being|can|could|did|do|does|had|has|have|is|may|might|must|n't|not|shall|should|was|were|will|"
    r"would|never|\w+ly)"
)
_PUNCTUATION = re.compile(r"[`'\".,;:!?]+")
_STARTS = re.compile(
    r"(?:a|an|the|this|that|these|those|my|your|his|her|its|our|their|some|any|no|all|me|him|us|them|it|you|to|what|"
    r"whether|how|when|where|who|why|if|for|\d.*|[A-Z].*|\$|`+)"
)
_PRONOUN = re.compile(r"me|him|her|us|them|it|you")
_COMPLEMENTISER = re.compile(r"that|when|whether|how|if")
_PREPOSITIONS = frozenset(
    word
    for line in (
        "about above across after against along among around as at before behind below beneath beside between by",
        "down during for from in into like near of off on onto out over past through throughout to toward towards",
        "under until up upon with within without",
    )
    for word in line.split()
)


@dataclass(frozen=True)
class Element:
    """A part of a frame's syntax: a role, or words that must stand there."""

    kind: str
    role: str
    words: frozenset[str]
    clause: bool


@dataclass(frozen=True)
class Predicate:
    """A predicate that holds: its roles in order, and whether it is of the first event."""

    name: str
    roles: tuple[str, ...]
    first: bool


@dataclass(frozen=True)
class Frame:
    """An example with its syntax and meaning."""

    where: str
    source_id: str
    published_id: str
    text: str
    syntax: tuple[Element, ...]
    predicates: tuple[Predicate, ...]


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield the hypotheses of each example of each class."""
    seen: set[str] = set()
    for file in choose(files, ".xml", "verbnet takes the classes' XML files"):
        root, lines = parse_xml(file)
        if root.tag != "VNCLASS":
            raise InputError(f"{file} line 1: is no class of VerbNet; its root is {root.tag!r}, not VNCLASS")
        class_id = root.get("ID", "")
        if class_id in seen:
            yield Skipped(class_id, "the class stands in another file too")
            continue
        seen.add(class_id)
        verbs = {form: lemma for lemma in _members(root) for form in forms(lemma)}
        for frame in _frames(file, root, lines):
            tokens = tokenise(frame.text)
            aligned = align(tokens, frame.syntax, verbs)
            if aligned is None:
                yield Skipped(frame.source_id, "its example does not fit its syntax")
                continue
            pairs = list(_pairs(frame, tokens, *aligned, class_id, options))
            yield from pairs
            if not pairs:
                yield Skipped(frame.source_id, "its predicates have no template")


def align(
    tokens: Sequence[str], syntax: Sequence[Element], verbs: Mapping[str, str]
) -> tuple[str, Mapping[str, Sequence[str]]] | None:
    """Return the verb's -ing form and the words of each role, or ``None`` if the example does not fit."""
    kinds = [element.kind for element in syntax]
    if "VERB" not in kinds:
        return None
    before, after = syntax[: kinds.index("VERB")], syntax[kinds.index("VERB") + 1 :]
    known = [place for place, token in enumerate(tokens) if token.lower() in verbs]
    guessed = [place for place, token in enumerate(tokens) if lemma_of_form(token) != token.lower() and place]
    for place in [*known, *guessed]:
        start = place
        while start and _AUXILIARIES.fullmatch(tokens[start - 1].lower()):
            start -= 1
        left = _match(tokens[:start], before)
        right = _match(tokens[place + 1 :], after) if left is not None else None
        if left is not None and right is not None:
            token = tokens[place].lower()
            return (gerund(verbs[token]) if token in verbs else gerund_of_form(token)), {**left, **right}
    return None


def _match(tokens: Sequence[str], elements: Sequence[Element]) -> dict[str, Sequence[str]] | None:
    """Cut words along the elements of a syntax, the shortest first."""
    if not elements:
        left = [token for token in tokens if not _PUNCTUATION.fullmatch(token) and not token.endswith("ly")]
        return None if left else {}
    first, rest = elements[0], elements[1:]
    if first.kind in ("PREP", "LEX"):
        skipped = next((i for i, token in enumerate(tokens) if not _PUNCTUATION.fullmatch(token)), len(tokens))
        fits = skipped < len(tokens) and tokens[skipped].lower() in first.words
        return _match(tokens[skipped + 1 :], rest) if fits else None
    for end in _ends(tokens, rest):
        words = _trimmed(tokens[:end])
        matched = _match(tokens[end:], rest) if words else None
        if matched is not None:
            return {first.role: words, **matched} if first.role else matched
    return None


def _ends(tokens: Sequence[str], rest: Sequence[Element]) -> Iterable[int]:
    """Return where a phrase may end: at the end, before a word that the syntax has next, before a new phrase."""
    if not rest:
        return [len(tokens)]
    places = range(1, len(tokens))
    if rest[0].kind in ("PREP", "LEX"):
        return [place for place in places if tokens[place].lower() in rest[0].words]
    starts = [place for place in places if _STARTS.fullmatch(tokens[place])]
    if tokens and _PRONOUN.fullmatch(tokens[0].lower()) and (tokens[0].lower() != "her" or 1 in starts):
        return [1]
    fresh = [place for place in starts if not _STARTS.fullmatch(tokens[place - 1])]
    return [*fresh, *starts, *places[:1]]


def _trimmed(tokens: Sequence[str]) -> Sequence[str]:
    start, end = 0, len(tokens)
    while start < end and _PUNCTUATION.fullmatch(tokens[start]):
        start += 1
    while start < end and _PUNCTUATION.fullmatch(tokens[end - 1]):
        end -= 1
    return tokens[start:end]


def _members(root: XmlElement) -> list[str]:
    return [member.get("name", "").split("_")[0].lower() for member in root.iter("MEMBER")]


def _frames(file: InputFile, root: XmlElement, lines: Mapping[XmlElement, int]) -> Iterator[Frame]:
    for owner in root.iter():
        if owner.tag not in ("VNCLASS", "VNSUBCLASS"):
            continue
        class_id = owner.get("ID", "")
        for number, frame in enumerate(owner.findall("FRAMES/FRAME"), 1):
            description = frame.find("DESCRIPTION")
            primary = description.get("primary", "") if description is not None else ""
            syntax = tuple(_element(element) for element in frame.findall("SYNTAX/*"))
            predicates = tuple(_predicates(frame))
            for place, example in enumerate(frame.findall("EXAMPLES/EXAMPLE"), 1):
                text = " ".join((example.text or "").split())
                if text:
                    source_id = f"{class_id}:{number}:{place}"
                    where = f"{file} line {lines[example]}"
                    yield Frame(where, source_id, f"{class_id}_{primary}", text, syntax, predicates)


def _element(element: XmlElement) -> Element:
    value = element.get("value", "")
    restrictions = [rule.get("type", "") for rule in element.iter("SYNRESTR") if rule.get("Value") == "+"]
    words = frozenset(re.findall(r"[a-z']+", value.lower()))
    if element.tag == "PREP":
        return Element("PREP", "", words or _PREPOSITIONS, False)
    if element.tag == "LEX":
        return Element("LEX", "", words, False)
    clause = any(restriction not in _NOUN_PHRASES for restriction in restrictions)
    return Element(element.tag, value if element.tag == "NP" else "", frozenset(), clause)


def _predicates(frame: XmlElement) -> Iterator[Predicate]:
    for predicate in frame.findall("SEMANTICS/PRED"):
        if predicate.get("bool") == "!":
            continue
        arguments = [(arg.get("type", ""), arg.get("value", "")) for arg in predicate.findall("ARGS/ARG")]
        roles = tuple(value for kind, value in arguments if kind == "ThemRole")
        events = [value for kind, value in arguments if kind == "Event"]
        first = bool(events) and events[0].lower() in ("e1", "start(e)")
        yield Predicate(predicate.get("value", ""), roles, first)


def _said(frame: Frame, roles: Mapping[str, Sequence[str]]) -> Iterator[tuple[Template, tuple[str, ...]]]:
    """Yield each template of the frame's predicates with the roles in its slots; no roles where one is unsaid."""
    names = {predicate.name for predicate in frame.predicates}
    if "Agent" in roles and names & {"cause", "do"}:
        yield _CAUSE, ("Agent",)
    for predicate in frame.predicates:
        if predicate.name in _FIRST and not predicate.first:
            continue
        for template in TEMPLATES.get(predicate.name, ()):
            slots = []
            for slot in template.slots:
                named = predicate.roles if isinstance(slot, int) else [role.lstrip("?") for role in predicate.roles]
                if isinstance(slot, int):
                    slots += [named[slot]] if slot < len(named) else []
                elif slot in named:
                    slots.append(slot)
            if len(slots) == len(template.slots) and all(role in roles for role in slots):
                yield template, tuple(slots)
            elif template.unsaid and len(slots) == 1:
                yield template, ()


def _pairs(
    frame: Frame,
    tokens: Sequence[str],
    event: str,
    roles: Mapping[str, Sequence[str]],
    group: str,
    options: Options,
) -> Iterator[Recasting]:
    plain = options.style == "plain"
    clauses = {element.role for element in frame.syntax if element.clause} if plain else set()
    others = [role for role in roles if role in _PARTICIPANTS and role not in clauses]
    entailed: dict[str, None] = {}
    refuted: dict[str, None] = {}
    for template, slots in dict.fromkeys(_said(frame, roles)):
        if clauses.intersection(slots):
            continue
        entailed[_filled(template, slots, roles, event, plain)] = None
        for wrong in _wrong(template, slots, others):
            refuted[_filled(template, wrong, roles, event, plain)] = None
        if template.symmetric and not plain:
            refuted[_filled(template, slots[::-1], roles, event, plain)] = None
    for hypothesis in [*entailed, *(text for text in refuted if text not in entailed)]:
        yield Recasting(
            premise=join(tokens) if plain else " ".join(tokens),
            hypothesis=hypothesis,
            label=ENTAILED if hypothesis in entailed else NOT_ENTAILED,
            source_id=frame.source_id,
            corpus="VerbNet",
            licence=LICENCE,
            group=group,
            where=frame.where,
            meta={"published_id": frame.published_id, "event": event},
        )


def _wrong(template: Template, slots: tuple[str, ...], others: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield other fillings: another role in each slot, and the first two exchanged."""
    if len(slots) > 1 and not template.symmetric:
        yield (slots[1], slots[0], *slots[2:])
    for place, slot in enumerate(slots[:2]):
        for other in others:
            if slot in _PARTICIPANTS and other not in slots:
                yield (*slots[:place], other, *slots[place + 1 :])


def _filled(
    template: Template, slots: tuple[str, ...], roles: Mapping[str, Sequence[str]], event: str, plain: bool
) -> str:
    if not slots:
        text = template.unsaid or ""
    else:
        phrases = [_phrase(roles[role], plain) for role in slots]
        words = {"event": event, "was": "were" if is_plural(phrases[0]) else "was"}
        for letter, phrase in zip("xyz", phrases, strict=False):
            words |= {letter: accusative(phrase), letter.upper(): nominative(phrase)}
        parts = re.split(r"\{(\w+)\}", template.words)
        text = "".join(words[part] if number % 2 else part for number, part in enumerate(parts))
    return text[:1].upper() + text[1:] + ("." if plain else " .")


def _phrase(tokens: Sequence[str], plain: bool) -> str:
    if len(tokens) > 1 and _COMPLEMENTISER.fullmatch(tokens[0].lower()):
        tokens = tokens[1:]
    first = tokens[0].lower() if _STARTS.fullmatch(tokens[0].lower()) and tokens[0] != "I" else tokens[0]
    words = [first, *tokens[1:]]
    return join(words) if plain else " ".join(words)


RECASTERS.add(
    "verbnet",
    Recaster(
        name="verbnet",
        phenomenon="thematic roles",
        title="Thematic roles",
        paper="Poliak et al. (2018), Collecting diverse natural language inference problems, EMNLP; "
        "Schuler (2005), VerbNet",
        sources="the classes' XML files",
        recast=recast,
    ),
)
