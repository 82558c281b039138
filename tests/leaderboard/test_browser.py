"""The leaderboard in a browser: live and from ``file://``, light, dark and on a telephone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from goldlabel.leaderboard.board import Limits, Reference
from goldlabel.web.leaderboard.app import create_board_app
from goldlabel.web.leaderboard.site import build_leaderboard
from goldlabel.web.leaderboard.submitting import TOKEN
from tests.leaderboard.boards import Leaderboard, answers, one_csv, opened, packed
from tests.web.site import browsing, listening
from tests.web.test_browser_look import PHONE, WIDE, faults

CONTRAST = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": ["color-contrast"]}}
NAMES = {
    "ESIM, five seeds": (6, 0),
    "BiLSTM + DRiFt": (7, 20),
    "苍鹭 🐦": (16, 9),
    "Donaudampfschifffahrt" * 4: (24, 2),
}
CARD = b"# A small network\n\nTrained in an hour.\n\n| set | score |\n| --- | --- |\n| dev | 81.2 |\n"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with browsing(chromium) as running:
        yield running


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaderboard]:
    papers = [
        Reference(name="Majority", paper="Someone et al. 2019", accuracies={"meadow": 0.34, "pond": 0.5}),
        Reference(name="Old network", paper="Someone et al. 2019", accuracies={"meadow": 0.81, "pond": 0.79}),
    ]
    board = opened(tmp_path_factory.mktemp("full") / "board", references=papers, limits=Limits(per_day=9, per_week=9))
    submitter = board.join("Reed Lab")
    for name, (wrong, shift) in NAMES.items():
        members = {f"{part}.csv": one_csv(part, labels) for part, labels in answers(wrong, shift=shift).items()}
        if wrong < 12:
            hidden = answers(wrong + 20).items()
            members |= {f"hypothesis-only/{part}.csv": one_csv(part, labels) for part, labels in hidden}
            members["README.md"] = CARD
        board.send(
            submitter, packed(members), file="all.zip", name=name, training="SNLI, 550,152 pairs", description="Small."
        )
    board.work()
    yield board
    board.store.close()


def look(page: Page, address: str, shown: str) -> list[str]:
    """Open a page in every light and width; return what is wrong with it."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.goto(address)
    wrong = faults(page)
    keep(page, shown)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    wrong += faults(page, CONTRAST)
    keep(page, f"{shown}-dark")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
        wrong.append("wider than a phone")
    keep(page, f"{shown}-phone")
    return [f"{address}: {fault}" for fault in (*wrong, *said) if "404" not in fault]


def keep(page: Page, name: str) -> None:
    """Keep a picture of a page where somebody wants to look at all of them."""
    if folder := os.environ.get("GOLDLABEL_PICTURES"):
        page.screenshot(path=Path(folder) / f"leaderboard-{name}.png", full_page=True)


def test_every_page_live_and_as_files(full: Leaderboard, browser: Browser, tmp_path: Path) -> None:
    build_leaderboard(full.folder, tmp_path / "site")
    wrong: list[str] = []
    with listening(create_board_app(full.board, full.store)) as address, browser.new_context() as context:
        pages = {"/": "board", "/entries/1": "entry", "/submit": "submit", "/nothing": "nothing"}
        for path, name in pages.items():
            wrong += look(context.new_page(), address + path, name)
        context.add_cookies([{"name": TOKEN, "value": full.tokens["Reed Lab"], "url": address}])
        wrong += look(context.new_page(), f"{address}/submit", "submit-as-somebody")
        wrong += look(context.new_page(), (tmp_path / "site" / "index.html").as_uri(), "static")
        page = context.new_page()
        page.goto((tmp_path / "site" / "index.html").as_uri())
        page.get_by_role("link", name="BiLSTM + DRiFt").click()
        page.get_by_role("heading", name="A small network").wait_for()
        page.get_by_role("link", name="Leaderboard").click()
        page.get_by_role("button", name="pond").click()
        page.get_by_role("button", name="pond").click()
        assert page.locator("tbody tr th a, tbody tr th").first.inner_text().startswith("Donau")
    assert not wrong, "\n".join(wrong)
