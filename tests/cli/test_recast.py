from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import goldlabel as gl
from goldlabel.cli.recast import app
from goldlabel.errors import GoldlabelError, InputError
from goldlabel.recast import RECASTERS
from tests.recast.samples import megaveridicality, puns, sentiment, template, winogender
from tests.recast.samples_more import put


def run(*arguments: object) -> str:
    """Run a command; what it prints is returned, and what it refuses is raised."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def run_json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture
def reviews(tmp_path: Path) -> list[Path]:
    return sentiment(tmp_path / "given")


def test_list() -> None:
    listed = run_json("list")["recasters"]
    assert [one["name"] for one in listed] == list(RECASTERS)
    assert {"name", "phenomenon", "title", "paper", "sources", "labels", "settings", "from"} == listed[0].keys()
    table = run("list")
    assert all(name in table for name in RECASTERS)


def test_run_prints_the_documented_keys(reviews: list[Path], tmp_path: Path) -> None:
    told = run_json("run", "sentiment", *reviews, "-o", tmp_path / "out", "--style", "dnc", "--seed", 4)
    counts = {"name", "style", "pairs", "events", "labels", "splits", "skipped", "remarks", "policies"}
    assert told.keys() == counts | {"output", "artifacts"}
    assert (told["name"], told["style"], told["pairs"], told["events"]) == ("sentiment", "dnc", 74, 37)
    assert told["artifacts"]["majority"] == 0.5
    assert told["artifacts"]["n"] == 74
    assert len(gl.read(tmp_path / "out")) == 74


def test_run_shows_a_table_and_what_was_left_out(tmp_path: Path) -> None:
    shown = run("run", "template", *template(tmp_path / "given"), "-o", tmp_path / "out", "--questions", "remove")
    assert "template (plain): " in shown
    assert "left out: 2 (a question (questions: remove))" in shown
    assert "person=conservative would cost " in shown
    assert re.search(r"without the premise \d+\.\d % \(\d+\.\d to \d+\.\d\) of the labels are told", shown)


def test_run_with_policies_settings_and_names(reviews: list[Path], tmp_path: Path) -> None:
    names = tmp_path / "yob.txt"
    names.write_text("Ada,F,1\n")
    more = ("--names", names, "--set", "item=shop", "--person", "observer", "--limit", 6, "--no-audit")
    told = run_json("run", "sentiment", *reviews, "-o", tmp_path / "out", *more)
    assert (told["pairs"], told["artifacts"]) == (6, None)
    assert gl.read(tmp_path / "out").collect()["hypothesis"].str.contains("Ada .* the shop").all()


def test_a_setting_may_hold_commas(tmp_path: Path) -> None:
    ward = put(tmp_path, "ward.conll", "Salvine B-DRUG\neases O\nglowfever B-DISEASE\n")
    settings = ("--set", "balance=no,tags=DRUG:a drug,DISEASE:an illness", "--no-audit")
    run_json("run", "named-entities", ward, "-o", tmp_path / "out", *settings)
    assert gl.read(tmp_path / "out").collect()["hypothesis"].to_list()[::2] == [
        "Salvine is a drug.", "Glowfever is an illness.",
    ]  # fmt: skip
    shown = run("run", "named-entities", ward, "-o", tmp_path / "out", *settings)
    assert "kept: 4 of 4 pairs (its phrase has no other tag to balance it with)" in shown


def test_a_seed_below_zero_is_refused(reviews: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="seed"):
        run("run", "sentiment", *reviews, "-o", tmp_path / "out", "--seed", "-1")
    assert not (tmp_path / "out").exists()


def test_too_few_pairs_for_an_artifact_figure(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", "puns", str(puns(tmp_path / "g")[2]), "-o", str(tmp_path / "o"), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["artifacts"] is None
    assert "no hypothesis-only accuracy" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "sentimental", "a.txt"], "did you mean 'sentiment'"),
        (["run", "sentiment", "nowhere.txt"], r"nowhere\.txt: there is no such file"),
        (["run", "sentiment", ".", "--style", "fancy"], "--style 'fancy' is not known"),
        (["run", "sentiment", ".", "--person", "first"], "--person 'first' is not known"),
        (["run", "sentiment", ".", "--questions", "drop"], "--questions 'drop' is not known"),
        (["run", "sentiment", ".", "--set", "item"], "not of the form A=B"),
        (["run", "sentiment", ".", "-o", "."], "is the source itself"),
        (["check", "sentiment", "."], "pass them with --published"),
    ],
)
def test_bad_requests(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GoldlabelError, match=message):
        run(*arguments)


def test_check_takes_several_files_and_a_folder(reviews: list[Path], tmp_path: Path) -> None:
    run("run", "sentiment", *reviews, "-o", tmp_path / "out", "--style", "dnc", "--no-audit")
    run("run", "sentiment", *reviews, "-o", tmp_path / "other", "--style", "dnc", "--seed", 3, "--no-audit")
    files = run_json("release", "sentiment", tmp_path / "other", "-o", tmp_path / "release")["files"]
    assert len(files) == 6
    told = run_json("check", "sentiment", tmp_path / "out", "--published", *files)
    assert {
        "published", "ours", "matched", "contexts_identical", "hypotheses_identical", "labels_identical", "differences",
    } <= told.keys()  # fmt: skip
    assert told["published"] == told["matched"] == told["contexts_identical"] == told["labels_identical"] == 74
    assert run_json("check", "sentiment", tmp_path / "out", "--published", tmp_path / "release") == told
    shown = run("check", "sentiment", tmp_path / "out", "--published", tmp_path / "release", "--own-names", "--show", 2)
    assert shown.count("published:") == 2
    assert "recast_sentiment_data.json" in run("release", "sentiment", tmp_path / "out", "-o", tmp_path / "again")


def test_all(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sentiment(sources / "sentiment")
    winogender(sources / "winogender")
    megaveridicality(sources / "megaveridicality" / "mega-veridicality-v2")
    told = run_json("all", "--sources", sources, "-o", tmp_path / "out", "--style", "dnc")
    assert {"style", "pairs", "labels", "splits", "datasets", "missing", "output", "artifacts"} == told.keys()
    assert [row["dataset"] for row in told["datasets"]] == ["winogender", "megaveridicality", "sentiment"]
    assert told["artifacts"].keys() == {"winogender", "megaveridicality", "sentiment"}
    shown = run("all", "--sources", sources, "-o", tmp_path / "out")
    assert "Sentiment Analysis" in shown
    assert "6,000" in shown
    with pytest.raises(InputError, match="is no folder"):
        run("all", "--sources", tmp_path / "nowhere")


def test_plain_megaveridicality_hides_its_labels(corpora: Path, tmp_path: Path) -> None:
    """The gain over the majority falls from 13 points to nothing."""
    source = corpora / "recast_sources" / "megaveridicality"
    released = run_json("run", "megaveridicality", source, "-o", tmp_path / "dnc", "--style", "dnc")["artifacts"]
    plain = run_json("run", "megaveridicality", source, "-o", tmp_path / "plain")["artifacts"]
    assert released["accuracy"] - released["majority"] > 0.1
    assert plain["accuracy"] - plain["majority"] < 0.02
