from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from goldlabel.cli import output
from goldlabel.cli.output import print_table

ROWS = [("苍鹭 and more", 1200, "61.9 %"), ("🌾", None, "< 0.001"), ("", 3, None)]


def test_cells_beside_each_other_are_as_rich_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["pair", "n", "share"], ROWS)
    table = Table("pair", box=None, pad_edge=False)
    for name in ("n", "share"):
        table.add_column(name, justify="right")
    for pair, n, share in ROWS:
        table.add_row(pair, "" if n is None else f"{n:,}", share or "")
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    expected = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert capsys.readouterr().out.splitlines() == expected


def test_a_number_among_texts_is_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["", "birds"], [("licence", "MIT"), ("pairs", 180), ("kept", True)])
    assert capsys.readouterr().out.splitlines() == ["         birds", "licence  MIT", "pairs    180", "kept     yes"]


@pytest.mark.parametrize(("cell", "width"), [("a long cell that is folded", 20), ("two\nlines", 200)])
def test_what_does_not_fit_is_folded(
    cell: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "output_width", lambda: width)
    print_table(["name", "text"], [("first", cell)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= width
