"""``report``: one page from the folders of benches, audits, verified datasets, training runs and campaigns.

The folder that it writes holds ``index.html`` (the page, which needs nothing beside it), ``tables/`` (every table as
CSV, Markdown and LaTeX), ``plots/`` (every drawing as SVG and PNG), a model card for each run, a dataset card for each
verified dataset, and ``report.json``, which lists them. No figure is computed here: all come from the folders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import atomic_folder
from goldlabel.pairs import Pairs, Result, read
from goldlabel.report.dataset_card import dataset_card
from goldlabel.report.language import comma, say, sentences, speaking
from goldlabel.report.model_card import model_card
from goldlabel.report.page import Item, Page, Section, page_html
from goldlabel.report.parts.audits import FIGURES as AUDIT
from goldlabel.report.parts.audits import AuditFolder, audit_sections, read_audit
from goldlabel.report.parts.bench_results import SETTINGS, BenchFolder, read_bench
from goldlabel.report.parts.bench_sections import bench_gaps, bench_headline, bench_sections, bench_tiles
from goldlabel.report.parts.campaigns import BENCH as CAMPAIGN_BENCH
from goldlabel.report.parts.campaigns import FIGURES as CAMPAIGN
from goldlabel.report.parts.campaigns import CampaignFolder, campaign_sections, read_campaign
from goldlabel.report.parts.changes import audit_changes, bench_changes
from goldlabel.report.parts.disagreement import Texts, disagreement_sections
from goldlabel.report.parts.suite_words import say_note
from goldlabel.report.parts.training import TrainingRun, training_gaps, training_headline, training_sections
from goldlabel.report.parts.verifications import FIGURES as VERIFICATION
from goldlabel.report.parts.verifications import VerificationFolder, agreement_sections, read_verification
from goldlabel.report.table import Table, file_name
from goldlabel.sources import is_added, load
from goldlabel.train.run import ENVIRONMENT

PAGE, LIST, MODEL_CARD, DATASET_CARD = "index.html", "report.json", "MODEL_CARD", "DATASET_CARD"
KINDS = "bench, audit, verify, train or collect round report"


@dataclass(frozen=True, kw_only=True)
class Results:
    """What folders hold, by kind, in the order in which they were given."""

    benches: list[BenchFolder] = field(default_factory=list)
    audits: list[AuditFolder] = field(default_factory=list)
    verifications: list[VerificationFolder] = field(default_factory=list)
    runs: list[TrainingRun] = field(default_factory=list)
    campaigns: list[CampaignFolder] = field(default_factory=list)

    @property
    def latest(self) -> list[BenchFolder]:
        """The last bench of each suite."""
        return list({bench.suite: bench for bench in self.benches}.values())


@dataclass(frozen=True, repr=False, kw_only=True)
class Report(Result):
    """What a report left, and where."""

    output: Path
    headline: str
    files: Sequence[Path]
    missing: Sequence[str]
    """What the results lack, and what could not be drawn."""

    @property
    def title(self) -> str:
        """The sentence at the top of the page."""
        return self.headline

    @property
    def table(self) -> pl.DataFrame:
        """How many files of each kind there are."""
        kinds = pl.DataFrame({"kind": [path.suffix.lstrip(".") for path in self.files]})
        return kinds.group_by("kind", maintain_order=True).len("files")

    def to_dict(self) -> dict[str, Any]:
        """Return what was written, relative to the folder."""
        return {
            "output": str(self.output),
            "page": str(self.output / PAGE),
            "headline": self.headline,
            "files": [str(path) for path in self.files],
            "missing": list(self.missing),
        }


def report(
    folders: Sequence[str | Path],
    output: str | Path,
    *,
    data: Mapping[str, str] | None = None,
    language: str = "en",
    on_file: Callable[[int], None] | None = None,
) -> Report:
    """Write a report of result folders into the folder ``output``, in English or Chinese (``zh``).

    ``data`` says where sets lie that are not in the library, so that pairs on which models disagree can be shown.
    """
    with speaking(language):
        return _report(folders, Path(output), data or {}, on_file or (lambda _: None))


def _report(
    folders: Sequence[str | Path], target: Path, data: Mapping[str, str], step: Callable[[int], None]
) -> Report:
    if not folders:
        raise InputError(f"there is no folder to report on; name folders of {KINDS}")
    _check_output(target, [Path(folder) for folder in folders])
    results = read_results([Path(folder) for folder in folders])
    page, missing = make_page(results, data)
    with atomic_folder(target.resolve()) as temporary:
        (temporary / PAGE).write_text(page_html(page), encoding="utf-8")
        files = [temporary / PAGE]
        undrawn: dict[str, str] = {}
        for anchor, section in zip(page.anchors, page.sections, strict=True):
            for table in section.shown_tables:
                files += table.write(temporary / "tables")
            for number, figure in enumerate(section.figures, start=1):
                name = f"{file_name(anchor)}-{number}" if len(section.figures) > 1 else file_name(anchor)
                paths, glyphs = figure.write(temporary / "plots", name)
                files += paths
                undrawn |= {f"plots/{name}.png": glyphs} if glyphs else {}
                step(1)
        files += _write_cards(results, temporary)
        missing += [
            say(
                "{name} is not drawn: no font here has {glyphs}; pip install 'goldlabel[zh]' brings one for Chinese",
                name=name,
                glyphs=glyphs[:8],
            )
            for name, glyphs in undrawn.items()
        ]
        relative = [path.relative_to(temporary) for path in files]
        made = Report(output=target, headline=page.lead, files=[*relative, Path(LIST)], missing=missing)
        (temporary / LIST).write_text(json.dumps(made.to_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return made


def read_results(folders: Sequence[Path]) -> Results:
    """Read every folder by what lies in it; a folder of result folders stands for all of these."""
    results = Results()
    for folder in folders:
        if not _read_tree(results, folder):
            what = "is not there" if not folder.exists() else f"is no result of {KINDS}"
            raise InputError(
                f"{folder}: {what}; such a folder has {SETTINGS}, {AUDIT}, {VERIFICATION}, {ENVIRONMENT} or {CAMPAIGN}"
            )
    return results


def _read_tree(results: Results, folder: Path, depth: int = 3) -> bool:
    """Read a folder, or else those in it: a sweep has a folder for each size, and in it one for each seed."""
    if _read_into(results, folder):
        return True
    inner = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() and depth else []
    inner.sort(key=lambda path: [part.zfill(12) for part in re.split(r"(\d+)", path.name)])  # 500 before 2000
    return sum(_read_tree(results, path, depth - 1) for path in inner) > 0  # all of them, not up to the first


def _read_into(results: Results, folder: Path) -> bool:
    if (folder / SETTINGS).exists():
        results.benches.append(read_bench(folder))
    elif (folder / AUDIT).exists():
        results.audits.append(read_audit(folder))
    elif (folder / VERIFICATION).exists():
        results.verifications.append(read_verification(folder))
    elif (folder / ENVIRONMENT).exists():
        results.runs.append(TrainingRun.read(folder))
    elif (folder / CAMPAIGN).exists():
        results.campaigns.append(read_campaign(folder))
        _read_into(results, folder / CAMPAIGN_BENCH)
    else:
        return False
    return True


def make_page(results: Results, data: Mapping[str, str]) -> tuple[Page, list[str]]:
    """Return the page, and what is missing in it, in lines."""
    finder = _TextFinder(data)
    runs = [*results.runs, *(run for bench in results.latest for run in bench.runs)]
    gaps = [*(gap for bench in results.latest for gap in bench_gaps(bench)), *training_gaps(runs)]
    sections: list[Section] = [*bench_changes(results.benches), *audit_changes(results.audits)]
    several = len(results.latest) > 1
    for bench in results.latest:
        own = [*bench_sections(bench), *disagreement_sections(bench, finder)]
        sections += [_named(section, bench.suite) for section in own] if several else own
    sections += campaign_sections(results.campaigns)
    sections += training_sections(runs)
    sections += audit_sections(_last(results.audits))
    sections += agreement_sections(results.verifications, _last(results.audits))
    if gaps:
        text = say("A report shows what there is; this is what its results lack.")
        sections.append(Section(heading=say("What is missing"), text=text, items=[Item(*gap) for gap in gaps]))
    if notes := [Item(say_note(note)) for bench in results.latest for note in bench.notes]:
        text = say("What the suites say of their own figures.")
        sections.append(Section(heading=say("To know"), text=text, items=notes))
    text = say("What the figures are a function of.")
    sections.append(Section(heading=say("Manifest"), text=text, table=_manifest(results)))
    lead, title = _lead(results, runs)
    page = Page(
        title=title,
        lead=lead,
        tiles=[tile for bench in results.latest[:1] for tile in bench_tiles(bench)],
        sections=sections,
        footer=say("Made by goldlabel report. Tables are in tables/ as CSV, Markdown and LaTeX, drawings in plots/."),
        wide=bool(results.benches) or len(runs) > 1,
    )
    return page, [": ".join(part for part in gap if part) for gap in gaps]


def _lead(results: Results, runs: Sequence[TrainingRun]) -> tuple[str, str]:
    if results.latest:
        lead, names = [*map(bench_headline, results.latest)], [bench.suite for bench in results.latest]
    elif results.audits:
        audits = _last(results.audits)
        lead, names = (
            [say("{dataset}: {verdict}", dataset=own.name, verdict=own.verdict) for own in audits],
            [own.name for own in audits],
        )
    elif results.verifications:
        own = results.verifications[0]
        lead, names = [own.headline], [own.name]
    elif results.campaigns:
        lead = [own.headline for own in results.campaigns]
        names = [own.name for own in results.campaigns]
    else:
        lead, names = [training_headline(runs)], [say("training")]
    return sentences(*lead), say("Report: {names}", names=comma().join(names))


def _last(audits: Sequence[AuditFolder]) -> list[AuditFolder]:
    return list({audit.name: audit for audit in audits}.values())


def _named(section: Section, suite: str) -> Section:
    return Section(**{**vars(section), "heading": f"{section.heading}: {suite}"})


def _manifest(results: Results) -> Table:
    parts = [
        *((bench.name, "bench", bench.manifest) for bench in results.benches),
        *((audit.folder.name, "audit", audit.manifest) for audit in results.audits),
        *((own.folder.name, "verify", own.manifest) for own in results.verifications),
        *((run.name, "train", run.manifest) for run in results.runs),
        *((own.folder.name, "collect round report", own.manifest) for own in results.campaigns),
    ]
    rows = [
        (folder, kind, say(name), value)
        for folder, kind, manifest in parts
        for name, value in manifest.items()
        if value
    ]
    columns = (say("folder"), say("made by"), say("what"), say("value"))
    return Table(name="manifest", columns=columns, rows=rows, filtered=False)


def _write_cards(results: Results, folder: Path) -> list[Path]:
    """Write a card for each run that was given, or that a bench trained, and for each verified dataset."""
    cards: dict[str, str] = {}
    runs: list[tuple[TrainingRun, BenchFolder | None]] = [(run, None) for run in results.runs]
    runs += [(run, bench) for bench in results.latest for run in bench.runs]
    for run, trained_by in runs:
        cards[f"{MODEL_CARD}-{file_name(run.name)}.md"] = model_card(run, results.audits, trained_by)
    if len(cards) == 1:
        cards = {f"{MODEL_CARD}.md": text for text in cards.values()}
    several = len(results.verifications) > 1
    for verification in results.verifications:
        name = f"{DATASET_CARD}-{file_name(verification.name)}.md" if several else f"{DATASET_CARD}.md"
        cards[name] = dataset_card(verification, results.audits)
    for name, text in cards.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in cards]


def _check_output(output: Path, folders: Sequence[Path]) -> None:
    """Refuse a folder that holds something else than a report, and one of the results."""
    if any(output.resolve() == folder.resolve() for folder in folders):
        raise InputError(f"{output}: is a result itself; choose another folder with -o")
    if output.exists() and not (output / LIST).exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output}: holds something else than a report; choose another folder with -o")


@dataclass
class _TextFinder:
    """Finds texts by set and id in the user's own files."""

    data: Mapping[str, str]

    def __call__(self, name: str, ids: Sequence[str]) -> Texts:
        pairs = self._pairs(name)
        if pairs is None:
            return {}
        frame = pairs.frame.filter(pl.col("id").is_in(list(ids))).select("id", "premise", "hypothesis", "language")
        return {row[0]: (row[1], row[2], row[3]) for row in frame.collect(engine="streaming").iter_rows()}

    def _pairs(self, name: str) -> Pairs | None:
        if name in self.data:
            return read(self.data[name])
        try:
            return load(name) if is_added(name) else None
        except InputError:
            return None
