from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import goldlabel as gl
from goldlabel.demo import run_demo


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "jieba", None)  # the core alone must do
        run_demo(folder, 0, lambda size: None)
    return folder


def test_the_demo_leaves_a_dataset_runs_and_a_report(folder: Path) -> None:
    pairs = gl.read(folder / "dataset")
    assert set(pairs.to_dict()["languages"]) == {"en", "zh"}
    assert pairs.duplicates(on="premise").across("split").is_empty()
    model = gl.load_model(folder / "runs" / "linear-hypothesis-only")
    test = pairs.only(split="test", label=["entailment", "neutral", "contradiction"]).collect()
    answers = gl.predict_labels(model, test["premise"].to_list(), test["hypothesis"].to_list())
    figures = json.loads((folder / "figures.json").read_text())
    right = sum(answer == label for answer, label in zip(answers, test["label"], strict=True))
    assert figures["accuracy"]["linear, hypothesis only"]["value"] == pytest.approx(right / len(test))
    names = ("majority", "linear, hypothesis only", "linear, whole pair")
    floor, blind, full = (figures["accuracy"][name]["value"] for name in names)
    assert floor < blind < full
    assert "negation" in figures["finding"]
    assert "contradiction in 80 %" in figures["finding"]
    assert (folder / "audit" / "index.html").exists()


def test_the_same_seed_gives_the_same_figures(folder: Path, tmp_path: Path) -> None:
    demo = run_demo(tmp_path / "again", 0, lambda size: None)
    assert json.loads((folder / "figures.json").read_text()) == demo.to_dict()
    assert "linear, whole pair" in repr(demo)


def test_the_report_is_served_on_loopback(tmp_path: Path) -> None:
    command = [sys.executable, "-u", "-m", "goldlabel", "demo", "-o", str(tmp_path / "demo"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("The report is at ")
        line = process.stderr.readline()
        try:
            address = line.split()[3]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=300) as answer:
                assert "Goldlabel demo" in answer.read().decode()
        finally:
            process.terminate()
            process.communicate(timeout=300)
