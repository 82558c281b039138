"""Suites of the user's own: a YAML file, and a package that brings one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from tests.bench.samples import LABELS, pairs
from tests.cli.commands import run

ENTAILED = "always=tests.bench.samples:entailed"
POND = """
title: Does it know the pond?
in_domain: home
train: [data/train.jsonl]
sets:
  - {name: home, path: data/home.jsonl}
  - name: gulls
    path: data/gulls.csv
    map: {0: entailment, 1: neutral, 2: contradiction}
    columns: {premise: text_a, hypothesis: text_b, label: verdict}
  - {name: terns, path: data/terns.jsonl, counts: false}
  - {name: herons, path: data/herons, split: test, dev: dev}
  - rte
"""


def ducks(count: int) -> gl.Pairs:
    """Pairs to train on that no set has, with the same words for the labels."""
    herons = pairs("ducks", count, split="none")
    return gl.Pairs(
        herons.frame.with_columns(pl.col("premise", "hypothesis").str.replace("Heron", "Duck")), herons.card
    )


@pytest.fixture
def pond(tmp_path: Path, home: Path) -> Path:
    """A suite file in a folder of its own, and its data beside it."""
    data = tmp_path / "suite/data"
    for name in ("home", "terns"):
        pairs(name, 30, split="none").export(data / f"{name}.jsonl", "jsonl")
    ducks(30).export(data / "train.jsonl", "jsonl")
    gulls = pairs("gulls", 30).collect()
    numbers = gulls["label"].replace_strict({label: number for number, label in enumerate(LABELS)})
    texts = {"text_a": gulls["premise"], "text_b": gulls["hypothesis"], "verdict": numbers}
    pl.DataFrame(texts).write_csv(data / "gulls.csv")
    pairs("herons", 40).split("0:50:50").pairs.write(data / "herons")
    (tmp_path / "suite/pond.yaml").write_text(POND)
    return tmp_path / "suite/pond.yaml"


def test_a_yaml_file_is_a_suite(pond: Path, tmp_path: Path) -> None:
    done = run("bench", pond, ENTAILED, "linear", "-o", tmp_path / "bench", "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["suite"] == "pond"
    assert results["missing"] == ["rte"]
    assert "rte is missing: add it with 'goldlabel data add rte PATH'" in done.stderr
    assert "Does it know the pond?" in done.stderr
    figures = results["models"]["always"]
    assert figures["over"] == ["gulls", "herons"]
    assert figures["snli"] == figures["in_domain"]["accuracy"] == pytest.approx(1 / 3)
    assert (figures["gulls"]["accuracy"], figures["herons"]["n"]) == (pytest.approx(1 / 3), 20)
    assert results["models"]["linear"]["snli"] > 0.9, "the file says what to train on"
    assert "dev" in pl.read_csv(tmp_path / "bench/ids/herons.csv")["split"].to_list()
    option = run("bench", "mine", ENTAILED, "--suite-set", f"file={pond}", "-o", tmp_path / "other", "--json")
    assert json.loads(option.stdout)["models"]["always"] == figures


def test_what_is_too_wide_for_the_terminal_is_turned(tmp_path: Path, home: Path) -> None:
    pairs("gulls", 12, split="none").export(tmp_path / "gulls.jsonl", "jsonl")
    names = [f"gulls of a very distant shore {number}" for number in range(8)]
    sets = "\n".join(f"  - {{name: {name}, path: gulls.jsonl}}" for name in names)
    (tmp_path / "shores.yaml").write_text(f"sets:\n{sets}", encoding="utf-8")
    done = run("bench", tmp_path / "shores.yaml", ENTAILED, "-o", tmp_path / "bench")
    assert done.returncode == 0, done.stderr
    title, header, *rows = done.stdout.splitlines()
    assert title == "shores: 1 model on 96 pairs of 8 sets"
    assert header.split() == ["set", "always"]
    assert [row.partition("  ")[0] for row in rows[:8]] == names
    assert rows[8].startswith("mean of 8 ")


def test_contamination_is_held_against_what_the_file_trains_on(pond: Path, tmp_path: Path) -> None:
    (pond.parent / "data/train.jsonl").write_bytes((pond.parent / "data/terns.jsonl").read_bytes())
    results = gl.bench(str(pond), ["linear"], tmp_path / "bench", contaminated="report", force=True)
    assert results.contamination["terns"].exact.all()


def test_what_the_user_says_goes_before_the_file(pond: Path, tmp_path: Path) -> None:
    more = pairs("rte", 8, split="none")
    more.export(tmp_path / "rte.jsonl", "jsonl")
    data = {"rte": str(tmp_path / "rte.jsonl")}
    results = gl.bench(str(pond), ["linear"], tmp_path / "bench", train=ducks(12), data=data, limit=6)
    assert results.plan.systems[0].training is not None
    assert [part.card.name for part in results.plan.systems[0].training.on] == ["ducks"]
    assert {part.name: len(part.gold) for part in results.plan.sets} == dict.fromkeys(
        ["home", "gulls", "terns", "herons", "rte"], 6
    )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("0: entailment", "0: entailed", "line 7: the map 0=entailed leads out of label space 'nli3'"),
        ("split: test", "split: train", "line 12: herons: has no train split, only dev, test"),
        ("data/terns.jsonl,", "data/terns.jsonl, labels: nli5,", "line 11: there is no label space 'nli5'"),
        ("dev: dev", "dev: train", "line 12: herons: has no train split to tune on, only dev, test"),
        ("dev: dev", "dev: test", "line 12: herons: its split 'test' cannot be judged by and tuned on at once"),
        ("train: [data/train.jsonl]\n", "", "linear has to be trained first; say on what with --train PATH"),
    ],
)
def test_data_that_is_not_as_the_file_says(pond: Path, tmp_path: Path, before: str, after: str, message: str) -> None:
    assert before in POND
    pond.write_text(POND.replace(before, after))
    done = run("bench", pond, "linear", "-o", tmp_path / "bench")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "bench").exists()


def test_without_a_file_there_is_no_suite_of_ones_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name its YAML file, 'goldlabel bench FILE\.yaml'"):
        gl.bench("mine", [ENTAILED], tmp_path / "bench")


def test_a_suite_goes_out_as_tasks_without_any_model(pond: Path, tmp_path: Path) -> None:
    done = run("bench", pond, "--export", "lm-eval", "-o", tmp_path / "tasks", "--limit", 5, "--json")
    assert done.returncode == 0, done.stderr
    exported = json.loads(done.stdout)
    assert [task["task"] for task in exported["tasks"]] == [
        f"goldlabel_pond_{name}" for name in ("home", "gulls", "terns", "herons")
    ]
    assert {task["pairs"] for task in exported["tasks"]} == {5}
    assert exported["missing"] == ["rte"]
    assert "rte is missing: " in done.stderr
    assert "--tasks goldlabel_pond,goldlabel_pond_home,goldlabel_pond_terns " in exported["command"]
    assert (tmp_path / "tasks/goldlabel_pond.yaml").exists()
    refused = run("bench", pond, "linear", "--export", "lm-eval", "-o", tmp_path / "others")
    assert refused.returncode == 2
    assert "judges no model; leave 'linear' out" in refused.stderr


def test_a_package_brings_a_suite(tmp_path: Path) -> None:
    """As pip leaves it: the module, and a distribution that names its entry points."""
    site = tmp_path / "site"
    about = site / "lagoon-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lagoon\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[goldlabel.suites]\nlagoon = lagoon_suite:LAGOON\n")
    (site / "lagoon_suite.py").write_text("from tests.bench.samples import Birds\n\nLAGOON = Birds()\n")
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(site), str(root), *sys.path])
    command = [sys.executable, "-m", "goldlabel", "bench", "lagoon", ENTAILED, "-o", str(tmp_path / "bench"), "--json"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["suite"] == "lagoon"
    assert run("bench", "lagoon", ENTAILED, "-o", tmp_path / "other").returncode == 2
