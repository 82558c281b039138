from __future__ import annotations

import ast
import io
import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from fastapi import Request

import goldlabel.collect
import goldlabel.leaderboard
import goldlabel.web
from goldlabel.collect.data.premises import read_premises
from goldlabel.collect.messages import ENGLISH, words
from goldlabel.collect.protocols import PremiseRules, make_protocol
from goldlabel.collect.refusals import Conflict, Invalid, Missing, Refusal
from goldlabel.collect.texts import instructions
from goldlabel.collect.work.rules import Violation
from goldlabel.errors import InputError
from goldlabel.messages import Word
from goldlabel.verify.flags import ENGLISH as FLAGS
from goldlabel.web.failures import describe
from goldlabel.web.language import COOKIE, LANGUAGES, catalogue
from goldlabel.web.translation import templates, translate
from goldlabel.web.words import WORDS, word
from tests.web.world import World

PACKAGE = Path(goldlabel.__file__).parent
WEB = Path(goldlabel.web.__file__).parent
COLLECT = Path(goldlabel.collect.__file__).parent
LEADERBOARD = Path(goldlabel.leaderboard.__file__).parent
CATALOGUES = sorted((WEB / "locales" / "zh" / "LC_MESSAGES").glob("*.po"))
SPEAKERS = ("message", "Invalid", "Missing", "Forbidden", "Conflict", "Expired", "TooMany")
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


def test_one_word_for_each_thing() -> None:
    """docs/collect.md, "Words": verifiers judge, a judgement gives a label, and nobody verifies or annotates a pair."""
    other = re.compile(r"verif(?!iers?\b)|labell?ing|labell?er|annotat(?!ors?\b|ion tool)|judgment", re.IGNORECASE)
    chinese = {"judg": "判断", "verifier": "判断人"}
    for catalog in catalogs():
        for message in catalog:
            ids, strings = (one if isinstance(one, tuple) else (one,) for one in (message.id, message.string))
            assert not other.search(ids[0]), ids[0]
            for english, word_for_it in chinese.items():
                if english in ids[0].lower():
                    assert all(word_for_it in string for string in strings), ids[0]
    assert not [text for text in ENGLISH.values() if other.search(text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_instructions_call_levels_and_keys_what_the_page_calls_them(language: str) -> None:
    text = instructions("multi", make_protocol("multi", language))
    for number, level in enumerate(("easy", "medium", "hard"), start=1):
        assert f"{number} {catalogue(language).gettext(level)}" in text
    key = re.search("<kbd>(Alt X)</kbd>", (WEB / "templates/annotator/parts.html").read_text(encoding="utf-8"))
    assert key is not None
    assert key[1] in text


def test_templates_hold_no_words_of_their_own() -> None:
    """Whatever is left of a template without its expressions and tags must be a mark, a name or a number."""
    allowed = {"Goldlabel", "zip", "Ctrl", "Alt", "Esc"}
    for path in sorted((WEB / "templates").rglob("*.html")):
        source = re.sub(r"\{% block body_class %\}\w*", "", path.read_text(encoding="utf-8"))
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", source, flags=re.DOTALL)
        attributes = re.findall(r'\b(?:title|aria-label|placeholder|alt)="([^"]*)"', text)
        bare = re.sub(r"<script.*?</script>", " ", text, flags=re.DOTALL)
        bare = re.sub(r"&\w+;|<[^>]*>", " ", bare)
        words = {found for part in (bare, *attributes) for found in re.findall(r"[A-Za-z]{2,}", part)}
        assert words <= allowed, (path.name, words - allowed)


def spoken(path: Path) -> Iterator[tuple[str, set[str] | None]]:
    """The messages that a file names, with the parameters it gives; ``None`` where they are not written out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPEAKERS and node.args:
            said = node.args[0]
            named = [said.body, said.orelse] if isinstance(said, ast.IfExp) else [said]
            names = [one.value for one in named if isinstance(one, ast.Constant)]
            keywords = {keyword.arg for keyword in node.keywords}
            parameters = None if None in keywords else {str(name) for name in keywords}
            yield from ((name, parameters) for name in names if isinstance(name, str))


def faults() -> Iterator[tuple[str, set[str]]]:
    """The faults of files that other rooms name, with the parameters they give."""
    place = {"FileError": 1, "at": 2}
    for path in (PACKAGE / "files.py", *(PACKAGE / "pairs").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in place:
                name = node.args[place[node.func.id]]
                if isinstance(name, ast.Constant):
                    yield f"fault_{name.value}", {str(one.arg) for one in node.keywords} - {"unit", "number"}


def own_text(template: str) -> str:
    return "".join(text for text, *_ in Formatter().parse(template)).strip()


def gaps(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_message_has_both_languages_and_the_same_parameters() -> None:
    known = ENGLISH | {f"flag_{kind}": text for kind, text in FLAGS.items()}
    assert {*templates("zh")} == {*known}
    for name, english in known.items():
        assert gaps(templates("zh")[name]) == gaps(english), name
        assert templates("zh")[name] != english or not own_text(english), name


def test_every_message_that_code_names_is_there_with_its_parameters() -> None:
    rooms = (COLLECT, LEADERBOARD, WEB)
    said = [(path.name, *one) for room in rooms for path in room.rglob("*.py") for one in spoken(path)]
    assert len(said) > 130
    assert not [one for one in said if one[1] not in ENGLISH]
    assert not [one for one in said if one[2] is not None and one[2] != gaps(ENGLISH[one[1]])]


def test_every_fault_of_a_file_has_a_message_with_its_parameters() -> None:
    named = list(faults())
    assert len(named) > 20
    assert not [one for one in named if one[1] != gaps(ENGLISH.get(one[0], "{unknown}"))]


def test_no_message_is_left_over() -> None:
    rooms = (COLLECT, LEADERBOARD, WEB)
    paths = [path for room in rooms for path in room.rglob("*.py") if path != COLLECT / "messages.py"]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    named = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    used = (
        named
        | {name for name, _ in faults()}
        | {f"rule_{name}" for name in named}
        | {"did_you_mean", "allowed", "one_of", "one_of_nearest"}
    )
    assert not {*ENGLISH} - used


def test_nothing_is_refused_in_finished_sentences() -> None:
    """Errors of other rooms have no name: nothing of these two rooms may raise one, or they would stay English."""
    plain = {"GoldlabelError", "InputError", "UnknownNameError"}
    for path in (path for room in (COLLECT, WEB) for path in room.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else None
            assert not (isinstance(call, ast.Call) and getattr(call.func, "id", "") in plain), (path.name, node.lineno)


@pytest.mark.parametrize(
    ("refusal", "chinese"),
    [
        (Conflict("login_taken"), "这个登录名已被使用；请换一个"),
        (
            Invalid("no_role", role="king", allowed=words(["requester", "writer"])),
            "没有角色“king”；可用：发起人、撰写人",
        ),
        (Invalid("nobody_writes", kind=Word("vetting")), "审核项目不需要撰写人；请邀请判断人"),
        (Missing("no_text", name="{name} {0} %s"), "这个项目没有说明“{name} {0} %s”"),
    ],
)
def test_messages_are_said_in_both_languages(refusal: Refusal, chinese: str) -> None:
    assert translate(refusal.message, "zh") == chinese
    assert str(pickle.loads(pickle.dumps(refusal))) == str(refusal)


@pytest.mark.parametrize(
    "text", ["writer", "no_task", "{id}", "{id.__class__}", "{0}", "%(id)s", "<b>", "a\nb", "\u202e"]
)
def test_what_people_wrote_is_never_read(text: str) -> None:
    said = [translate(Missing("no_text", name=text).message, language) for language in LANGUAGES]
    shown = {"a\nb": "a\\nb", "\u202e": "\\u202e"}.get(text, text)
    assert said == [f"这个项目没有说明“{shown}”", f"there is no text '{shown}' in this project"]


def test_long_text_is_cut() -> None:
    assert len(translate(Missing("no_text", name="x" * 5000).message, "zh")) < 400


def patterns_used(call: Callable[[], object]) -> int:
    """How often regular expressions are put to use during a call."""
    count = 0

    def note(_: object, event: str, function: object) -> None:
        nonlocal count
        count += event == "c_call" and isinstance(getattr(function, "__self__", None), re.Pattern)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def test_a_long_line_of_an_upload_is_no_more_work_than_a_short_one() -> None:
    """No pattern is tried on what people sent: some of them took half a minute for 3 KB."""
    chinese = Request({"type": "http", "headers": [(b"cookie", f"{COOKIE}=zh".encode())]})
    for size in (1, 300):
        line = json.dumps({"a b: c; d " * size: 1}).encode()
        with pytest.raises(InputError) as refused:
            read_premises(line, "x y.jsonl", PremiseRules(shortest=1, longest=9))
        describe(chinese, refused.value)  # catalogues are read once
        assert patterns_used(partial(describe, chinese, refused.value)) == 0
        assert "没有前提列" in describe(chinese, refused.value)[2]


@pytest.mark.parametrize("rule", sorted(name for name in ENGLISH if name.startswith("rule_")))
def test_rules_are_said_in_both_languages(rule: str) -> None:
    parameters = {"characters": 7, "longest": 5, "language": "en", "other_label": "neutral", "other_level": "easy"}
    parameters |= {"percent": 80, "allowed": 70, "shared": "{x}", "negators": "not"}
    broken = Violation(
        rule=rule.removeprefix("rule_"), label="contradiction", level="hard", parameters=parameters
    ).message
    assert "一定为假（较难）" in translate(broken, "zh")
    assert translate(broken, "en").startswith("cannot be true hard: ")


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
    assert "已有项目“meadow”；请换一个名称。" in answer.text
