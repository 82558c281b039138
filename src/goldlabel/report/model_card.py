"""A model card: what a run was trained on and how, what it scores, and which artifacts it follows.

Markdown with the front matter of the Hugging Face hub (``model-index`` has the scores), by the tables of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from goldlabel.metrics import Estimate
from goldlabel.report.language import say
from goldlabel.report.parts.audits import MOST_FINDINGS, AuditFolder
from goldlabel.report.parts.bench_results import BenchFolder
from goldlabel.report.parts.training import TrainingRun
from goldlabel.report.table import Column, Table, Value, escape_markdown


def model_card(run: TrainingRun, audits: Sequence[AuditFolder] = (), bench: BenchFolder | None = None) -> str:
    """Return the card of a run; ``bench`` is the one that trained it, ``audits`` may be of its training data."""
    scores = bench.scores.get(run.folder.parent.name, {}) if bench else {}
    parts = [
        front_matter(_metadata(run, scores)),
        f"# {escape_markdown(run.name)}",
        say(
            "A model of natural language inference (`{model}`), trained by Goldlabel on {pairs:,} pairs.",
            model=run.model,
            pairs=run.pairs,
        ),
        *_data(run),
        f"## {say('Recipe')}\n\n"
        + Table(columns=(say("option"), Column(say("value"), 6)), rows=list(run.recipe.items())).to_markdown(),
        f"## {say('Scores')}\n\n" + _scores(run, scores),
        f"## {say('Artifacts it follows')}\n\n" + _artifacts(run, audits, bench),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def front_matter(fields: dict[str, Any]) -> str:
    """Return YAML between its lines, as the hub reads it."""
    return f"---\n{yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)}---"


def _metadata(run: TrainingRun, scores: dict[str, Estimate] | Any) -> dict[str, Any]:
    judged = {**{f"{name} (dev)": score for name, score in run.dev.items()}, **scores}
    results = [
        {
            "task": {"type": "natural-language-inference"},
            "dataset": {"name": name, "type": name.removesuffix(" (dev)")},
            "metrics": [{"type": "accuracy", "value": round(score.value, 4)}],
        }
        for name, score in judged.items()
        if score.value is not None
    ]
    return {
        "pipeline_tag": "text-classification",
        "tags": ["natural-language-inference", "goldlabel", run.model],
        "datasets": list(run.settings["on"]),
        "metrics": ["accuracy"],
        **({"model-index": [{"name": run.name, "results": results}]} if results else {}),
    }


def _data(run: TrainingRun) -> list[str]:
    rows: list[tuple[Value, ...]] = [
        (part, name, own["pairs"], own["sha256"])
        for part, what in ((say("trained on"), "on"), (say("stopped on"), "dev"))
        for name, own in (run.settings.get(what) or {}).items()
    ]
    columns = ("", say("dataset"), say("pairs"), "SHA-256")
    return [f"## {say('Data')}\n\n" + Table(columns=columns, rows=rows).to_markdown()]


def _scores(run: TrainingRun, scores: dict[str, Estimate] | Any) -> str:
    rows = [(f"{name} (dev)", score, score.n) for name, score in run.dev.items()]
    rows += [(name, score, score.n) for name, score in scores.items()]
    if not rows:
        return say("The run is not finished: it has no score yet.")
    return Table(columns=(say("set"), Column(say("accuracy, %"), percent=True), say("pairs")), rows=rows).to_markdown()


def _artifacts(run: TrainingRun, audits: Sequence[AuditFolder], bench: BenchFolder | None) -> str:
    lines = []
    for audit in audits:
        if audit.name in run.settings["on"]:
            lines.append(
                say(
                    "What its training data {dataset} gives away: {verdict}",
                    dataset=escape_markdown(audit.name),
                    verdict=escape_markdown(audit.verdict),
                )
            )
            lines.append("\n".join(f"- {escape_markdown(text)}" for text in audit.findings[:MOST_FINDINGS]))
    weak = bench.tables.get("weak-slices") if bench else None
    if weak is not None:
        own = weak.filter(weak["model"] == run.folder.parent.name)
        if len(own):
            lines.append(say("Where it is worse than on the rest of a set, by more than chance explains:"))
            lines.append(
                Table.of(own.select("set", "slice", "accuracy", "difference", "pairs"), places=1).to_markdown()
            )
    return "\n\n".join(lines) or say(
        "Nobody has looked: audit its training data with `goldlabel audit`, and give that folder to the report, too."
    )
