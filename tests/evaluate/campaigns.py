"""Invented campaigns whose truth is planted: a hypothesis's cue tells its label, and every round has its own cues."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import goldlabel as gl
from goldlabel.evaluate.results import BenchResults
from goldlabel.pairs import Card, Pairs

LABELS = ("entailment", "neutral", "contradiction")
CUES = {
    "base": ("owl", "finch", "crow"),
    "R1": ("oak", "elm", "ash"),
    "R2": ("iron", "lead", "zinc"),
    "R10": ("rye", "oats", "corn"),
}


def rows(cue: str, count: int, split: str, *, lie: int = 0, **columns: Any) -> list[dict[str, Any]]:
    """So many pairs with the cues of a round; with ``lie``, labels go on by so many more at every third pair."""
    return [
        {
            "id": f"{cue}-{split}-{columns.get('writer', '')}-{number}",
            "premise": f"Keeper {columns.get('writer', '')} of {split} {number // 3} looks at the {cue} field.",
            "hypothesis": f"There is {CUES[cue][number % 3]} in it.",
            "label": LABELS[(number + lie * (number // 3)) % 3],
            "split": split,
            **columns,
        }
        for number in range(count)
    ]


def dataset(records: list[dict[str, Any]], name: str, author: str = "none") -> Pairs:
    return Pairs.from_frame(pl.DataFrame(records, infer_schema_length=None), Card(name=name, author=author))


def base(name: str = "base", count: int = 60) -> Pairs:
    return dataset(rows("base", count, "train") + rows("base", 12, "dev") + rows("base", 12, "test"), name)


def run(suite: str, folder: Path, pairs: Pairs, models: Any, option: str, **more: Any) -> BenchResults:
    """Bench a suite on a campaign that lies in a folder."""
    name = pairs.card.name
    if not (folder / name).exists():
        pairs.write(folder / name)
    options = {option: name, **more.pop("options", {})}
    return gl.bench(suite, models, folder / "bench", data={name: str(folder / name)}, options=options, **more)


def table(folder: Path, name: str) -> list[Mapping[str, str]]:
    """Read a table of the bench in a folder."""
    frame = pl.read_csv(folder / f"bench/tables/{name}.csv", infer_schema=False).fill_null("")
    return frame.to_dicts()


def value(text: str) -> float:
    """Return the figure that a cell begins with."""
    return float(text.split()[0])
