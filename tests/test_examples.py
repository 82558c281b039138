"""Every script in examples/ runs as it stands, and prints what it is there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PRINTED = {
    "audit_pairs.py": [
        "first finding: Hypotheses with a word of negation",
        "fails on a gain over 15 points: True",
        "334 hard pairs of 720",
    ],
    "convert_large_file.py": ["meters: 30,000 pairs, nli3", "none.parquet", "longest premise: 27 characters"],
    "find_duplicates.py": [
        "clusters of duplicates among 3 pairs, by pair: 1",
        "near ['old/1', 'old/2', 'new/a']",
        "clusters across datasets: 1",
        "clusters with two labels: 1",
        "without what the new file has too: 1",
    ],
    "map_labels.py": [
        "three labels: {'entailment': 2, 'contradiction': 1, 'neutral': 1}",
        "two labels:   {'entailment': 2, 'not_entailment': 2}",
        "contradiction and neutral add up to not_entailment",
        "('entailment', 'not_entailment') [[0.5, 0.5]]",
    ],
    "read_and_split.py": [
        "fences: 60 pairs, nli3",
        "{'train': 48, 'dev': 6, 'test': 6}",
        "written: train.parquet, dev.parquet, test.parquet",
    ],
    "recast_template.py": ["8 pairs of 4 rows, {'not_entailment': 5, 'entailment': 3}"],
    "to_hugging_face.py": [
        "keys-hf/data/validation-00000-of-00001.parquet",
        "{'train': 2, 'validation': 1, 'test': 1}",
        "the same pairs come back: True",
    ],
    "verify_votes.py": ["votes: 60 of 60 pairs relabelled", "bot: one label: all 60 votes are entailment"],
    "train.py": [
        "stopped, and saved: True",
        "dev accuracy: 1.00",
        "['contradiction']",
        "runs: size-24/seed-0, size-24/seed-1, size-480/seed-0, size-480/seed-1",
    ],
    "train_linear.py": ["majority: 0.33", "linear: 1.00 (0.93 to 1.00), 48 pairs", "blind: 0.6", "p = "],
}


SERVED = {"collect_api.py"}
"""Clients of a server: tests/web/test_api.py runs them against one."""


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTED) | SERVED


@pytest.mark.parametrize("name", PRINTED)
def test_example_runs(name: str, tmp_path: Path) -> None:
    needed = {"to_hugging_face.py": "datasets", "train.py": "torch"}
    if name in needed:
        pytest.importorskip(needed[name])
    own = {"GOLDLABEL_HOME": str(tmp_path / "home"), "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    work = tmp_path / "work"
    work.mkdir()
    run = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=work,
        env={**os.environ, **own, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert [line for line in PRINTED[name] if line not in run.stdout] == [], run.stdout
