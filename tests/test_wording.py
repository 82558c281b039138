"""Figures are put into words in one place: a share is a per cent with one decimal and its sign, in every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import goldlabel
import goldlabel as gl
from goldlabel.cli import output
from goldlabel.errors import InputError
from goldlabel.messages import at_command_line, many, option
from goldlabel.metrics import Estimate, in_percent, in_points, p_in_words, p_value, percent, wilson
from tests.cli.commands import run

UNDEFINED = Estimate.without_interval(None, level=0.95, n=0, units=0, method="none")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (percent(0.81249), "81.2 %"),
        (percent(1), "100.0 %"),
        (percent(None), "–"),
        (in_percent(wilson(81, 100)), "81.0 % (72.2 to 87.5)"),
        (in_percent(UNDEFINED), "–"),
        (in_points(Estimate(-0.012, -0.03, 0.006, 0.95, 10, 10, "t")), "-1.2 (-3.0 to 0.6)"),
        (p_value(0.0009), "< 0.001"),
        (p_value(0.001), "0.001"),
        (p_value(None), "–"),
        (p_in_words(0.0123), "p = 0.012"),
        (p_in_words(1e-9), "p < 0.001"),
    ],
)
def test_words(said: str, words: str) -> None:
    assert said == words


def test_no_room_makes_a_per_cent_of_its_own() -> None:
    """Whoever formats a share by hand would choose other decimals one day."""
    own = re.compile(r"\{100 \* [^{}]*:[+]?\.\df\} %|:\.\d%\}|:\.\df\} %")
    package = Path(goldlabel.__file__).parent
    allowed = {"metrics/wording.py"}
    rooms = ("audit", "bench", "cli", "evaluate", "metrics", "report", "verify", "recast")
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for room in rooms
        for path in sorted((package / room).rglob("*.py"))
        if str(path.relative_to(package)) not in allowed
        for line in path.read_text(encoding="utf-8").splitlines()
        if own.search(line)
    ]
    assert found == []


def test_tables_of_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["label", "share", "p", "p (Holm)"]
    output.print_table(columns, [("-", "5.0 %", 0.00001, 0.2), ("neutral", "15.0 % (10.0 to 20.0)", None, 1.0)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["no", "gold", "5.0", "%", "<", "0.001", "0.200"]
    assert lines[1].index("5.0 %") > lines[2].index("15.0 %"), "figures stand to the right"


def test_one_thing_and_many() -> None:
    assert [many(count, "pair") for count in (0, 1, 1200)] == ["0 pairs", "1 pair", "1,200 pairs"]
    assert many(2, "entry", "entries") == "2 entries"


def test_an_option_is_named_as_its_reader_would_give_it() -> None:
    options = [
        ("encoding", None),
        ("author", "first"),
        ("votes_from", ["A", "B"]),
        ("label_map", {"yes": "entailment"}),
    ]
    in_python = ["encoding=…", "author='first'", "votes_from=['A', 'B']", "label_map={'yes': 'entailment'}"]
    assert [option(*item) for item in options] == in_python
    with at_command_line():
        flags = [option(*item) for item in options]
    assert flags == ["--encoding", "--author first", "--votes-from A,B", "--map yes=entailment"]
    assert option("encoding") == "encoding=…"


@pytest.mark.parametrize(
    ("text", "in_python", "at_shell"),
    [
        ("text,hypothesis,label\nA heron.,A bird.,neutral\n", "columns={'premise': 'NAME'}", "--columns premise=NAME"),
        ("premise,hypothesis\nA heron.,A bird.\n", "votes_from=['A', 'B']", "--votes-from A,B"),
        ("premise,hypothesis,label\nA heron.,A bird.,yes\n", "label_map={'yes': 'LABEL'}", "--map yes=LABEL"),
    ],
)
def test_a_refusal_in_python_speaks_of_keywords(text: str, in_python: str, at_shell: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        gl.read(path)
    assert in_python in str(refused.value)
    assert "--" not in str(refused.value)
    done = run("data", "show", path)
    assert (done.returncode, at_shell in done.stderr, in_python in done.stderr) == (2, True, False)


def test_one_pair_is_one_pair(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label\nA heron.,A bird.,neutral\nA heron.,An owl.,-\n")
    assert run("data", "head", path, "-n", 1, "--json").returncode == 0
    done = run("train", "majority", "--on", path, "-o", tmp_path / "run")
    assert "1 pairs" not in done.stdout + done.stderr
    assert "1 pair has no gold label and is left out" in done.stderr
    assert "trained on 1 pair:" in done.stdout
