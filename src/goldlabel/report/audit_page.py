"""The page and the files of an audit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.audit import Audit
from goldlabel.audit.result import Group
from goldlabel.errors import InputError
from goldlabel.evaluate.model_audit import ModelAudit
from goldlabel.files import atomic_folder
from goldlabel.pairs import Pairs
from goldlabel.pairs.review import review_sheet
from goldlabel.report.audit.blind import blind_section, groups_section
from goldlabel.report.audit.cards import PairTexts
from goldlabel.report.audit.doubts import (
    LABEL_ERRORS,
    agreement_section,
    data_map_section,
    ends_of,
    label_errors_section,
    shown_candidates,
)
from goldlabel.report.audit.findings import anchors, findings_section, shown_ids
from goldlabel.report.audit.leaks import leaks_section
from goldlabel.report.audit.shape import length_section, overlap_section
from goldlabel.report.audit.terms import with_terms
from goldlabel.report.audit.words import competency_section, negators_section, tags_section, words_section
from goldlabel.report.language import say, speaking, translate
from goldlabel.report.model_section import model_sections
from goldlabel.report.page import Link, Page, Section, render_page

HARD, AFLITE = "hard", "aflite"
PAGE, FIGURES = "index.html", "audit.json"
TABLES = ("groups", "findings", "pmi", "competency")
_OWN = {PAGE, FIGURES, LABEL_ERRORS, HARD, AFLITE, *(f"{name}.csv" for name in TABLES)}


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an audit."""
    if folder.exists() and not (folder / FIGURES).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is not empty and no audit; choose another folder for the output")


def write_audit(
    audit: Audit,
    folder: Path,
    *,
    model: ModelAudit | None = None,
    filtered: Pairs | None = None,
    language: str = "en",
    **more: Any,
) -> Path:
    """Write index.html, audit.json, the tables as CSV and the hard subset; return the page's path.

    ``model`` is what was found about a model, ``filtered`` what AFLite leaves, ``language`` that of the page. What an
    earlier audit wrote goes, all at once; files of others stay.
    """
    check_folder(folder)
    with atomic_folder(folder.resolve()) as temporary, speaking(language):
        for entry in folder.iterdir() if folder.exists() else ():
            if entry.name not in _OWN:
                (shutil.copytree if entry.is_dir() else shutil.copy2)(entry, temporary / entry.name)
        audit.hard_subset().write(temporary / HARD)
        if filtered is not None:
            filtered.write(temporary / AFLITE)
        for name, table in _tables(audit).items():
            table.write_csv(temporary / f"{name}.csv")
        if audit.label_errors:
            sheet = review_sheet(audit.pairs, audit.label_errors.candidates)
            sheet.write_csv(temporary / LABEL_ERRORS, include_bom=True)  # without it, Excel takes UTF-8 for latin-1
        render_page(audit_page(audit, model), temporary / PAGE)
        figures = json.dumps(
            audit.to_dict() | ({"model": model.to_dict()} if model else {}) | more,
            ensure_ascii=False,
            indent=2,
            default=str,
        )
        (temporary / FIGURES).write_text(figures + "\n", encoding="utf-8")
    return folder / PAGE


def audit_page(audit: Audit, model: ModelAudit | None = None) -> Page:
    """Turn an audit into a page: the verdict, the findings, then what they rest on."""
    files = [FIGURES, *(f"{name}.csv" for name in TABLES), *([LABEL_ERRORS] if audit.label_errors else [])]
    card = audit.pairs.card
    origin: list[str | Link] = []
    if card.source is not None and card.source.startswith(("https://", "http://")):
        origin = [say("The data: "), Link(card.name, card.source), ". "]
    page = Page(
        title=say("Audit of {dataset}, {pairs:,} pairs", dataset=card.name, pairs=audit.whole.pairs),
        lead=translate(audit.verdict_message),
        sections=[*_sections(audit), *(model_sections(model, anchors(audit)) if model else ())],
        footer=(
            *origin,
            say(
                "Made by goldlabel audit, seed {seed}. Intervals are at {level:g} % and take pairs of one premise or "
                "group as dependent. Beside this page lie ",
                seed=audit.options.seed,
                level=100 * audit.options.level,
            ),
            *(piece for name in files for piece in (Link(name, name), ", ")),
            say("and the hard subset, the pairs labelled wrongly without the premise, in "),
            Link(f"{HARD}/", f"{HARD}/"),
        ),
        wide=True,
    )
    return with_terms(page)


def _sections(audit: Audit) -> Iterator[Section]:
    """Yield the sections: what was found, what is wrong with the data, what gives labels away, which are in doubt."""
    ids = shown_ids(audit) | {row["id"] for row in shown_candidates(audit)}
    if audit.cartography:
        ids.update(*ends_of(audit.cartography).values())
    texts = PairTexts.read(audit, ids)
    yield findings_section(audit, texts)
    yield leaks_section(audit)
    yield blind_section(audit)
    if len(audit.groups) > 1:
        yield groups_section(audit)
    yield words_section(audit)
    if audit.whole.negators:
        yield negators_section(audit)
    yield overlap_section(audit.whole.overlap)
    yield length_section(audit.whole.length)
    yield competency_section(audit)
    yield tags_section(audit)
    if audit.agreement:
        yield agreement_section(audit)
    if audit.label_errors:
        yield label_errors_section(audit, texts)
    if audit.cartography:
        yield data_map_section(audit.cartography, texts)


def _tables(audit: Audit) -> dict[str, pl.DataFrame]:
    return {
        "groups": pl.DataFrame([_group_row(*own) for own in audit.groups.items()], infer_schema_length=None),
        "findings": pl.DataFrame(
            [
                {
                    "kind": finding.kind,
                    "text": finding.text,
                    "examples": " ".join(example.id for example in finding.examples),
                }
                for finding in audit.findings
            ],
            schema={"kind": pl.String, "text": pl.String, "examples": pl.String},
        ),
        "pmi": pl.DataFrame(
            [
                {
                    "group": value,
                    "word": word.word,
                    "label": word.label,
                    "pmi": word.pmi.value,
                    "low": word.pmi.low,
                    "high": word.pmi.high,
                    "count": word.count,
                    "total": word.total,
                }
                for value, group in audit.groups.items()
                for word in group.words
            ],
            infer_schema_length=None,
        ),
        "competency": audit.competency,
    }


def _group_row(name: str, group: Group) -> dict[str, Any]:
    blind, top = group.hypothesis_only, group.words[0] if group.words else None
    return {
        "group": name,
        "pairs": group.pairs,
        "hypothesis_only": blind.accuracy.value if blind else None,
        "majority": blind.majority.value if blind else None,
        "gain": blind.gain.value if blind else None,
        "p_value": blind.p_value if blind else None,
        "top_word": top.word if top else None,
        "top_label": top.label if top else None,
        "pmi": top.pmi.value if top else None,
        "overlap": group.overlap.mean.value,
        "length": group.length.hypothesis.value,
    }
