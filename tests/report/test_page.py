from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from goldlabel.metrics import wilson
from goldlabel.report import Bar, Page, Section, render_page

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


def test_text_is_never_taken_for_html(tmp_path: Path) -> None:
    table = pl.DataFrame({"premise": ["<script>alert(1)</script>"], "n": [1234], "share": [0.5], "none": [None]})
    section = Section(heading="<b>", text="a & b", table=table, bars=[Bar("<i>x", wilson(1, 4))])
    render_page(Page(title="T<", lead="L", sections=[section]), tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "&lt;script&gt;" in html
    assert "1,234" in html
    assert "25.0 %" in html


@pytest.mark.parametrize("column", ["premise", "label"])
def test_an_empty_table_is_shown_as_one(tmp_path: Path, column: str) -> None:
    empty = pl.DataFrame(schema={column: pl.String})
    page = Page(title="t", lead="l", sections=[Section(heading="h", text="x", table=empty)])
    render_page(page, tmp_path / "i.html")
    assert f">{column}</th>" in (tmp_path / "i.html").read_text()
