"""The annotators' pages in a browser: what a person could lose, and what they see of what they did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money import recount
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import add_member, set_member
from goldlabel.collect.protocols import CONDITIONS, make_protocol
from goldlabel.collect.schema import answers, assignments, drafts, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from tests.collect.campaign import small_protocol
from tests.web.projects import judging_project, writing_project
from tests.web.site import (
    ARTIFACTS,
    PREMISES,
    TEXTS,
    Site,
    expect_text,
    expect_value,
    fill,
    premise_shown,
    serving,
)

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LAPTOP = {"viewport": {"width": 1366, "height": 657}}


def judges(site: Site, name: str) -> tuple[int, int]:
    protocol = make_protocol("human-baseline", "en")
    return judging_project(site, name, replace(protocol, qualification=replace(protocol.qualification, training=0)))


def other_text(page: Page, place: str, text: str) -> None:
    """Wait until something else stands in a place."""
    page.wait_for_function("([place, text]) => document.getElementById(place).textContent !== text", arg=[place, text])


def press(page: Page, key: str) -> None:
    """Press a key that leads to another pair, after the time to read it."""
    before = page.locator("#hypothesis").inner_text()
    page.wait_for_timeout(350)
    page.keyboard.press(key)
    other_text(page, "hypothesis", before)


def test_skip_asks_each_time_and_what_was_written_comes_back(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "skipping")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        first = premise_shown(page)
        page.fill("#box-neutral-easy", "Perhaps.")
        page.keyboard.press("Alt+s")
        expect_text(page, "#skip-words", "Skip, and set aside")
        fill(page, levels=("easy", "medium", "hard"))
        expect_text(page, "#skip-words", "Skip")
        page.keyboard.press("Alt+s")
        page.wait_for_timeout(300)
        assert premise_shown(page) == first
        page.keyboard.press("Alt+s")
        other_text(page, "premise", first)
        second = premise_shown(page)
        page.fill("#box-neutral-easy", "Something else.")
        page.get_by_role("button", name="Take it up again").click()
        expect_text(page, "#premise", first)
        expect_value(page, "#box-contradiction-medium", TEXTS["en"]["contradiction"][1])
        page.keyboard.press("Control+Enter")
        expect_text(page, "#premise", second)
        expect_value(page, "#box-neutral-easy", "Something else.")
        for _ in range(2):
            page.keyboard.press("Alt+s")
        other_text(page, "premise", second)
        visit.state("saved")
        page.reload()
        expect_text(page, ".notice", second)
        assert visit.complaints == []
    with site.store.read() as tx:
        assert recount.check(tx, project_id) == []
        states = [row.state for row in tx.all(select(assignments.c.state).where(assignments.c.person_id == ann))]
    assert sorted(states) == ["answered", "leased", "skipped"]


def test_an_answer_whose_reply_was_lost_is_undone_on_the_server(site: Site, browser: Browser) -> None:
    project_id, cem = judges(site, "lost reply")
    with site.visit(browser, cem) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/verify")
        expect_text(page, "#count", "1 of 5")

        def store_and_hang_up(route: Route) -> None:
            route.fetch()
            route.abort()

        page.route("**/vote", store_and_hang_up, times=1)
        press(page, "1")
        visit.state("offline")
        press(page, "ArrowLeft")
        expect_text(page, "[data-answer=entailment] .before", "your answer before")
        visit.picture("verifying-undone")
        press(page, "3")
        visit.state("saved")
    with site.store.read() as tx:
        own = (answers.c.project_id == project_id, answers.c.state == "counted")
        assert [row.label for row in tx.all(select(answers.c.label).where(*own))] == ["contradiction"]
        assert recount.check(tx, project_id) == []


def test_two_windows_show_the_same_and_what_one_sends_the_other_leaves(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "windows", condition="single")
    with site.visit(browser, ann) as visit:
        one, two = visit.page, visit.context.new_page()
        for page in (one, two):
            page.goto(f"/projects/{project_id}/write")
            expect_text(page, "#ask", "3 sentences missing")
        first = premise_shown(two)
        one.fill("#box-neutral-only", "Typed in the first window.")
        expect_value(two, "#box-neutral-only", "Typed in the first window.")
        expect_text(two, ".notice", "in another window too")
        two.fill("#box-entailment-only", "Typed in the second window.")
        expect_value(one, "#box-entailment-only", "Typed in the second window.")
        assert one.locator("#box-neutral-only").input_value() == "Typed in the first window."
        one.fill("#box-contradiction-only", "Everything is quiet.")
        expect_text(one, "#ask", "Submit")
        one.keyboard.press("Control+Enter")
        for page in (one, two):
            other_text(page, "premise", first)
            page.locator("#state[data-state=saved]").wait_for()
        expect_text(two, ".notice", "You sent this sentence in another window")
        assert premise_shown(one) == premise_shown(two)
        assert site.count(pairs, pairs.c.project_id == project_id) == 3


def test_two_windows_judge_no_pair_twice(site: Site, browser: Browser) -> None:
    project_id, cem = judges(site, "judging windows")
    with site.visit(browser, cem) as visit:
        one, two = visit.page, visit.context.new_page()
        for page in (one, two):
            page.goto(f"/projects/{project_id}/verify")
            expect_text(page, "#count", "1 of 5")
        press(one, "1")
        expect_text(two, ".notice", "in another window")
        expect_text(two, "#count", "2 of 5")
        assert two.locator("#hypothesis").inner_text() == one.locator("#hypothesis").inner_text()
        press(two, "2")
        expect_text(one, "#count", "3 of 5")
        one.wait_for_timeout(350)
        assert site.count(answers, answers.c.project_id == project_id) == 2


def test_two_devices_keep_both_versions_until_the_writer_chooses(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "devices", condition="single")
    own = drafts.c.assignment_id.in_(select(assignments.c.id).where(assignments.c.project_id == project_id))

    def stored() -> dict[str, str]:
        with site.store.read() as tx:
            return dict(tx.value(select(drafts.c.content).where(own))["texts"])

    with site.visit(browser, ann) as here, site.visit(browser, ann) as there:
        for visit in (here, there):
            visit.page.goto(f"/projects/{project_id}/write")
            expect_text(visit.page, "#ask", "3 sentences missing")
        there.page.fill("#box-neutral-only", "From there.")
        there.state("saved")
        here.page.fill("#box-neutral-only", "From here.")
        here.state("elsewhere")
        expect_text(here.page, ".notice li", "From there.")
        assert stored() == {"neutral only": "From there."}
        here.page.reload()
        expect_value(here.page, "#box-neutral-only", "From here.")
        here.page.get_by_role("button", name="Take the other one").click()
        expect_value(here.page, "#box-neutral-only", "From there.")
        here.state("saved")
        here.page.fill("#box-entailment-only", "Added here.")
        here.state("saved")
        assert stored() == {"neutral only": "From there.", "entailment only": "Added here."}
        assert here.page.locator(".notice").count() == 0


def test_what_a_browser_keeps_is_for_one_collection_only(browser: Browser, tmp_path: Path) -> None:
    """A second collection at the same address has the same numbers for other people and other tasks."""
    with serving(Store.create(tmp_path / "one")) as first:
        project_id, ann = writing_project(first, "same", condition="single")
        with first.visit(browser, ann) as visit:
            visit.page.goto(f"/projects/{project_id}/write")
            fill(visit.page, levels=("only",))
            expect_text(visit.page, "#ask", "Submit")
            visit.page.route("**/submit", lambda route: route.abort())
            visit.page.keyboard.press("Control+Enter")
            visit.state("offline")
            state = visit.context.storage_state(indexed_db=True)
    port = int(first.address.rsplit(":", 1)[1])
    with serving(Store.create(tmp_path / "two"), port=port) as second:
        again, bob = writing_project(second, "same", condition="single")
        assert (again, bob) == (project_id, ann)
        with second.visit(browser, bob, storage_state=state) as visit:
            visit.page.goto(f"/projects/{again}/write")
            visit.state("saved")
            expect_text(visit.page, "#ask", "3 sentences missing")
            assert second.count(answers) == 0


def test_a_writer_who_was_moved_is_shown_what_the_task_asks_for(site: Site, browser: Browser) -> None:
    base = small_protocol("single")
    with site.store.write() as tx:
        protocol = replace(base, conditions=(*base.conditions, CONDITIONS.get("multi")))
        project_id = create_project(tx, "moved", protocol, seed=3).id
        add_premises(tx, project_id, [Premise(text=text, genre="news") for text in PREMISES["en"]], by=None)
        ann = create_account(tx, "moved", "not a hash")
        add_member(tx, project_id, ann, "writer", condition="single", by=None)
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        with site.store.write() as tx:
            set_member(tx, project_id, ann, "writer", condition="multi", by=None)
        page.reload()
        assert page.locator("textarea").count() == 3
        fill(page, levels=("only",))
        page.keyboard.press("Control+Enter")
        page.locator("#box-neutral-hard").wait_for()
        fill(page)
        page.keyboard.press("Control+Enter")
        visit.state("saved")
        assert visit.complaints == []
    assert site.count(answers, answers.c.project_id == project_id, answers.c.state == "counted") == 2


def in_view(page: Page, selector: str) -> bool:
    box = page.locator(selector).bounding_box()
    height = page.viewport_size["height"] if page.viewport_size else 0
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= height


SMALL = """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), textarea")].filter((target) => {
  if (!target.checkVisibility() || target.matches(".skip") || target.closest(".prose")) return false;
  const { width, height } = (target.type === "checkbox" ? target.closest("label") : target).getBoundingClientRect();
  return Math.min(width, height) < 24;
}).map((target) => target.outerHTML)"""


@pytest.mark.parametrize(("name", "options"), [("laptop", LAPTOP), ("phone", PHONE)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_given_and_the_buttons_stay_in_view(
    site: Site, browser: Browser, name: str, options: dict[str, object], language: str
) -> None:
    project_id, ann = writing_project(site, f"view {name} {language}", language=language)
    with site.visit(browser, ann, language=language, **options) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        fill(page, language)
        visit.state("saved")
        assert in_view(page, "#submit")
        assert in_view(page, "#premise")
        page.locator("#box-contradiction-hard").focus()
        page.wait_for_timeout(200)
        assert in_view(page, "#submit")
        assert in_view(page, "#premise")
        assert in_view(page, "#box-contradiction-hard")
        page.screenshot(path=ARTIFACTS / f"collect-view-{name}-{language}.png")
        assert page.evaluate(SMALL) == []
        page.keyboard.type("?")
        assert page.locator("#help").is_hidden()
        page.locator("#help-link").click()
        assert page.locator("#help").is_visible()
        page.screenshot(path=ARTIFACTS / f"collect-help-{name}-{language}.png")
        page.keyboard.press("Escape")
        assert page.locator("#help").is_hidden()
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_finger_leaves_no_tint_and_long_words_break(site: Site, browser: Browser) -> None:
    project_id, cem = judges(site, "finger")
    with site.store.write() as tx:
        long = [NewPair(premise="W" * 400, hypothesis="m" * 300) for _ in range(1)]
        import_pairs(tx, project_id, long, origin="imported", by=None)
    with site.visit(browser, cem, **PHONE) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/verify")
        for _ in range(5):
            before = page.locator("#hypothesis").inner_text()
            page.wait_for_timeout(350)
            page.locator("[data-answer=neutral]").tap()
            other_text(page, "hypothesis", before)
            colours = page.eval_on_selector_all(
                ".labels .button", "all => all.map((one) => getComputedStyle(one).backgroundColor)"
            )
            assert len(set(colours)) == 1
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        visit.picture("verifying-phone")
        assert page.evaluate(SMALL) == []
