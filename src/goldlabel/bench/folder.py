"""The folder of a bench: where everything lies, and who may write there."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import SuitePlan
from goldlabel.files import LOCK, atomic_file, lock_folder
from goldlabel.report.parts.bench_results import LABELS, SETTINGS

TABLES, IDS, RUNS, ANSWERS = "tables", "ids", "runs", "answers"
_SAME = ("suite", "seed", "limit", "options")
"""What must be the same for a folder to be gone on with."""


def check_folder(folder: Path, described: Mapping[str, Any]) -> None:
    """Refuse a folder that holds something else, or another bench."""
    if not folder.exists():
        return
    if not folder.is_dir() or (set(folder.iterdir()) - {folder / LOCK} and not (folder / SETTINGS).exists()):
        raise InputError(f"{folder}: holds something else than a bench; choose another folder with -o")
    if (folder / SETTINGS).exists():
        before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        now = json.loads(to_json(dict(described)))
        if names := [key for key in _SAME if before.get(key) != now[key]]:
            raise InputError(
                f"{folder}: holds a bench with another {names[0]} ({before.get(names[0])}); give the same to go on, or "
                "choose another folder with -o"
            )


@contextmanager
def open_folder(folder: Path) -> Iterator[None]:
    """Keep others out of the folder; a new one in which nothing was trained or answered is not left behind."""
    is_new = not folder.exists()
    with lock_folder(folder, "benchmarking"):
        try:
            yield
        except GoldlabelError:
            kept = [*(folder / RUNS).glob("*/*"), *(folder / ANSWERS).glob("*.parquet*")]
            if is_new and not kept:
                shutil.rmtree(folder, ignore_errors=True)
            raise


def run_folder(folder: Path, system: str, seed: int) -> Path:
    """Return where a system's run of a seed lies."""
    return folder / RUNS / slug(system) / f"seed-{seed}"


def run_name(system: str, seed: int) -> str:
    """Return what a system's run of a seed is called."""
    return f"{system}, seed {seed}"


def slug(name: str) -> str:
    """Return a name as a file may be called."""
    return re.sub(r"[^\w.+@-]+", "-", name).strip("-.") or "unnamed"


def write_ids(plan: SuitePlan, folder: Path) -> None:
    """Write which pairs of each set are judged by, and which are there to stop and tune on."""
    for part in plan.sets:
        rows = [part.gold.frame.select("id").with_columns(pl.lit("test").alias("split"))]
        if part.dev is not None:
            rows.append(part.dev.frame.select("id").collect().with_columns(pl.lit("dev").alias("split")))
        _write_csv(pl.concat(rows), folder / f"{slug(part.name)}.csv")


def write_labels(results: BenchResults, folder: Path) -> None:
    """Write what each system says of each pair."""
    with atomic_file(folder / LABELS) as temporary:
        results.labels.write_parquet(temporary)


def write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write tables as CSV."""
    for name, table in tables.items():
        _write_csv(table, folder / f"{slug(name)}.csv")


def _write_csv(table: pl.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as temporary:
        table.write_csv(temporary)


def to_json(content: Mapping[str, Any]) -> str:
    """Return the text of a JSON file."""
    return json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n"
