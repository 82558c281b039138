"""Pages of annotators as a whole in a real browser: on a phone, in the dark, by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.web.projects import writing_project
from tests.web.site import Site, fill, premise_shown


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_on_a_phone_and_in_the_dark(site: Site, browser: Browser, language: str) -> None:
    project_id, ann = writing_project(site, f"looks {language}", language=language)
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    for name, options in (("phone", phone), ("dark", {"color_scheme": "dark"})):
        with site.visit(browser, ann, language=language, **options) as visit:  # type: ignore[arg-type]
            page = visit.page
            page.goto(f"/projects/{project_id}/write")
            fill(page, language)
            page.fill("#box-neutral-easy", premise_shown(page)[:-3])
            page.locator("#line-neutral-easy .rule:not(:empty)").wait_for()
            visit.state("saved")
            visit.picture(f"writing-{language}-{name}")
            page.goto(f"/projects/{project_id}/instructions/writer")
            visit.picture(f"instructions-{language}-{name}")
            assert visit.complaints == []


def test_every_control_has_a_name_and_the_keyboard_reaches_all(site: Site, browser: Browser, tmp_path: Path) -> None:
    project_id, ann = writing_project(site, "names")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        boxes = page.get_by_role("textbox")
        names = [boxes.nth(n).evaluate("box => box.labels[0]?.textContent.trim()") for n in range(boxes.count())]
        assert len(names) == 9
        assert all(names)
        for label in ("definitely true", "might be true", "cannot be true"):
            assert page.get_by_role("group", name=label).count() == 1
        assert page.locator("#box-entailment-easy").evaluate("box => document.activeElement === box")
        reached = []
        for _ in range(8):
            page.keyboard.press("Enter")
            reached.append(page.evaluate("document.activeElement.id"))
        assert reached[-1] == "box-contradiction-hard"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "submit"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "skip"
