"""One word for one thing in every command, and no more on a terminal than people read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import goldlabel as gl
from goldlabel.cli.app import app
from tests.cli.commands import run


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pairs with five votes each and a field of meta in which they differ."""
    rows = []
    for number in range(60):
        label = ("entailment", "neutral", "contradiction")[number % 3]
        rows.append(
            {
                "id": f"{number}",
                "premise": f"Boat {number} is at sea.",
                "hypothesis": f"Boat {number} is {('wet', 'red', 'dry')[number % 3]}.",
                "label": label,
                "votes": [label] * 4 + ["neutral"],
                "split": "dev",
                "meta": json.dumps({"harbour": ("Ely", "Hythe")[number // 3 % 2]}),
            }
        )
    path = tmp_path / "boats.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def run_folder(pairs: Path, tmp_path: Path) -> Path:
    train = tmp_path / "train.jsonl"
    train.write_text(pairs.read_text().replace('"split": "dev"', '"split": "train"'))
    done = run("train", "majority", "--on", train, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def test_by_takes_a_field_of_meta_in_every_command(pairs: Path, run_folder: Path) -> None:
    verified = json.loads(run("verify", pairs, "--by", "meta.harbour", "--resamples", 0, "--json").stdout)
    assert verified["groups"].keys() == {"all", "Ely", "Hythe"}
    scored = run("score", run_folder, pairs, "--by", "meta.harbour", "--split", "dev", "--json")
    assert json.loads(scored.stdout)["scores"]["boats"]["groups"].keys() == {"Ely", "Hythe"}
    compared = run("compare", run_folder, run_folder, pairs, "--by", "meta.harbour", "--split", "dev", "--json")
    assert json.loads(compared.stdout)["groups"].keys() == {"Ely", "Hythe"}
    audited = json.loads(run("audit", pairs, "--by", "meta.harbour", "--json").stdout)
    assert audited["groups"].keys() == {"all", "Ely", "Hythe"}
    both = json.loads(run("audit", pairs, "--by", "meta.harbour,split", "--no-near", "--json").stdout)
    assert both["groups"].keys() == {"all", '["Ely", "dev"]', '["Hythe", "dev"]'}


def test_by_is_refused_with_the_same_list_in_every_command(pairs: Path, run_folder: Path) -> None:
    split = ("data", "split", "--ratios", "80:20")
    commands = (("verify",), ("score", run_folder), ("compare", run_folder, run_folder), split, ("audit",))
    told = {run(*command, pairs, "--by", "genere").stderr for command in commands}
    assert len(told) == 1
    assert "did you mean 'genre'?" in next(iter(told))
    assert next(iter(told)).strip().endswith("writer, meta.FIELD")
    empty = [run(*command, pairs, "--by", "meta.port") for command in commands[:4]]
    assert [(done.returncode, "no pair has meta.port" in done.stderr) for done in empty] == [(2, True)] * 4


def test_a_split_keeps_together_what_shares_a_field_of_meta(pairs: Path, tmp_path: Path) -> None:
    done = run("data", "split", pairs, "--ratios", "50:50", "--by", "meta.harbour", "-o", tmp_path / "split", "--json")
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout)["splits"].values()) == [30, 30]
    rows = gl.read(tmp_path / "split").frame.select("split", "meta").collect().unique()
    assert len(rows) == 2, "each harbour lies in one split"


def test_dev_is_also_found_as_validation(pairs: Path, run_folder: Path) -> None:
    scored = [
        run("score", run_folder, pairs, "--split", name, "--json").stdout for name in ("dev", "validation", "Val")
    ]
    assert scored[0]
    assert scored[0] == scored[1] == scored[2]
    assert not re.search(
        r"\bvalidation\b", " ".join(run(*words, "--help").stdout for words in (("score",), ("train",)))
    )


def test_verify_prints_the_ten_annotators_to_look_at(pairs: Path, tmp_path: Path) -> None:
    lines = ["pair,annotator,label"]
    for number in range(60):
        label = ("entailment", "neutral", "contradiction")[number % 3]
        for person in range(number % 40, number % 40 + 8):
            wrong = person % 40 == 33
            lines.append(f"{number},p{person % 40:02},{'contradiction' if wrong else label}")
    votes = tmp_path / "votes.csv"
    votes.write_text("\n".join(lines) + "\n")
    short = run("verify", pairs, "--votes", votes, "--resamples", 0)
    assert short.returncode == 0, short.stderr
    names = re.findall(r"^p\d\d", short.stdout, flags=re.M)
    assert (len(names), names[0]) == (10, "p33")
    assert "30 rows more; --all prints them" in short.stderr
    whole = run("verify", pairs, "--votes", votes, "--resamples", 0, "--all")
    assert len(re.findall(r"^p\d\d", whole.stdout, flags=re.M)) == 40


@pytest.mark.parametrize(
    "command", [("data", "filter"), ("data", "diff"), ("data", "duplicates"), ("audit", "--no-near")]
)
def test_a_screenful_is_printed_unless_all_is_asked_for(pairs: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    for row in rows:
        row["genre"] = f"quay {int(row['id']) % 25:02}"
    twice = [row | {"id": f"again {row['id']}"} for row in rows]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *twice]))
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join(json.dumps(row | {"label": "neutral"}) + "\n" for row in rows))
    more = {"filter": ("--where", "length > 0"), "diff": (changed,)}.get(command[-1], ())
    more = ("--by", "genre") if command[0] == "audit" else more
    short, whole = (run(*command, pairs, *more, *words) for words in ((), ("--all",)))
    assert (short.returncode, whole.returncode) == (0, 0), short.stderr
    [told] = re.findall(r"^(\d+) rows more; --all prints them", short.stderr, flags=re.M)
    lines = [len(done.stdout.splitlines()) for done in (short, whole)]
    assert int(told) == lines[1] - lines[0]
    assert lines[0] < 40
    assert "rows more" not in whole.stderr


def test_as_many_pairs_are_printed_as_were_asked_for(pairs: Path) -> None:
    for command in ("head", "sample"):
        done = run("data", command, pairs, "-n", 30)
        assert (len(done.stdout.splitlines()), done.stderr) == (31, "")


def test_a_label_that_is_not_there_is_called_so(pairs: Path) -> None:
    pairs.write_text(pairs.read_text().replace('"label": "neutral"', '"label": "-"'))
    assert "no gold" in run("data", "show", pairs).stdout
    assert "no gold" in run("data", "head", pairs).stdout
    assert '"-"' in run("data", "head", pairs, "--json").stdout


def test_labels_are_what_a_file_has_and_a_label_space_is_what_they_become() -> None:
    said: dict[str, set[str]] = {}
    for command in _commands(typer.main.get_command(app)):
        for option in command.params:
            for name in option.opts:
                if "label" in name and name.startswith("--"):
                    said.setdefault(name, set()).add(option.help.partition(":")[0])
    assert said.pop("--labels") == {"What the labels of a file without a card are"}
    assert said.pop("--label-space") == {"What the labels become, whatever they are"}
    assert said.keys() <= {"--label-errors", "--unlabelled"}, "another name for one of the two"


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for child in getattr(command, "commands", {}).values():
        yield from _commands(child)
