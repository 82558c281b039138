"""What an audit found, as a section of a dataset card."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.collect.data.export import Section
from goldlabel.pairs.rows import to_json

MOST_FINDINGS = 10


def artifact_section(audit: Audit) -> Section:
    """Return the verdict, the figures of each group and the first findings; the whole audit goes beside the data."""
    table = audit.table
    head = [table.columns, ["---"] * table.width]
    rows = [["" if cell is None else _cell(cell) for cell in row] for row in table.iter_rows()]
    lines = [f"| {' | '.join(row)} |" for row in (*head, *rows)]
    findings = [f"{number}. {finding.text}" for number, finding in enumerate(audit.findings[:MOST_FINDINGS], start=1)]
    parts = [audit.verdict, "\n".join(lines), "\n".join(findings), "The whole audit is in `audit.json`."]
    return Section(
        heading="Artifacts",
        text="\n\n".join(part for part in parts if part),
        files={"audit.json": to_json(audit.to_dict()) + "\n"},
    )


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("|", "/")
