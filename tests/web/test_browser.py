"""The annotators' pages in a real browser: rules while one writes, cut networks, ended logins, double presses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route
from sqlalchemy import select

from goldlabel.collect.collection import collection_key
from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money import recount
from goldlabel.collect.people.accounts import close_session, create_account
from goldlabel.collect.people.people import add_member
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.schema import answers, assignments, drafts, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.answering import MOST_SECONDS
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.rules import Hypothesis, check_hypotheses, measure_hypotheses, script_parameters
from tests.collect.campaign import small_protocol
from tests.web.site import PREMISES, TEXTS, Site, browsing, expect_text, expect_value, fill, premise_shown, serving

NUMBERS = count(1)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with browsing(chromium) as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(Store.create(tmp_path_factory.mktemp("served") / "c")) as running:
        yield running


def writing_project(
    site: Site, name: str, *, condition: str = "multi-constraint", language: str = "en"
) -> tuple[int, int]:
    """A project with four premises, and one writer."""
    with site.store.write() as tx:
        made = create_project(tx, name, small_protocol(condition, language, verifiers=2), seed=3)
        add_premises(tx, made.id, [Premise(text=text, genre="news") for text in PREMISES[language]], by=None)
    return made.id, new_person(site, made.id, "writer", condition=condition)


def judging_project(site: Site, name: str, protocol: Protocol) -> tuple[int, int]:
    """A project with pairs to judge, and one verifier."""
    with site.store.write() as tx:
        made = create_project(tx, name, protocol, seed=3)
        texts = [
            NewPair(premise=f"Mule number {n} sleeps in the barn.", hypothesis=f"Animal number {n} rests.")
            for n in range(5)
        ]
        import_pairs(tx, made.id, texts, origin="imported", by=None)
    return made.id, new_person(site, made.id, "verifier")


def new_person(site: Site, project_id: int, role: str, *, condition: str = "") -> int:
    with site.store.write() as tx:
        person_id = create_account(tx, f"person-{next(NUMBERS)}", "not a hash: nobody logs in")
        add_member(tx, project_id, person_id, role, condition=condition, by=None)
    return person_id


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
