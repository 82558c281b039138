"""Writing in a real browser: rules while one writes, cut networks, ended logins, double presses."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Route
from sqlalchemy import select

from goldlabel.collect.configuration import configure
from goldlabel.collect.money import recount
from goldlabel.collect.people.accounts import close_session
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import answers, assignments, drafts, pairs
from goldlabel.collect.work.answering import MOST_SECONDS
from goldlabel.collect.work.rules import Hypothesis, check_hypotheses, measure_hypotheses, script_parameters
from tests.web.projects import new_person, writing_project
from tests.web.site import PREMISES, TEXTS, Site, expect_text, expect_value, fill, premise_shown


def random_texts(chance: random.Random, language: str, premise: str) -> list[str]:
    """Six texts that break rules often: pieces of the premise, negators, other scripts, odd spaces, nothing."""
    pieces = [
        *premise.split(),
        *premise,
        *[
            "not",
            "no",
            "isn't",
            "Nobody’s",
            "without",
            "没有",
            "不",
            "非常",
            "无论",
            "3.5",
            "1,000",
            "naïve",
            "e\u0301té",
        ],
        *["", " ", "\u3000", "\u200b", "\u00ad", "\x07", "😀", "!", "?", "ß", "İ", "Ǆ", "仮名", "ﬁ", "\u0301"],
        *["nоt", "ⓝo", "ΝО", "don‘t", "\u2060", "\u200d", "\u200c", "\ufe0f", "👩", "❤", "1", "\u20e3", "क्", "½", "㍿"],
        *["沒", "別人", "\U000e0067", "\U0001f3f4", "\u3164", "\u202e", "\u20dd", "㎞", "À", "ϹΤ", "𖽃", "\U000e0100"],
    ]
    texts = []
    for _ in range(6):
        kind = chance.random()
        if kind < 0.1:
            texts.append("")
        elif kind < 0.2:
            texts.append(chance.choice([premise, premise.upper(), f"  {premise}!", *texts[-1:]]))
        else:
            glue = chance.choice(["", " ", " "])
            texts.append(glue.join(chance.choices(pieces, k=chance.randint(1, 12))))
    return texts


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_browser_measures_what_the_server_measures(site: Site, browser: Browser, language: str) -> None:
    chance = random.Random(language)
    protocol = make_protocol("multi-constraint", language)
    protocol = replace(protocol, writing=replace(protocol.writing, longest=40))
    rules = script_parameters(protocol) | {"negated_contradictions": 1}
    slots = [slot for slot in protocol.slots("multi-constraint") if slot[1] != "hard"]
    cases, expected = [], []
    for _ in range(400):
        premise = chance.choice([*PREMISES[language], "It isn’t 3.5 km, is it?", "非常好。"])
        texts = random_texts(chance, language, premise)
        given = [
            Hypothesis(label=label, level=level, text=text) for (label, level), text in zip(slots, texts, strict=True)
        ]
        found = check_hypotheses(premise, given, protocol, "multi-constraint")
        measured = measure_hypotheses(premise, given, protocol)
        expected.append(
            {
                "violations": [[one.rule, one.label, one.level, dict(one.parameters)] for one in found],
                "measures": [[one.text, one.overlap, list(one.tokens), len(one.negators)] for one in measured],
            }
        )
        boxes = [{"label": one.label, "level": one.level, "text": one.text, "optional": False} for one in given]
        cases.append({"premise": premise, "slots": boxes})
    page = browser.new_page()
    page.goto(f"{site.address}/login")
    script = """async ([cases, rules]) => {
      const { check, measure } = await import("/static/rules.js");
      return cases.map(({ premise, slots }) => ({
        violations: check(premise, slots, rules).map((one) => [one.rule, one.label, one.level, one.parameters]),
        measures: slots.map(({ text }) => measure(premise, text, rules))
          .map((one) => [one.text, one.overlap, one.tokens.map(({ token }) => token), one.negators.length]),
      }));
    }"""
    seen = page.evaluate(script, [cases, rules])
    page.close()
    for case, ours, theirs in zip(cases, expected, seen, strict=True):
        assert theirs == ours, case
    told = {violation[0] for one in expected for violation in one["violations"]}
    assert told == {
        "missing",
        "empty",
        "short",
        "long",
        "language",
        "same_as_premise",
        "same_as_other",
        "overlap",
        "negator",
    }


def test_the_pages_clock_stops_where_the_server_stops_listening(site: Site, browser: Browser) -> None:
    """A page left open for a month must not have its answer refused for that."""
    project_id, ann = writing_project(site, "clock")
    script = """async (spent) => {
      const { Stopwatch } = await import("/static/page.js");
      const watch = new Stopwatch();
      watch.reset({ total: spent });
      return watch.read().total;
    }"""
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        assert [page.evaluate(script, spent) for spent in (12.34, 30 * 24 * 3600)] == [12.3, MOST_SECONDS]


def test_rules_speak_after_a_pause_and_the_button_says_what_is_missing(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "rules")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        expect_text(page, "#ask", "6 sentences missing")
        premise = premise_shown(page)
        page.fill("#box-entailment-easy", " ".join(premise.split()[:7]) + " today")
        expect_text(page, "#line-entailment-easy .rule", "88 % shared, at most 70 %")
        assert page.locator("#premise mark").count() == 7
        assert page.locator("#box-entailment-easy").get_attribute("aria-invalid") == "true"
        marked = page.locator(".slot[data-label=entailment][data-level=easy] .copy mark").all_inner_texts()
        assert marked == premise.split()[:7]
        fill(page)
        expect_text(page, "#ask", "Submit")
        expect_text(page, "#line-contradiction-easy .figure", "negator 1 of 1")
        page.fill("#box-contradiction-medium", "There was no beast.")
        expect_text(page, "#line-contradiction-medium .rule", "“no”: at most 1 of these may hold a negator")
        assert page.locator(".copy mark.second").all_inner_texts() == ["Nothing", "no"]
        expect_text(page, "#ask", "1 sentence breaks a rule")
        visit.state("saved")
        visit.picture("writing-rules")
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(200)
        assert premise_shown(page) == premise
        assert page.evaluate("document.activeElement.id") == "box-contradiction-medium"
        page.fill("#box-contradiction-hard", "All beasts stayed at home.")
        page.fill("#box-contradiction-medium", "")
        expect_text(page, "#ask", "1 sentence missing")
        assert visit.complaints == []
    assert site.count(pairs, pairs.c.project_id == project_id) == 0


def test_nothing_speaks_in_the_middle_of_a_composition(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "input method", condition="single", language="zh")
    with site.visit(browser, ann, language="zh") as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        box = page.locator("#box-entailment-only")
        premise = premise_shown(page)
        box.fill(premise[:-2])
        expect_text(page, "#line-entailment-only .rule", "重合 100 %")
        box.fill("")
        expect_text(page, "#ask", "还缺 3 句")
        devices = visit.context.new_cdp_session(page)
        box.focus()
        for typed in ("n", "ni", "ni h", "ni hao"):
            devices.send(
                "Input.imeSetComposition", {"text": typed, "selectionStart": len(typed), "selectionEnd": len(typed)}
            )
        page.wait_for_timeout(900)
        assert box.input_value() == "ni hao"
        assert page.locator("#line-entailment-only").inner_text() == ""
        page.keyboard.press("Control+Enter")
        assert page.locator("#ask").inner_text() == "还缺 3 句"
        devices.send("Input.insertText", {"text": "你好吗"})
        expect_text(page, "#line-entailment-only .figure", "重合 0 %")
        expect_text(page, "#ask", "还缺 2 句")
        assert box.input_value() == "你好吗"
        assert visit.complaints == []


def test_a_cut_network_a_reload_and_a_double_press_lose_and_double_nothing(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "cut")
    own = answers.c.project_id == project_id
    drafted = drafts.c.assignment_id.in_(select(assignments.c.id).where(assignments.c.project_id == project_id))
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        first = premise_shown(page)
        fill(page)
        visit.state("saved")
        assert site.count(drafts, drafted) == 1
        visit.context.set_offline(True)
        page.fill("#box-neutral-hard", "Written without a network.")
        visit.state("offline")
        visit.picture("writing-offline")
        visit.context.set_offline(False)
        page.reload()
        assert premise_shown(page) == first
        expect_value(page, "#box-neutral-hard", "Written without a network.")
        assert page.locator("#box-neutral-easy").input_value() == TEXTS["en"]["neutral"][0]
        visit.state("saved")

        visit.context.set_offline(True)
        page.keyboard.press("Control+Enter")
        page.keyboard.press("Control+Enter")
        page.locator("#empty").wait_for()
        visit.state("offline")
        assert site.count(answers, own) == 0
        visit.context.set_offline(False)
        expect_text(page, "#ask", "6 sentences missing")
        second = premise_shown(page)
        assert second != first
        visit.state("saved")
        assert site.count(answers, own) == 1
        fill(page)
        expect_text(page, "#ask", "Submit")
        page.locator("#submit").dblclick()
        expect_text(page, "#count", "Sentence 3 of 50")
        visit.state("saved")
        assert premise_shown(page) not in (first, second)
        assert site.count(answers, own) == 2
        assert site.count(pairs, pairs.c.project_id == project_id) == 7 + 6
        assert site.count(drafts, drafted) == 0
        expect_text(page, "#count", "Sentence 3 of 50")
    with site.store.read() as tx:
        assert recount.check(tx, project_id) == []
        assert tx.value(
            select(pairs.c.hypothesis).where(pairs.c.project_id == project_id, pairs.c.level == "hard")
        ) == ("Written without a network.")


def test_a_submission_left_in_the_outbox_is_sent_when_the_page_is_opened_again(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "left", condition="single")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        first = premise_shown(page)
        fill(page, levels=("only",))
        expect_text(page, "#ask", "Submit")
        visit.context.set_offline(True)
        page.keyboard.press("Control+Enter")
        page.locator("#empty").wait_for()
        page.close()
        visit.context.set_offline(False)
        again = visit.context.new_page()
        again.goto(f"/projects/{project_id}/write")
        again.wait_for_function("text => document.getElementById('premise').textContent !== text", arg=first)
        again.locator("#state[data-state=saved]").wait_for()
        assert site.count(answers, answers.c.project_id == project_id, answers.c.state == "counted") == 1


def test_an_answer_that_was_stored_but_not_acknowledged_is_stored_once(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "unheard", condition="single")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        fill(page, levels=("only",))
        visit.state("saved")
        lost = []

        def store_and_hang_up(route: Route) -> None:
            lost.append(route.fetch().status)
            route.abort()

        page.route("**/submit", store_and_hang_up, times=2)
        page.keyboard.press("Control+Enter")
        visit.state("offline")
        visit.state("saved")
        expect_text(page, "#count", "Sentence 2 of 50")
        assert lost == [200, 200]
        assert site.count(answers, answers.c.project_id == project_id) == 1
        assert site.count(pairs, pairs.c.project_id == project_id) == 3


def test_an_ended_login_keeps_what_is_written_and_sends_it_after_logging_in(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "ended", condition="single")
    other = new_person(site, writing_project(site, "of another", condition="multi")[0], "verifier")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        with site.store.write() as tx:
            assert visit.session is not None
            close_session(tx, visit.session.token)
        fill(page, levels=("only",))
        visit.state("signed_out")
        expect_text(page, ".notice", "Your login has ended")
        assert page.locator(".notice a").get_attribute("target") == "_blank"
        visit.picture("writing-logged-out")
        page.keyboard.press("Control+Enter")
        page.locator("#empty").wait_for()
        site.log_in(visit.context, other)
        visit.state("other_person")
        assert site.count(answers, answers.c.project_id == project_id) == 0
        site.log_in(visit.context, ann)
        visit.state("saved")
        assert page.locator(".notice").count() == 0
        assert site.count(answers, answers.c.project_id == project_id, answers.c.state == "counted") == 1
        assert page.locator("#writing").is_visible()


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        (("indexedDB",), "Offline: kept on this device"),
        (("indexedDB", "localStorage"), "Offline and not saved: leave this page open"),
    ],
)
def test_a_browser_that_keeps_little_says_so_and_loses_nothing_it_need_not(
    site: Site, browser: Browser, missing: tuple[str, ...], says: str
) -> None:
    project_id, ann = writing_project(site, f"without {' and '.join(missing)}", condition="single")
    with site.visit(browser, ann) as visit:
        for name in missing:
            visit.context.add_init_script(
                f"Object.defineProperty(window, '{name}', {{ get() {{ throw new Error('not here') }} }})"
            )
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        fill(page, levels=("only",))
        visit.state("saved")
        visit.context.set_offline(True)
        page.fill("#box-neutral-only", "It came from far away.")
        expect_text(page, "#state", says)
        if "localStorage" not in missing:
            page.evaluate("() => { window.fetch = () => new Promise(() => {}) }")  # the draft stays on the device
            visit.context.set_offline(False)
            page.reload()
            expect_value(page, "#box-neutral-only", "It came from far away.")
        visit.context.set_offline(False)
        visit.state("saved")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#count", "Sentence 2 of 50")
        visit.state("saved")
    with site.store.read() as tx:
        told = tx.value(select(pairs.c.hypothesis).where(pairs.c.project_id == project_id, pairs.c.label == "neutral"))
    assert told == "It came from far away."


def test_the_end_of_a_batch_is_told(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "batch", condition="single")
    with site.store.write() as tx:
        protocol = project(tx, project_id).protocol
        configure(tx, project_id, replace(protocol, writing=replace(protocol.writing, batch=2)), by=None)
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        for count_shown in ("Sentence 2 of 2", "Sentence 1 of 2"):
            fill(page, levels=("only",))
            page.keyboard.press("Control+Enter")
            expect_text(page, "#count", count_shown)
        expect_text(page, ".notice", "That was a batch of 2.")
        page.get_by_role("button", name="Close").click()
        assert page.locator(".notice").count() == 0
        assert visit.complaints == []


def test_unusable_and_skip_with_keys(site: Site, browser: Browser) -> None:
    project_id, ann = writing_project(site, "unusable")
    with site.visit(browser, ann) as visit:
        page = visit.page
        page.goto(f"/projects/{project_id}/write")
        first = premise_shown(page)
        page.fill("#box-neutral-easy", "Perhaps.")
        page.keyboard.press("Alt+x")
        expect_text(page, "#ask", "Say why it is unusable")
        page.keyboard.type("Only half a sentence")
        expect_text(page, "#ask", "Mark as unusable")
        visit.picture("writing-unusable")
        page.keyboard.press("Control+Enter")
        expect_text(page, "#count", "Sentence 2 of 50")
        second = premise_shown(page)
        page.fill("#box-neutral-easy", "Something.")
        page.keyboard.press("Alt+s")
        expect_text(page, "#skip-words", "Skip, and set aside what you wrote?")
        page.keyboard.press("Alt+s")
        page.wait_for_function("text => document.getElementById('premise').textContent !== text", arg=second)
        visit.state("saved")
        assert first != second
        assert visit.complaints == []
    with site.store.read() as tx:
        states = [row.state for row in tx.all(select(assignments.c.state).where(assignments.c.person_id == ann))]
        assert sorted(states) == ["leased", "skipped", "unusable"]
        assert tx.value(select(answers.c.note).where(answers.c.project_id == project_id)) == "Only half a sentence"
