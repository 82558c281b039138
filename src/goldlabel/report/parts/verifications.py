"""Folders of verified datasets: how far annotators agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goldlabel.metrics import Estimate
from goldlabel.pairs.card import Card, read_card
from goldlabel.report.page import Bar, Section
from goldlabel.report.parts.audits import AuditFolder, agreement_figures
from goldlabel.report.parts.reading import as_written, flat_estimate, read_json
from goldlabel.report.table import Column, Table

FIGURES = "verification.json"
LEVEL = 0.95
COEFFICIENTS = {
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "cohen_kappa": "Cohen's kappa",
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
        kappa = self.whole.coefficients.get("Fleiss' kappa")
        agreed = f"; Fleiss' kappa is {kappa.text(2)}" if kappa else ""
        return (
            f"Of {self.whole.pairs:,} pairs of {self.name}, {self.whole.relabelled:,} have several votes{agreed}. The "
            f"gold label by {self.method} differs from the given one on {self.differs:,}."
        )

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
            name,
            group.pairs,
            group.relabelled,
            *(group.coefficients.get(own) for own in coefficients),
            *(group.shares.get(own) for own in shares),
        )
        for name, group in verification.groups.items()
    ]
    columns: tuple[Column | str, ...] = (
        "pairs of",
        "pairs",
        "with votes",
        *(Column(name, 2) for name in coefficients),
        *(Column(f"{name}, %", percent=True) for name in shares),
    )
    return Table(name=f"agreement-{verification.name}", columns=columns, rows=rows)


def agreement_sections(verifications: Sequence[VerificationFolder], audits: Sequence[AuditFolder]) -> Iterator[Section]:
    """Yield the agreement of each verified dataset, and of audited ones that had votes."""
    for own in verifications:
        yield Section(
            heading=f"Agreement on {own.name}",
            text=" ".join([own.headline, *(f"{note[0].upper()}{note[1:]}." for note in own.notes)]),
            bars=[Bar(name, share) for name, share in own.whole.shares.items()],
            table=agreement_table(own),
        )
    verified = {own.name for own in verifications}
    for audit in audits:
        if audit.agreement and audit.name not in verified:
            bars = [Bar(name, share) for name, share in audit.agreement.items()]
            yield Section(heading=f"Agreement on {audit.name}", text="As the audit measured it.", bars=bars)
