from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

import goldlabel.collect
import goldlabel.web
from goldlabel.collect.rules import MESSAGES, Violation
from goldlabel.web.language import LANGUAGES, catalogue
from goldlabel.web.sentences import translate_line, translate_violation, translations
from goldlabel.web.words import WORDS, word
from tests.web.world import World

WEB = Path(goldlabel.web.__file__).parent
COLLECT = Path(goldlabel.collect.__file__).parent
CATALOGUES = sorted((WEB / "locales" / "zh" / "LC_MESSAGES").glob("*.po"))
REFUSALS = ("InputError", "Missing", "Forbidden", "Conflict", "Expired", "TooMany")
FOR_THE_COMMAND_LINE = {"store.py", "serving.py", "migrations"}
"""What is said there, is said to who starts the server."""
_GAP = re.compile(r"\{\w*\}")
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")


def messages() -> set[str | tuple[str, ...]]:
    """Everything that templates and code mark for translation."""
    methods = [("**.py", "python"), ("templates/**.html", "jinja2.ext:babel_extract")]
    options = {"templates/**.html": {"trim_blocks": "1", "lstrip_blocks": "1", "newstyle_gettext": "1", "silent": "0"}}
    places = (WEB, COLLECT / "kinds")
    return {found[2] for place in places for found in extract_from_dir(place, method_map=methods, options_map=options)}


def catalogs() -> list[Catalog]:
    return [read_po(io.BytesIO(path.read_bytes()), locale="zh") for path in CATALOGUES]


def test_every_message_is_translated() -> None:
    translated = {message.id: message.string for catalog in catalogs() for message in catalog if message.id}
    wanted = messages()
    assert len(wanted) > 300
    missing = [one for one in wanted if not translated.get(one) or not all(translated[one])]
    assert not missing


def test_no_translation_is_left_over() -> None:
    wanted = messages()
    for path, catalog in zip(CATALOGUES, catalogs(), strict=True):
        unused = [message.id for message in catalog if message.id and message.id not in wanted]
        assert not unused, path.name


def test_translations_keep_their_placeholders() -> None:
    for catalog in catalogs():
        for message in catalog:
            ids, strings = (one if isinstance(one, tuple) else (one,) for one in (message.id, message.string))
            wanted = set(_PLACEHOLDER.findall(ids[-1]))
            assert all(set(_PLACEHOLDER.findall(string)) == wanted for string in strings), message.id
    for source, translation in translations("zh").items():
        assert set(_GAP.findall(source)) == set(_GAP.findall(translation)), source


def test_templates_hold_no_words_of_their_own() -> None:
    """Whatever is left of a template without its expressions and tags must be a mark, a name or a number."""
    allowed = {"Goldlabel", "zip", "Ctrl", "Alt"}
    for path in sorted((WEB / "templates").rglob("*.html")):
        source = re.sub(r"\{% block body_class %\}\w*", "", path.read_text(encoding="utf-8"))
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", source, flags=re.DOTALL)
        attributes = re.findall(r'\b(?:title|aria-label|placeholder|alt)="([^"]*)"', text)
        bare = re.sub(r"<script.*?</script>", " ", text, flags=re.DOTALL)
        bare = re.sub(r"&\w+;|<[^>]*>", " ", bare)
        words = {found for part in (bare, *attributes) for found in re.findall(r"[A-Za-z]{2,}", part)}
        assert words <= allowed, (path.name, words - allowed)


def raised(path: Path) -> Iterator[str]:
    """The lines that a file can refuse with; what is filled in is a gap."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        call = node.exc if isinstance(node, ast.Raise) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REFUSALS and call.args:
            yield _pattern(call.args[0])


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_pattern(value) for value in node.values)
    if isinstance(node, ast.BinOp):
        return _pattern(node.left) + _pattern(node.right)
    return "{}"


def test_every_refusal_is_translated() -> None:
    known = {_GAP.sub("{}", source) for source in translations("zh")}
    files = [path for room in (COLLECT, WEB) for path in room.rglob("*.py")]
    said = [path for path in files if not {path.name, path.parent.name} & FOR_THE_COMMAND_LINE]
    found = [(path.name, line) for path in said for line in raised(path)]
    assert len(found) > 80
    missing = [one for one in found if one[1] not in known and _GAP.sub("", one[1]).strip(" :;")]
    assert not missing
    assert not [message for message in MESSAGES.values() if _GAP.sub("{}", message) not in known]


@pytest.mark.parametrize(
    ("line", "chinese"),
    [
        ("this login is taken; choose another", "这个登录名已被使用；请换一个"),
        ("there is no role 'king'; allowed: requester, writer", "没有角色 'king'；可用：发起人、撰写人"),
        ("nobody writes in a project of kind 'vetting'; invite verifiers", "审核项目不需要撰写人；请邀请判断人"),
        ("1 label at 0.20 CNY", "1 次判断，每次 0.20 CNY"),
        ("a line that nobody knows", "a line that nobody knows"),
    ],
)
def test_lines_are_said_anew(line: str, chinese: str) -> None:
    assert translate_line(line, "zh") == chinese
    assert translate_line(line, "en") == line


@pytest.mark.parametrize("rule", sorted(MESSAGES))
def test_rules_are_said_in_both_languages(rule: str) -> None:
    parameters = {"characters": 7, "longest": 5, "language": "en", "other_label": "neutral", "other_level": "easy"}
    parameters |= {"percent": 80, "allowed": 70, "shared": "{x}", "negators": "not"}
    broken = Violation(rule=rule, label="contradiction", level="hard", parameters=parameters)
    assert "一定为假（较难）" in translate_violation(broken, "zh")
    assert translate_violation(broken, "en").startswith("cannot be true hard: ")


def test_every_name_in_code_has_a_word() -> None:
    for name in WORDS:
        assert word(name, catalogue("zh")) != WORDS[name] or WORDS[name].isascii() is False, name
    assert word("a genre of one's own", catalogue("zh")) == "a genre of one's own"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("de-DE,de;q=0.9,zh;q=0.5,en;q=0.7", "en"),
        ("fr", "en"),
        ("", "en"),
        ("zh;q=0, en", "en"),
        (";;;,q=1,zh;q=x", "zh"),
        ("*" * 5000, "en"),
    ],
)
def test_the_browser_chooses_the_language(world: World, header: str, language: str) -> None:
    page = world.visitor().get("/login", headers={"accept-language": header}).text
    assert f'<html lang="{language}"' in page


def test_the_switch_wins_over_the_browser(world: World) -> None:
    visitor = world.visitor("boss")
    assert all(name in visitor.get("/").text for name in LANGUAGES.values())
    assert visitor.get("/language/zh?next=/account").headers["location"] == "/account"
    page = visitor.get("/", headers={"accept-language": "en"}).text
    assert "我的项目" in page
    visitor.get("/language/en")
    assert "My projects" in visitor.get("/", headers={"accept-language": "zh"}).text
    assert visitor.get("/language/xx").status_code == 303


def test_errors_speak_the_language(world: World) -> None:
    visitor = world.visitor("boss")
    visitor.get("/language/zh")
    assert "没有找到" in visitor.get("/nothing").text
    assert visitor.get("/api/assignments/999999").json()["message"] == "没有任务 999999。"
    answer = visitor.post("/projects", {"name": "meadow", "conditions": "single"})
    assert "已有项目 &#39;meadow&#39;；请换一个名称。" in answer.text
