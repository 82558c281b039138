"""A dataset card: what ``data export`` writes, with the agreement of annotators and what an audit found."""

from __future__ import annotations

from collections.abc import Sequence

from goldlabel.pairs.card import hugging_face_readme
from goldlabel.report.language import say
from goldlabel.report.parts.audits import MOST_FINDINGS, AuditFolder
from goldlabel.report.parts.verifications import VerificationFolder, agreement_table
from goldlabel.report.table import escape_markdown


def dataset_card(verification: VerificationFolder, audits: Sequence[AuditFolder] = ()) -> str:
    """Return the card of a verified dataset as Markdown with the hub's front matter."""
    parts = [
        hugging_face_readme(verification.card).rstrip(),
        f"## {say('Agreement')}\n\n" + agreement_table(verification).to_markdown().rstrip(),
    ]
    for audit in audits:
        if audit.name == verification.name:
            findings = "\n".join(f"- {escape_markdown(text)}" for text in audit.findings[:MOST_FINDINGS])
            parts.append(f"## {say('Artifacts')}\n\n{escape_markdown(audit.verdict)}\n\n{findings}".rstrip())
    return "\n\n".join(parts) + "\n"
