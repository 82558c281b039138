"""Figures are put into words in one place: a share is a per cent with one decimal and its sign, in every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import goldlabel
from goldlabel.cli import output
from goldlabel.metrics import Estimate, in_percent, in_points, many, p_in_words, p_value, percent, wilson

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
