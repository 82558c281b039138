"""Writing against a model in a browser: a model that is quick, slow, wrong and dead, and nothing is lost."""

from __future__ import annotations

from playwright.sync_api import Browser, Page
from sqlalchemy import select

from goldlabel.collect.money import recount
from goldlabel.collect.schema import answers, pairs, tries
from tests.collect.campaign import join
from tests.web.duels import LABELS, mood, released, start_duel
from tests.web.site import Site, expect_text, expect_value, premise_shown

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def open_job(page: Page, project_id: int) -> tuple[str, str]:
    """Open the page; return the label that is wanted, and one that is not."""
    page.goto(f"/projects/{project_id}/write")
    page.locator("#duel:not([inert])").wait_for()
    target = page.locator("#target").get_attribute("data-label")
    assert target is not None
    return target, next(label for label in LABELS if label != target)


def shown(page: Page) -> list[tuple[str | None, str]]:
    """The tries on the page, the newest first."""
    rows = page.locator(".try")
    return [(row.get_attribute("data-state"), row.locator(".tried").inner_text()) for row in rows.all()]


def test_a_writer_tries_again_fools_the_model_and_says_why(site: Site, browser: Browser) -> None:
    project_id, writer = start_duel(site.store, "quick")
    with site.visit(browser, writer) as visit:
        page = visit.page
        target, other = open_job(page, project_id)
        first = premise_shown(page)
        expect_text(page, "#left", "tries left: 5 of 5")
        page.keyboard.press("Control+Enter")
        assert shown(page) == []
        page.fill("#hypothesis", f"They say {target}.")
        page.keyboard.press("Control+Enter")
        expect_text(page, ".outcome", "the model is right")
        said = page.locator(f".try .is-said[data-label={target}]")
        assert said.locator(".share").inner_text() == "64 %"
        expect_text(page, "#left", "tries left: 4 of 5")
        expect_text(page, "#ask", "Change your sentence first")
        page.reload()
        page.locator("#duel:not([inert])").wait_for()
        assert shown(page) == [("right", f"They say {target}.")]
        expect_value(page, "#hypothesis", f"They say {target}.")
        page.fill("#hypothesis", f"They say {other}.")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#says", "You fooled the model")
        page.fill("#reason-label", "The text says so.")
        page.keyboard.press("Control+Enter")
        assert page.locator("#reason-model").evaluate("field => field === document.activeElement")
        visit.state("saved")
        page.reload()
        expect_value(page, "#reason-label", "The text says so.")
        page.fill("#reason-model", "It believes what it reads.")
        visit.picture("duel-fooled")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("text => document.getElementById('premise')?.textContent !== text", arg=first)
        expect_value(page, "#hypothesis", "")
        assert visit.complaints == []
    with site.store.read() as tx:
        rows = tx.all(select(pairs).where(pairs.c.project_id == project_id).order_by(pairs.c.id))
        assert [row.meta["fooled"] for row in rows] == [False, True]
        assert rows[1].meta["reasons"] == {"label": "The text says so.", "model": "It believes what it reads."}
        assert recount.check(tx, project_id) == []


def test_a_slow_model_is_waited_for_and_the_sentence_is_kept(site: Site, browser: Browser) -> None:
    project_id, writer = start_duel(site.store, "slow", model="slow")
    with site.visit(browser, writer) as visit:
        page = visit.page
        target, _ = open_job(page, project_id)
        page.fill("#hypothesis", f"They say {target}.")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#says", "The model is thinking; your sentence is kept.")
        page.keyboard.press("Control+Enter")
        page.reload()
        expect_text(page, "#says", "The model is thinking; your sentence is kept.")
        expect_value(page, "#hypothesis", f"They say {target}.")
        visit.picture("duel-thinking")
        released.set()
        expect_text(page, "#says", "The model was right")
        expect_text(page, "#left", "tries left: 4 of 5")
        assert shown(page) == [("right", f"They say {target}.")]
        assert visit.complaints == []


def test_a_dead_model_and_a_dead_line_lose_nothing_and_use_up_no_try(site: Site, browser: Browser) -> None:
    project_id, writer = start_duel(site.store, "dead", model="dead")
    with site.visit(browser, writer) as visit:
        page = visit.page
        target, _ = open_job(page, project_id)
        page.fill("#hypothesis", f"They say {target}.")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#says", "Try again; nothing is lost and no try is used up.")
        expect_text(page, "#left", "tries left: 5 of 5")
        expect_value(page, "#hypothesis", f"They say {target}.")
        visit.picture("duel-dead")
        released.set()
        visit.context.set_offline(True)
        page.keyboard.press("Control+Enter")
        expect_text(page, "#says", "is kept on this device")
        visit.state("offline")
        visit.context.set_offline(False)
        expect_text(page, "#says", "The model was right")
        assert shown(page) == [("right", f"They say {target}."), ("failed", f"They say {target}.")]
        expect_text(page, "#left", "tries left: 4 of 5")
    assert site.count(tries, tries.c.text == f"They say {target}.", tries.c.drawn == "dead") == 2


def test_on_a_phone_in_chinese_a_text_is_skipped_and_one_is_unusable(site: Site, browser: Browser) -> None:
    project_id, writer = start_duel(site.store, "phone", language="zh")
    with site.visit(browser, writer, language="zh", **PHONE) as visit:
        page = visit.page
        target, _ = open_job(page, project_id)
        expect_text(page, "#left", "还可以试 5 次")
        page.fill("#hypothesis", f"渡船 {target}")
        page.locator("#submit").click()
        expect_text(page, ".outcome", "模型判断对了")
        visit.picture("duel-phone-zh")
        first = premise_shown(page)
        page.locator("#skip").click()
        expect_text(page, "#skip-words", "放在一边")
        page.locator("#skip").click()
        page.wait_for_function("text => document.getElementById('premise')?.textContent !== text", arg=first)
        expect_value(page, "#hypothesis", "")
        second = premise_shown(page)
        page.locator("#unusable").check()
        page.fill("#note", "看不懂")
        page.locator("#submit").click()
        page.wait_for_function("text => document.getElementById('premise')?.textContent !== text", arg=second)
        page.locator("#help-link").click()
        expect_text(page, "#help", "让模型判断错")
        assert visit.complaints == []
    assert site.count(answers, answers.c.project_id == project_id, answers.c.note == "看不懂") == 1


def test_verifiers_go_on_whatever_the_model_does(site: Site, browser: Browser) -> None:
    """The model is slow, then wrong, then dead; who judges sees nothing of it, and what fooled it is confirmed."""
    mood["is"] = "slow"
    project_id, writer = start_duel(site.store, "moody", model="moody")
    first, second = join(site.store, project_id, "verifier", 2)
    with (
        site.visit(browser, writer) as writing,
        site.visit(browser, first) as judging,
        site.visit(browser, second) as also_judging,
    ):
        page = writing.page
        target, other = open_job(page, project_id)
        context = premise_shown(page)
        page.fill("#hypothesis", f"They say {other}.")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#says", "The model is thinking")
        judging.page.goto(f"/projects/{project_id}/verify")
        expect_text(judging.page, "h1", "More is being written")
        released.set()
        expect_text(page, "#says", "You fooled the model")
        page.fill("#reason-label", "The text says so.")
        page.fill("#reason-model", "It believes what it reads.")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("text => document.getElementById('premise')?.textContent !== text", arg=context)
        released.clear()
        mood["is"] = "dead"
        page.fill("#hypothesis", "They say nothing.")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#says", "Try again; nothing is lost and no try is used up.")
        for visit in (judging, also_judging):
            visit.page.goto(f"/projects/{project_id}/verify")
            expect_text(visit.page, "#hypothesis", f"They say {other}.")
            assert premise_shown(visit.page) == context
            assert visit.page.locator("progress:not(#progress), .scores").count() == 0, "what the model said stays away"
            visit.page.wait_for_timeout(350)  # nobody has read it before
            visit.page.locator(f"[data-answer={target}]").click()
            expect_text(visit.page, "h1", "More is being written")
            assert visit.complaints == []
        expect_text(page, "#left", "tries left: 5 of 5")
    with site.store.read() as tx:
        (row,) = tx.all(select(pairs).where(pairs.c.project_id == project_id))
        assert (row.verdict, row.label, row.meta["fooled"]) == (target, target, True)
        assert recount.check(tx, project_id) == []
