"""A suite file says what it says, and what is wrong with it is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.evaluate.suite_file import Dataset, read_suite

WHOLE = """
name: pond
title: Does it know the pond?
in_domain: home
train:
  - snli
  - {path: pairs.csv, labels: "yes,no", map: {0: no, on: yes}, columns: {premise: text_a}}
sets:
  - snli
  - {name: home, path: pairs.csv, split: test, dev: dev}
  - source: rte
    counts: no
    dev: {source: cb}
  - pairs.csv
"""


@pytest.fixture
def pond(tmp_path: Path) -> Path:
    (tmp_path / "pairs.csv").write_text("premise,hypothesis,label\n")
    return tmp_path / "pond.yaml"


def test_everything_that_a_file_can_say(pond: Path) -> None:
    pond.write_text(WHOLE)
    suite = read_suite(pond)
    assert (suite.name, suite.title, suite.in_domain) == ("pond", "Does it know the pond?", "home")
    snli, own = suite.train
    assert snli == Dataset(where=f"{pond} line 6", source="snli")
    assert own == Dataset(
        where=f"{pond} line 7",
        path=pond.parent / "pairs.csv",
        labels="yes,no",
        label_map={"0": "no", "on": "yes"},
        columns={"premise": "text_a"},
    )
    assert [(entry.name, entry.split, entry.counts) for entry in suite.sets] == [
        ("snli", None, True),
        ("home", "test", True),
        ("rte", None, False),
        ("pairs", None, True),
    ]
    assert [entry.dev for entry in suite.sets] == [None, "dev", Dataset(where=f"{pond} line 13", source="cb"), None]


def test_the_name_is_that_of_the_file(pond: Path) -> None:
    pond.write_text("sets: [pairs.csv]")
    assert read_suite(pond).name == "pond"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pond.yaml: is empty; it needs 'sets'"),
        ("title: Pond", "line 1: the suite has no set to judge by; list some under 'sets'"),
        ("title: Pond\nsets: []", "line 2: the suite has no set to judge by"),
        ("sets: [pairs.csv\ntitle: Pond", "line 2: is no YAML ("),
        ("sets: \x07", "pond.yaml: is no YAML (unacceptable character"),
        ("- pairs.csv", "line 1: a suite is written as KEY: VALUE"),
        ("sets: pairs.csv", "line 1: a list was expected, each entry after a '-'"),
        ("tilte: x\nsets: [pairs.csv]", "line 1: 'tilte' is not known in a suite; did you mean 'title'?"),
        ("sets:\n- pairs.csv\nsets: []", "line 3: 'sets' is there twice"),
        ("? [a]\n: b", "line 1: a key is one word"),
        ("sets:\n- path: pairs.csv\n  splitt: dev", "line 3: 'splitt' is not known in a set; did you mean 'split'?"),
        ("sets:\n- name: a", "line 2: a dataset has either a path or a source"),
        ("sets:\n- {path: pairs.csv, source: rte}", "line 2: a dataset has either a path or a source"),
        ("sets:\n- path: gone.csv", "gone.csv: there is no such file or folder"),
        ("sets:\n- source: rtee", "line 2: there is no source 'rtee'; did you mean 'rte'?"),
        ("sets:\n- source: rte\n  map: {a: b}", "line 3: 'map' is for files; a source knows its own labels"),
        ("sets:\n- path: pairs.csv\n  map: a", "line 3: a map of words is written as KEY: VALUE"),
        ("sets:\n- path: pairs.csv\n  counts: 3", "line 3: true or false was expected"),
        ("sets:\n- path: pairs.csv\n  name: [a]", "line 3: a word was expected"),
        ("sets:\n- path: pairs.csv\n  name:", "line 3: a word was expected"),
        ("sets:\n- pairs.csv\n- pairs.csv", "line 2: two sets are called 'pairs'; name them apart with 'name'"),
        ("in_domain: par\nsets: [pairs.csv]", "line 1: in_domain 'par' is none of the sets; did you mean 'pairs'?"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(pond: Path, text: str, message: str) -> None:
    pond.write_text(text)
    with pytest.raises(InputError) as refused:
        read_suite(pond)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read(pond: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_suite(pond)
    pond.write_bytes("title: ä".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8"):
        read_suite(pond)
