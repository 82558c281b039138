"""Judging and practising in a real browser: keys, undo, a cut network, two windows."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Browser
from sqlalchemy import select

from goldlabel.collect.collection import collection_key
from goldlabel.collect.money import recount
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import answers
from tests.web.projects import judging_project
from tests.web.site import Site, expect_text


def test_judging_with_keys_undo_and_a_cut_network(site: Site, browser: Browser) -> None:
    protocol = make_protocol("human-baseline", "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    project_id, cem = judging_project(site, "judging", protocol)

    def counted() -> list[str]:
        with site.store.read() as tx:
            own = (answers.c.project_id == project_id, answers.c.state == "counted")
            return [row.label for row in tx.all(select(answers.c.label).where(*own).order_by(answers.c.id))]

    with site.visit(browser, cem) as visit:
        page = visit.page

        def press(key: str) -> None:
            before = page.locator("#hypothesis").inner_text()
            page.wait_for_timeout(350)
            page.keyboard.press(key)
            page.wait_for_function("text => document.getElementById('hypothesis').textContent !== text", arg=before)

        page.goto(f"/projects/{project_id}/verify")
        expect_text(page, "#count", "1 of 5")
        assert page.locator("#undo").is_disabled()
        first = page.locator("#hypothesis").inner_text()
        page.evaluate("() => { performance.now = () => 0 }")  # no time to read has passed
        page.keyboard.press("1")
        page.wait_for_timeout(200)
        assert page.locator("#hypothesis").inner_text() == first
        page.evaluate("() => { delete performance.now }")
        press("1")
        expect_text(page, "#count", "2 of 5")
        expect_text(page, "#count", "s per pair")
        visit.state("saved")
        press("ArrowLeft")
        assert page.locator("#hypothesis").inner_text() == first
        visit.state("saved")
        assert counted() == []
        press("3")
        visit.state("saved")
        assert counted() == ["contradiction"]
        visit.context.set_offline(True)
        press("2")
        visit.state("offline")
        press("ArrowLeft")
        page.wait_for_timeout(350)
        page.keyboard.press("1")
        page.wait_for_timeout(350)
        visit.context.set_offline(False)
        visit.state("saved")
        assert counted() == ["contradiction", "entailment"]
        page.reload()
        expect_text(page, "#count", "3 of 5")
        assert page.locator("#undo").is_enabled()
        visit.picture("verifying")
        for _ in range(2):
            press("2")
        visit.state("saved")
        page.wait_for_timeout(350)
        page.keyboard.press("2")
        expect_text(page, "h1", "That is all for you")
        page.get_by_role("button", name="Undo the last answer").click()
        expect_text(page, "#count", "5 of 5")
        assert len(counted()) == 4
        page.wait_for_timeout(350)
        page.keyboard.press("3")
        expect_text(page, "h1", "That is all for you")
    assert counted() == ["contradiction", "entailment", "neutral", "neutral", "contradiction"]
    with site.store.read() as tx:
        assert recount.check(tx, project_id) == []


def lock_of(site: Site, person_id: int) -> str:
    """The name of the lock under which a person's windows send."""
    with site.store.read() as tx:
        return f"outbox-goldlabel-{collection_key(tx)}-{person_id}"


def test_undo_while_another_window_sends(site: Site, browser: Browser) -> None:
    """The other window may be sending just this answer, so it is not taken out of the outbox but undone after it."""
    protocol = make_protocol("human-baseline", "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    project_id, cem = judging_project(site, "busy", protocol)
    with site.visit(browser, cem) as visit:
        page, other = visit.page, visit.context.new_page()
        for one in (page, other):
            one.goto(f"/projects/{project_id}/verify")
            expect_text(one, "#count", "1 of 5")
        other.evaluate(
            "lock => new Promise(held => navigator.locks.request(lock, () => { held(); return new Promise("
            "release => { window.release = release }) }))",
            lock_of(site, cem),
        )
        first = page.locator("#hypothesis").inner_text()
        page.wait_for_timeout(350)
        page.keyboard.press("1")
        page.wait_for_function("text => document.getElementById('hypothesis').textContent !== text", arg=first)
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("text => document.getElementById('hypothesis').textContent === text", arg=first)
        assert site.count(answers, answers.c.project_id == project_id) == 0
        other.evaluate("window.release()")
        visit.state("saved")
        assert site.count(answers, answers.c.project_id == project_id) == 1
        assert site.count(answers, answers.c.project_id == project_id, answers.c.state == "counted") == 0


def test_practice_with_keys(site: Site, browser: Browser) -> None:
    protocol = make_protocol("vetting", "en")
    rules = replace(protocol.qualification, training=2, threshold=0.5)
    project_id, dee = judging_project(site, "practice", replace(protocol, qualification=rules))
    with site.visit(browser, dee) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/verify")
        expect_text(page, ".notice", "2 examples to practise on")
        expect_text(page, ".notice", "One right answer is needed")
        visit.picture("practice-start")
        page.keyboard.press("Enter")
        expect_text(page, "#asks", "If A is true, then B is")
        visit.picture("practice")
        page.keyboard.press("1")
        expect_text(page, ".verdict", "Right: very likely")
        visit.picture("practice-answer")
        page.keyboard.press("Enter")
        page.locator("input[name=example][value='1']").wait_for(state="attached")
        page.keyboard.press("5")
        expect_text(page, ".verdict", "You said impossible")
        page.keyboard.press("Enter")
        expect_text(page, "h1", "You can start")
        page.keyboard.press("Enter")
        expect_text(page, "#count", "1 of 5")
        visit.picture("verifying-five-steps")
        assert visit.complaints == []
