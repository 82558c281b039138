"""Run folders of training: what was trained on what, how it went, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from goldlabel.metrics import Estimate, in_percent, percent
from goldlabel.report.figure import Figure
from goldlabel.report.language import comma, say
from goldlabel.report.page import Section
from goldlabel.report.parts.reading import as_written, machine, read_json
from goldlabel.report.plots import draw_lines
from goldlabel.report.table import Cell, Column, Table, Value
from goldlabel.train.run import ENVIRONMENT, METRICS, RunFolder

MOST_LINES = 8


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """A run that is finished, or as far as it came."""

    folder: Path
    model: str
    environment: Mapping[str, Any]
    dev: Mapping[str, Estimate]
    """The accuracy on each dev set; empty where the run is not finished."""
    curve: Sequence[tuple[int, float]]
    """The mean accuracy over the dev sets after each epoch."""
    is_finished: bool
    parameters: int | None = None
    epochs: int = 0
    seconds: float | None = None

    @classmethod
    def read(cls, folder: Path) -> TrainingRun:
        """Read a run's folder."""
        environment = read_json(folder / ENVIRONMENT)
        with as_written(folder / METRICS):
            epochs = [own for own in RunFolder(folder).metrics() if own["dev"]]
            curve = [(own["epoch"], fmean(score["value"] for score in own["dev"].values())) for own in epochs]
        with as_written(folder / ENVIRONMENT):
            settings = environment["settings"]
            result = RunFolder(folder).result()
            return cls(
                folder=folder,
                model=settings["model"],
                environment=environment,
                dev=result.dev if result else {},
                curve=curve,
                is_finished=result is not None,
                parameters=result.parameters if result else None,
                epochs=result.epochs if result else len(curve),
                seconds=result.seconds if result else None,
            )

    @property
    def name(self) -> str:
        """What tables call it: its folder, with those above it where that is only a seed or a size."""
        parts = [self.folder.name]
        for above in self.folder.resolve().parents:
            if not parts[0].startswith(("seed-", "size-")):
                break
            parts.insert(0, above.name)
        return ", ".join([parts[0], *(part.replace("-", " ") for part in parts[1:])])

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the run is a function of."""
        settings: Mapping[str, Any] = self.environment["settings"]
        return settings

    @property
    def recipe(self) -> dict[str, Value]:
        """The options that somebody chose, and the seed."""
        options = self.settings["options"]
        chosen = {name: value for name, value in options.items() if value not in (None, "", {}, [], False)}
        return {name: value if isinstance(value, int | float | str) else str(value) for name, value in chosen.items()}

    @property
    def pairs(self) -> int:
        """How many pairs it learnt from."""
        size = self.settings["options"].get("size")
        return int(size) if size else sum(own["pairs"] for own in self.settings["on"].values())

    @property
    def method(self) -> str:
        """The model, what it reads, and how it is debiased."""
        options = self.settings["options"]
        debias, reads = options.get("debias"), options.get("reads")
        return f"{self.model}{f'+{debias}' if debias else ''}{f'@{reads}' if reads not in (None, 'both') else ''}"

    @property
    def manifest(self) -> dict[str, str]:
        """What the figures are a function of."""

        def named(part: str) -> str:
            several = self.settings.get(part) or {}
            return ", ".join(f"{name} {own['pairs']:,} ({own['sha256'][:12]})" for name, own in several.items())

        return {
            "model": self.model,
            "trained on: pairs (SHA-256)": named("on"),
            "dev: pairs (SHA-256)": named("dev"),
            "seed": str(self.settings["options"].get("seed", 0)),
            **machine(self.environment),
        }


def training_headline(runs: Sequence[TrainingRun]) -> str:
    """Say how well the best run does on its first dev set."""
    finished = [run for run in runs if run.dev]
    if not finished:
        return say("No run is finished yet.")
    name = next(iter(finished[0].dev))
    best = max((run for run in finished if name in run.dev), key=lambda run: run.dev[name].value or 0.0)
    return say(
        "{run}, trained on {pairs:,} pairs, labels {share} of {dataset} right.",
        run=best.name,
        pairs=best.pairs,
        share=in_percent(best.dev[name]),
        dataset=name,
    )


def training_sections(runs: Sequence[TrainingRun]) -> Iterator[Section]:
    """Yield what was trained, and how it went."""
    if not runs:
        return
    names = list(dict.fromkeys(name for run in runs for name in run.dev))
    rows: list[tuple[Value | Cell, ...]] = [
        (
            Cell(run.name, note="" if run.is_finished else say("not finished")),
            run.model,
            ", ".join(run.settings["on"]),
            run.pairs,
            str(run.settings["options"].get("debias") or ""),
            run.parameters,
            run.epochs,
            *(run.dev.get(name) for name in names),
        )
        for run in runs
    ]
    columns = (
        say("run"),
        say("model"),
        say("trained on"),
        say("pairs"),
        say("debiased by"),
        say("parameters"),
        say("epochs"),
    )
    table = Table(
        name="training",
        columns=(*columns, *(Column(f"dev {name}", percent=True) for name in names)),
        rows=rows,
        caption=say("Accuracy on dev sets in per cent."),
    )
    lines = [(run.name, run.curve) for run in runs if len(run.curve) > 1][:MOST_LINES]
    figures = [*([_curves(lines)] if lines else []), *_learning_curves(runs)]
    text = say("What was trained on what, and the accuracy of the weights that were kept.")
    yield Section(heading=say("Training"), text=text, figures=figures, table=table)


def training_gaps(runs: Sequence[TrainingRun]) -> Iterator[tuple[str, str]]:
    """Yield what is missing of runs, and what to do."""
    for run in runs:
        if not run.is_finished:
            again = (
                say("epochs so far: {epochs}; give the same command once more to go on", epochs=len(run.curve))
                if run.curve
                else say("it has no epoch yet; give the same command once more to go on")
            )
            yield say("The run {run} is not finished", run=run.name), again


def _learning_curves(runs: Sequence[TrainingRun]) -> Iterator[Figure]:
    """Yield the accuracy on each dev set over the size of the training set, where one method had several sizes."""
    for name in dict.fromkeys(name for run in runs for name in run.dev):
        sizes: dict[str, dict[int, list[float]]] = {}
        for run in runs:
            if name in run.dev and run.dev[name].value is not None:
                sizes.setdefault(run.method, {}).setdefault(run.pairs, []).append(run.dev[name].defined)
        lines = [
            (method, [(float(size), fmean(scores)) for size, scores in sorted(own.items())])
            for method, own in sizes.items()
            if len(own) > 1
        ]
        if lines:
            ends = comma().join(f"{method} {percent(own[0][1])}–{percent(own[-1][1])}" for method, own in lines)
            yield draw_lines(
                lines[:MOST_LINES],
                x_name=say("pairs trained on"),
                y_name=say("accuracy on {set}, %", set=name),
                shows=say("Accuracy on {set} by the number of pairs trained on: {ends}", set=name, ends=ends),
                logarithmic=True,
            )


def _curves(lines: Sequence[tuple[str, Sequence[tuple[int, float]]]]) -> Figure:
    ends = comma().join(f"{name} {percent(own[-1][1])}" for name, own in lines)
    shows = say("Accuracy on the dev sets after each epoch; at the end {ends}", ends=ends)
    return draw_lines(lines, x_name=say("epoch"), y_name=say("mean over dev sets, %"), shows=shows)
