"""What was found, the gravest first, similar findings together, each with three pairs in a fold."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.audit.findings import Artifact, Finding
from goldlabel.audit.tags import TAGS
from goldlabel.report.audit.cards import PairTexts
from goldlabel.report.language import N_, say, translate
from goldlabel.report.page import Item, Link, Section, anchor_of

SHOWN = 3
"""Pairs in a fold."""
LEAKS, WORDS = N_("Leaks"), N_("Words that tell the label")
FORM, FAULTS = N_("Overlap and length"), N_("Other faults")
_GROUPS = {
    **dict.fromkeys(
        ("near_duplicates_across_splits", "duplicates_across_splits", "leak_against", "shared_premises"), LEAKS
    ),
    **dict.fromkeys((*TAGS, "word", "bigram", "position"), WORDS),
    **dict.fromkeys(("length", "overlap"), FORM),
}
_SECTIONS = {
    LEAKS: "Leaks and duplicates",
    WORDS: "Words and labels",
    "negation": "Negators",
    "length": "Length",
    "overlap": "Overlap with the premise",
    "overlap_rule": "Overlap with the premise",
    "contradictory_duplicates": "Leaks and duplicates",
    "foreign_text": "Leaks and duplicates",
}
_SHARED = ("overlap", "overlap_rule")


def findings_section(audit: Audit, texts: PairTexts) -> Section:
    """Return the findings: leaks, which make every score untrue, before all else."""
    if not audit.findings:
        return Section(heading=say("Findings"), text=say("Nothing stands out."))
    items = [_item(number, finding, texts) for number, finding in grouped(audit)]
    text = say("The gravest first, similar ones together, with pairs to look at.")
    return Section(heading=say("Findings"), text=text, items=items)


def shown_ids(audit: Audit) -> set[str]:
    """Return the ids of the pairs in the folds."""
    return {example.id for finding in audit.findings for example in finding.examples[:SHOWN]}


def grouped(audit: Audit) -> list[tuple[int, Finding]]:
    """Return the findings, numbered, a group where its gravest stands."""
    first: dict[str, int] = {}
    for number, finding in enumerate(audit.findings):
        first.setdefault(group_of(finding), number)
    ranked = sorted(audit.findings, key=lambda finding: first[group_of(finding)])
    return list(enumerate(ranked, 1))


def group_of(finding: Finding) -> str:
    """Return the heading that a finding stands under."""
    return _GROUPS.get(finding.kind, FAULTS)


def anchors(audit: Audit) -> dict[str, str]:
    """Return where a page leads from a feature or a kind of fault that it names: to the finding about it."""
    places: dict[str, str] = {}
    for number, finding in grouped(audit):
        name = finding.evidence.feature if isinstance(finding.evidence, Artifact) else finding.kind
        places.setdefault(name, f"#finding-{number}")
    return places


def _item(number: int, finding: Finding, texts: PairTexts) -> Item:
    section = say(_SECTIONS.get(finding.kind) or _SECTIONS[group_of(finding)])
    shared = finding.kind in _SHARED
    return Item(
        translate(finding.message),
        (say("Figures: "), Link(section, f"#{anchor_of(section)}")),
        group=say(group_of(finding)),
        anchor=f"finding-{number}",
        pairs=[texts.card(example, shared=shared) for example in finding.examples[:SHOWN]],
    )
