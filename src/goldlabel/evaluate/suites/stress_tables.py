"""The tables of the suite ``stress``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.results import BenchResults
from goldlabel.metrics import Estimate, mean

MADE_OF = "+"
"""Stands between a base, or a published collection, and the test: ``multinli+antonym``."""
TUNED = ", tuned on "
"""Stands between a system and the set on whose other half it was trained further."""
TESTS = ("antonym", "numerical_reasoning", "length_mismatch", "negation", "word_overlap", "spelling_error")
"""The six tests, in the order of the papers' tables."""
_HARD = "snli-hard"
_HANS = ("hans", "hans-zh")
_ENTAILED = "entailment"

NIE_2020: Mapping[str, tuple[float, ...]] = {
    "previous models": (72.7, 14.4, 28.8, 58.7, 48.8, 50.0, 58.3),
    "BERT (All)": (82.3, 75.0, 65.8, 84.2, 64.9, 61.6, 78.3),
    "XLNet (All)": (83.5, 88.2, 85.4, 87.5, 59.9, 68.7, 84.3),
    "RoBERTa (S+M+F)": (84.5, 81.6, 62.1, 88.0, 61.9, 67.9, 86.2),
    "RoBERTa (All)": (84.7, 85.9, 80.6, 88.4, 62.2, 67.4, 86.3),
}
"""Nie et al. (2020), Table 4: SNLI-hard, then the published tests, matched, in the order of ``TESTS``.

The models are tuned on each test's dev set, but for the previous ones: DIIN on SNLI-hard, InferSent on the tests.
"""


def summary_table(results: BenchResults, *, reference: bool) -> pl.DataFrame:
    """Return accuracies as in Table 4 of Nie et al. (2020): a row per model and origin of the tests."""
    rows: list[dict[str, Any]] = []
    origins = list(dict.fromkeys(origin for origin, _ in map(split_name, results.sets) if origin))
    systems = [system for system in results.systems if TUNED not in system]
    for system in systems:
        for origin in origins:
            for tuned in (False, True):
                cells = {test: _cell(results, system, f"{origin}{MADE_OF}{test}", tuned) for test in TESTS}
                if any(value is not None for value in cells.values()):
                    hard = None if tuned else _cell(results, system, _HARD, tuned)
                    rows.append({"model": system, "tests": origin, "tuned": tuned, _HARD: hard, **cells})
    if reference:
        rows += [
            {"model": model, "tests": "Nie et al. 2020", "tuned": model != "previous models"}
            | dict(zip((_HARD, *TESTS), figures, strict=True))
            for model, figures in NIE_2020.items()
        ]
    numbers = dict.fromkeys((_HARD, *TESTS), pl.Float64)
    schema = {"model": pl.String, "tests": pl.String, "tuned": pl.Boolean, **numbers}
    return pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).round(1))


def drop_table(results: BenchResults) -> pl.DataFrame:
    """Return what each test costs: accuracy beside that on the same pairs before they were changed.

    The drop pairs each changed pair with the one it was made of; with a limit, not all of those were judged, and
    ``compared`` says how many changed pairs the drop is about. What a tuned system loses is counted from the system
    before tuning.
    """
    rows = []
    for system, name in results.answers:
        base, test = split_name(name)
        if not test:
            continue
        accuracy = results.accuracy(system, name)
        row = {"model": system.partition(TUNED)[0], "of": base, "test": test, "tuned": TUNED in system}
        rows.append(row | {"pairs": accuracy.n} | _figures("accuracy", accuracy) | _drop(results, system, name, base))
    return _frame(rows, "model", "of", "test", "tuned", *_ACCURACY, "compared", "undisturbed", *_bounded("drop"))


def hans_table(results: BenchResults) -> pl.DataFrame:
    """Return accuracy by heuristic on entailed pairs and on the others (McCoy et al. 2019, section 6)."""
    rows = []
    for system, name in results.answers:
        if name not in _HANS:
            continue
        frame = results.plan.find_set(name).gold.frame
        entailed = (frame["label"] == _ENTAILED).to_numpy()
        for heuristic in frame["tags"].list.first().drop_nulls().unique().sort():
            inside = (frame["tags"].list.first() == heuristic).fill_null(False).to_numpy()
            for gold, chosen in ((_ENTAILED, entailed), (f"not_{_ENTAILED}", ~entailed)):
                accuracy = results.accuracy(system, name, inside & chosen)
                row = {"model": system, "set": name, "heuristic": heuristic, "gold": gold, "pairs": accuracy.n}
                rows.append(row | _figures("accuracy", accuracy))
    return _frame(rows, "model", "set", "heuristic", "gold", *_ACCURACY)


def category_table(results: BenchResults) -> pl.DataFrame:
    """Return accuracy by tag: HANS's subcases, phenomena of the diagnostics, kinds of a change."""
    rows = []
    for system, name in results.answers:
        for tag, inside in _tags(results.plan.find_set(name).gold.frame):
            accuracy = results.accuracy(system, name, inside)
            rows.append(
                {"model": system, "set": name, "category": tag, "pairs": accuracy.n} | _figures("accuracy", accuracy)
            )
    return _frame(rows, "model", "set", "category", *_ACCURACY)


def split_name(name: str) -> tuple[str, str]:
    """Return the base and the test in a set's name; nothing for both where it is no stress test."""
    base, plus, test = name.partition(MADE_OF)
    return (base, test) if plus else ("", "")


def _tags(frame: pl.DataFrame) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    tags = frame["tags"]
    for tag in tags.explode().drop_nulls().unique(maintain_order=True):
        inside = tags.list.contains(tag).fill_null(False).to_numpy()
        if not inside.all():  # a tag of all pairs, such as the test's own name, is no category
            yield tag, inside


def _cell(results: BenchResults, system: str, name: str, tuned: bool) -> float | None:
    who = f"{system}{TUNED}{name}" if tuned else system
    return 100 * results.accuracy(who, name).defined if results.has(who, name) else None


def _drop(results: BenchResults, system: str, name: str, base: str) -> dict[str, Any]:
    before = system.partition(TUNED)[0]
    if not results.has(before, base):
        return {}
    made_of = results.plan.find_set(name).gold.frame["meta"].str.json_path_match("$.base")
    places = {identifier: place for place, identifier in enumerate(results.plan.find_set(base).gold.frame["id"])}
    rows = [row for row, identifier in enumerate(made_of) if identifier in places]
    undisturbed = results.hits(before, base)[[places[made_of[row]] for row in rows]]
    disturbed, units = results.hits(system, name)[rows], results.plan.find_set(name).gold.units[rows]
    lost = mean(undisturbed - disturbed, units=units, level=results.level)
    if lost.interval is not None:  # few units leave Student's t more room than there is
        lost = replace(lost, low=max(lost.interval[0], -1.0), high=min(lost.interval[1], 1.0))
    figures = _figures("drop", lost)
    return {"compared": len(rows), "undisturbed": 100 * float(undisturbed.mean()) if rows else None} | figures


def _bounded(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _figures(name: str, figure: Estimate) -> dict[str, float | None]:
    percent = figure.percent()
    return dict(zip(_bounded(name), (percent.value, percent.low, percent.high), strict=True))


_ACCURACY = ("pairs", *_bounded("accuracy"))
_WORDS, _COUNTS = ("model", "of", "test", "set", "heuristic", "gold", "category"), ("pairs", "compared")


def _frame(rows: list[dict[str, Any]], *columns: str) -> pl.DataFrame:
    kinds: dict[str, Any] = dict.fromkeys(_WORDS, pl.String) | dict.fromkeys(_COUNTS, pl.Int64) | {"tuned": pl.Boolean}
    schema = {name: kinds.get(name, pl.Float64) for name in columns}
    return pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).round(2))
