"""A real server for a real browser: one process, a thread of its own, people who are logged in."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from sqlalchemy import func, select

from goldlabel.collect.people.accounts import NewSession, open_session
from goldlabel.collect.store import Store
from goldlabel.web.app import create_app
from goldlabel.worker.adversaries import answer_all
from goldlabel.worker.work import work
from tests.report.test_page import FLAGS

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
PREMISES = {
    "en": [
        f"The {animal} crossed the wet road before the rain began." for animal in ("heron", "otter", "lynx", "vole")
    ],
    "zh": [f"那只{animal}在下雨之前穿过了湿漉漉的马路。" for animal in ("苍鹭", "水獭", "山猫", "田鼠")],
}
TEXTS = {
    "en": {
        "entailment": ["An animal was outside.", "Something moved over stone."],
        "neutral": ["It was looking for food.", "Children watched it pass."],
        "contradiction": ["Nothing ever moved there.", "All beasts stayed at home."],
    },
    "zh": {
        "entailment": ["有动物在外面。", "石头上有东西经过。"],
        "neutral": ["它在找吃的。", "孩子们看着它走开。"],
        "contradiction": ["没有东西动过。", "所有野兽都待在家。"],
    },
}


class Site:
    """A store that is being served."""

    def __init__(self, store: Store, address: str) -> None:
        self.store = store
        self.address = address

    def log_in(self, context: BrowserContext, person_id: int) -> NewSession:
        """Give a browser a session, without the slow password."""
        with self.store.write() as tx:
            session = open_session(tx, person_id, lifetime=timedelta(hours=1))
        context.add_cookies([{"name": "goldlabel_session", "value": session.token, "url": self.address}])
        return session

    def visit(self, browser: Browser, person_id: int | None, *, language: str = "en", **options: Any) -> Visit:
        """Open a browser window for a person, or for somebody who is not logged in."""
        options.setdefault("viewport", {"width": 1200, "height": 900})
        locale = {"en": "en-GB", "zh": "zh-CN"}[language]
        context = browser.new_context(base_url=self.address, locale=locale, **options)
        context.set_default_timeout(60_000)
        return Visit(context, None if person_id is None else self.log_in(context, person_id))

    def count(self, table: Any, *conditions: Any) -> int:
        with self.store.read() as tx:
            return int(tx.value(select(func.count()).select_from(table).where(*conditions)))


class Visit:
    """One window, what its console said, and the session it was given."""

    def __init__(self, context: BrowserContext, session: NewSession | None) -> None:
        self.context = context
        self.session = session
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def state(self, state: str) -> None:
        """Wait until the state line tells a state."""
        self.page.locator(f"#state[data-state={state}]").wait_for()

    def picture(self, name: str) -> None:
        """Keep a picture of the page, which must not be wider than the window."""
        ARTIFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTIFACTS / f"collect-{name}.png", full_page=True)
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


@contextmanager
def browsing(chromium: str) -> Iterator[Browser]:
    """Run a browser until the block ends."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@contextmanager
def listening(app: FastAPI, *, port: int = 0) -> Iterator[str]:
    """Serve an application on a port, if not given a free one, until the block ends; give its address."""
    options = {"host": "127.0.0.1", "port": port, "log_level": "error", "ws": "none", "lifespan": "off"}
    server = uvicorn.Server(uvicorn.Config(app, **options))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        time.sleep(0.02)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=60)


@contextmanager
def serving(store: Store, *, port: int = 0) -> Iterator[Site]:
    """Serve a store, and do what its workers do, until the block ends."""
    ended = threading.Event()
    workers = [threading.Thread(target=one, args=(store, "worker", ended), daemon=True) for one in (work, answer_all)]
    with listening(create_app(store), port=port) as address:
        for worker in workers:
            worker.start()
        try:
            yield Site(store, address)
        finally:
            ended.set()
            for worker in workers:
                worker.join(timeout=60)
    store.close()


def fill(page: Page, language: str = "en", *, levels: tuple[str, ...] = ("easy", "medium")) -> None:
    """Write a good sentence into each box of some levels."""
    for label, texts in TEXTS[language].items():
        for level, text in zip(levels, texts, strict=False):
            page.fill(f"#box-{label}-{level}", text)


def expect_value(page: Page, selector: str, text: str) -> None:
    """Wait until a field holds a text; a page fills in drafts some time after it shows what they are about."""
    page.wait_for_function("([field, text]) => document.querySelector(field)?.value === text", arg=[selector, text])


def premise_shown(page: Page) -> str:
    """Wait until a page has opened its task, draft and all, and return the premise it shows."""
    page.wait_for_function(
        "() => !document.querySelector('form[inert]') && document.getElementById('premise').innerText"
    )
    return page.locator("#premise").inner_text()


def expect_text(page: Page, selector: str, text: str) -> None:
    """Wait until something says a text."""
    page.locator(selector, has_text=text).first.wait_for()
