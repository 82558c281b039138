"""Reports and audit pages in Chinese: nothing that they say is left in English."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.pofile import read_po

import goldlabel.report
from goldlabel.audit import audit
from goldlabel.audit.messages import ENGLISH, counted, message, read_message
from goldlabel.catalogue import templates
from goldlabel.errors import InputError
from goldlabel.messages import Word
from goldlabel.report.audit_page import write_audit
from goldlabel.report.language import say, speaking, translate, translate_name
from goldlabel.report.report import report
from goldlabel.sources.fragments.making import fragment_pairs

ROOM = Path(goldlabel.report.__file__).parent
CATALOGUE = ROOM / "locales" / "zh" / "LC_MESSAGES" / "report.po"


def said() -> Iterator[str]:
    """Every text that code and templates of the room say or mark."""
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("say", "N_"):
                text = node.args[0]
                if isinstance(text, ast.Constant):
                    yield str(text.value)
                else:
                    assert not isinstance(text, ast.JoinedStr), f"{path.name}: {ast.unparse(node)} is filled too early"
    for path in (ROOM / "templates").glob("*.html"):
        yield from re.findall(r'say\("([^"]+)"', path.read_text(encoding="utf-8"))


def chinese() -> dict[str, str]:
    catalog = read_po(io.BytesIO(CATALOGUE.read_bytes()), locale="zh")
    return {str(entry.id): str(entry.string) for entry in catalog if entry.id}


def gaps(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_text_is_translated_and_keeps_its_gaps() -> None:
    wanted, known = set(said()), chinese()
    assert len(wanted) > 200
    assert wanted == set(known)
    assert {*templates("goldlabel.report", "zh")} == {*ENGLISH}
    for english, translated in [
        *known.items(),
        *((ENGLISH[name], own) for name, own in templates("goldlabel.report", "zh").items()),
    ]:
        assert translated, english
        assert gaps(translated) == gaps(english), english


def test_messages_are_the_same_after_a_file() -> None:
    original = message("near_in", clusters=counted(2, "cluster_reaches", "clusters_reach"), dataset="b & c")
    assert str(original) == "2 clusters of near-duplicates reach into b & c. Look through them."
    assert read_message(original.to_dict()) == original
    named = message("with_tag", tag=Word("negation"))
    with speaking("zh"):
        assert translate(read_message(named.to_dict())) == "含否定类词的假设"


def test_what_is_said() -> None:
    assert say("mean of {sets}", sets=3) == "mean of 3"
    with speaking("zh"):
        assert say("{models} models", models=2) == "2 个模型"
        assert say("on {set} {score}", set="snli", score="8.0 % (7.0 to 9.1)") == "在 snli 上为 8.0 % (7.0 至 9.1)"
        assert translate_name("premise length 3 to 5", "premise length") == "前提长度 3 至 5"
        assert say("a name of the user's own") == "a name of the user's own"
    assert say("{models} models", models=2) == "2 models", "the language is given back"
    with pytest.raises(InputError, match="language 'de' is not known; allowed: en, zh"), speaking("de"):
        pass


def test_pages_in_chinese(tmp_path: Path) -> None:
    made = fragment_pairs("zh", 300, artifact="negation:contradiction:0.8").split("80:10:10").pairs
    write_audit(audit(made, near=True, tokenizer="characters"), tmp_path / "audit", language="zh")
    report([tmp_path / "audit"], tmp_path / "report", language="zh")
    english = [text for text in chinese() if not gaps(text) and " " in text.strip()]
    for page in ("audit/index.html", "report/index.html"):
        html = (tmp_path / page).read_text(encoding="utf-8")
        assert '<html lang="zh">' in html
        body = re.sub(r"<style.*?</style>", "", html.partition("</head>")[2].rpartition("<script>")[0], flags=re.S)
        body = re.sub(r' (class|data-label|id|href)="[^"]*"', "", body)
        assert [text for text in english if text in body] == []
        assert "不看前提，线性模型能答对" in body
        figures = body.partition(">清单</h2>")[0]  # behind it are the options, as the command line has them
        words = set(re.findall(r"[A-Za-z]{4,}", re.sub(r"<[^>]*>", " ", figures)))
        assert {"premise", "contradiction", "pairs", "label", "accuracy", "without"}.isdisjoint(words), words
