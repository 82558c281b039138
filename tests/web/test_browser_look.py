"""How the pages look, all of them: axe-core finds no fault, nothing is wider than a phone, Chinese is drawn."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from sqlalchemy import select, update

from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people import people
from goldlabel.collect.people.passes import make_reset
from goldlabel.collect.schema import pairs
from goldlabel.collect.schema import premises as premise_rows
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.tagging import taggings_of
from tests.web.site import Site, serving
from tests.web.test_security import allowed_roles, filled, routes
from tests.web.world import World, objects, opened, populate

LONG_WORD, LONG_GENRE = "Donaudampfschifffahrt" * 8, "letters-to-the-editor-of-a-very-small-newspaper-" * 3
NAMES = {"requester": "boss", "writer": "writer1", "verifier": "verifier", "expert": "expert"}
NOTHING = "/nothing-here"
WIDE, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
RULES = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}

SCROLLS = "[...document.querySelectorAll('.scroll')].some((one) => one.scrollWidth > one.clientWidth + 1)"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Site]]:
    """A project in which much happened, with a word and a genre that no line holds."""
    with opened(tmp_path_factory.mktemp("look") / "collection") as world:
        populate(world)
        with world.store.write() as tx:
            text = f"A {LONG_WORD} crossed the wet road once more."
            add_premises(tx, world.project, [Premise(text=text, genre=LONG_GENRE, source=LONG_WORD)], by=None)
            first = tx.value(select(pairs.c.id).where(pairs.c.project_id == world.project).limit(1))
            tx.run(update(pairs).where(pairs.c.id == first).values(hypothesis=LONG_WORD))
            tx.run(update(premise_rows).where(premise_rows.c.number == 1).values(genre=LONG_GENRE, text=text))
        with serving(world.store) as site:
            yield world, site


def addresses(world: World) -> dict[str, str | None]:
    """Every address that shows a page, and who looks at it; ``None`` is a stranger."""
    with world.store.write() as tx:
        token = people.invite(
            tx, project_id=world.project, role="expert", lifetime=timedelta(days=1), by=world.people["boss"]
        )
        reset = make_reset(tx, world.project, world.people["writer"], by=world.people["boss"])
    values: dict[str, Any] = dict(objects(world, world.project))
    visitors = {name: world.visitor(name) for name in NAMES.values()} | {None: world.visitor()}
    shown: dict[str, str | None] = {}
    for method, path in routes(world):
        if method != "GET" or path.startswith(("/api/", "/language/", "/theme/")):
            continue
        candidates = [NAMES[role] for role in allowed_roles(path)] if "{project_id}" in path else [None]
        values["token"] = reset if path.startswith("/password/") else token
        for role, name in (("verifier", "verifier"), ("writer", "writer1")) if "{role}" in path else (("", ""),):
            address = filled(path, values | {"role": role})
            for who in [name] if name else [*candidates, "boss"]:
                answer = visitors[who].get(address)
                if answer.status_code == 200 and answer.headers["content-type"].startswith("text/html"):
                    if "<main" in answer.text:
                        shown[address] = who
                    break
    shown[NOTHING] = "boss"
    return shown


def faults(page: Page, options: dict[str, Any] = RULES) -> list[str]:
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{found['id']}: {node['target']} {node['html'][:120]} {node.get('failureSummary', '')[:160]}"
        for found in violations
        for node in found["nodes"]
    ]


@pytest.mark.parametrize(("language", "theme", "size"), [("en", "light", WIDE), ("zh", "dark", PHONE)])
def test_every_page_light_and_dark(
    served: tuple[World, Site], browser: Browser, language: str, theme: str, size: dict[str, int]
) -> None:
    world, site = served
    shown = addresses(world)
    assert len(shown) > 25
    wrong: list[str] = []
    with ExitStack() as windows:
        options: dict[str, Any] = {"language": language, "viewport": size, "reduced_motion": "reduce"}
        visits = {
            who: windows.enter_context(site.visit(browser, world.people.get(who or ""), **options))
            for who in dict.fromkeys(shown.values())
        }
        for address, who in shown.items():
            visit = visits[who]
            page = visit.page
            page.set_viewport_size(size)  # type: ignore[arg-type]
            page.goto(address)
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            wrong += [f"{address} {theme}: {fault}" for fault in faults(page)]
            keep(page, address, f"{language}-{theme}")
            if page.evaluate(SCROLLS):
                wrong.append(f"{address}: a table scrolls sideways")
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
                wrong.append(f"{address}: wider than a phone")
            said = [text for text in visit.complaints if address != NOTHING or "404" not in text]
            wrong += [f"{address}: {text}" for text in said]
            visit.complaints.clear()
    assert not wrong, "\n".join(wrong)


def keep(page: Page, address: str, name: str) -> None:
    """Keep a picture of a page where somebody wants to look at all of them."""
    if folder := os.environ.get("GOLDLABEL_PICTURES"):
        Path(folder).mkdir(exist_ok=True)
        page.screenshot(
            path=Path(folder) / f"{address.strip('/').replace('/', '-') or 'home'}-{name}.png", full_page=True
        )


@pytest.fixture
def chinese_font() -> None:
    fonts = shutil.which("fc-list")
    if not fonts or not subprocess.run([fonts, ":lang=zh"], capture_output=True, check=True).stdout.strip():
        pytest.skip("no Chinese font is installed: the pictures of Chinese pages would show boxes")


DRAW = """(text) => {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  context.font = `40px ${getComputedStyle(document.body).fontFamily}`;
  context.fillText(text, 10, 50);
  return canvas.toDataURL();
}"""


@pytest.mark.usefixtures("chinese_font")
def test_chinese_characters_are_drawn(served: tuple[World, Site], browser: Browser) -> None:
    """A character that no font has is a box, and all boxes look alike."""
    _, site = served
    with site.visit(browser, None, language="zh") as visit:
        visit.page.goto("/login")
        missing, first, second = (visit.page.evaluate(DRAW, text) for text in ("\u0378", "判", "断"))
        assert len({missing, first, second}) == 3
        assert visit.page.evaluate(DRAW, "") not in (first, second)


def test_an_expert_needs_no_mouse(served: tuple[World, Site], browser: Browser) -> None:
    world, site = served
    with site.visit(browser, world.people["expert"]) as visit:
        page = visit.page
        page.goto(f"/projects/{world.project}/tag")
        first = page.locator("form[action*='/tag/']").get_attribute("action")
        for key in ("1", "4", "1", "6", "d", "c"):
            page.keyboard.press(key)
        page.keyboard.type("Which road? 1")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("first => !document.querySelector(`form[action='${first}']`)", arg=first)
        page.keyboard.press("ArrowLeft")
        page.locator(f"form[action='{first}']").wait_for()
        checked = page.eval_on_selector_all("input:checked", "boxes => boxes.map((box) => box.value)")
        assert checked == ["lexical", "reasoning", "debatable"]
        assert page.locator("#comment").input_value() == "Which road? 1"
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.locator(f"form:not([action='{first}'])[action*='/tag/']").wait_for()
        assert visit.complaints == []
    with world.store.read() as tx:
        pair_id = int((first or "").rpartition("/")[2])
        said = taggings_of(tx, world.project, (pair_id, pair_id))
    assert [one.tags for told in said.values() for one in told] == [("reference", "lexical", "reasoning")]
