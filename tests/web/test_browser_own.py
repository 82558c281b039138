"""Questions of a requester's own in a browser: by keys alone, on a phone, and kept in a draft."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Browser
from sqlalchemy import select

from goldlabel.collect.configuration import configure
from goldlabel.collect.money.recount import check
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import answers
from tests.collect.test_questions import SURE, THEME, WHY
from tests.web.projects import judging_project, writing_project
from tests.web.site import Site, expect_text, fill, premise_shown
from tests.web.test_browser_annot import PHONE, other_text


def responses(site: Site, project_id: int) -> list[tuple[str, object]]:
    with site.store.read() as tx:
        query = select(answers.c.state, answers.c.responses).where(answers.c.project_id == project_id)
        assert not check(tx, project_id)
        return [(row.state, row.responses) for row in tx.all(query.order_by(answers.c.id))]


def test_a_judgement_and_its_questions_by_keys_alone(site: Site, browser: Browser) -> None:
    plain = make_protocol("human-baseline", "en")
    protocol = replace(plain, qualification=replace(plain.qualification, training=0), questions=(SURE, WHY))
    project_id, ann = judging_project(site, "asking", protocol)
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/verify")
        first = page.locator("#hypothesis").inner_text()
        assert page.locator("#questions").is_hidden()
        page.wait_for_timeout(350)
        page.keyboard.press("2")
        page.locator("#questions").wait_for()
        page.keyboard.press("Escape")
        page.locator("#questions").wait_for(state="hidden")
        page.wait_for_timeout(350)
        page.keyboard.press("1")
        page.locator("#questions input:focus").wait_for()
        for key in ("Enter", "Enter"):  # the first must be answered, so nothing is sent
            page.keyboard.press(key)
        assert page.locator("#hypothesis").inner_text() == first
        page.keyboard.press("3")
        page.locator("#questions input:checked").wait_for()
        page.keyboard.press("Enter")
        page.locator("#questions textarea:focus").wait_for()
        page.keyboard.type("1 is enough")
        page.keyboard.press("Enter")
        other_text(page, "hypothesis", first)
        visit.state("saved")
        page.keyboard.press("ArrowLeft")
        expect_text(page, "#hypothesis", first)
        page.wait_for_timeout(350)
        page.keyboard.press("1")
        assert page.locator("#questions textarea").input_value() == "1 is enough"
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        other_text(page, "hypothesis", first)
        visit.state("saved")
        assert not visit.complaints
    why = {"why": "1 is enough"}
    assert responses(site, project_id) == [("undone", {"sure": "very"} | why), ("counted", {"sure": "so so"} | why)]


def test_questions_on_a_phone_and_in_a_draft(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "themes")
    with site.store.write() as tx:
        asked = (replace(THEME, required=True), replace(WHY, asked="write"))
        configure(tx, project_id, replace(project(tx, project_id).protocol, questions=asked), by=None)
    with site.visit(browser, ann, language="zh", **PHONE) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        fill(page)
        expect_text(page, "#ask", "还有问题没有回答")
        page.get_by_text("roads").tap()
        page.fill("#questions textarea", "A road is named.")
        expect_text(page, "#ask", "提交")
        visit.state("saved")
        visit.picture("questions-phone")
        page.reload()
        expect_text(page, "#ask", "提交")
        assert page.locator("#questions input:checked").input_value() == "roads"
        before = premise_shown(page)
        page.locator("#submit").tap()
        other_text(page, "premise", before)
        visit.state("saved")
        assert not page.locator("#questions input:checked").count()
        assert not visit.complaints
    assert responses(site, project_id) == [("counted", {"theme": "roads", "why": "A road is named."})]
