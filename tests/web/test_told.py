"""What pages tell people after they did something, and what they can tell the requester of their own accord."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from goldlabel.collect.schema import answers, pairs, premises
from tests.collect.campaign import bring_pairs, write_all
from tests.web.world import Visitor, World, opened, populate


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(tmp_path_factory.mktemp("told") / "collection") as world:
        yield populate(world, premises=4)


@pytest.fixture
def boss(site: World) -> Visitor:
    return site.visitor("boss")


def test_what_is_done_is_said_once(site: World) -> None:
    writer, home = site.visitor("writer1"), f"/projects/{site.project}/mine"
    write_all(site.store, site.project, [site.people["writer1"]], most=1)
    answer_id = site.one(select(answers.c.id).where(answers.c.person_id == site.people["writer1"]))
    pair_id = site.one(select(pairs.c.id).where(pairs.c.answer_id == answer_id))
    form = {"pair": pair_id, "text": "Somebody saw it."}
    assert writer.post(f"{home}/{answer_id}/text", form).status_code == 303
    assert "Your answer is changed." in writer.get(home).text
    assert "Your answer is changed." not in writer.get(home).text
    writer.post(f"{home}/{answer_id}/withdraw")
    assert 'role="status">Your answer is withdrawn' in writer.get(home).text
    writer.post("/account/contact", {"contact": "me@label.example"})
    assert "How you can be reached is kept." in writer.get("/account").text
    writer.post("/account/contact", {"contact": " "})
    assert "你的联系方式已删除。" in writer.get("/account", headers={"accept-language": "zh"}).text


def test_a_browser_cannot_be_made_to_say_something_else(site: World) -> None:
    verifier = site.visitor("verifier")
    verifier.client.cookies.set("goldlabel_done", "<b>You won")
    assert "You won" not in verifier.get("/account").text


def test_who_failed_the_practice_can_write_to_the_requester(site: World, boss: Visitor) -> None:
    home = f"/projects/{site.project}"
    verifier = site.visitor("verifier1")
    assert f'action="{home}/my-letters"' in verifier.get(f"{home}/my-letters").text
    assert verifier.post(f"{home}/my-letters", {"text": "May I try <again>?"}).status_code == 303
    shown = verifier.get(f"{home}/my-letters").text
    assert "Your message is sent." in shown
    assert "May I try &lt;again&gt;?" in shown
    assert "May I try" not in site.visitor("verifier").get(f"{home}/my-letters").text
    assert "May I try &lt;again&gt;?" in boss.get(f"{home}/letters").text
    assert "everybody" not in boss.get(f"{home}/letters").text.split("May I try")[0].rpartition("<li>")[2]
    assert site.visitor("nobody").post(f"{home}/my-letters", {"text": "hello"}).status_code == 404


def test_hidden_sentences_are_not_counted(site: World, boss: Visitor) -> None:
    home = f"/projects/{site.project}"
    assert "4 sentences to write about" in boss.get(f"{home}/premises").text
    first = site.one(select(premises.c.id).where(premises.c.project_id == site.project, premises.c.number == 4))
    assert boss.post(f"{home}/premises/{first}/visibility", {"state": "hidden"}).status_code == 303
    assert "3 sentences to write about" in boss.get(f"{home}/premises").text


def test_the_premise_of_an_imported_pair_can_be_mended(site: World, boss: Visitor) -> None:
    bring_pairs(site.store, site.project, 1, origin="gold", labels=("neutral",))
    premise_id = site.one(
        select(pairs.c.premise_id).where(pairs.c.project_id == site.project).order_by(pairs.c.id.desc())
    )
    address = f"/projects/{site.project}/premises/{premise_id}"
    answer = boss.post(address, {"text": "The heron sleeps under the other bridge now."})
    assert answer.status_code == 303
    assert "the other bridge" in boss.get(answer.headers["location"]).text


def test_wide_text_is_called_by_its_name(site: World, boss: Visitor) -> None:
    file = {"file": ("pool.txt", "The mill grinds rye again.\n".encode("utf-16"), "text/plain")}
    answer = boss.post(f"/projects/{site.project}/premises", {}, files=file)
    assert answer.status_code == 422
    assert "pool.txt: is UTF-16" in answer.text
    assert "unpacked" not in answer.text


def test_a_pair_that_cannot_be_taken_is_named_with_its_file(site: World, boss: Visitor) -> None:
    row = '{"premise": "The mill grinds rye.", "hypothesis": "It grinds.", "label": "-"}\n'
    file = {"file": ("questions.jsonl", row.encode(), "application/jsonl")}
    answer = boss.post(f"/projects/{site.project}/pairs", {"origin": "gold"}, files=file)
    assert answer.status_code == 422
    assert "questions.jsonl: pair 1" in answer.text.replace("&#39;", "'")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("premise,label\nThe mill grinds.,neutral\n", "p.csv: has no column"),
        ("premise,hypothesis,label\nThe mill grinds.,,neutral\n", "p.csv line 2:"),
        (
            "premise,hypothesis,label\nThe mill grinds.,It does.,perhaps\n",
            "p.csv line 2: the label or a vote is not one",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_told_of_in_the_words_of_the_page(
    site: World, boss: Visitor, row: str, told: str
) -> None:
    file = {"file": ("p.csv", row.encode(), "text/csv")}
    answer = boss.post(f"/projects/{site.project}/pairs", {"origin": "foreign"}, files=file)
    assert answer.status_code == 422
    assert told in answer.text
    assert "--" not in answer.text.split('role="alert">')[1].split("</p>")[0]
    zh = boss.post(
        f"/projects/{site.project}/pairs", {"origin": "foreign"}, files=file, headers={"accept-language": "zh"}
    )
    assert "没有导入任何内容" in zh.text
