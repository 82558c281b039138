"""Read a JSONL file in SNLI's field names, split it so that no premise is torn apart, and write a dataset."""

import json
from pathlib import Path

import goldlabel as gl

VERBS = {"entailment": "is awake", "neutral": "likes music", "contradiction": "is asleep"}
rows = [
    {
        "sentence1": f"Neighbour {number} is mending the fence.",
        "sentence2": f"Neighbour {number} {verb}.",
        "gold_label": label,
        "captionID": f"fence-{number}",
    }
    for number in range(20)
    for label, verb in VERBS.items()
]
Path("fences.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

pairs = gl.read("fences.jsonl")
print(pairs.title)

split = pairs.split("80:10:10", seed=13)
dataset = split.pairs.write("fences")
print(split.to_dict()["splits"])
print("written:", ", ".join(entry.path for entry in dataset.card.files))
