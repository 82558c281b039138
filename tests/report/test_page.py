from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import sync_playwright

from goldlabel.demo import run_demo
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


def test_the_demo_page_in_a_browser(tmp_path: Path, chromium: str) -> None:
    report = run_demo(tmp_path / "demo", 0, lambda size: None).report
    ARTIFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, width, scheme in (("wide", 1100, "light"), ("phone", 360, "light"), ("dark", 1100, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            complaints: list[str] = []
            page.on("console", lambda message, seen=complaints: seen.append(message.text))
            page.on("pageerror", lambda error, seen=complaints: seen.append(str(error)))
            page.goto(report.resolve().as_uri())
            assert page.locator("section").count() == 6
            assert page.locator(".whisker").count() == 3
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            page.screenshot(path=ARTIFACTS / f"demo-{name}.png", full_page=True)
            assert complaints == []
            page.close()
        browser.close()


@pytest.mark.parametrize("column", ["premise", "label"])
def test_an_empty_table_is_shown_as_one(tmp_path: Path, column: str) -> None:
    empty = pl.DataFrame(schema={column: pl.String})
    page = Page(title="t", lead="l", sections=[Section(heading="h", text="x", table=empty)])
    render_page(page, tmp_path / "i.html")
    assert f">{column}</th>" in (tmp_path / "i.html").read_text()
