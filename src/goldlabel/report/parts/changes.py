"""What changed between two results of the same kind: benches of one suite, audits of one dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from goldlabel.evaluate.changes import Change, compare_answers
from goldlabel.metrics import Estimate, in_percent, p_in_words
from goldlabel.report.figure import Figure
from goldlabel.report.language import comma, say, sentences
from goldlabel.report.page import Section
from goldlabel.report.parts.audits import AuditFolder
from goldlabel.report.parts.bench_results import BenchFolder
from goldlabel.report.plots import draw_dots
from goldlabel.report.table import Cell, Column, Table, Value

Place = tuple[str, str | None]
"""A model and a set; no set: the mean."""


def bench_changes(benches: Sequence[BenchFolder]) -> Iterator[Section]:
    """Yield for each suite with several benches what the last has otherwise than the first."""
    for suite in dict.fromkeys(bench.suite for bench in benches):
        several = [bench for bench in benches if bench.suite == suite and bench.scores]
        if len(several) > 1:
            yield _bench_change(several[0], several[-1])


def _bench_change(before: BenchFolder, after: BenchFolder) -> Section:
    first, last = _names(before.folder, after.folder)
    over = after.over if before.over == after.over else ()
    untested = [bench for bench in (before, after) if not bench.has_hits]
    changes: dict[Place, Change] = {}
    if not untested:
        assert before.labels is not None
        assert after.labels is not None
        compared = compare_answers(before.labels, after.labels, over, level=after.level)
        changes = {(change.system, change.dataset): change for change in compared}
    figures: dict[Place, tuple[Estimate, Estimate]] = {
        (model, None): (before.means[model], after.means[model])
        for model in after.models
        if over and model in before.means and model in after.means
    }
    for model in after.models:
        for name, score in after.scores[model].items():
            if (old := before.scores.get(model, {}).get(name)) is not None:
                figures[model, name] = old, score
    rows = [_row(place, *ends, changes.get(place), after) for place, ends in figures.items()]
    rows.sort(key=lambda row: (row[1] != _mean_of(after), -abs(_size(row[4]))))
    columns = (
        say("model"),
        say("set"),
        Column(first, percent=True),
        Column(last, percent=True),
        Column(say("difference"), percent=True, signed=True),
        *((say("test"), say("changed")) if changes else ()),
    )
    return Section(
        heading=say("What changed in {suite}", suite=after.suite),
        text=_text(before, after, len(rows), changes, untested),
        figures=_figures(figures, first, last, after),
        table=Table(
            name=f"{after.suite}-changes",
            columns=columns,
            rows=[row if changes else row[:5] for row in rows],
            caption=say("Accuracy in per cent."),
        ),
    )


def _row(place: Place, old: Estimate, new: Estimate, change: Change | None, after: BenchFolder) -> tuple[Value, ...]:
    model, name = place
    shown: Value = change.difference if change else _less(new, old)
    row = (model, name or _mean_of(after), old, new, shown)
    if change is None:
        return (*row, None, None)
    could_be_chance = change.adjusted > 1 - after.level
    better = change.difference.defined > 0
    verdict = say("could be chance") if could_be_chance else say("better") if better else say("worse")
    return (*row, p_in_words(change.adjusted), verdict)


def _text(
    before: BenchFolder,
    after: BenchFolder,
    rows: int,
    changes: dict[Place, Change],
    untested: Sequence[BenchFolder],
) -> str:
    first, last = _names(before.folder, after.folder)
    parts = [
        say(
            "{last} against {first}, both by the suite {suite}: {rows} figures are in both.",
            last=last,
            first=first,
            suite=after.suite,
            rows=rows,
        )
    ]
    if new := [name for name in after.scores if name not in before.scores]:
        parts.append(say("New: {models}.", models=comma().join(new)))
    if gone := [name for name in before.scores if name not in after.scores]:
        parts.append(say("No longer there: {models}.", models=comma().join(gone)))
    if changes:
        parts.append(
            say(
                "Differences are on the pairs that both answered, by paired tests that take pairs of one unit "
                "together; p-values are corrected for all of them (Holm)."
            )
        )
    for bench in untested:
        parts.append(
            say(
                "{bench} did not keep its answers with their units, so nothing is tested; give that bench once more: "
                "what is answered is not asked again.",
                bench=first if bench is before else last,
            )
        )
    if before.settings["sets"] != after.settings["sets"]:
        parts.append(say("They were not judged by the same pairs, so that part of a difference may be theirs."))
    return sentences(*parts)


def _figures(
    figures: dict[Place, tuple[Estimate, Estimate]], first: str, last: str, after: BenchFolder
) -> list[Figure]:
    means = {model: ends for (model, name), ends in figures.items() if name is None}
    if not means:
        return []
    drawn = [(model, [(first, old), (last, new)]) for model, (old, new) in means.items()]
    shows = say("; ").join(
        say("{model} {before}, then {after}", model=model, before=in_percent(old), after=in_percent(new))
        for model, (old, new) in means.items()
    )
    return [draw_dots(drawn, title=_mean_of(after), x_name=say("accuracy, %"), shows=shows)]


def audit_changes(audits: Sequence[AuditFolder]) -> Iterator[Section]:
    """Yield for each dataset with several audits what the last has otherwise than the first."""
    for name in dict.fromkeys(audit.name for audit in audits):
        several = [audit for audit in audits if audit.name == name]
        if len(several) > 1:
            before, after = several[0], several[-1]
            first, last = _names(before.folder, after.folder)
            rows: list[tuple[Value | Cell, ...]] = []
            for measure in {**after.measures, **before.measures}:
                old, new = before.measures.get(measure), after.measures.get(measure)
                rows.append((measure, old, new, None if old is None or new is None else new - old))
            columns = (say("measure"), Column(first, 3), Column(last, 3), Column(say("difference"), 3, signed=True))
            yield Section(
                heading=say("What changed in {suite}", suite=name),
                text=say("The measures of the audit {last} against those of {first}.", last=last, first=first),
                table=Table(name=f"changes-{name}", columns=columns, rows=rows),
            )


def _mean_of(bench: BenchFolder) -> str:
    return say("mean of {sets}", sets=len(bench.over))


def _names(before: Path, after: Path) -> tuple[str, str]:
    return (before.name, after.name) if before.name != after.name else (str(before), str(after))


def _less(new: Estimate, old: Estimate) -> float | None:
    return None if old.value is None or new.value is None else new.value - old.value


def _size(difference: object) -> float:
    value = difference.value if isinstance(difference, Estimate) else difference
    return value if isinstance(value, float) else 0.0
