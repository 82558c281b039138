"""Reading files of each kind that people have, beside Polars parsing the same file without a check, in the same run.

``--against SRC`` reads with the sources of another version too, turn by turn, and prints the ratio of both.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from measure import write_result

LABELS = ("entailment", "neutral", "contradiction")
OURS = str(Path(__file__).parents[1] / "src")
PARSE = {".csv": "pl.read_csv(p)", ".tsv": "pl.read_csv(p, separator=chr(9))", ".jsonl": "pl.read_ndjson(p)"}


def generate(folder: Path, pairs: int) -> list[Path]:
    """Write one dataset in every kind; ``extra`` has columns that the record does not."""
    chosen = random.Random(0)
    words = ["".join(chosen.choices("bdfgklmnaeiou", k=chosen.randint(2, 8))) for _ in range(8000)]
    labels = [chosen.choice(LABELS) for _ in range(pairs)]
    frame = pl.DataFrame(
        {
            "id": [f"p{number}" for number in range(pairs)],
            "premise": [" ".join(chosen.choices(words, k=14)) + "." for _ in range(pairs)],
            "hypothesis": [" ".join(chosen.choices(words, k=7)) + "." for _ in range(pairs)],
            "label": labels,
        }
    )
    extra = frame.with_columns(
        pl.Series("source", [f"page {number % 97}" for number in range(pairs)]),
        pl.Series("minutes", [number % 7 for number in range(pairs)]),
    )
    raters = frame.drop("label").with_columns(
        *(pl.Series(f"rater{rater}", [chosen.choice((label, "neutral")) for label in labels]) for rater in range(1, 4))
    )
    votes = frame.with_columns(pl.Series("votes", [[label, label, chosen.choice(LABELS)] for label in labels]))
    files = []
    for name, table, kinds in (
        ("plain", frame, (".csv", ".tsv", ".jsonl", ".parquet")),
        ("extra", extra, (".csv", ".jsonl", ".parquet")),
        ("raters", raters, (".csv",)),
        ("votes", votes, (".jsonl", ".parquet")),
    ):
        for kind in kinds:
            path = folder / f"{name}{kind}"
            if kind == ".jsonl":
                table.write_ndjson(path)
            elif kind == ".parquet":
                table.write_parquet(path)
            else:
                table.write_csv(path, separator="," if kind == ".csv" else "\t")
            files.append(path)
    return files


def seconds(path: Path, source: str | None) -> float:
    """Return the processor's seconds of one reading in a process of its own; no source: Polars alone.

    All threads count, so that a machine with other work to do gives the same ratios.
    """
    votes = ", votes_from=['rater1', 'rater2', 'rater3']" if path.stem == "raters" else ""
    work = f"len(gl.read(p{votes}))" if source else PARSE.get(path.suffix, "pl.read_parquet(p)")
    code = [
        "import sys, time",
        "import polars as pl, goldlabel as gl",
        "p, start = sys.argv[1], time.process_time()",
        work,
        "print(time.process_time() - start)",
    ]
    environment = os.environ | {"PYTHONPATH": source or OURS}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code), path], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--against", help="the src folder of another version")
    options = parser.parse_args()
    readers = {"goldlabel": OURS, "polars": None} | ({"other": options.against} if options.against else {})
    figures: dict[str, Any] = {"pairs": options.pairs}
    with tempfile.TemporaryDirectory() as folder:
        for path in generate(Path(folder), options.pairs):
            turns = [{name: seconds(path, source) for name, source in readers.items()} for _ in range(options.repeats)]
            taken = {name: statistics.median(turn[name] for turn in turns) for name in readers}
            figures[path.name] = {"pairs_per_second": options.pairs / taken["goldlabel"]} | {
                f"over_{name}": taken["goldlabel"] / taken[name] for name in readers if name != "goldlabel"
            }
            ratios = "  ".join(f"{key} {value:6.2f}" for key, value in figures[path.name].items() if key[0] == "o")
            print(f"{path.name:16} {options.pairs / taken['goldlabel']:12,.0f} pairs/s  {ratios}", flush=True)
    write_result("reading", figures)


if __name__ == "__main__":
    main()
