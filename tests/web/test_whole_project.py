"""A whole project in a real browser: a requester sets it up, three people write, four judge, the data come out."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from goldlabel.collect import projects
from goldlabel.collect.money import recount
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.passwords import hash_password
from goldlabel.collect.schema import answers, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.texts import training_examples
from goldlabel.pairs import read
from tests.web.site import PREMISES, TEXTS, Site, Visit, expect_text, fill, serving
from tests.web.world import PASSWORD

NAMES = {"en": "Meadow tales", "zh": "草地故事"}
KEYS = {"entailment": "1", "neutral": "2", "contradiction": "3"}
WORDS = {
    "en": {
        "added": "3 of 4 sentences were added",
        "start": "You can start",
        "submit": "Submit",
        "over": "That is all for you",
    },
    "zh": {"added": "3", "start": "可以开始了", "submit": "提交", "over": "你的部分完成了"},
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    store = Store.create(tmp_path / "c")
    with store.write() as tx:
        create_account(tx, "requester", hash_password(PASSWORD), requester=True)
    with serving(store) as running:
        yield running


def log_in(visit: Visit, login: str) -> None:
    visit.page.goto("/login")
    visit.page.fill("#login", login)
    visit.page.fill("#password", PASSWORD)
    visit.page.press("#password", "Enter")
    visit.page.wait_for_url("**/")


def set_up(visit: Visit, language: str) -> tuple[int, dict[str, str]]:
    """Make a project in the requester's pages; return its id and the links for writers and verifiers."""
    page = visit.page
    page.goto("/projects/new")
    page.fill("#name", NAMES[language])
    page.check(f"input[name=language][value={language}]")
    page.check("input[name=conditions][value=multi-constraint]")
    visit.picture(f"{language}-1-new-project")
    page.locator("main button.primary").click()
    page.wait_for_url("**/projects/*")
    home = page.url
    page.goto(f"{home}/settings")
    changes = {"qualification.training": 2, "qualification.threshold": 50, "verifying.share": 30, "writing.cap": 1}
    for name, value in changes.items():
        page.fill(f"input[name='{name}']", str(value))
    page.locator("main form button.primary").click()
    page.locator(".notice:not(.warn)").wait_for()
    page.goto(f"{home}/premises")
    table = io.StringIO()
    lines = csv.writer(table)
    lines.writerow(["premise", "genre"])
    lines.writerows([[text, "news"] for text in [*PREMISES[language][:3], "x"]])
    page.set_input_files("#file", {"name": "pool.csv", "mimeType": "text/csv", "buffer": table.getvalue().encode()})
    page.locator("main form button.primary").click()
    expect_text(page, ".notice", WORDS[language]["added"])
    visit.picture(f"{language}-2-given-sentences")
    links = {}
    for role, uses in (("writer", 3), ("verifier", 4)):
        page.goto(f"{home}/invitations")
        page.select_option("#role", role)
        page.fill("#uses", str(uses))
        page.locator("main form button.primary").first.click()
        links[role] = page.locator("#link").input_value()
    return int(home.rsplit("/", 1)[1]), links


def join_project(visit: Visit, link: str, login: str) -> None:
    """Open an invitation and make an account."""
    page = visit.page
    page.goto(link)
    page.fill("#login", login)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url("**/")


def practise(visit: Visit, site: Site, project_id: int, role: str, language: str) -> None:
    """Answer the training examples with keys."""
    with site.store.read() as tx:
        examples = training_examples(projects.project(tx, project_id).protocol, role)
    visit.page.locator(".send [data-key=enter]").wait_for()
    visit.page.keyboard.press("Enter")
    for example in examples.values():
        expect_text(visit.page, ".pair", example.premise)
        visit.page.keyboard.press(KEYS[example.label])
        visit.page.locator(".verdict .right").wait_for()
        visit.page.keyboard.press("Enter")
    expect_text(visit.page, "h1", WORDS[language]["start"])
    visit.page.keyboard.press("Enter")


@pytest.mark.parametrize(("language", "writers"), [("en", 3), ("zh", 1)])
def test_a_whole_project(site: Site, browser: Browser, language: str, writers: int, tmp_path: Path) -> None:
    words = WORDS[language]
    with site.visit(browser, None, language=language) as requester:
        log_in(requester, "requester")
        project_id, links = set_up(requester, language)
        requester.complaints.clear()

        for number in range(writers):
            with site.visit(browser, None, language=language) as writer:
                page = writer.page
                join_project(writer, links["writer"], f"writer-{number}")
                page.goto(f"/projects/{project_id}/write")
                practise(writer, site, project_id, "writer", language)
                page.locator("#writing").wait_for()
                fill(page, language, levels=("easy",))
                if number == 1:
                    writer.context.set_offline(True)
                fill(page, language)
                expect_text(page, "#ask", words["submit"])
                if number == 1:
                    writer.state("offline")
                    page.keyboard.press("Control+Enter")
                    page.locator("#empty").wait_for()
                    writer.context.set_offline(False)
                else:
                    writer.state("saved")
                    writer.picture(f"{language}-3-writing")
                    page.keyboard.press("Control+Enter")
                expect_text(page, "h1", words["over"])
                assert number == 1 or writer.complaints == []
        assert site.count(pairs) == 6 * writers

        voted = 0
        for number in range(4):
            with site.visit(browser, None, language=language) as verifier:
                page = verifier.page
                join_project(verifier, links["verifier"], f"verifier-{number}")
                page.goto(f"/projects/{project_id}/verify")
                practise(verifier, site, project_id, "verifier", language)
                page.locator("#pair").wait_for()
                verifier.picture(f"{language}-4-judging")
                while page.locator("#pair").count():
                    pair = page.locator("#pair").inner_text()
                    hypothesis = page.locator("#hypothesis").inner_text()
                    label = next(label for label, texts in TEXTS[language].items() if hypothesis in texts)
                    page.wait_for_timeout(350)
                    page.keyboard.press(KEYS[label])
                    voted += 1
                    page.wait_for_function("text => document.getElementById('pair')?.innerText !== text", arg=pair)
                    page.locator("#pair:visible, .narrow h1").first.wait_for()
                assert verifier.complaints == []
        assert site.count(answers, answers.c.kind == "verify", answers.c.state == "counted") == voted

        page = requester.page
        page.goto(f"/projects/{project_id}")
        page.wait_for_timeout(500)
        requester.picture(f"{language}-5-overview")
        page.goto(f"/projects/{project_id}/people")
        requester.picture(f"{language}-6-people")
        page.goto(f"/projects/{project_id}/export")
        page.locator("main form button.primary").click()
        with page.expect_download() as downloading:
            page.locator("#exported a[download]").click()
        downloading.value.save_as(tmp_path / "export.zip")
        assert requester.complaints == []

    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        archive.extractall(tmp_path / "export")
    exported = read(tmp_path / "export").collect()
    assert len(exported) == 6 * writers
    judged = exported.filter(pl.col("votes").list.len() == 5)
    assert len(judged) * 4 == voted
    assert judged["votes"].list.n_unique().to_list() == [1] * len(judged)
    assert set(exported["premise"]) <= set(PREMISES[language][:3])
    assert exported["premise"].n_unique() == writers
    assert set(exported["condition"]) == {"multi-constraint"}
    with site.store.read() as tx:
        assert recount.check(tx, project_id) == []
