"""The documentation is complete, and what it shows runs."""

from __future__ import annotations

import doctest
import gzip
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import goldlabel
from goldlabel.cli.app import app
from goldlabel.models import MODELS
from goldlabel.models.options import own_options
from goldlabel.pairs.labels import LABEL_SPACES
from goldlabel.pairs.record import COLUMNS
from goldlabel.sources import SOURCES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = "<!-- not run"


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def _page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# Commands. Typer brings its own Click, so its objects are known here by their attributes alone.


@cache
def _commands() -> dict[str, Any]:
    found = {}

    def walk(path: str, command: Any) -> None:
        found[path] = command
        for name, child in getattr(command, "commands", {}).items():
            walk(f"{path} {name}", child)

    walk("goldlabel", typer.main.get_command(app))
    return found


def _options(command: Any) -> set[str]:
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    return {spelling for option in options for spelling in (*option.opts, *option.secondary_opts)}


def _arguments(command: Any) -> set[str]:
    return {p.metavar or p.name.upper() for p in command.params if p.param_type_name == "argument"}


@cache
def _sections() -> dict[str, str]:
    """Return the text of commands.md under each heading that names a command."""
    parts = re.split(r"^## (goldlabel.*)$", _page("commands.md"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _documented(section: str) -> set[str]:
    """Return what stands in code type in the first cells of a section's table."""
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize("path", list(_commands()))
def test_every_command_has_its_section_with_every_option(path: str) -> None:
    assert path in _sections(), f"docs/commands.md has no section '## {path}'"
    command = _commands()[path]
    assert _documented(_sections()[path]) == _options(command) | _arguments(command)


def test_no_section_is_about_a_command_that_is_gone() -> None:
    assert set(_sections()) <= set(_commands())


@pytest.fixture
def folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    labels = ("entailment", "neutral", "contradiction")
    rows = [
        {
            "id": f"p{number}",
            "premise": f"Shop number {number // 3} on our street sells {('bread', 'paint', '茶叶')[number % 3]}.",
            "hypothesis": f"Claim {number} about a shop: 这是第{number}句。",
            "label": labels[number % 3],
            "votes": [labels[number % 3]] * 5 if number < 30 else [],
            "genre": ("news", "tv")[number % 2],
            "level": ("easy", "hard", "medium")[number % 3],
            "writer": f"w{number % 5}",
            "group": f"shop-{number // 3}",
        }
        for number in range(60)
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    Path("pairs.jsonl").write_text(text, encoding="utf-8")
    Path("pairs.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    reviews = "A loud fan.,A fan is on.,0\nA loud fan.,It is July.,1\nA loud fan.,It is silent.,2\n"
    Path("reviews.csv").write_text(f"text_a,text_b,y\n{reviews}")
    Path("decided.csv").write_text("id,label,decision\np0,entailment,keep\n")
    Path("survey.csv").write_text("premise,hypothesis,label\nIt is warm.,It is hot.,disagree\n")
    Path("others.csv").write_text("premise,hypothesis,label\nA gate creaks.,A gate is heard.,entailment\n")
    good = {"premise": "A boat drifts.", "hypothesis": "A boat moves.", "label": "entailment"}
    for name, faults in {
        "typo": [{}, {"label": "entail"}],
        "blank": [{"hypothesis": " "}],
        "twice": [{"id": "a"}, {"id": "a"}],
    }.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(good | fault) + "\n" for fault in faults))
    snli = {"sentence1": "A kite is up.", "sentence2": "A kite flies.", "gold_label": "entailment"}
    Path("snli_1.0_dev.jsonl").write_text(json.dumps(snli | {"pairID": "1"}) + "\n" + json.dumps(snli) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "data list --json",
        "data show pairs.jsonl --json",
        "data add snli snli_1.0_dev.jsonl --json",
        "data export pairs.jsonl --to csv -o out.csv --json",
        "data split pairs.jsonl --halves -o out --json",
        "data split pairs.jsonl --nested 10,20 -o out --json",
        "data duplicates pairs.jsonl --drop -o out --json",
        "data head pairs.jsonl --json",
        "data filter pairs.jsonl --where 'length > 2' -o out --json",
        "data diff pairs.jsonl pairs.jsonl.gz --json",
        "data dedupe pairs.jsonl -o out --json",
        "data apply-review pairs.jsonl decided.csv -o out --json",
        "train linear --on pairs.jsonl -o out --json",
        "train linear --on pairs.jsonl --seeds 2 -o out --json",
    ],
)
def test_every_json_key_is_documented(line: str, folder: Path) -> None:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == 0, result.output
    path = next(path for path in sorted(_commands(), reverse=True) if f"goldlabel {line} ".startswith(f"{path} "))
    section = _sections()[path]
    for other in re.findall(r"those of\s+`(data \w+)`", section):
        section += _sections()[f"goldlabel {other}"]
    missing = [key for key in json.loads(result.stdout) if f"`{key}`" not in section]
    assert not missing, f"docs/commands.md, {path}: --json also prints {missing}"


# Names


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("labels.md", list(LABEL_SPACES)),
        ("models.md", list(MODELS)),
        ("record.md", list(COLUMNS)),
    ],
)
def test_every_name_has_its_row(page: str, names: list[str]) -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", _page(page), flags=re.M)
    assert [name for name in names if name not in rows] == []


@pytest.mark.parametrize("name", MODELS)
def test_the_options_of_a_model_are_those_of_its_row(name: str) -> None:
    member = MODELS.get(name)
    options = member.own_options() if member.fitted_by_trainer else own_options(member.fit)
    row = next(line for line in _page("models.md").splitlines() if line.startswith(f"| `{name}` |"))
    documented = {option: value.strip('"') for option, value in re.findall(r"`(\w+)=([^`]*)`", row)}
    assert documented == {option: str(default) for option, default in options.items()}


def test_every_label_and_alias_is_documented() -> None:
    table = _page("labels.md").partition("## Label spaces")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)$", table, flags=re.M))
    for name in LABEL_SPACES:
        space = LABEL_SPACES.get(name)
        assert [label for label in space.labels if label not in rows[name]] == []
        assert [alias for alias in space.aliases if f"`{alias}`" not in rows[name]] == []


def test_every_public_name_is_documented() -> None:
    assert [name for name in goldlabel.__all__ if f":: goldlabel.{name}" not in _page("python.md")] == []


def test_every_page_is_in_the_contents() -> None:
    contents = _page("index.md").splitlines()
    assert [page.stem for page in PAGES if page.parent.name == "docs" and page.stem not in [*contents, "index"]] == []


# Blocks


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def _blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks that are to be run."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^([ ]*)```(\w+)\n(.*?)^\1```$", text, flags=re.M | re.S):
        before = text[: match.start()].rstrip().rpartition("\n")[2]
        if not before.lstrip().startswith(NOT_RUN):
            yield Block(match[2], dedent(match[3]), text[: match.start()].count("\n") + 2)


@pytest.mark.parametrize("page", PAGES, ids=_page_id)
def test_python_blocks_run_and_print_what_they_say(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SOURCES, "_own", {name: SOURCES.get(name) for name in SOURCES})  # a page may register a source
    namespace: dict[str, Any] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    for block in _blocks(page):
        if block.language == "python":
            # Empty lines before the block make tracebacks point into the page.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            with redirect_stdout(StringIO()):
                exec(code, namespace)
        elif block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.text, namespace, page.name, str(page), block.line - 1)
            report = StringIO()
            runner.run(test, out=report.write, clear_globs=False)
            assert not report.getvalue(), report.getvalue()
            namespace.update(test.globs)


@pytest.mark.parametrize("page", PAGES, ids=_page_id)
def test_shell_blocks_name_commands_and_options_that_exist(page: Path) -> None:
    for block in _blocks(page):
        for line in block.text.splitlines() if block.language == "sh" else ():
            words = shlex.split(line, comments=True)
            if not words or words[0] != "goldlabel":
                continue
            path = words.pop(0)
            while words and f"{path} {words[0]}" in _commands():
                path += f" {words.pop(0)}"
            command = _commands()[path]
            assert not getattr(command, "commands", None) or path == "goldlabel", f"{line!r} names no command"
            unknown = [word for word in words if word.startswith("-") and word not in _options(command)]
            assert not unknown, f"{page.name}: {line!r} has options that do not exist: {unknown}"


def _anchors(page: Path) -> set[str]:
    """Return where links into a page may lead: its headings, spelt as GitHub and MyST do."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_files_lead_somewhere() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
        links = re.findall(r"\]\(([^)#:\s]+)(?:#([^)]*))?\)", text)
        for target, anchor in [*links, *((picture, "") for picture in pictures)]:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in _anchors(page.parent / target), f"{page.name} links to {target}#{anchor}"
