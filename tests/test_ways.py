"""The pages ``ways`` and ``tutorials``, carried out line by line; the hub is a stand-in, a server of the test's own."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import goldlabel as gl
from tests.cli.commands import Done, run
from tests.pairs.hub import Hub
from tests.pairs.test_hub import hub as hub
from tests.test_docs import ROOT, _blocks

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload raw bytes:DeprecationWarning")

SERVED = ("goldlabel collect serve", "goldlabel collect play")
"""They run until somebody ends them; ``tests/test_docs.py`` holds them against the parser."""


def _walk(page: Path) -> dict[str, Done]:
    """Run the page's blocks in their order; return what each command said."""
    said: dict[str, Done] = {}
    namespace: dict[str, Any] = {}
    for block in _blocks(page):
        if block.language == "python":
            exec(compile(block.text, str(page), "exec"), namespace)
        for line in block.text.splitlines() if block.language == "sh" else ():
            if line.startswith(SERVED):
                continue
            done = run(*shlex.split(line)[1:])
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            said[line.removeprefix("goldlabel ")] = done
    return said


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
