from __future__ import annotations

import json
from pathlib import Path

import pytest

import goldlabel as gl
from tests.cli.commands import Done, run

TABLE = """id;premise;hypothesis;label;genre;source
a;Two herons stand.;Birds stand in the water.;neutral;tv;web
b;Two herons stand.;Birds stand.;entailment;tv;book
c;Two herons sleep.;Nobody is asleep.;contradiction;news;web
d;Two herons stand.;Birds stand.;entailment;news;web
"""


@pytest.fixture
def birds(tmp_path: Path, home: Path) -> Path:
    path = tmp_path / "birds.csv"
    path.write_text(TABLE)
    return path


def document(done: Done) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_head_and_sample(birds: Path, tmp_path: Path) -> None:
    assert [row["id"] for row in document(run("data", "head", birds, "-n", 2, "--json"))["pairs"]] == ["a", "b"]
    assert "Birds stand in the water." in run("data", "head", birds).stdout
    drawn = document(run("data", "sample", birds, "-n", 2, "--seed", 3, "--json"))["pairs"]
    assert drawn == document(run("data", "sample", birds, "-n", 2, "--seed", 3, "--json"))["pairs"]
    written = document(run("data", "sample", birds, "-n", 2, "-o", tmp_path / "out", "--licence", "MIT", "--json"))
    assert (written["pairs"], written["licence"]) == (2, "MIT")


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("label = 'neutral' and length > 4", ["a"]),
        ("premise_length = 3 AND length < 4", ["b", "c", "d"]),
        ("meta.source = 'web' and genre = 'news'", ["c", "d"]),
        ("hypothesis like '%asleep%'", ["c"]),
    ],
)
def test_filter(birds: Path, where: str, ids: list[str]) -> None:
    assert [row["id"] for row in document(run("data", "filter", birds, "--where", where, "--json"))["pairs"]] == ids


def test_length_counts_characters_where_words_are_not_parted() -> None:
    from goldlabel.pairs.conditions import where

    pairs = gl.from_rows([("那只苍鹭。", "有一只鸟 in 2024。", "neutral")])
    assert len(where(pairs, "premise_length = 4 and length = 6")) == 1


def test_merge_keeps_origins_and_refuses_colliding_ids(birds: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(TABLE)
    refused = run("data", "merge", birds, other, "-o", tmp_path / "both")
    assert (
        refused.returncode,
        "id 'a' is given to a pair of more than one dataset; pass --prefix" in refused.stderr,
    ) == (2, True)
    assert not (tmp_path / "both").exists()
    merged = document(run("data", "merge", birds, other, "-o", tmp_path / "both", "--prefix", "--json"))
    assert (merged["pairs"], merged["name"]) == (8, "both")
    pairs = gl.read(tmp_path / "both")
    assert {(pair["dataset"], pair["id"]) for pair in pairs} >= {("birds", "birds:a"), ("other", "other:a")}
    assert pairs.card.history == ("merged birds, 4 pairs", "merged other, 4 pairs")
    twice = run("data", "merge", birds, birds, "-o", tmp_path / "same", "--prefix")
    assert "two datasets are called 'birds'" in twice.stderr


def test_diff_of_two_versions(birds: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    lines = TABLE.splitlines()
    new.write_text(
        "\n".join(
            [
                lines[0],
                lines[1].replace("neutral", "entailment"),
                lines[2].replace("Birds", "Herons"),
                lines[4],
                "e;x;y;e;;",
            ]
        )
    )
    said = document(run("data", "diff", birds, new, "--json"))
    assert {name: said[name] for name in ("added", "dropped", "relabelled", "reworded", "same")} == {
        "added": 1,
        "dropped": 1,
        "relabelled": 1,
        "reworded": 1,
        "same": 1,
    }
    assert {(row["kind"], row["id"]) for row in said["pairs"]} == {  # type: ignore[attr-defined]
        ("relabelled", "a"),
        ("reworded", "b"),
        ("dropped", "c"),
        ("added", "e"),
    }
    bare = tmp_path / "bare.csv"
    bare.write_text("premise,hypothesis,label\nTwo herons sleep.,Nobody is asleep.,neutral\nx,y,e\n")
    said = document(run("data", "diff", birds, bare, "--json"))
    assert (said["by"], said["relabelled"], said["added"], said["dropped"]) == ("text", 1, 1, 2)
    assert "1 relabelled" in run("data", "diff", birds, bare).stdout


def test_dedupe(birds: Path, tmp_path: Path) -> None:
    said = document(run("data", "dedupe", birds, "-o", tmp_path / "out", "--json"))
    assert (said["pairs"], said["dropped"]) == (3, 1)


def test_a_card_is_said_on_the_way_and_later(birds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    options = ("--name", "Birds", "--licence", "CC0-1.0", "--language", "en", "--citation", "Heron (2020)")
    assert run("data", "export", birds, "--to", "hf", "-o", folder, *options).returncode == 0
    card = gl.read(folder).card
    assert (card.name, card.licence, card.languages, card.paper) == ("Birds", "CC0-1.0", ("en",), "Heron (2020)")
    done = run("data", "card", folder, "--set", "licence=CC BY 4.0", "--set", "description=Birds, mostly.", "--json")
    assert document(done)["licence"] == "CC BY 4.0"
    readme = (folder / "README.md").read_text()
    assert "license: cc-by-4.0" in readme
    assert "Birds, mostly." in readme
    assert "Heron (2020)" in run("data", "card", folder).stdout
    assert len(gl.read(folder)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("filter", "PATH", "--where", "labels = 'x'"), "the condition \"labels = 'x'\" is not understood"),
        (("filter", "PATH", "--where", "label = "), "is not understood"),
        (("filter", "PATH", "--where", "1"), "is not understood"),
        (("sample", "PATH", "-n", "9"), "9 pairs cannot be drawn from 4"),
        (
            ("sample", "PATH", "-n", "2", "--licence", "MIT"),
            "--licence is for the card of a dataset, and without -o none is written",
        ),
        (("export", "PATH", "--to", "csv", "-o", "x.csv", "--licence", "MIT"), "one file carries none"),
        (("merge", "PATH", "-o", "out"), "there is nothing to merge"),
        (("dedupe", "PATH", "-o", "PATH"), "is the input itself"),
        (("card", "PATH"), "is no dataset"),
        (("card", "PATH", "--set", "colour=red"), "--set 'colour' is not known; allowed: author, citation"),
    ],
)
def test_bad_input_is_one_line(birds: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("data", *(birds if word == "PATH" else word for word in arguments), cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert message in done.stderr
