from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.metrics import Estimate, wilson
from goldlabel.report import Cell, Column, Table, render_part
from goldlabel.report.table import escape_latex, escape_markdown

WITHOUT = Estimate.without_interval(None, level=0.95, n=0, units=0, method="Wilson")
TABLE = Table(
    name="scores",
    caption="Accuracy of 50% & more",
    columns=("model", Column("SNLI", percent=True), Column("Δ", percent=True, signed=True), Column("pairs")),
    rows=[
        (Cell("a_b <i>", note="x|y", link="#a"), Cell(wilson(81, 100), strong=True, mark="†"), 0.05, 1234),
        ("猫", WITHOUT, -0.125, None),
    ],
)
_COMMANDS = re.compile(r"\\(?:text[a-z]+|dag)\{\}|\\[{}$&#%_]|\$[-\\a-zA-Z]+\$|\{[-\[\]*]\}")


@given(st.text(alphabet=st.sampled_from("\\{}$&#%_~^<>|`'\"-[]*ab 猫–±Δ†→\n\0\u202eé😀"), max_size=20))
def test_nothing_in_a_text_is_a_command_of_latex(text: str) -> None:
    escaped = escape_latex(text)
    rest = _COMMANDS.sub("", escaped)
    assert not set(rest) & set("\\{}$&#%_~^<>|`'\"[]*")
    assert "\n" not in escaped
    letters = [sign for sign in text if sign.isalnum() and sign not in "Δ"]
    assert [sign for sign in rest if sign.isalnum()] == letters
    assert not re.search(r"(?<!-)-(?!-)", rest)  # a hyphen stands in braces, or it would make a dash with the next


@pytest.mark.parametrize("name", ["[5pt]", "*", "a & b", "100 %", "C:\\x_1", "{}", "a\nb"])
def test_a_row_of_latex_has_the_columns_of_the_table(name: str) -> None:
    table = Table(name="t", columns=("model", "n"), rows=[(name, 1)])
    body = table.to_latex().split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    assert len(re.split(r"(?<!\\)&", body)) == 2
    assert body.endswith(r" \\")
    assert body.count("\n") == 0
    assert not re.match(r"\s*[\[*]", body)


def test_one_table_says_the_same_in_every_form(tmp_path: Path) -> None:
    assert [path.suffix for path in TABLE.write(tmp_path / "tables")] == [".csv", ".md", ".tex"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "tables" / "scores.csv").read_text(encoding="utf-8"))))
    interval = wilson(81, 100).interval
    assert interval is not None
    assert float(rows[0]["SNLI"]) == pytest.approx(81)
    assert (float(rows[0]["SNLI_low"]), float(rows[0]["SNLI_high"])) == pytest.approx([100 * end for end in interval])
    assert (rows[0]["model"], rows[0]["model_note"], rows[0]["pairs"]) == ("a_b <i>", "x|y", "1234")
    assert (rows[1]["SNLI"], rows[1]["SNLI_low"], rows[1]["pairs"]) == ("", "", "")
    markdown = TABLE.to_markdown().splitlines()
    assert markdown[0] == "| model | SNLI | Δ | pairs |"
    assert markdown[1] == "| --- | ---: | ---: | ---: |"
    assert markdown[2] == r"| a\_b &lt;i&gt; (x\|y) | **81.0† (72.2–87.5)** | +5.0 | 1,234 |"
    assert markdown[3] == "| 猫 | – | -12.5 |  |"
    latex = TABLE.to_latex()
    assert r"\textbf{81.0\dag{} (72.2--87.5)} & +5.0 & 1,234 \\" in latex
    assert r"\caption{Accuracy of 50\% \& more}" in latex
    assert r"\begin{tabular}{lrrr}" in latex
    html = render_part("table", TABLE)
    assert "<i>" not in html
    assert 'data-value="0.81" class="number strong"' in html
    assert '<small class="interval">72.2–87.5</small>' in html


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells do not fill 2 columns"):
        Table(columns=("a", "b"), rows=[("x",)])


def test_markdown_shows_what_is_written() -> None:
    assert escape_markdown("a|b*c_[d](e) `f` <g> & h\ni") == r"a\|b\*c\_\[d\](e) \`f\` &lt;g&gt; &amp; h i"
