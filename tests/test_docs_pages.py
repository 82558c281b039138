"""The built documentation: no warning, and in a browser the look of reports, light, dark and on a telephone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from goldlabel.sources import SOURCES
from tests.test_docs import ROOT
from tests.web.site import browsing
from tests.web.test_browser_look import PHONE, WIDE

SAMPLE = ("index", "python", "papers")
"""Prose, code, what is generated, and tables; with GOLDLABEL_PICTURES, all pages are opened and kept as pictures."""
TOKENS = ROOT / "src" / "goldlabel" / "report" / "static" / "tokens.css"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with browsing(chromium) as running:
        yield running


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        "-d",
        folder / "trees",
        "docs",
        folder / "html",
    ]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return folder / "html"


def test_sphinx_builds_without_a_warning(built: Path) -> None:
    assert (built / "commands.html").exists()
    sources = (built / "sources.html").read_text(encoding="utf-8")
    assert [name for name in SOURCES if f">{name}</span>" not in sources] == []


def serious(page: Page, **options: object) -> list[str]:
    """What axe-core finds that keeps somebody from reading; styles are files here, which it cannot load from a disk."""
    violations = (
        Axe().run(page, options={"resultTypes": ["violations"], "preload": False, **options}).response["violations"]
    )
    return [
        f"{page.url}: {found['id']}: {node['html'][:160]}"
        for found in violations
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


def colours(page: Page, scheme: str) -> dict[str, str]:
    """What paper, text and links are drawn with."""
    page.evaluate("(scheme) => { document.body.dataset.theme = scheme }", scheme)
    read = "([at, what]) => getComputedStyle(document.querySelector(at))[what]"
    ink, paper = (page.evaluate(read, ["body", what]) for what in ("color", "backgroundColor"))
    link = page.evaluate(read, [".sidebar-tree a.reference", "color"])
    return {"ink": ink, "paper": paper, "blue": link}


def tokens(scheme: str) -> dict[str, str]:
    """The same as tokens.css has it."""
    css = TOKENS.read_text(encoding="utf-8")
    found = {}
    for name in ("ink", "paper", "blue"):
        pair = re.search(rf"--{name}: light-dark\(#(\w+), #(\w+)\)", css)
        assert pair is not None
        digits = pair[("light", "dark").index(scheme) + 1]
        digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
        found[name] = f"rgb({', '.join(str(int(digits[at : at + 2], 16)) for at in (0, 2, 4))})"
    return found


def test_pages_have_the_look_of_reports(built: Path, browser: Browser) -> None:
    pictures = os.environ.get("GOLDLABEL_PICTURES")
    names = sorted(page.stem for page in (ROOT / "docs").glob("*.md")) if pictures else SAMPLE
    wrong: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        for name in names:
            page.set_viewport_size(WIDE)  # type: ignore[arg-type]
            page.goto((built / f"{name}.html").as_uri())
            assert colours(page, "light") == tokens("light")
            wrong += serious(page)
            assert colours(page, "dark") == tokens("dark")
            wrong += serious(page, runOnly={"type": "rule", "values": ["color-contrast"]})
            if pictures:
                page.screenshot(path=Path(pictures) / f"docs-{name}-dark.png")
            page.evaluate("document.body.dataset.theme = 'light'")
            if pictures:
                page.screenshot(path=Path(pictures) / f"docs-{name}.png")
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
                wrong.append(f"{name}: wider than a phone")
            if pictures:
                page.screenshot(path=Path(pictures) / f"docs-{name}-phone.png")
    assert not wrong, "\n".join(wrong)
