"""Reports and audit pages in Chinese: nothing that they say is left in English."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import polars as pl
import pytest
from babel.messages.pofile import read_po

import goldlabel.evaluate.suites
import goldlabel.report
from goldlabel.audit import audit
from goldlabel.audit.messages import ENGLISH, counted, message, read_message
from goldlabel.catalogue import templates
from goldlabel.errors import InputError
from goldlabel.messages import Word
from goldlabel.report.audit_page import write_audit
from goldlabel.report.language import say, speaking, translate, translate_name
from goldlabel.report.parts.bench_sections import suite_table
from goldlabel.report.parts.suite_words import CLAIMS, NOTES, say_cell, say_column, say_note, say_table
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


SUITES = Path(goldlabel.evaluate.suites.__file__).parent


def template_of(node: ast.expr) -> str:
    """Return a text as the code has it, gaps without their names; nothing where it is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def noted(tree: ast.Module) -> Iterator[str]:
    """Every text that a suite gives as the reason of something missing, as a note or as a claim."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id="missing"))], value=text):
                yield template_of(text)
            case ast.Assign(targets=[ast.Name(id="notes")], value=texts):
                yield from (template_of(own) for own in ast.walk(texts) if isinstance(own, ast.JoinedStr))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="notes"), attr="append"), args=[text]):
                yield template_of(text)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="claims"), attr="better" | "easier"), args=[text, *_]):
                yield template_of(text)


def columns(tree: ast.Module) -> Iterator[str]:
    """Every column that a suite's tables name in the code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and {"Model", "Method", "Dataset", "Claim", "model", "claim", "round"} & {
            own.value for own in node.keys if isinstance(own, ast.Constant)
        }:
            yield from (own.value for own in node.keys if isinstance(own, ast.Constant))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_beside":
            yield template_of(node.args[0])


def test_every_note_and_column_of_a_suite_is_translated() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SUITES.glob("*.py"))]
    texts = {text for tree in trees for text in noted(tree)} - {"", "{}: {}", "{} (beside)"}
    assert len(texts) > 20
    known = {re.sub(r"\{\w+\}", "{}", text) for text in (*NOTES, *CLAIMS)}
    assert texts - known == set()
    names = {name for tree in trees for name in columns(tree)} - {"", "{} Impr (%)"}
    assert len(names) > 20
    with speaking("zh"):
        english = {name for name in names if re.search("[a-z]", say_column(name))}
        assert english == {"p", "p (Holm)"}, "p-values alone are called the same"


def test_what_a_suite_says_in_chinese() -> None:
    assert say_note("anli is judged by its dev split") == "anli is judged by its dev split"
    with speaking("zh"):
        assert say_note("anli is judged by its dev split") == "anli 用其 dev 划分评判"
        assert say_note("a title of the user's own") == "a title of the user's own"
        assert say_column("accuracy_low") == "准确率，下界"
        assert say_column("my set (paper)") == "my set（论文）"
        assert say_cell("Claim", "RF is better than ESIM") == "RF 优于 ESIM"
        assert (say_cell("Answer", "cannot be told"), say_cell("model", "both")) == ("无法判断", "both")
        assert say_table("table-5-label-first") == "表 5（先选标签）"
        frame = pl.DataFrame({"claim": ["premises help"], "on": ["R1"], "points": ["1.0 (0.5 to 1.5)"], "p": [0.25]})
        table = suite_table("rounds", "claims", frame)
        assert [column.name for column in table.heads] == ["论断", "评测数据", "百分点", "p"]
        assert [*table.rows[0]] == ["前提有帮助", "R1", "1.0 (0.5 至 1.5)", "p = 0.250"]
