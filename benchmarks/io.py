"""Reading and writing a million pairs, beside Hugging Face datasets doing the same in the same run.

Import:  SNLI-style JSONL -> every row checked, text in NFC, ids unique -> Parquet.
Export:  Parquet -> 80:10:10, ours by unit, theirs row by row -> three JSONL files.
Stream:  a JSONL file more than ten times as large as the memory used to convert it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

from measure import measure, write_result

LABELS = ("entailment", "neutral", "contradiction")


def generate(path: Path, pairs: int) -> None:
    chosen = random.Random(0)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = ["".join(chosen.choices(syllables, k=chosen.randint(1, 4))) for _ in range(8000)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(pairs):
            label = chosen.choice(LABELS)
            row = {
                "gold_label": label,
                "sentence1": " ".join(chosen.choices(words, k=14)) + ".",
                "sentence2": " ".join(chosen.choices(words, k=7)) + ".",
                "annotator_labels": [label, label, label, chosen.choice(LABELS), chosen.choice(LABELS)],
                "captionID": f"{number // 3}.jpg#0",
                "pairID": f"{number}.jpg#0r1",
            }
            file.write(json.dumps(row) + "\n")


def goldlabel_import(source: str, target: str) -> int:
    import goldlabel as gl

    return len(gl.convert(source, target))


def goldlabel_export(source: str, target: str) -> int:
    import goldlabel as gl

    split = gl.read(source).split("80:10:10", seed=1)
    return sum(split.pairs.only(split=name).export(Path(target) / f"{name}.jsonl", "jsonl") for name in split.splits)


def datasets_import(source: str, target: str) -> int:
    import unicodedata

    import datasets

    datasets.disable_progress_bars()
    allowed = {*LABELS, "-"}

    def check(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        for label, votes in zip(batch["gold_label"], batch["annotator_labels"], strict=True):
            if label not in allowed or any(vote not in allowed for vote in votes):
                raise ValueError(label)
        texts = {}
        for name in ("sentence1", "sentence2"):
            texts[name] = [unicodedata.normalize("NFC", text) for text in batch[name]]
            if not all(text.strip() for text in texts[name]):
                raise ValueError("empty")
        return texts

    data = datasets.load_dataset("json", data_files=source, split="train", cache_dir=f"{target}-cache")
    data = data.map(check, batched=True)
    if len(set(data["pairID"])) != len(data):
        raise ValueError("ids")
    data = data.rename_columns({"sentence1": "premise", "sentence2": "hypothesis", "gold_label": "label"})
    data.to_parquet(target)
    return len(data)


def datasets_export(source: str, target: str) -> int:
    import datasets

    datasets.disable_progress_bars()
    data = datasets.load_dataset("parquet", data_files=source, split="train", cache_dir=f"{target}-cache")
    first = data.train_test_split(0.2, seed=1)
    second = first["test"].train_test_split(0.5, seed=1)
    parts = {"train": first["train"], "dev": second["train"], "test": second["test"]}
    for name, part in parts.items():
        part.to_json(f"{target}/{name}.jsonl", force_ascii=False)
    return sum(len(part) for part in parts.values())


def repeat(source: Path, target: Path, times: int) -> None:
    """Write a file several times over, with ids of its own each time."""
    with target.open("wb") as file:
        for turn in range(times):
            with source.open("rb") as lines:
                file.writelines(line.replace(b'"pairID": "', b'"pairID": "%d-' % turn) for line in lines)


def stream(folder: str, source: str, times: int) -> dict[str, Any]:
    large = Path(folder) / "large.jsonl"
    repeat(Path(source), large, times)
    outcome = measure(goldlabel_import, str(large), f"{folder}/large")
    megabytes = large.stat().st_size / 2**20
    large.unlink()
    ratio = megabytes / outcome["peak_mb"]
    size = f"{outcome['result']:,} pairs, {megabytes:,.0f} MB"
    print(f"stream: {size} converted in {outcome['peak_mb']:,.0f} MB of memory: {ratio:.1f} to 1")
    return outcome | {"megabytes": megabytes, "file_over_memory": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--stream", type=int, default=20, help="size of the large file, in times the small one; 0: none"
    )
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    figures: dict[str, Any] = {"pairs": options.pairs}
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/pairs.jsonl"
        generate(Path(source), options.pairs)
        figures["megabytes"] = Path(source).stat().st_size / 1e6
        seen: dict[str, list[dict[str, Any]]] = {}
        for turn in range(options.repeats):
            for name in ("ours", "datasets"):
                Path(f"{folder}/{name}-{turn}").mkdir()
            jobs = {
                "import goldlabel": (goldlabel_import, source, f"{folder}/ours-{turn}.data"),
                "import datasets": (datasets_import, source, f"{folder}/datasets-{turn}.parquet"),
                "export goldlabel": (goldlabel_export, f"{folder}/ours-{turn}.data", f"{folder}/ours-{turn}"),
                "export datasets": (
                    datasets_export,
                    f"{folder}/datasets-{turn}.parquet",
                    f"{folder}/datasets-{turn}",
                ),
            }
            for name, job in jobs.items():
                outcome = measure(*job)
                assert outcome["result"] == options.pairs, (name, outcome)
                seen.setdefault(name, []).append(outcome)
        if options.stream:
            figures["stream"] = stream(folder, source, options.stream)
    for name, outcomes in seen.items():
        seconds = statistics.median(outcome["seconds"] for outcome in outcomes)
        peak = max(outcome["peak_mb"] for outcome in outcomes)
        figures[name] = {"seconds": seconds, "peak_mb": peak, "pairs_per_second": options.pairs / seconds}
        print(f"{name:18} {seconds:7.2f} s  {options.pairs / seconds:12,.0f} pairs/s  peak {peak:7,.0f} MB")
    for step in ("import", "export"):
        ours, theirs = figures[f"{step} goldlabel"], figures[f"{step} datasets"]
        figures[f"{step} ratio"] = {
            "faster": theirs["seconds"] / ours["seconds"],
            "less_memory": theirs["peak_mb"] / ours["peak_mb"],
        }
        print(
            f"{step}: {theirs['seconds'] / ours['seconds']:.1f} times as fast, "
            f"{theirs['peak_mb'] / ours['peak_mb']:.1f} times less memory"
        )
    write_result("io", figures)


if __name__ == "__main__":
    main()
