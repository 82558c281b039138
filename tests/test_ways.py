"""The pages ``ways``, ``tutorials`` and the how-tos, carried out line by line; the hub is a stand-in, a server of the
test's own."""

from __future__ import annotations

import json
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import goldlabel as gl
from tests.cli.commands import Done, run
from tests.cli.test_leaderboard import served
from tests.pairs.hub import Hub
from tests.pairs.test_hub import hub as hub
from tests.test_docs import ROOT, _blocks, _commands

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload raw bytes:DeprecationWarning")

HOW_TOS = sorted((ROOT / "docs").glob("howto-*.md"))
SERVED = ("goldlabel collect serve", "goldlabel collect play", "goldlabel leaderboard serve")
"""They run until somebody ends them; ``tests/test_docs.py`` holds them against the parser."""
ELSEWHERE = (
    "goldlabel demo",  # tests/cli/test_demo.py
    "goldlabel data fetch",  # needs the world
    "goldlabel collect password",  # needs somebody who has joined
    "goldlabel collect round train",  # needs a round that was played
    "goldlabel collect round errors",  # needs ANLI
)
"""Slow, or about what a page cannot make; the parser is asked about them as well."""
BOARD = "http://127.0.0.1:8000"


def _walk(page: Path) -> dict[str, Done]:
    """Run the page's blocks in their order; return what each command said.

    A leaderboard is served from the line on that says so, and the token that was printed is in the variable.
    """
    said: dict[str, Done] = {}
    namespace: dict[str, Any] = {}
    address = BOARD
    with ExitStack() as servers, pytest.MonkeyPatch.context() as environment:
        for block in _blocks(page):
            if block.language == "python":
                exec(compile(block.text, str(page), "exec"), namespace)
            for line in block.text.splitlines() if block.language == "sh" else ():
                if line.startswith("goldlabel leaderboard serve"):
                    address = servers.enter_context(served(Path(shlex.split(line)[3])))
                if line.startswith((*SERVED, *ELSEWHERE)):
                    continue
                done = run(*shlex.split(line.replace(BOARD, address))[1:])
                assert done.returncode == 0, f"{line}\n{done.stderr}"
                said[line.removeprefix("goldlabel ")] = done
                if line.startswith("goldlabel leaderboard token"):
                    environment.setenv("GOLDLABEL_TOKEN", done.stdout.strip())
    return said


def test_every_command_has_a_how_to() -> None:
    lines = [
        line
        for page in HOW_TOS
        for block in _blocks(page)
        if block.language == "sh"
        for line in block.text.splitlines()
    ]
    headings = " ".join(
        line for page in HOW_TOS for line in page.read_text(encoding="utf-8").splitlines() if line[:3] == "## "
    )
    for path, command in _commands().items():
        if not getattr(command, "commands", None):
            assert any(f"{line} ".startswith(f"{path} ") for line in lines), f"no how-to shows {path}"
            assert f"`{path.removeprefix('goldlabel ')}`" in headings, f"no how-to is called {path}"


@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_the_how_tos_run_as_they_stand(page: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _walk(page)


def test_the_ways_run_from_start_to_end(hub: Hub, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    said = _walk(ROOT / "docs" / "ways.md")

    pushed = gl.read(hub.repos["my-lab/survey"].check_out(tmp_path / "download"))
    assert hub.repos["my-lab/survey"].private
    assert (len(pushed), pushed.card.licence, pushed.card.languages) == (120, "CC BY 4.0", ("en",))
    assert pushed.collect().sort("id").equals(gl.read("survey").collect().sort("id"))
    gold = gl.read("gold").collect()
    claims = {"open": "entailment", "crowded": "neutral", "shut": "contradiction"}
    meant = [claims[text.rstrip(".").rpartition(" ")[2]] for text in gold["hypothesis"]]
    assert sum(label == word for label, word in zip(gold["label"], meant, strict=True)) > 105

    difference = run("compare", "runs/both", "runs/blind", "animals", "--split", "test", "--json")
    assert json.loads(difference.stdout)["n"] == len(gl.read("animals").only(split="test"))
    checked = next(done.stdout for line, done in said.items() if line.startswith("recast check"))
    assert "10 pairs of ours, 10 published, 10 matched" in checked


def test_the_tutorials_run_from_start_to_end(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = _walk(ROOT / "docs" / "tutorials.md")
    assert gl.read("recast").to_dict()["labels"] == {"entailment": 2, "not_entailment": 1}
    audited = next(done.stdout for line, done in said.items() if line.startswith("audit "))
    assert "negation" in audited
    assert Path("report", "index.html").exists()
    imported = next(done.stdout for line, done in said.items() if line.startswith("collect import arena"))
    assert "2 of 2 premises added" in imported
