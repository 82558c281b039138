"""Turn a compressed file of any size into a Parquet dataset, a block at a time, then look at a slice of it."""

import gzip
import json
from pathlib import Path

import polars as pl

import goldlabel as gl

LABELS = ("entailment", "neutral", "contradiction")
with gzip.open("meters.jsonl.gz", "wt", encoding="utf-8") as stream:
    for number in range(30_000):
        row = {
            "pairID": f"m{number}",
            "sentence1": f"Meter {number} reads {number % 97} units.",
            "sentence2": f"Meter {number} reads {number % 89} units.",
            "gold_label": LABELS[number % 3],
        }
        stream.write(json.dumps(row) + "\n")

pairs = gl.convert("meters.jsonl.gz", "meters")
print(pairs.title)
print("files:", sorted(path.name for path in Path("meters").iterdir()))

# Nothing is in memory yet: .frame is a lazy Polars frame over the Parquet files.
longest = pairs.frame.select(pl.col("premise").str.len_chars().max()).collect().item()
print("longest premise:", longest, "characters")
