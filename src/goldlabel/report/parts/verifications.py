"""Folders of verified datasets: how far annotators agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goldlabel.metrics import Estimate
from goldlabel.pairs.card import Card, read_card
from goldlabel.report.language import N_, say, sentences
from goldlabel.report.page import Bar, Section
from goldlabel.report.parts.audits import AuditFolder, agreement_figures
from goldlabel.report.parts.reading import as_written, flat_estimate, read_json
from goldlabel.report.table import Column, Table

FIGURES = "verification.json"
LEVEL = 0.95
KAPPA = N_("Fleiss' kappa")
COEFFICIENTS = {
    "fleiss_kappa": KAPPA,
    "krippendorff_alpha": N_("Krippendorff's alpha"),
    "cohen_kappa": N_("Cohen's kappa"),
}


@dataclass(frozen=True)
class AgreementGroup:
    """The agreement on some of the pairs."""

    pairs: int
    relabelled: int
    shares: Mapping[str, Estimate]
    coefficients: Mapping[str, Estimate]


@dataclass(frozen=True, kw_only=True)
class VerificationFolder:
    """A verified dataset."""

    folder: Path
    name: str
    method: str
    groups: Mapping[str, AgreementGroup]
    differs: int
    matches: int
    notes: Sequence[str]
    card: Card

    @property
    def whole(self) -> AgreementGroup:
        """All pairs."""
        return self.groups["all"]

    @property
    def headline(self) -> str:
        """How many votes stand behind the labels, and how far they agree."""
        kappa = self.whole.coefficients.get(KAPPA)
        counts = {"pairs": self.whole.pairs, "dataset": self.name, "voted": self.whole.relabelled}
        if kappa:
            voted = say(
                "Of {pairs:,} pairs of {dataset}, {voted:,} have several votes; Fleiss' kappa is {kappa}.",
                **counts,
                kappa=kappa.text(2),
            )
        else:
            voted = say("Of {pairs:,} pairs of {dataset}, {voted:,} have several votes.", **counts)
        differs = say(
            "The gold label by {method} differs from the given one on {differs:,}.",
            method=self.method,
            differs=self.differs,
        )
        return sentences(voted, differs)

    @property
    def manifest(self) -> dict[str, str]:
        """What the figures are a function of."""
        files = (f"{file.path} {file.pairs:,} ({file.sha256[:12]})" for file in self.card.files)
        return {"dataset": self.name, "method": self.method, "files: pairs (SHA-256)": ", ".join(files)}


def read_verification(folder: Path) -> VerificationFolder:
    """Read the folder that ``verify`` wrote."""
    content = read_json(folder / FIGURES)
    with as_written(folder / FIGURES):
        groups = {}
        for name, group in content["groups"].items():
            coefficients = {
                words: flat_estimate(group | {"interval": group["intervals"].get(own), "n": group["relabelled"]}, own)
                for own, words in COEFFICIENTS.items()
                if group.get(own) is not None
            }
            groups[name] = AgreementGroup(
                group["n"], group["relabelled"], agreement_figures(group, LEVEL), coefficients
            )
        return VerificationFolder(
            folder=folder,
            name=content["name"],
            method=content["method"],
            groups=groups,
            differs=content["gold_differs"],
            matches=content["gold_matches_label"],
            notes=content["notes"],
            card=read_card(folder),
        )


def agreement_table(verification: VerificationFolder) -> Table:
    """Return every group's agreement."""
    shares = list(dict.fromkeys(name for group in verification.groups.values() for name in group.shares))
    coefficients = list(dict.fromkeys(name for group in verification.groups.values() for name in group.coefficients))
    rows = [
        (
            say("all") if name == "all" else name,
            group.pairs,
            group.relabelled,
            *(group.coefficients.get(own) for own in coefficients),
            *(group.shares.get(own) for own in shares),
        )
        for name, group in verification.groups.items()
    ]
    columns: tuple[Column | str, ...] = (
        say("pairs of"),
        say("pairs"),
        say("with votes"),
        *(Column(say(name), 2) for name in coefficients),
        *(Column(f"{name}, %", percent=True) for name in shares),
    )
    return Table(name=f"agreement-{verification.name}", columns=columns, rows=rows)


def agreement_sections(verifications: Sequence[VerificationFolder], audits: Sequence[AuditFolder]) -> Iterator[Section]:
    """Yield the agreement of each verified dataset, and of audited ones that had votes."""
    for own in verifications:
        yield Section(
            heading=say("Agreement on {dataset}", dataset=own.name),
            text=sentences(own.headline, *map(_sentence, own.notes)),
            bars=[Bar(name, share) for name, share in own.whole.shares.items()],
            table=agreement_table(own),
        )
    verified = {own.name for own in verifications}
    for audit in audits:
        if audit.agreement and audit.name not in verified:
            bars = [Bar(name, share) for name, share in audit.agreement.items()]
            heading = say("Agreement on {dataset}", dataset=audit.name)
            yield Section(heading=heading, text=say("As the audit measured it."), bars=bars)


def _sentence(note: str) -> str:
    text = say(note)
    return say("{parts}.", parts=f"{text[0].upper()}{text[1:]}")
