"""Refusals as Chinese pages show them: walked one by one, none may be a sentence that nobody translated."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from goldlabel.collect import projects
from goldlabel.collect.messages import ENGLISH
from goldlabel.collect.money import by_hand
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.work import assignment
from goldlabel.messages import Word
from goldlabel.web.translation import as_sentence, templates, translate
from tests.web.world import World, objects

TERMS = re.compile(
    r"goldlabel (collect|leaderboard) (init|password|backup)|https?://(HOST)?|postgresql://(USER@HOST/NAME|…)|--\w+|-o\b"
    r"|openai:URL#MODEL"
    r"|Goldlabel|Prolific|UTF-8|JSON|CSV|SQLite|CNY|MB|0x|true|false|premise|hypothesis|label"
)
"""Commands, addresses, columns and names: what is written so in Chinese, too."""
ENGLISH_WORDS = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}")


@pytest.mark.parametrize("name", sorted(templates("zh")))
def test_no_template_of_the_catalogue_holds_english(name: str) -> None:
    own = re.sub(r"\{\w+\}", "", TERMS.sub("", templates("zh")[name]))
    assert not re.search(r"[A-Za-z]", own), own


@pytest.mark.parametrize("name", sorted(ENGLISH))
def test_every_message_is_a_sentence_in_both_languages(name: str) -> None:
    gaps = dict.fromkeys(re.findall(r"\{(\w+)\}", ENGLISH[name]), "☃")
    message = Invalid(name, **gaps).message
    english, chinese = (as_sentence(message, language) for language in ("en", "zh"))
    assert english.endswith((".", "?", "…"))
    assert english[0] == english[0].upper() or ENGLISH[name][0] == "{"
    assert chinese.endswith(("。", "？", "…"))
    assert english.count("☃") == chinese.count("☃") == len(re.findall(r"\{\w+\}", ENGLISH[name]))


def refused(answer: Any) -> str:
    """What a refusal says, on a page or as JSON."""
    if answer.headers["content-type"].startswith("application/json"):
        return str(answer.json()["message"])
    text = unescape(answer.text)
    for start in ('role="alert">', '<p class="lead">'):
        if start in text:
            return text.partition(start)[2].partition("</p>")[0]
    raise AssertionError(text)


def upload(name: str, content: str) -> dict[str, Any]:
    return {"file": (name, content.encode(), "text/plain")}


PROJECT, API = "/projects/{project_id}", "/api/assignments/{assignment}"
ROW = '{"premise": "a", "hypothesis": "b", "label": "x"}\n'
WALK: list[tuple[str, str, dict[str, Any], str]] = [
    ("boss", "/projects", {"data": {"name": "", "conditions": "single"}}, "项目名称有 0 个字符"),
    ("boss", "/projects", {"data": {"name": "a", "kind": "elicitation"}}, "没有选择条件"),
    ("boss", "/projects", {"data": {"name": "a", "conditions": "sinlge"}}, "没有方案“sinlge”；是否指“single”"),
    ("boss", "/projects", {"data": {"name": "a", "conditions": "single", "language": "de"}}, "没有语言“de”的方案"),
    ("nobody", "/projects", {"data": {"name": "a", "conditions": "single"}}, "只有发起人可以建立项目"),
    ("boss", PROJECT + "/premises", {}, "没有文件也没有文字"),
    ("boss", PROJECT + "/premises", {"files": upload("a.pdf", "x")}, "a.pdf：不认识的前提文件格式；可用"),
    ("boss", PROJECT + "/premises", {"files": upload("a.csv", "x,x\n")}, "第 1 行：列“x”出现两次"),
    ("boss", PROJECT + "/premises", {"files": upload("a.csv", "x,y\nz\n")}, "第 2 行：有 1 列，而表头有 2 列"),
    ("boss", PROJECT + "/premises", {"files": upload("a.jsonl", "[1]")}, "第 1 项：不是 JSON 对象"),
    ("boss", PROJECT + "/premises", {"files": upload("a.jsonl", '{"x": 1}')}, "第 1 行：x 中没有前提列"),
    ("boss", PROJECT + "/premises", {"files": upload("a.jsonl", '{"text": 1}')}, "text 不是文字，而是 int"),
    ("boss", PROJECT + "/pairs", {"files": upload("a.pdf", ""), "data": {"origin": "gold"}}, "不认识的句对文件格式"),
    (
        "boss",
        PROJECT + "/pairs",
        {"files": upload("a.jsonl", ROW), "data": {"origin": "gold", "labels": "nil3"}},
        "没有标签体系“nil3”；是否指“nli3”",
    ),
    ("boss", PROJECT + "/pairs", {"files": upload("a.jsonl", "[[["), "data": {"origin": "gold"}}, "不能作为句对读取"),
    ("boss", PROJECT + "/settings", {"data": {"writing.overlap": "170"}}, "与前提的重合"),
    ("boss", PROJECT + "/settings", {"data": {"premises.shortest": "400"}}, "可用：1 至 200"),
    ("boss", PROJECT + "/settings", {"data": {"pay.currency": "eur"}}, "货币代码"),
    ("boss", PROJECT + "/settings", {"data": {"conditions": "mutli"}}, "没有条件“mutli”；是否指“multi”"),
    ("boss", PROJECT + "/settings", {"data": {"qualification.training": "900"}}, "需要 900 道练习题，而 英文"),
    ("boss", PROJECT + "/invitations", {"data": {"role": "king"}}, "没有角色“king”；可用：发起人、撰写人"),
    ("boss", PROJECT + "/invitations", {"data": {"role": "writer", "condition": "x"}}, "这个项目没有条件“x”"),
    ("boss", PROJECT + "/texts", {"data": {"name": "verifying", "action": "save"}}, "内容为空"),
    ("boss", PROJECT + "/texts", {"data": {"name": "x", "action": "save"}}, "这个项目没有说明“x”"),
    ("boss", PROJECT + "/people/{pseudonym}/verifier", {"data": {"state": "paused"}}, "这个项目没有这位判断人"),
    ("boss", PROJECT + "/people/{pseudonym}/training/again", {}, "练习并未失败"),
    ("boss", PROJECT + "/checks/{check_id}", {"data": {"broken": "999999", "note": "x"}}, "句对 999999 不属于"),
    ("boss", PROJECT + "/ledger/{line_id}/reverse", {"data": {"reason": " "}}, "撤销一笔需要理由"),
    ("writer", PROJECT + "/state", {"data": {"state": "paused"}}, "只有项目的发起人可以这样做"),
    ("nobody", PROJECT + "/state", {"data": {"state": "paused"}}, "没有项目 1"),
    ("boss", "/account/password", {"data": {"old": "x", "new": "y"}}, "登录名或密码不对"),
    ("boss", "/invite/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", {}, "没有这个邀请"),
    ("verifier", API + "/vote", {"json": {"key": "a", "label": "x"}}, "回答“x”不在 一定为真、可能为真、一定为假"),
    ("verifier", API + "/vote", {"json": {"key": "a\n", "label": "neutral"}}, "回答的键为 1 至 200 个可见字符"),
    ("verifier", API + "/undo", {"json": {"key": "none"}}, "没有可以撤回的回答"),
    ("boss", API + "/skip", {"json": {}}, "没有任务"),
]


@pytest.mark.parametrize(
    ("name", "path", "sent", "chinese"), WALK, ids=[f"{number} {path}" for number, (_, path, *_) in enumerate(WALK)]
)
def test_refusals_are_told_in_chinese(world: World, name: str, path: str, sent: dict[str, Any], chinese: str) -> None:
    visitor = world.visitor(name)
    visitor.get("/language/zh")
    with world.store.write() as tx:
        held = assignment.claim(tx, world.project, world.people["verifier"], "verify").tasks[0].assignment_id
    address = path.format(**objects(world, world.project), assignment=held)
    if "json" in sent:
        answer = visitor.client.post(address, **sent, headers={"x-csrf-token": visitor.csrf})
    else:
        answer = visitor.post(address, sent.get("data"), files=sent.get("files"))
    assert answer.status_code >= 400, answer.text
    said = refused(answer)
    assert chinese in said
    own = said.partition("详情：")[0]  # what another room found in a file is told as it says it, and marked as that
    assert not ENGLISH_WORDS.search(TERMS.sub("", own)), said


def test_reasons_for_pay_are_told_in_the_readers_language_and_peoples_own_as_they_are(world: World) -> None:
    with world.store.write() as tx:
        for number, reason in enumerate(("taken back", "{n}", '{"name": "pay_undone", "parameters": {}}')):
            by_hand.give(
                tx,
                world.project,
                world.people["verifier"],
                kind="bonus",
                amount=projects.project(tx, world.project).protocol.pay.bonus,
                reason=reason,
                key=f"own {number}",
                by=None,
            )
    verifier = world.visitor("verifier")
    verifier.get("/language/zh")
    text = unescape(verifier.get(f"/projects/{world.project}/my-pay").text)
    assert "1 次判断，每次 0.20 USD" in text
    assert "1 judgement at" not in text
    for own in ("taken back", "{n}", '{"name": "pay_undone", "parameters": {}}'):
        assert f"奖金: {own}" in text


def test_a_word_that_nobody_knows_stays() -> None:
    assert translate(Word("a kind of one's own"), "zh") == "a kind of one's own"


@pytest.mark.parametrize(
    ("sender", "back"),
    [
        ("http://localhost/projects/1/payouts?page=2", "/projects/1/payouts?page=2"),
        ("http://elsewhere.example/projects/1/payouts", None),
        ("http://localhost//elsewhere.example/", "/"),
        ("http://[", None),
    ],
)
def test_what_is_refused_leads_back_to_its_form(world: World, sender: str, back: str | None) -> None:
    form = {"to": world.called("writer"), "amount": "NaN", "key": "k", "on": "2030-01-01"}
    place = f"/projects/{world.project}/payouts"
    answer = world.visitor("boss").post(place, form, headers={"referer": sender})
    assert answer.status_code == 422
    shown = re.search('class="button primary" href="([^"]*)"', answer.text)
    assert (shown and unescape(shown[1])) == back
