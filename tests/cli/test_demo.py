from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

import goldlabel as gl
from goldlabel.cli.app import app
from goldlabel.demo import steps
from goldlabel.demo.lines import LINES
from tests.report.test_page import FLAGS

PAIRS = 300
SMALL = f"""
from goldlabel.demo import steps
steps.PAIRS, steps._has_torch = {PAIRS}, lambda: False
from goldlabel.cli import main
main()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The demo of the core alone, on few pairs: its folder, and what ``--json`` prints."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "PAIRS", PAIRS)
        patch.setattr(steps, "_has_torch", lambda: False)
        result = CliRunner().invoke(app, ["demo", "--no-serve", "--json", "-o", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_the_demo_leaves_the_folders_of_the_commands_and_their_report(made: tuple[Path, dict[str, Any]]) -> None:
    folder, figures = made
    pairs = gl.read(folder / "dataset")
    assert len(pairs) == figures["pairs"] == PAIRS
    assert pairs.duplicates(on="premise").across("split").is_empty()
    assert figures["report"] == str(folder / "report" / "index.html")
    page = Path(figures["report"]).read_text(encoding="utf-8")
    for name in (*figures["accuracy"], *figures["accuracy"]["linear"]):
        assert name in page
    assert (folder / "audit" / "index.html").exists()
    assert (folder / "bench" / "bench.json").exists()


def test_the_report_in_a_browser(made: tuple[Path, dict[str, Any]], chromium: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for width, scheme in ((1100, "light"), (360, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            complaints: list[str] = []
            page.on("console", lambda message, seen=complaints: seen.append(message.text))
            page.on("pageerror", lambda error, seen=complaints: seen.append(str(error)))
            page.goto(Path(made[1]["report"]).resolve().as_uri())
            assert page.locator("h1").is_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
            assert complaints == []
        browser.close()


def test_every_json_key_is_documented(made: tuple[Path, dict[str, Any]]) -> None:
    commands = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    section = commands.partition("## goldlabel demo\n")[2].partition("\n## ")[0]
    assert [key for key in made[1] if f"`{key}`" not in section] == []


def test_the_artifact_is_found_and_the_figures_are_those_of_the_models(made: tuple[Path, dict[str, Any]]) -> None:
    folder, figures = made
    assert figures["finding"].startswith("Hypotheses with a word of negation")
    assert "contradiction" in figures["finding"]
    assert set(figures["accuracy"]) == {"linear@hypothesis", "linear", "linear+weighting", "linear+drift"}
    (run,) = (path.parent for path in (folder / "bench" / "runs").glob("linear+drift/*/config.json"))
    clean = gl.read(folder / "sets" / "clean").collect()
    answers = gl.predict_labels(gl.load_model(run), clean["premise"].to_list(), clean["hypothesis"].to_list())
    right = sum(answer == label for answer, label in zip(answers, clean["label"], strict=True))
    score = figures["accuracy"]["linear+drift"]["clean"]
    assert score["value"] == pytest.approx(right / len(clean))
    assert score["low"] < score["value"] < score["high"]
    gain = figures["mean"]["linear+drift"]["value"] - figures["mean"]["linear"]["value"]
    assert figures["gain"]["value"] == pytest.approx(gain)


def test_no_pair_that_models_are_judged_by_was_learnt(made: tuple[Path, dict[str, Any]]) -> None:
    folder, figures = made
    learnt = set(gl.read(folder / "dataset").only(split=["train", "dev"]).collect()["premise"])
    for name in figures["accuracy"]["linear"]:
        judged = gl.read(folder / "sets" / name).collect()
        assert set(judged["split"]) == {"test"}
        assert not learnt & set(judged["premise"])


def test_negation_tells_nothing_in_what_is_recast(made: tuple[Path, dict[str, Any]]) -> None:
    recast = gl.read(made[0] / "sets" / "recast").collect()
    denials = recast["hypothesis"].str.contains(" not ")
    assert denials.sum() == len(recast) / 2
    counts = recast["label"].value_counts().sort("label")
    assert (
        recast.filter(denials)["label"].is_in(["neutral"]).sum() * 2 == counts.filter(label="neutral")["count"].item()
    )


def test_the_report_is_served_and_the_same_seed_gives_the_same_figures(
    made: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "again"
    command = [sys.executable, "-u", "-c", SMALL, "demo", "-o", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline() for _ in range(7)]
        address = process.stderr.readline().split()[3]
        try:
            assert [line[:2] for line in lines] == [f"{number}." for number in range(1, 8)]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=300) as answer:
                assert "linear+drift" in answer.read().decode()
        finally:
            process.terminate()
            process.communicate(timeout=300)
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert figures == {name: value for name, value in made[1].items() if name != "report"}


def test_the_chinese_demo_speaks_chinese_and_has_the_network_where_torch_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(steps, "PAIRS", 90)
    monkeypatch.setitem(sys.modules, "jieba", None)  # the core alone must do
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "settings.json").write_text("{}")  # of an earlier demo in the same folder
    lines: list[str] = []
    demo = steps.run_demo(tmp_path, language="zh", tell=lines.append)
    assert gl.read(tmp_path / "dataset").to_dict()["languages"] == {"zh": 90}
    assert {"cbow", "cbow+drift"} <= set(demo.to_dict()["accuracy"])
    assert len(lines) == 7
    assert all("：" in line for line in lines)


def test_both_languages_say_the_same() -> None:
    assert list(LINES["en"]) == list(LINES["zh"])


def test_a_language_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--no-serve", "--language", "fr", "-o", str(tmp_path)])
    assert result.exit_code != 0
    assert "en" in str(result.exception)
    assert not list(tmp_path.iterdir())
