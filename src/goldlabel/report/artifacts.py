"""What an audit found, as a section of a dataset card."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.collect.data.export import Section
from goldlabel.pairs.rows import to_json
from goldlabel.report.table import Table

MOST_FINDINGS = 10


def artifact_section(audit: Audit) -> Section:
    """Return the verdict, the figures of each group and the first findings; the whole audit goes beside the data."""
    findings = [f"{number}. {finding.text}" for number, finding in enumerate(audit.findings[:MOST_FINDINGS], start=1)]
    parts = [
        audit.verdict,
        Table.of(audit.table).to_markdown().rstrip(),
        "\n".join(findings),
        "The whole audit is in `audit.json`.",
    ]
    return Section(
        heading="Artifacts",
        text="\n\n".join(part for part in parts if part),
        files={"audit.json": to_json(audit.to_dict()) + "\n"},
    )
