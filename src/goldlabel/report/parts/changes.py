"""What changed between two results of the same kind: benches of one suite, audits of one dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldlabel.metrics import Estimate, in_percent
from goldlabel.report.page import Section
from goldlabel.report.parts.audits import AuditFolder
from goldlabel.report.parts.bench_results import BenchFolder
from goldlabel.report.plots import draw_dots
from goldlabel.report.table import Cell, Column, Table, Value


def bench_changes(benches: Sequence[BenchFolder]) -> Iterator[Section]:
    """Yield for each suite with several benches what the last has otherwise than the first."""
    for suite in dict.fromkeys(bench.suite for bench in benches):
        several = [bench for bench in benches if bench.suite == suite and bench.scores]
        if len(several) > 1:
            yield _bench_change(several[0], several[-1])


def _bench_change(before: BenchFolder, after: BenchFolder) -> Section:
    first, last = _names(before, after)
    rows: list[tuple[Value | Cell, ...]] = []
    for model in after.models:
        for name, score in after.scores[model].items():
            old = before.scores.get(model, {}).get(name)
            if old is not None:
                rows.append((model, name, old, score, _difference(old, score), _apart(old, score)))
    rows.sort(key=lambda row: -abs(row[4]) if isinstance(row[4], float) else 0.0)
    common = [model for model in after.means if model in before.means and before.over == after.over]
    figures = []
    if common:
        drawn = [(model, [(first, before.means[model]), (last, after.means[model])]) for model in common]
        shows = "; ".join(
            f"{model} {in_percent(before.means[model])}, then {in_percent(after.means[model])}" for model in common
        )
        figures.append(draw_dots(drawn, title=f"Mean of {len(after.over)} sets", x_name="accuracy, %", shows=shows))
    new, gone = _listed(after.scores, before.scores), _listed(before.scores, after.scores)
    parts = [f"{last} against {first}, both by the suite {after.suite}: {len(rows)} figures are in both."]
    parts += [f"New: {new}."] * bool(new) + [f"No longer there: {gone}."] * bool(gone)
    if before.settings["sets"] != after.settings["sets"]:
        parts.append("They were not judged by the same pairs, so that part of a difference may be theirs.")
    columns = (
        "model",
        "set",
        Column(first, percent=True),
        Column(last, percent=True),
        Column("difference", percent=True, signed=True),
        "intervals",
    )
    table = Table(name=f"{after.suite}-changes", columns=columns, rows=rows, caption="Accuracy in per cent.")
    return Section(heading=f"What changed in {after.suite}", text=" ".join(parts), figures=figures, table=table)


def audit_changes(audits: Sequence[AuditFolder]) -> Iterator[Section]:
    """Yield for each dataset with several audits what the last has otherwise than the first."""
    for name in dict.fromkeys(audit.name for audit in audits):
        several = [audit for audit in audits if audit.name == name]
        if len(several) > 1:
            before, after = several[0], several[-1]
            first, last = (own.folder.name for own in (before, after))
            rows = [
                (
                    measure,
                    before.measures.get(measure),
                    value,
                    None if (old := before.measures.get(measure)) is None or value is None else value - old,
                )
                for measure, value in after.measures.items()
            ]
            columns = ("measure", Column(first, 3), Column(last, 3), Column("difference", 3, signed=True))
            text = f"The measures of the audit {last} against those of {first}."
            yield Section(
                heading=f"What changed in {name}",
                text=text,
                table=Table(name=f"changes-{name}", columns=columns, rows=rows),
            )


def _names(before: BenchFolder, after: BenchFolder) -> tuple[str, str]:
    if before.name != after.name:
        return before.name, after.name
    return str(before.folder), str(after.folder)


def _listed(own: object, other: object) -> str:
    return ", ".join(name for name in own if name not in other)  # type: ignore[attr-defined,operator]


def _difference(old: Estimate, new: Estimate) -> float | None:
    return None if old.value is None or new.value is None else new.value - old.value


def _apart(old: Estimate, new: Estimate) -> str:
    if old.interval is None or new.interval is None:
        return ""
    return "apart" if old.interval[1] < new.interval[0] or new.interval[1] < old.interval[0] else "overlap"
